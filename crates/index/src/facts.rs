//! The properties of an item, flattened to dot paths: what filters can ask about.

mod absent;
mod derived;
mod money;
mod offer;
mod times;
mod truth;
mod work;

use std::collections::HashSet;

use forecourt_core::findings::URL_HOST;
use serde_json::{Map, Value};

use crate::address;
use crate::limits::{FACT_BYTES_MAX, FACTS_MAX, PATH_BYTES_MAX, VARIANT_FACTS_MAX};
use forecourt_loaders::can_be_had;
use forecourt_loaders::grounding::{self, GROUNDING, GroundedItem};
use forecourt_loaders::item::{SECTION, type_name};
use forecourt_loaders::limits::PATH_LEVELS_MAX;
use forecourt_understanding::{
    ABSENT, AGES, CALENDAR_MONTH, EVENT_DAYS, LAST_DAY, OFFERED, PRICE_LEVEL, RANGE_ENDS, measure, months, unit,
};

/// The fact that nobody can have an item. No property has such a name.
pub(crate) const SOLD_OUT: &str = "\u{1}soldOut";

/// The member that holds the variants of an item.
pub(crate) const HAS_VARIANT: &str = "hasVariant";

/// Long prose is searched, not filtered by; an id is looked up.
const NO_FACTS: &[&str] = &[
    "@context",
    "@id",
    "url",
    "name",
    "headline",
    "title",
    "description",
    "text",
    "abstract",
    "articleBody",
    "reviewBody",
    "transcript",
    GROUNDING,
    SECTION,
    HAS_VARIANT,
];
/// What lists of a site's own properties are called.
const OWN_LISTS: [&str; 2] = ["additionalProperty.", "amenityFeature."];
/// Texts that say that something takes no time, in lower case.
const AT_ONCE: [&str; 9] = [
    "immediately",
    "immediate",
    "sofort",
    "ab sofort",
    "sofort lieferbar",
    "immédiate",
    "immédiatement",
    "inmediata",
    "entrega inmediata",
];
/// Bytes of the longest unit of a site's own.
const OWN_UNIT_BYTES_MAX: usize = 8;
/// Whole numbers of a range that are facts, each of them.
const RANGE_NUMBERS_MAX: usize = 24;
/// What the paths of money begin with: an hour there is what is paid for, and no time that something takes.
const MONEY: [&str; 3] = ["offers", "baseSalary", "estimatedSalary"];
/// What says that something costs nothing.
const FREE: &str = "isAccessibleForFree";
/// The price that counts.
const PRICE: &str = "offers.price";
/// Prices before and after a sale: the one that counts is the offer's own.
const PRICES_OF_OFFER: &str = "offers.priceSpecification";

/// What values of schema.org's enumerations begin with. It is left out, so that `https://schema.org/InStock` and
/// `InStock` are one value.
const ENUMERATIONS: [&str; 2] = ["https://schema.org/", "http://schema.org/"];

/// One value of one property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fact<'a> {
    /// Property names joined by dots, array positions left out: `offers.price`.
    pub(crate) path: &'a str,
    /// The value as written, for text and truth values.
    pub(crate) text: Option<&'a str>,
    /// The value as a quantity: numbers, durations in minutes, dates in days, prices.
    pub(crate) number: Option<f64>,
}

/// Visits the facts of an item in its own order, at most [`FACTS_MAX`].
pub(crate) fn visit(item: &Value, take: impl FnMut(Fact<'_>)) {
    visit_grounded(GroundedItem { item, grounding: None }, take);
}

/// Visits the facts of an item whose grounding is held beside it.
pub(crate) fn visit_grounded(grounded: GroundedItem<'_>, mut take: impl FnMut(Fact<'_>)) {
    let item = grounded.item;
    if item.is_object() {
        for host in grounding::hosts(grounded) {
            take(Fact { path: URL_HOST, text: Some(&host), number: None });
        }
    }
    let variants = variants_of(item);
    if variants.is_empty() {
        return visit_own(item, &mut take);
    }
    // Each once: a thousand variants have a few colours and sizes.
    let mut told = HashSet::new();
    let mut left = VARIANT_FACTS_MAX;
    visit_own(item, &mut |fact| {
        told.insert(key(&fact));
        take(fact);
    });
    for variant in variants {
        visit_own(variant, &mut |fact| {
            if left > 0 && told.insert(key(&fact)) {
                left -= 1;
                take(fact);
            }
        });
    }
}

