//! Constraints that a caller gives by name: `"price": "less than $20"`, `"datePublished": "1990..1995"`,
//! `"offers.price": {"maxValue": 20}`, `"genre": ["Comedy", "Drama"]`. The name is a property, a dot path, or
//! what people call one; the value decides what is asked of it.

mod range;

use forecourt_vocabulary::{PropertyTable, Quantity};
use serde_json::{Map, Value};

use self::range::{Ends, is_spent, moments, quantity, range};
use crate::filter::{Filter, Test};
use crate::limits::{FILTER_LEVELS_MAX, FILTER_VALUES_MAX};
use crate::question::understand;
use crate::scope::{QuestionScope, ReadingAids};
use crate::{near, place};

/// What people call quantities.
const QUANTITIES: &[(&str, Quantity)] = &[
    ("price", Quantity::Price),
    ("cost", Quantity::Price),
    ("rating", Quantity::Rating),
    ("stars", Quantity::Rating),
    ("date", Quantity::Date),
    ("year", Quantity::Date),
    ("time", Quantity::Time),
    ("cookingtime", Quantity::Time),
    ("cooking_time", Quantity::Time),
    ("length", Quantity::Length),
    ("calories", Quantity::Calories),
    ("servings", Quantity::People),
    ("difficulty", Quantity::Difficulty),
];
/// What people call properties of schema.org.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("duration", &["duration", "totalTime", "timeRequired"]),
    ("actor", &["actor.name"]),
    ("starring", &["actor.name"]),
    ("cuisine", &["recipeCuisine", "servesCuisine"]),
    ("ingredient", &["recipeIngredient", "ingredients"]),
    ("ingredients", &["recipeIngredient", "ingredients"]),
    ("diet", &["suitableForDiet"]),
    ("category", &["category", "recipeCategory", "articleSection", "genre"]),
    ("language", &["inLanguage"]),
    ("keyword", &["keywords"]),
];
/// Names of where something is.
const PLACES: &[&str] = &["location", "place", "city", "country", "region", "near"];
/// Names of what something is.
const KINDS: &[&str] = &["itemtype", "type", "@type"];
/// Keys of a range, its lower ends first.
const LOWER: &[&str] = &["min", "minvalue", "minprice", "gte", "gt", "from", "start", "after"];
const UPPER: &[&str] = &["max", "maxvalue", "maxprice", "lte", "lt", "to", "end", "before"];

/// What a caller means by `name` and `value`: constraints that all hold. Empty when the value says nothing
/// that could be looked for. A property that no item has is asked for all the same; nothing passes then.
pub fn named(name: &str, value: &Value, aids: ReadingAids<'_>) -> Vec<Filter> {
    NamedProperty { name, known: aids.known, aids }.value(value, 0)
}

/// A name that a caller gave, and what the index knows of it.
struct NamedProperty<'a> {
    name: &'a str,
    known: &'a dyn QuestionScope,
    aids: ReadingAids<'a>,
}

