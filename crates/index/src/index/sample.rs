//! What items have, judged by some of them: cheap to take, and the same every time.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_core::LazyJson;

use crate::facts;
use forecourt_loaders::item::type_name;
use forecourt_understanding::{Shelves, StatedProperty, StatedValues};

/// Items that are looked at.
const ITEMS: usize = 200;

/// Some of the items of an index, counted.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    items: usize,
    /// How many of them have a property.
    with: BTreeMap<String, usize>,
    /// Its quantities, in ascending order.
    numbers: BTreeMap<String, Vec<f64>>,
    /// Its texts: how many there are, how long they are together, and which.
    texts: BTreeMap<String, Texts>,
    /// Properties that say of which kind an item is.
    kinds: Vec<String>,
    /// How many items are of each type, and the types of the items that have a property.
    types: BTreeMap<String, usize>,
    types_with: BTreeMap<String, BTreeSet<String>>,
    /// The shelves that items lie on.
    shelves: Shelves,
}

/// The texts of one property.
#[derive(Debug, Default)]
struct Texts {
    count: usize,
    bytes: usize,
    distinct: BTreeSet<String>,
}

/// The property that sorts items in.
const CATEGORY: &str = "category";
/// The part of the items that state a property, from which on it may be one that sorts them into kinds.
const KIND_SHARE_MIN: f64 = 0.1;
/// Items of the sample that state such a property.
const KIND_ITEMS_MIN: usize = 8;
/// Different values among all values of such a property: many items share them.
const KIND_DISTINCT_MAX: f64 = 0.75;
/// Values of such a property that one item has, and bytes of one value, on average.
const KIND_VALUES_MAX: usize = 8;
const KIND_BYTES_MAX: usize = 24;

impl Sample {
    /// Every how manieth item of so many is looked at.
    pub(crate) fn step(items: u64) -> usize {
        // Evenly over all items: the first ones may all be from one source.
        (items as usize).div_ceil(ITEMS).max(1)
    }

    /// Counts some items.
    pub(crate) fn of(items: impl Iterator<Item = LazyJson>) -> Self {
        let mut sample = Self::default();
        items.for_each(|item| sample.add(&item));
        sample.numbers.values_mut().for_each(|numbers| numbers.sort_by(f64::total_cmp));
        let kinds = sample.texts.iter().filter(|(path, texts)| sample.is_kind(path, texts));
        sample.kinds = kinds.map(|(path, _)| path.clone()).collect();
        let shelves = sample.texts.get(CATEGORY).map(|texts| &texts.distinct).into_iter().flatten();
        sample.shelves = Shelves::of(shelves.map(String::as_str));
        sample
    }

    /// Whether the texts of a property sort items into kinds, as categories, genres and keywords do: short ones
    /// that many items share.
    fn is_kind(&self, path: &str, texts: &Texts) -> bool {
        let with = self.with.get(path).copied().unwrap_or_default();
        let is_frequent = with >= KIND_ITEMS_MIN && self.share(path) >= KIND_SHARE_MIN;
        let is_short = texts.count <= KIND_VALUES_MAX * with && texts.bytes <= KIND_BYTES_MAX * texts.count;
        // What all items are tells none of them apart.
        let tells_apart = texts.distinct.len() > 1;
        is_frequent && is_short && tells_apart && texts.distinct.len() as f64 <= KIND_DISTINCT_MAX * texts.count as f64
    }

    /// What the items state: numbers, yes or no, and texts of which a few are shared by many.
    pub(crate) fn stated(&self) -> Vec<StatedProperty> {
        // "On request" among numbers makes no text of them.
        let texts_of = |path: &String| self.texts.get(path).map_or(0, |texts| texts.count);
        let are_numbers = |path: &String| self.numbers.get(path).is_some_and(|numbers| numbers.len() >= texts_of(path));
        let numbers = self.numbers.iter().filter(|(path, _)| are_numbers(path)).map(|(path, numbers)| {
            let are_whole = numbers.iter().all(|number| number.fract() == 0.0);
            (path, StatedValues::Numbers { are_whole })
        });
        let texts = self.texts.iter().filter(|(path, _)| !are_numbers(path));
        let texts = texts.filter_map(|(path, texts)| Some((path, texts.stated(path)?)));
        let all = numbers.chain(texts).map(|(path, values)| {
            let share = self.share_of_types(path);
            StatedProperty { path: path.clone(), share, values }
        });
        all.collect()
    }

    /// The part of the items of the types that have a property at all, 0 to 1.
    fn share_of_types(&self, path: &str) -> f64 {
        let types = self.types_with.get(path).into_iter().flatten();
        let items: usize = types.filter_map(|name| self.types.get(name)).sum();
        self.with.get(path).map_or(0.0, |with| *with as f64 / items.max(*with).max(1) as f64)
    }