/// The variants of an item, none for nearly all.
pub(crate) fn variants_of(item: &Value) -> &[Value] {
    match item.get(HAS_VARIANT) {
        Some(Value::Array(variants)) => variants,
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        _ => &[],
    }
}

/// Whether an item says that nobody can have it: all of its offers, and those of all its variants, are gone.
pub fn is_sold_out(item: &Value) -> bool {
    let is_gone = |one: &Value| !can_be_had(one.get("offers").unwrap_or(one));
    match variants_of(item) {
        [] => is_gone(item),
        variants => is_gone(item) || variants.iter().all(is_gone),
    }
}

fn key(fact: &Fact<'_>) -> (String, Option<String>, Option<u64>) {
    (fact.path.to_owned(), fact.text.map(str::to_owned), fact.number.map(f64::to_bits))
}

/// Visits the facts that an item, or a variant of one, states itself, at most [`FACTS_MAX`].
pub(crate) fn visit_own(item: &Value, take: &mut dyn FnMut(Fact<'_>)) {
    let Value::Object(fields) = item else { return };
    // Of what is sold and let, the price is that of the sale: what it costs for a time is kept apart.
    let sold = offer::without_rents(item);
    let full = offer::without_reductions(sold.as_ref().unwrap_or(item));
    let fields = full.as_ref().or(sold.as_ref()).and_then(Value::as_object).unwrap_or(fields);
    let mut walk = Walk { path: String::new(), left: FACTS_MAX, take };
    for (key, value) in fields {
        if !NO_FACTS.contains(&key.as_str()) {
            walk.down(key, value, 1);
            walk.count(key, value);
        }
    }
    walk.derived(full.as_ref().unwrap_or(item));
}

struct Walk<'a> {
    path: String,
    left: usize,
    take: &'a mut dyn FnMut(Fact<'_>),
}

