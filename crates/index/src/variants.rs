//! The variants of an item: a product in its colours and sizes is one item, and what is asked of it has to be kept by
//! one of its variants.
//!
//! All that variants state is among the facts of their item, so that each limit finds it. Which variant states what is
//! in a column of numbers beside them, by which the limits of one question are held against one variant after the
//! other: see `search/one_variant.rs`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tantivy::tokenizer::TextAnalyzer;

use crate::analysis::{FACT_END, LanguageAnalyzer, facts_tokenizer, fnv, whole_fact};
use crate::classes::{CLASS, FREE_OF, STATED};
use crate::facts::{self, HAS_VARIANT, variants_of};
use crate::limits::VARIANT_NUMBERS_MAX;
use forecourt_vocabulary::ItemClasses;

/// The fact that an item has variants. No property has such a name: see `facts`.
pub(crate) const VARIANT_MARK: &str = "\u{1}variants";

/// What stands for the texts of a property.
pub(crate) fn text_key(path: &str) -> u64 {
    fnv(path.as_bytes())
}

/// What stands for its quantities.
pub(crate) fn number_key(path: &str) -> u64 {
    // Another bit pattern than that of its texts, and the same for both sides.
    !fnv(path.as_bytes())
}

/// What stands for a term of a property.
pub(crate) fn term_key(term: &str) -> u64 {
    fnv(term.as_bytes())
}

/// What one variant states: a property and one of its terms or quantities, as numbers, in their order.
type Statements = BTreeSet<(u64, u64)>;

/// Writes which variant states what.
pub(crate) struct VariantEncoder {
    tokenizer: TextAnalyzer,
    text: String,
}

impl VariantEncoder {
    pub(crate) fn new() -> Self {
        Self { tokenizer: facts_tokenizer(), text: String::new() }
    }

    /// The column of an item: what all variants have in common, then what each states beside it; in front of each part
    /// the number of its statements. Variants beyond [`VARIANT_NUMBERS_MAX`] numbers are not told apart.
    pub(crate) fn column(
        &mut self,
        item: &Value,
        tongue: LanguageAnalyzer,
        mut classes: impl FnMut(&Value) -> ItemClasses,
    ) -> Vec<u64> {
        let variants = variants_of(item);
        let mut each: Vec<Statements> =
            variants.iter().map(|variant| self.statements(variant, tongue, classes(variant))).collect();
        let group = without_variants(item, variants);
        let of_group = classes(&group);
        let mut shared = self.statements(&group, tongue, of_group);
        share(&mut shared, &mut each);
        let mut column = Vec::new();
        for part in std::iter::once(&shared).chain(&each) {
            if column.len() + 1 + 2 * part.len() > VARIANT_NUMBERS_MAX {
                break;
            }
            column.push(part.len() as u64);
            column.extend(part.iter().flat_map(|(key, value)| [*key, *value]));
        }
        column
    }

    fn statements(&mut self, object: &Value, tongue: LanguageAnalyzer, classes: ItemClasses) -> Statements {
        let mut out = Statements::new();
        facts::visit_own(object, &mut |fact| {
            // Links lead somewhere, and nobody chooses by them.
            if let Some(text) = fact.text.filter(|text| !text.contains("://")) {
                self.text.clear();
                self.text.push(tongue.mark());
                self.text.push_str(fact.path);
                self.text.push(FACT_END);
                self.text.push_str(text);
                let key = text_key(fact.path);
                let mut stream = self.tokenizer.token_stream(&self.text);
                stream.process(&mut |token| out.extend([(key, term_key(&token.text))]));
            }
            out.extend(fact.number.map(|number| (number_key(fact.path), number.to_bits())));
        });
        let ItemClasses { stated, of, free_of } = classes;
        for (path, ids) in [(STATED, stated), (CLASS, of), (FREE_OF, free_of)] {
            out.extend(ids.iter().map(|id| (text_key(path), term_key(&whole_fact(path, id)))));
        }
        out
    }
}

