//! What is compared with an item by its name: "anything cheaper than the Blue Lamp", "etwas Leichteres als der Vega 7". The
//! name gives way to what that item states, and the limit leaves the item itself out.

use forecourt_index::{Hit, Library};
use forecourt_sentences::Sentences;
use forecourt_understanding::{Filter, ParsedQuestion, Test};
use forecourt_vocabulary::folded;
use serde_json::Value;

use crate::fact_words::is_definite;
use crate::limits::{COMPARED_VALUES_MAX, FACT_QUESTION_BYTES_MAX, VARIANTS_READ_MAX};
use crate::own_property::is_of;
use crate::stated_fact::StatedFact;
use crate::stated_values::{self, StatedValue};
use crate::{held_limits, mentioned};

/// What stands between a comparative and what is compared with, in each language.
const TIES: [&str; 3] = [" than ", " als ", " que "];
/// Words in front of a comparative of two words, folded.
const DEGREES: &[&str] = &["more", "less", "mas", "menos", "plus", "moins", "weniger", "meilleur"];
/// How words begin that say that something costs less, or more, folded.
const CHEAPER: &[&str] = &[
    "cheaper",
    "less expensive",
    "less costly",
    "gunstiger",
    "billiger",
    "preiswerter",
    "moins cher",
    "moins couteu",
    "meilleur marche",
    "mas barat",
    "mas economic",
    "menos car",
    "menos costos",
];
const DEARER: &[&str] =
    &["more expensive", "pricier", "dearer", "teurer", "plus cher", "plus couteu", "mas car", "mas costos"];
/// By how much of it a bound moves, so that what is compared with is left out.
const LEAST_SHARE: f64 = 1e-6;

/// A text in its parts: what stands before the comparative, the comparative with what ties it, the name, and the rest.
struct Comparison<'t> {
    before: &'t str,
    comparative: &'t str,
    tie: &'t str,
    name: &'t str,
    rest: &'t str,
}

impl<'t> Comparison<'t> {
    fn read(text: &'t str) -> Option<Self> {
        if text.len() > FACT_QUESTION_BYTES_MAX {
            return None;
        }
        let (at, tie) = TIES.iter().find_map(|tie| Some((text.find(tie)?, *tie)))?;
        let (front, behind) = (&text[..at], &text[at + tie.len()..]);
        let end = behind.find(['?', '!', ',', ';']).unwrap_or(behind.len());
        let (name, rest) = behind.split_at(end);
        let last = front.rfind(' ').map_or(0, |at| at + 1);
        let degree = front[..last].trim_end();
        let first = degree.rfind(' ').map_or(0, |at| at + 1);
        let has_degree = DEGREES.contains(&folded(&degree[first..]).as_str());
        let start = if has_degree { first } else { last };
        let comparative = &front[start..];
        // "Rather than" and "der als" compare nothing; an amount is compared with as it is.
        let is_one =
            has_degree || folded(comparative).trim_end_matches(['e', 's', 'n', 'r', 'm']).len() + 1 < comparative.len();
        let is_amount = name.trim_start().starts_with(|c: char| c.is_ascii_digit() || !c.is_alphanumeric());
        (is_one && !is_amount && !name.trim().is_empty()).then_some(Self {
            before: &front[..start],
            comparative,
            tie,
            name: name.trim(),
            rest,
        })
    }

    /// The name without the article of a thing that is known.
    fn bare_name(&self) -> &'t str {
        match self.name.split_once(' ') {
            Some((article, name)) if is_definite(&article.to_lowercase()) => name,
            _ => self.name,
        }
    }
}

/// A question that compares with an item by its name, as it is understood with what that item states. `None`: it
/// compares with none.
pub(super) fn understood(
    library: &Library,
    say: Sentences,
    text: &str,
    understand: &dyn Fn(&str) -> ParsedQuestion,
) -> Option<ParsedQuestion> {
    let comparison = Comparison::read(text)?;
    let hit = mentioned::named_in(library, comparison.bare_name()).ok().flatten()?;
    by_price(&comparison, &hit, understand).or_else(|| by_amount(library, say, &comparison, &hit, understand))
}

fn by_price(
    comparison: &Comparison<'_>,
    hit: &Hit,
    understand: &dyn Fn(&str) -> ParsedQuestion,
) -> Option<ParsedQuestion> {
    let word = folded(comparison.comparative);
    let begins = |words: &[&str]| words.iter().any(|begin| word.starts_with(begin));
    let limit = match () {
        () if begins(CHEAPER) => "under",
        () if begins(DEARER) => "over",
        () => return None,
    };
    let price = price(&hit.item)?;
    let parsed = understand(&format!("{}{limit} {price}{}", comparison.before, comparison.rest));
    without_item(parsed, &held_limits::is_of_money)
}