impl Walk<'_> {
    /// How many texts a list has, as `recipeIngredient.count`: questions ask for at most so many.
    fn count(&mut self, key: &str, value: &Value) {
        let Value::Array(items) = value else { return };
        let is_list = !items.is_empty() && !key.starts_with('@') && items.iter().all(Value::is_string);
        let path = format!("{key}.count");
        if is_list && self.left > 0 && path.len() <= PATH_BYTES_MAX && !key.contains(char::is_control) {
            self.left -= 1;
            (self.take)(Fact { path: &path, text: None, number: Some(items.len() as f64) });
        }
    }

    fn down(&mut self, key: &str, value: &Value, level: usize) {
        let before = self.path.len();
        if level > PATH_LEVELS_MAX || before + key.len() + 1 > PATH_BYTES_MAX || key.contains(char::is_control) {
            return;
        }
        // The value of a JSON-LD value object belongs to the property that holds it.
        if key != "@value" {
            if before > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
        if self.path != PRICES_OF_OFFER {
            self.value(value, level);
        }
        self.path.truncate(before);
    }

    fn value(&mut self, value: &Value, level: usize) {
        match value {
            Value::Null => {}
            Value::Bool(truth) => self.leaf(Some(if *truth { "true" } else { "false" }), None),
            Value::Number(number) => self.leaf(None, number.as_f64().map(|n| self.unit(n))),
            // schema.org's `keywords` may be one text with commas; each keyword is a value to filter by.
            Value::String(text) if self.path == "keywords" => {
                text.split(',').for_each(|keyword| self.text(keyword));
            }
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, level)),
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| self.down(key, value, level + 1));
                match fields.get("name") {
                    // A value with a name is a property of its own.
                    Some(Value::String(name)) => self.named(name, fields, level),
                    _ => self.measure(fields),
                }
            }
        }
    }

    /// A value beside its unit, as `weight.gram`.
    fn measure(&mut self, fields: &Map<String, Value>) {
        let Some(number) = fields.get("value").and_then(number_of) else { return };
        let written =
            ["unitCode", "unitText"].iter().find_map(|key| unit::in_base(fields.get(*key)?.as_str()?, number));
        let is_paid = MONEY.iter().any(|path| self.path.starts_with(path));
        match written.filter(|(dimension, _)| !(is_paid && *dimension == unit::Dimension::Time)) {
            Some((dimension, number)) => self.in_unit(dimension, number),
            // A unit of this site's own: "Wh".
            None => {
                let unit = ["unitText", "unitCode"].iter().find_map(|key| fields.get(*key)?.as_str()).map(str::trim);
                let is_word = |unit: &&str| unit.len() <= OWN_UNIT_BYTES_MAX && unit.chars().all(char::is_alphabetic);
                let is_own = self.is_own();
                if let Some(unit) = unit.filter(is_word).filter(|unit| is_own && !unit.is_empty()) {
                    self.beside(unit, number);
                }
            }
        }
    }

    fn in_unit(&mut self, dimension: unit::Dimension, number: f64) {
        self.beside(dimension.id(), number);
    }

    /// A number under the name of its unit.
    fn beside(&mut self, unit: &str, number: f64) {
        let before = self.path.len();
        if self.left > 0 && before > 0 && before + unit.len() < PATH_BYTES_MAX {
            self.path.push('.');
            self.path.push_str(unit);
            self.leaf(None, Some(number));
            self.path.truncate(before);
        }
    }

    /// A `PropertyValue` or a feature is a property of the item by its own name: `amenityFeature.Garden`.
    fn named(&mut self, name: &str, fields: &Map<String, Value>, level: usize) {
        let is_feature =
            fields.get("@type").and_then(Value::as_str).map(type_name) == Some("LocationFeatureSpecification");
        let (name, there, bounds) = (name.trim().replace('.', " "), Value::Bool(true), Value::Null);
        let has_bounds = ENDS.iter().any(|end| fields.contains_key(*end));
        let value = match fields.get("value") {
            Some(value) => value,
            None if has_bounds => &bounds,
            None if is_feature => &there,
            None => return,
        };
        let before = self.path.len();
        let fits = before + name.len() < PATH_BYTES_MAX && !name.contains(char::is_control);
        if level > PATH_LEVELS_MAX || before == 0 || name.is_empty() || !fits {
            return;
        }
        self.path.push('.');
        self.path.push_str(&name);
        self.value(value, level + 1);
        match value {
            Value::Object(_) => {}
            Value::Null => self.bounds(fields),
            _ => self.measure(fields),
        }
        self.path.truncate(before);
    }

    /// The least and the most of a property of a site's own, each with its unit: from 30 to 40 cm.
    fn bounds(&mut self, fields: &Map<String, Value>) {
        let [from, to] = ENDS.map(|end| fields.get(end).and_then(number_of));
        let Some((from, to)) = from.or(to).zip(to.or(from)).filter(|(from, to)| from <= to) else { return };
        match ["unitCode", "unitText"].iter().find_map(|key| unit::unit(fields.get(*key)?.as_str()?)) {
            Some((dimension, factor)) => self.measured_range(dimension, from * factor, to * factor),
            None if from < to => {
                self.range(from, to);
                RANGE_ENDS.into_iter().zip([from, to]).for_each(|(end, number)| self.beside(end, number));
            }
            None => self.leaf(None, Some(from)),
        }
    }

    /// Both ends of a range of measures, together and apart.
    fn measured_range(&mut self, dimension: unit::Dimension, from: f64, to: f64) {
        [from, to].into_iter().for_each(|number| self.in_unit(dimension, number));
        for (end, number) in RANGE_ENDS.into_iter().zip([from, to]) {
            self.beside(&format!("{}.{end}", dimension.id()), number);
        }
    }

    /// What an item says in several properties together, each as one number.
    fn derived(&mut self, item: &Value) {
        let ages = derived::ages(item).map(|(from, to)| [(AGES[0], from), (AGES[1], to)]);
        let days = derived::event_days(item).map(|(first, last)| [(EVENT_DAYS[0], first), (EVENT_DAYS[1], last)]);
        let last = derived::last_day(item).map(|day| (LAST_DAY, day));
        let price = derived::price(item).map(|price| (PRICE, price));
        let level = derived::price_level(item).map(|level| (PRICE_LEVEL, level));
        for (path, number) in ages.into_iter().chain(days).flatten().chain(last).chain(price).chain(level) {
            path.clone_into(&mut self.path);
            self.leaf(None, Some(number));
        }
        for (path, number, told) in times::begins(item).into_iter().flat_map(times::Begin::facts) {
            path.clone_into(&mut self.path);
            self.leaf(told.as_deref(), Some(number));
        }
        for (path, number) in times::opening(item) {
            path.clone_into(&mut self.path);
            self.leaf(None, Some(number));
        }
        for (path, number) in times::weekly(item) {
            path.clone_into(&mut self.path);
            self.leaf(None, Some(number));
        }
        for offered in offer::offered(item) {
            OFFERED.clone_into(&mut self.path);
            self.leaf(Some(offered), None);
        }
        for (path, number) in
            money::pay(item).into_iter().chain(work::hours(item)).flatten().chain(money::price_of_time(item))
        {
            path.clone_into(&mut self.path);
            self.leaf(None, Some(number));
        }
        if derived::costs_nothing(item) {
            FREE.clone_into(&mut self.path);
            self.leaf(Some("true"), None);
        }
        for thing in absent::things(item) {
            ABSENT.clone_into(&mut self.path);
            self.leaf(Some(&thing), None);
        }
        self.path.clear();
    }

    fn text(&mut self, text: &str) {
        let text = text.trim();
        let text = ENUMERATIONS.iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
        let text = truth::whole(&self.path, text).unwrap_or(text);
        let number = measure::quantity(&self.path, text);
        match self.path.ends_with("@type") {
            true => self.leaf(Some(type_name(text)), None),
            false => {
                // "Yes, at 12 euros a night" says yes, too.
                if let Some(said) = truth::beginning(text).filter(|_| truth::may_say(&self.path)) {
                    self.leaf(Some(said), None);
                }
                self.leaf(Some(text), number);
                address::names(&self.path, text).iter().for_each(|name| self.leaf(Some(name), None));
            }
        }
        if number.is_some() {
            return;
        }
        if AT_ONCE.iter().any(|word| word.len() == text.len() && text.to_lowercase() == **word) {
            self.in_unit(unit::Dimension::Duration, 0.0);
        } else if let Some((dimension, number)) = unit::measured(text) {
            self.in_unit(dimension, number);
        } else if let Some((dimension, number)) = unit::longest_side(text) {
            self.in_unit(dimension, number);
        } else if let Some((number, unit)) = in_own_unit(text).filter(|_| self.is_own()) {
            self.beside(unit, number);
        } else if let Some((dimension, from, to)) = unit::measured_range(text) {
            self.measured_range(dimension, from, to);
        } else if let Some((from, to)) = unit::bare_range(text).filter(|_| self.is_own()) {
            self.range(from, to);
            RANGE_ENDS.into_iter().zip([from, to]).for_each(|(end, number)| self.beside(end, number));
        } else if let Some((dimension, all)) = unit::listed(text).filter(|_| self.is_own()) {
            all.into_iter().for_each(|number| match dimension {
                Some(dimension) => self.in_unit(dimension, number),
                None => self.leaf(None, Some(number)),
            });
        } else if self.is_own() {
            months::of_text(text).into_iter().for_each(|month| self.beside(CALENDAR_MONTH, f64::from(month)));
        }
    }

    /// Whether the path is that of a property of a site's own.
    fn is_own(&self) -> bool {
        OWN_LISTS.iter().any(|list| self.path.starts_with(list))
    }

    /// What lies in a range: each whole number of a short one, so that a game for 2 to 5 is one for 3, else both ends.
    fn range(&mut self, from: f64, to: f64) {
        let is_short = from.fract() == 0.0 && to.fract() == 0.0 && to - from < RANGE_NUMBERS_MAX as f64;
        match is_short {
            true => (0..=(to - from) as usize).for_each(|step| self.leaf(None, Some(from + step as f64))),
            false => [from, to].into_iter().for_each(|number| self.leaf(None, Some(number))),
        }
    }

    /// A bare year under a date property is a date, as it would be in quotes.
    fn unit(&self, number: f64) -> f64 {
        match (1_000.0..=9_999.0).contains(&number) && number.fract() == 0.0 {
            true => measure::quantity(&self.path, &format!("{number}")).unwrap_or(number),
            false => number,
        }
    }

    fn leaf(&mut self, text: Option<&str>, number: Option<f64>) {
        let fits = text.is_none_or(|text| !text.is_empty() && text.len() <= FACT_BYTES_MAX);
        if self.left == 0 || !fits || self.path.is_empty() {
            return;
        }
        self.left -= 1;
        (self.take)(Fact { path: &self.path, text, number });
    }
}

/// What the ends of a range of values are called.
const ENDS: [&str; 2] = ["minValue", "maxValue"];

/// A number with a unit of a site's own behind it, and nothing else: "60 Nm", "12 channels".
fn in_own_unit(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = text.split_once([' ', '\u{a0}', '\u{202f}'])?;
    let is_unit = !unit.is_empty() && unit.len() <= OWN_UNIT_BYTES_MAX && unit.chars().all(char::is_alphabetic);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    if is_unit && is_number { Some((measure::quantity("value", number)?, unit)) } else { None }
}

/// A number, as it is or in a text.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => measure::quantity("value", text),
        _ => value.as_f64(),
    }
}

#[cfg(test)]
mod tests;