impl NamedProperty<'_> {
    fn value(&self, value: &Value, level: usize) -> Vec<Filter> {
        match value {
            Value::Null => Vec::new(),
            Value::Bool(truth) => vec![Filter::is(self.name, truth.to_string())],
            Value::Number(number) => self.number(&number.to_string(), number.as_f64()),
            Value::String(text) => self.text(text.trim()),
            Value::Array(items) => self.one_of(items),
            Value::Object(fields) => self.object(fields, level),
        }
    }

    fn number(&self, words: &str, number: Option<f64>) -> Vec<Filter> {
        match (self.quantities().as_slice(), number) {
            ([], _) | (_, None) => self.text(words),
            // A caller who names a price or a time means what may be spent: up to that.
            ([field, ..], to) if is_spent(field) => {
                vec![self.within((None, to), words)]
            }
            ([field, ..], Some(number)) => {
                let ends = moments(field, words).unwrap_or((number, number));
                vec![self.within((Some(ends.0), Some(ends.1)), words)]
            }
        }
    }

    fn text(&self, text: &str) -> Vec<Filter> {
        let lower = self.name.to_lowercase();
        if text.is_empty() {
            return Vec::new();
        }
        if KINDS.contains(&lower.as_str()) {
            return vec![Filter::is("@type", text)];
        }
        if let Some(filter) = PLACES.contains(&lower.as_str()).then(|| near::of_text(text, self.aids)).flatten() {
            return vec![filter];
        }
        // Before quantities and texts: `near` is no property, and a place may lie in one of many.
        if let Some(filter) = PLACES.contains(&lower.as_str()).then(|| place::filter(self.known, text)).flatten() {
            return vec![filter];
        }
        if let Some(ends) = self.quantities().first().and_then(|field| range(field, text)) {
            return vec![self.within(ends, text)];
        }
        let fields = self.texts(text);
        if !fields.is_empty() {
            return vec![Filter { fields, ..Filter::mentions(self.name, text) }];
        }
        // "Vegan" as a wish for the diet, and "under 30 minutes" whatever it was called.
        match understand(text, self.aids).filters {
            filters if filters.is_empty() => vec![self.as_it_is(text)],
            filters => filters,
        }
    }

    /// A filter that no item passes: asked of every property that the name may mean, so that answers can tell which of
    /// them exist.
    fn as_it_is(&self, text: &str) -> Filter {
        let mut filter = Filter::mentions(self.name, text);
        filter.fields.extend(other_names(self.name).map(str::to_owned));
        filter
    }

    /// Any of several values.
    fn one_of(&self, items: &[Value]) -> Vec<Filter> {
        let values: Vec<String> = items.iter().take(FILTER_VALUES_MAX).filter_map(in_words).collect();
        match values.as_slice() {
            [] => Vec::new(),
            [only] => self.text(only),
            _ => {
                let mut fields: Vec<String> = values.iter().flat_map(|value| self.texts(value)).collect();
                fields.sort_unstable();
                fields.dedup();
                if fields.is_empty() {
                    return self.each_a_wish(&values);
                }
                let words = format!("{}: {}", self.name, values.join(" or "));
                vec![Filter { fields, test: Test::OneOf(values), words }]
            }
        }
    }

    /// Several values that no property has may each say what is wanted: `["vegan", "no nuts"]`.
    fn each_a_wish(&self, values: &[String]) -> Vec<Filter> {
        let wishes = values.iter().flat_map(|value| understand(value, self.aids).filters);
        match wishes.collect::<Vec<_>>() {
            filters if filters.is_empty() => {
                let words = format!("{}: {}", self.name, values.join(" or "));
                vec![Filter { fields: vec![self.name.to_owned()], test: Test::OneOf(values.to_vec()), words }]
            }
            filters => filters,
        }
    }

    /// A range, something with a name, or properties of a property.
    fn object(&self, fields: &Map<String, Value>, level: usize) -> Vec<Filter> {
        let is_place = PLACES.contains(&self.name.to_lowercase().as_str());
        if let Some(filter) = is_place.then(|| near::of_object(fields, self.aids)).flatten() {
            return vec![filter];
        }
        let end = |keys: &[&str]| {
            let found = fields.iter().find(|(key, _)| keys.contains(&key.to_lowercase().as_str()));
            found.and_then(|(_, value)| in_words(value))
        };
        let (from, to) = (end(LOWER), end(UPPER));
        if let (Some(field), true) = (self.quantities().first(), from.is_some() || to.is_some()) {
            let low = from.as_ref().and_then(|text| quantity(field, text)).map(|ends| ends.0);
            let high = to.as_ref().and_then(|text| quantity(field, text)).map(|ends| ends.1);
            let words = format!("{} to {}", from.unwrap_or_default(), to.unwrap_or_default());
            let found = low.is_some() || high.is_some();
            return found.then(|| self.within((low, high), words.trim())).into_iter().collect();
        }
        if let Some(name) = fields.get("name").or_else(|| fields.get("@value")).and_then(Value::as_str) {
            return self.text(name.trim());
        }
        // Keywords of JSON-LD such as `@type` are no properties; the level bounds what a caller can nest.
        let inner = fields.iter().filter(|(key, _)| !key.starts_with('@') && level < FILTER_LEVELS_MAX);
        let each = inner.flat_map(|(key, value)| {
            let name = format!("{}.{key}", self.name);
            NamedProperty { name: &name, ..*self }.value(value, level + 1)
        });
        each.take(FILTER_VALUES_MAX).collect()
    }

    /// Properties of this name that are quantities.
    fn quantities(&self) -> Vec<&str> {
        let mut names = vec![self.name];
        for other in other_names(self.name) {
            names.push(other);
        }
        // The name as given comes first, so that a dot path means itself before what people call it.
        names.retain(|path| self.known.has_number(path));
        names
    }

    /// Properties of this name that have all words of a text.
    fn texts(&self, text: &str) -> Vec<String> {
        let other = other_names(self.name);
        let own = [self.name.to_owned(), format!("{}.name", self.name)];
        let names = own.into_iter().chain(other.map(str::to_owned));
        let has = |path: &String| self.known.has_value(path, text) || self.known.has_word(path, text);
        let mut fields: Vec<String> = names.filter(has).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    fn within(&self, (from, to): Ends, words: &str) -> Filter {
        let fields = self.quantities().into_iter().map(str::to_owned).collect();
        Filter { fields, test: Test::Within { from, to }, words: format!("{}: {words}", self.name) }
    }
}