fn by_amount(
    library: &Library,
    say: Sentences,
    comparison: &Comparison<'_>,
    hit: &Hit,
    understand: &dyn Fn(&str) -> ParsedQuestion,
) -> Option<ParsedQuestion> {
    let stated = stated_values::all(&hit.item, say, library.vocabulary());
    let is_amount = |one: &&StatedValue| match &one.value {
        StatedFact::Text(text) => text.starts_with(|c: char| c.is_ascii_digit()),
        StatedFact::Truth(_) => false,
    };
    stated.iter().filter(is_amount).take(COMPARED_VALUES_MAX).find_map(|one| {
        let Comparison { before, comparative, tie, rest, .. } = comparison;
        let parsed = understand(&format!("{before}{comparative}{tie}{}{rest}", one.told(say)));
        // "Lighter than 74 dB" says nothing of the weight.
        let is_left = |text: &String| folded(text).contains(&folded(comparative));
        let is_whole = !is_left(&parsed.text) && !parsed.not_understood.iter().any(is_left);
        is_whole.then(|| without_item(parsed, &|filter| is_of(filter, one))).flatten()
    })
}

/// A question whose limit of this kind leaves its own bound out. `None`: it has none.
fn without_item(parsed: ParsedQuestion, is_it: &dyn Fn(&Filter) -> bool) -> Option<ParsedQuestion> {
    let mut is_moved = false;
    let mut moved = |mut filter: Filter| {
        let is_one = is_it(&filter);
        if let Test::Within { from, to } = &mut filter.test
            && is_one
        {
            *from = from.map(|from| from + from.abs() * LEAST_SHARE);
            *to = to.map(|to| to - to.abs() * LEAST_SHARE);
            is_moved = true;
        }
        filter
    };
    let filters = parsed.filters.into_iter().map(&mut moved).collect();
    // The parts are those of another text than the one that was written.
    is_moved.then(|| ParsedQuestion { filters, reading: Vec::new(), ..parsed })
}

/// What an item costs; the least of what its variants do.
fn price(item: &Value) -> Option<f64> {
    let variants = item.get("hasVariant").and_then(Value::as_array);
    let offers = variants.into_iter().flatten().take(VARIANTS_READ_MAX).filter_map(|variant| variant.get("offers"));
    let offers = item.get("offers").into_iter().chain(offers);
    let offers = offers.flat_map(|offer| offer.as_array().map_or(std::slice::from_ref(offer), Vec::as_slice));
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let prices = offers.filter_map(|offer| number(offer.get("price").or_else(|| offer.get("lowPrice"))?));
    prices.filter(|price| price.is_finite() && *price > 0.0).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_comparison_is_read_in_each_language() {
        for (text, before, comparative, name) in [
            ("anything cheaper than the Blue Lamp?", "anything ", "cheaper", "Blue Lamp"),
            ("gibt es was Günstigeres als die Blaue Lampe?", "gibt es was ", "Günstigeres", "Blaue Lampe"),
            ("quelque chose de moins cher que la Lampe", "quelque chose de ", "moins cher", "Lampe"),
            ("algo más barato que la Lámpara, y azul", "algo ", "más barato", "Lámpara"),
        ] {
            let read = Comparison::read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((read.before, read.comparative, read.bare_name()), (before, comparative, name), "{text}");
        }
        for text in ["cheaper than 150", "less than €5", "rice", "more than ", "as heavy as the lamp"] {
            assert!(Comparison::read(text).is_none(), "{text}");
        }
        let long = |bytes: usize| format!("cheaper than {}", "x".repeat(bytes - 13));
        assert!(Comparison::read(&long(FACT_QUESTION_BYTES_MAX)).is_some());
        assert!(Comparison::read(&long(FACT_QUESTION_BYTES_MAX + 1)).is_none());
    }

    #[test]
    fn the_least_price_counts() {
        let group =
            json!({"hasVariant": [{"offers": {"price": "12.50"}}, {"offers": [{"price": 9}, {"lowPrice": 8}]}]});
        assert_eq!(price(&group), Some(8.0));
        assert_eq!((price(&json!({"offers": {"price": "free"}})), price(&json!({}))), (None, None));
    }

    #[test]
    fn a_limit_leaves_its_own_bound_out() {
        let parsed = |filter: Filter| ParsedQuestion { filters: vec![filter], ..ParsedQuestion::default() };
        let within = Filter::within("offers.price", None, Some(40.0));
        let moved = without_item(parsed(within), &held_limits::is_of_money).unwrap();
        let Test::Within { to: Some(to), .. } = moved.filters[0].test else { panic!("{moved:?}") };
        assert!(to < 40.0 && to > 39.99);
        assert!(without_item(parsed(Filter::is("offers.price", "x")), &held_limits::is_of_money).is_none());
        assert!(without_item(parsed(Filter::within("width", None, Some(1.0))), &held_limits::is_of_money).is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_a_comparison_or_none(text in "(than|als|que|más|cher|é|[a-zß]{0,5}| ){0,20}") {
            if let Some(read) = Comparison::read(&text) {
                prop_assert!(text.contains(read.name));
            }
        }
    }
}