    /// Properties that say of which kind an item is, such as its category.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(String::as_str)
    }

    /// The values of these properties, in lower case.
    pub(crate) fn kind_names(&self) -> impl Iterator<Item = &str> {
        let texts = self.kinds.iter().filter_map(|path| self.texts.get(path));
        texts.flat_map(|texts| &texts.distinct).map(String::as_str)
    }

    /// The shelves that items lie on.
    pub(crate) fn shelves(&self) -> &Shelves {
        &self.shelves
    }

    /// Items that were looked at.
    pub(crate) fn len(&self) -> usize {
        self.items
    }

    /// The types of the items, each with how many are of it.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, usize)> {
        self.types.iter().map(|(name, items)| (name.as_str(), *items))
    }

    fn add(&mut self, item: &serde_json::Value) {
        let mut paths = BTreeSet::new();
        let kind = item_type(item);
        facts::visit(item, |fact| {
            // What no property says by itself sorts nothing into kinds.
            if fact.path.starts_with(char::is_control) {
                return;
            }
            paths.insert(fact.path.to_owned());
            match fact {
                // A link tells one item from all others and sorts none of them into kinds.
                facts::Fact { text: Some(text), number: None, .. } if !text.contains("://") => {
                    self.texts.entry(fact.path.to_owned()).or_default().add(&text.to_lowercase());
                }
                _ => {}
            }
            if let Some(number) = fact.number {
                self.numbers.entry(fact.path.to_owned()).or_default().push(number);
            }
        });
        self.items += 1;
        *self.types.entry(kind.clone()).or_default() += 1;
        for path in paths {
            self.types_with.entry(path.clone()).or_default().insert(kind.clone());
            *self.with.entry(path).or_default() += 1;
        }
    }

    /// The part of the items that have a property, 0 to 1.
    pub(crate) fn share(&self, path: &str) -> f64 {
        self.with.get(path).map_or(0.0, |with| *with as f64 / self.items as f64)
    }

    /// The quantity that `part` of the items do not exceed.
    pub(crate) fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        let numbers = self.numbers.get(path)?;
        let at = (numbers.len() as f64 * part).ceil() as usize;
        numbers.get(at.max(1) - 1).or(numbers.last()).copied()
    }
}

/// The first type of an item.
fn item_type(item: &serde_json::Value) -> String {
    let kind = item.get("@type").map(|kind| kind.get(0).unwrap_or(kind));
    kind.and_then(serde_json::Value::as_str).map(type_name).unwrap_or_default().to_owned()
}

/// How properties of schema.org end that say when something must not be used.
const WARNING: &str = "Warning";
/// Different values of a property whose values are limits, and the words of one.
const VALUES_MAX: usize = 100;
const VALUE_WORDS_MAX: usize = 4;
/// Words of a value in a list that is one text: "Berlin, 10 minutes from the station" is none.
const LIST_VALUE_WORDS_MAX: usize = 2;

/// What stands between the values of a list that is one text.
const BETWEEN_VALUES: [char; 2] = [',', ';'];

impl Texts {
    /// Takes a text: of a list, such as "partial shade, shade", each of its values, which count one by one.
    fn add(&mut self, text: &str) {
        let parts = || text.split(BETWEEN_VALUES).map(str::trim);
        let is_value = |part: &str| !part.is_empty() && part.split_whitespace().count() <= LIST_VALUE_WORDS_MAX;
        match parts().all(is_value) {
            true => parts().for_each(|part| self.add_value(part)),
            false => self.add_value(text),
        }
    }

    fn add_value(&mut self, value: &str) {
        self.count += 1;
        self.bytes += value.len();
        if !self.distinct.contains(value) {
            self.distinct.insert(value.to_owned());
        }
    }

    /// What these texts are, if questions can limit by them: yes or no, or a few short ones.
    fn stated(&self, path: &str) -> Option<StatedValues> {
        if self.distinct.iter().all(|text| matches!(text.as_str(), "true" | "false")) {
            return Some(StatedValues::Truth);
        }
        if path.ends_with(WARNING) {
            return Some(StatedValues::Warnings);
        }
        // Of a property that some items state in a sentence, the short texts are values all the same.
        let is_short =
            |text: &&String| text.split_whitespace().count() <= VALUE_WORDS_MAX && text.len() <= 2 * KIND_BYTES_MAX;
        let short: Vec<String> = self.distinct.iter().filter(is_short).cloned().collect();
        (1..=VALUES_MAX).contains(&short.len()).then_some(StatedValues::Texts(short))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shares_and_quantiles_are_those_of_the_items() {
        let mut sample = Sample::default();
        (1..=9).for_each(|n| sample.add(&json!({"price": n, "genre": "x"})));
        sample.add(&json!({"genre": ["x", "y"]}));
        assert_eq!((sample.share("genre"), sample.share("price"), sample.share("other")), (1.0, 0.9, 0.0));
        assert_eq!(sample.quantile("price", 1.0 / 3.0), Some(3.0));
        assert_eq!((sample.quantile("price", 0.0), sample.quantile("price", 1.0)), (Some(1.0), Some(9.0)));
        assert_eq!(sample.quantile("genre", 0.5), None);
    }
}