/// Moves what all variants state alike to what they share, and leaves of that what some variant states too.
fn share(shared: &mut Statements, each: &mut [Statements]) {
    let mut by_key: BTreeMap<u64, usize> = BTreeMap::new();
    for part in each.iter() {
        let keys: BTreeSet<u64> = part.iter().map(|(key, _)| *key).collect();
        keys.into_iter().for_each(|key| *by_key.entry(key).or_default() += 1);
    }
    let classes = [STATED, CLASS, FREE_OF].map(text_key);
    shared.retain(|(key, _)| by_key.contains_key(key) || classes.contains(key));
    let Some((first, others)) = each.split_first() else { return };
    let values = |part: &Statements, key: u64| part.range((key, 0)..=(key, u64::MAX)).copied().collect::<Vec<_>>();
    let alike: BTreeSet<u64> = by_key
        .iter()
        .filter(|(key, count)| **count == 1 + others.len() && !classes.contains(key))
        .map(|(key, _)| *key)
        .filter(|key| others.iter().all(|other| values(other, *key) == values(first, *key)))
        .collect();
    // What the variants state counts more than what their group does.
    shared.retain(|(key, _)| !alike.contains(key));
    shared.extend(first.iter().filter(|(key, _)| alike.contains(key)));
    each.iter_mut().for_each(|part| part.retain(|(key, _)| !alike.contains(key)));
}

/// An item as it is without its variants, and without what each of them says itself: a group that lists all colours is
/// not of each of them.
fn without_variants(item: &Value, variants: &[Value]) -> Value {
    let is_own = |key: &str| variants.iter().all(|variant| variant.get(key).is_some());
    let fields = item.as_object().into_iter().flatten();
    let kept = fields.filter(|(key, _)| *key != HAS_VARIANT && !is_own(key));
    Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// The parts of a column: what all share, then each variant. Numbers that are no column give none.
pub(crate) fn parts(column: &[u64]) -> Vec<&[u64]> {
    let (mut parts, mut rest) = (Vec::new(), column);
    while let Some((count, after)) = rest.split_first() {
        let Some((part, next)) =
            usize::try_from(*count).ok().and_then(|count| after.split_at_checked(count.checked_mul(2)?))
        else {
            break;
        };
        parts.push(part);
        rest = next;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn column(item: &Value) -> Vec<u64> {
        VariantEncoder::new().column(item, LanguageAnalyzer::ENGLISH, |_| ItemClasses::default())
    }

    #[test]
    fn what_all_variants_state_alike_is_written_once() {
        let item = json!({"name": "Shirt", "brand": "Acme", "size": ["M", "L"], "hasVariant": [
            {"color": "red", "size": "M", "material": "wool"}, {"color": "blue", "material": "wool"}]});
        let column = column(&item);
        let parts = parts(&column);
        let keys = |part: &[u64]| part.chunks(2).map(|pair| pair[0]).collect::<BTreeSet<_>>();
        assert_eq!(keys(parts[0]), BTreeSet::from([text_key("size"), text_key("material")]), "no variant has a brand");
        assert_eq!(keys(parts[1]), BTreeSet::from([text_key("color"), text_key("size")]));
        assert_eq!(keys(parts[2]), BTreeSet::from([text_key("color")]));
    }

    #[test]
    fn a_column_ends_at_its_bound() {
        let item = |variants: usize| {
            let variants: Vec<Value> = (0..variants).map(|n| json!({"n": n, "even": n % 2 == 0})).collect();
            json!({"name": "x", "hasVariant": variants})
        };
        assert_eq!(parts(&column(&item(1_000))).len(), 1_001);
        let most = column(&item(VARIANT_NUMBERS_MAX / 4));
        assert!(most.len() <= VARIANT_NUMBERS_MAX && most.len() > VARIANT_NUMBERS_MAX - 10);
    }

    proptest! {
        #[test]
        fn any_numbers_are_read(column in proptest::collection::vec(any::<u64>(), 0..40), small in proptest::collection::vec(0_u64..4, 0..40)) {
            parts(&column);
            prop_assert!(parts(&small).iter().map(|part| part.len() + 1).sum::<usize>() <= small.len());
        }
    }
}