/// Paths that people mean by a name.
fn other_names(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    let lower = name.to_lowercase();
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == lower).map_or(&[][..], |(_, paths)| paths);
    let quantity = QUANTITIES.iter().find(|(name, _)| *name == lower).map(|(_, quantity)| *quantity);
    let paths = quantity.map_or(&[][..], |quantity| PropertyTable::shipped().paths(quantity));
    other.iter().copied().chain(paths.iter().map(String::as_str))
}

/// A scalar in words; of an object its name.
fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Object(fields) => fields.get("name").and_then(in_words),
        Value::Null | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::measure::days;
    use crate::tests::read_named;

    fn only(name: &str, value: Value) -> Filter {
        let mut filters = read_named(name, &value);
        assert_eq!(filters.len(), 1, "{name} {value}: {filters:?}");
        filters.remove(0)
    }

    fn ends(name: &str, value: Value) -> Ends {
        let filter = only(name, value);
        let Test::Within { from, to } = filter.test else { panic!("{filter:?}") };
        (from, to)
    }

    #[test]
    fn s3_1_ranges_are_read_from_texts_numbers_and_objects() {
        for (value, wanted) in [
            (json!("less than $20"), (None, Some(20.0))),
            (json!("< 20"), (None, Some(20.0))),
            (json!("20 or less"), (None, Some(20.0))),
            (json!("$20"), (None, Some(20.0))),
            (json!(20), (None, Some(20.0))),
            (json!("between 10 and 20 EUR"), (Some(10.0), Some(20.0))),
            (json!("10-20"), (Some(10.0), Some(20.0))),
            (json!("20..10"), (Some(10.0), Some(20.0))),
            (json!("$10 to $20"), (Some(10.0), Some(20.0))),
            (json!("more than 10"), (Some(10.0), None)),
            (json!("10+"), (Some(10.0), None)),
            (json!("unter 20 Euro"), (None, Some(20.0))),
            (json!({"minPrice": 10, "maxPrice": "20"}), (Some(10.0), Some(20.0))),
            (json!({"lte": 20}), (None, Some(20.0))),
        ] {
            assert_eq!(ends("price", value.clone()), wanted, "{value}");
            assert_eq!(ends("offers.price", value.clone()), wanted, "{value}");
            assert_eq!(ends("offers", json!({ "price": value.clone() })), wanted, "{value}");
        }
        assert_eq!(only("price", json!("less than $20")).fields, ["offers.price"]);
    }

    #[test]
    fn s3_1_ratings_times_and_dates_are_ranges_too() {
        assert_eq!(ends("rating", json!("at least 4 stars")), (Some(4.0), None));
        assert_eq!(ends("stars", json!("4+ stars")), (Some(4.0), None));
        assert_eq!(ends("rating", json!(4)), (Some(4.0), Some(4.0)));
        for value in [json!("under 30 minutes"), json!("30 min"), json!("PT30M"), json!("half an hour"), json!(30)] {
            assert_eq!(ends("totalTime", value.clone()), (None, Some(30.0)), "{value}");
            assert_eq!(ends("time", value.clone()), (None, Some(30.0)), "{value}");
        }
        let day = |text: &str| days(text).expect("a day");
        assert_eq!(ends("datePublished", json!("since 2020")), (Some(day("2020-01-01")), None));
        assert!(ends("date", json!("after 2020")).0.is_some_and(|from| (from - day("2021-01-01")).abs() < 1e-3));
        assert!(
            ends("date", json!("before 1990")).1.is_some_and(|to| to < day("1990-01-01") && to > day("1989-12-31"))
        );
        for value in [
            json!("1990s"),
            json!("1990..1999"),
            json!("1990-01-01/1999-12-31"),
            json!({"from": 1990, "to": "1999-12-31"}),
        ] {
            let (from, to) = ends("year", value.clone());
            assert_eq!(from, Some(day("1990-01-01")), "{value}");
            assert!(to.is_some_and(|to| to > day("1999-12-31") && to < day("2000-01-01")), "{value}");
        }
        assert_eq!(ends("year", json!(1999)), ends("year", json!("1999")));
    }

    #[test]
    fn s3_1_values_are_looked_for_where_the_data_has_them() {
        assert_eq!(only("itemType", json!("Recipe")), Filter::is("@type", "Recipe"));
        assert_eq!(only("actor", json!("Bill Murray")).fields, ["actor.name"]);
        assert_eq!(only("actor", json!({"@type": "Person", "name": "Bill Murray"})).fields, ["actor.name"]);
        assert_eq!(only("ingredients", json!("almond")).fields, ["recipeIngredient"]);
        assert_eq!(only("location", json!("Berlin")).fields, ["location.address.addressLocality"]);
        assert_eq!(only("location", json!({"@type": "Place", "name": "Berlin"})).words, "in Berlin");
        let either = only("genre", json!(["Comedy", "War"]));
        assert_eq!(either.test, Test::OneOf(vec!["Comedy".to_owned(), "War".to_owned()]));
        assert_eq!(only("isFamilyFriendly", json!(true)), Filter::is("isFamilyFriendly", "true"));
        assert_eq!(only("diet", json!("vegetarian")).words, "vegetarian");
        assert_eq!(read_named("restrictions", &json!(["vegetarian", "no nuts"])).len(), 2);
    }

    #[test]
    fn s3_1_what_no_item_has_is_asked_for_as_it_is() {
        assert_eq!(only("colour", json!("blue")), Filter::mentions("colour", "blue"));
        let servings = only("servings", json!(4));
        assert_eq!((servings.fields[0].as_str(), servings.test), ("servings", Test::Mentions("4".to_owned())));
        for nothing in [json!(null), json!(""), json!([]), json!([[1]]), json!({})] {
            assert_eq!(read_named("x", &nothing), [], "{nothing}");
        }
    }

    #[test]
    fn lists_and_nesting_are_bounded() {
        let many = |count: usize| only("genre", json!(vec!["Comedy"; count]));
        let count = |filter: Filter| match filter.test {
            Test::OneOf(values) => values.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(count(many(FILTER_VALUES_MAX)), FILTER_VALUES_MAX);
        assert_eq!(count(many(FILTER_VALUES_MAX + 1)), FILTER_VALUES_MAX);
        let deep = |levels: usize| read_named("a", &(0..levels).fold(json!("v"), |inner, _| json!({ "b": inner })));
        assert_eq!(deep(FILTER_LEVELS_MAX).len(), 1);
        assert_eq!(deep(FILTER_LEVELS_MAX + 1).len(), 0);
    }

    proptest! {
        #[test]
        fn any_value_is_read_somehow(name in "price|date|time|rating|[a-z.]{0,12}", text in "\\PC{0,40}|[<>0-9 .$€a-z/-]{0,30}") {
            read_named(&name, &json!(text));
            read_named(&name, &json!({"min": text, "max": [text]}));
        }
    }
}
