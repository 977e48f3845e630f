//! An item with variants as it is told: with the price, the picture and the link of the one that was asked for.

use std::collections::HashSet;

use forecourt_loaders::{can_be_had, lowest_price};
use serde_json::{Map, Value};

use super::plan::Plan;
use crate::analysis::{LanguageAnalyzer, Words};
use crate::facts::{self, HAS_VARIANT, variants_of};
use crate::limits::HIT_VARIANTS_MAX;

/// How many variants an item has, where a hit does not tell all of them.
const VARIANT_COUNT: &str = "forecourt:variants";
/// What a variant says of itself and not of its item.
const OWN: [&str; 4] = ["@type", "@id", "name", "description"];

/// The card of an item, and whether one of its variants was picked. `passing` are the places of those that pass the
/// limits of a question; `None` when these ask nothing that differs between them. Of several, one that the words of the
/// question name is picked, then one that can be had, then the cheapest.
pub(super) fn card(item: Value, passing: Option<&[usize]>, plan: &Plan) -> (Value, bool) {
    let all = variants_of(&item);
    let stems = plan.words.stems();
    let places: Vec<usize> = passing.map_or_else(|| (0..all.len()).collect(), <[usize]>::to_vec);
    let mut ranked: Vec<(usize, bool, f64, usize)> = places
        .into_iter()
        .filter_map(|place| Some((place, all.get(place)?)))
        .map(|(place, variant)| {
            let offers = variant.get("offers").unwrap_or(&Value::Null);
            let named = named(variant, &stems, plan.tongue);
            (usize::MAX - named, !can_be_had(offers), lowest_price(offers).unwrap_or(f64::INFINITY), place)
        })
        .collect();
    ranked.sort_by(|one, other| {
        let first = (one.0, one.1).cmp(&(other.0, other.1));
        first.then(one.2.total_cmp(&other.2)).then(one.3.cmp(&other.3))
    });
    let Some((named, _, _, picked)) = ranked.first().copied() else { return (item, false) };
    // Words that all variants have pick none of them.
    let by_words = ranked.iter().any(|(other, ..)| *other != named);
    let is_picked = passing.is_some() || by_words;
    let order: Vec<usize> = ranked.iter().map(|(.., place)| *place).collect();
    (told(&item, picked, is_picked, &order), is_picked)
}

/// How many words of a question a variant has.
fn named(variant: &Value, stems: &[&str], tongue: LanguageAnalyzer) -> usize {
    let mut found = HashSet::new();
    if !stems.is_empty() {
        facts::visit_own(variant, &mut |fact| {
            let words = Words::of(fact.text.unwrap_or_default(), tongue);
            found.extend(stems.iter().copied().filter(|stem| words.iter().any(|word| word == *stem)));
        });
    }
    found.len()
}

fn told(item: &Value, picked: usize, is_picked: bool, order: &[usize]) -> Value {
    let all = variants_of(item);
    let mut card: Map<String, Value> = item.as_object().cloned().unwrap_or_default();
    for (key, value) in all.get(picked).and_then(Value::as_object).into_iter().flatten() {
        let is_told = key == "offers" || (is_picked && !OWN.contains(&key.as_str()));
        if is_told {
            card.insert(key.clone(), value.clone());
        }
    }
    let rest = (0..all.len()).filter(|place| !order.contains(place));
    let first = order.iter().copied().chain(rest).take(HIT_VARIANTS_MAX);
    let first: Vec<Value> = first.filter_map(|place| all.get(place).cloned()).collect();
    if first.len() < all.len() {
        card.insert(VARIANT_COUNT.to_owned(), all.len().into());
    }
    card.insert(HAS_VARIANT.to_owned(), first.into());
    Value::Object(card)
}
