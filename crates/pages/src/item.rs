//! Data items as cards: a name, a link, a sentence and a few facts. Made for schema.org objects,
//! content with any JSON.

use forecourt_sentences::{Sentences, SpokenLanguage};
use serde_json::{Map, Value};

use crate::clean;
use crate::limits::{
    ENTRIES_MAX, ENTRIES_SHOWN_MAX, EXCERPT_CHARS_MAX, FACT_CHARS_MAX, FACT_VALUES_MAX, RESULT_FACTS_MAX,
};

mod action;
mod glance;
mod kinds;
mod names;
mod picture;
mod price;

pub use kinds::CARD_KINDS;
pub(crate) use price::Price;

/// One data item, ready to be shown.
pub(crate) struct Item {
    pub(crate) title: String,
    pub(crate) url: Option<String>,
    /// The address or the id as it is written, by which clicks on it are counted.
    pub(crate) address: Option<String>,
    pub(crate) description: String,
    /// The facts that are read at a glance.
    pub(crate) brief: Vec<Fact>,
    /// Where it comes from: the host of its link.
    pub(crate) source: Option<String>,
    /// The https address of its picture.
    pub(crate) image: Option<String>,
    /// What can be done with it.
    pub(crate) actions: Vec<Action>,
    /// The object itself.
    fields: Map<String, Value>,
}

impl Item {
    /// What it costs, and whether it is to be had.
    pub(crate) fn price(&self, say: &Sentences) -> Option<Price> {
        price::of(&self.fields, *say)
    }

    /// The facts that are read at a glance: those of its kind of thing, else the first short ones.
    pub(crate) fn glance(&self, say: &Sentences) -> Vec<Fact> {
        let told = glance::of(&self.fields, *say);
        if told.is_empty() { self.brief.iter().take(BRIEF_SHOWN).cloned().collect() } else { told }
    }

    /// Entries of one of its lists that `holds` knows.
    pub(crate) fn entries(&self, holds: impl Fn(&str) -> bool) -> Option<Vec<String>> {
        entries(&self.fields, holds)
    }
}

/// A thing to do with an item: a link that says what it does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) url: String,
}

/// One property of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) value: String,
}

/// How a data part is shown.
pub(crate) enum ItemView {
    /// As a card.
    Item(Box<Item>),
    /// As JSON, since it has no name.
    Json(String),
}

/// Properties that come first, in this order: those of any kind of thing.
const FIRST: [&str; 9] =
    ["matched", "offers", "aggregateRating", "startDate", "duration", "author", "director", "datePublished", "genre"];

/// Properties that the card shows elsewhere, or that say nothing to a person.
const HIDDEN: [&str; 16] = [
    "name",
    "headline",
    "title",
    "url",
    "id",
    "description",
    "abstract",
    "text",
    "image",
    "thumbnailUrl",
    "schema_object",
    "score",
    "site",
    "kind",
    "mainEntityOfPage",
    "sameAs",
];

/// Properties that take a closer look, or that a result shows apart.
const NOT_BRIEF: [&str; 7] = ["matched", "offers", "inLanguage", "license", "keywords", "potentialAction", "actions"];
/// Facts of a thing of no known kind that its card tells.
const BRIEF_SHOWN: usize = 3;
/// Characters of a fact that is read at a glance.
const BRIEF_CHARS_MAX: usize = 80;

/// What is in a data part, told in the words of `say`; a list becomes one card for each of its elements.
pub(crate) fn views(data: &Value, say: Sentences) -> Vec<ItemView> {
    match data {
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
            items.iter().map(|item| view(item, say)).collect()
        }
        other => vec![view(other, say)],
    }
}

/// Properties in the order in which they are shown: what comes first, lengths of time, then the others. Of several
/// times the total says most.
fn in_order(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let first = FIRST.iter().filter_map(|key| fields.get_key_value(*key));
    let rest = fields.iter().filter(|(key, _)| !FIRST.contains(&key.as_str()));
    let is_time = |value: &Value| value.as_str().is_some_and(|text| duration(text).is_some());
    let (mut times, others): (Vec<_>, Vec<_>) = rest.partition(|(_, value)| is_time(value));
    times.sort_by_key(|(key, _)| !key.starts_with("total"));
    let first: Vec<_> = first.collect();
    // What matched comes first of all: it is why the item is shown.
    let (leading, known): (Vec<_>, Vec<_>) = first.into_iter().partition(|(key, _)| key.as_str() == FIRST[0]);
    leading.into_iter().chain(times).chain(known).chain(others)
}

/// Facts that are read at a glance: short ones, and no addresses.
fn brief(fields: &Map<String, Value>, say: Sentences) -> Vec<Fact> {
    let shown = in_order(fields).filter(|(key, _)| !NOT_BRIEF.contains(&key.as_str()));
    let facts = shown.filter_map(|(key, value)| {
        let label = own_label(fields, key, say.language());
        fact(key, value, say).map(|fact| Fact { label, ..fact })
    });
    let is_brief = |fact: &Fact| fact.value.chars().count() <= BRIEF_CHARS_MAX && !fact.value.contains("://");
    facts.filter(is_brief).take(RESULT_FACTS_MAX).collect()
}

/// JSON for people, at most [`EXCERPT_CHARS_MAX`] characters.
pub(crate) fn json(value: &Value) -> String {
    clean::clip(&clean::text(&format!("{value:#}")), EXCERPT_CHARS_MAX)
}

fn view(data: &Value, say: Sentences) -> ItemView {
    let item = data.as_object().and_then(|fields| item(fields, say));
    item.map_or_else(|| ItemView::Json(json(data)), |item| ItemView::Item(Box::new(item)))
}

/// A card for an object with a name, or for one that wraps such an object.
fn item(outer: &Map<String, Value>, say: Sentences) -> Option<Item> {
    // NLWeb's items wrap the object, and repeat its name and link, which are read first.
    let inner = match outer.get("schema_object") {
        Some(Value::Array(list)) => list.first().and_then(Value::as_object),
        Some(value) => value.as_object(),
        None => None,
    };
    let fields = inner.unwrap_or(outer);
    let either = |keys: &[&str]| word(outer, keys).or_else(|| word(fields, keys));
    let url = either(&["url", "@id"]).and_then(|url| clean::href(&url));
    Some(Item {
        title: either(&["name", "headline", "title"])?,
        source: url.as_deref().and_then(host),
        url,
        address: raw_word(outer, &["url", "@id"]).or_else(|| raw_word(fields, &["url", "@id"])).map(str::to_owned),
        description: either(&["description", "abstract", "text"]).unwrap_or_default(),
        brief: brief(fields, say),
        image: picture::of(fields),
        actions: action::of(fields, say.language()),
        fields: fields.clone(),
    })
}

/// The first of `keys` that holds words.
fn word(fields: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    raw_word(fields, keys).map(clean::line)
}

/// The same as it is written.
fn raw_word<'f>(fields: &'f Map<String, Value>, keys: &[&str]) -> Option<&'f str> {
    let mut words = keys.iter().filter_map(|key| fields.get(*key)?.as_str());
    words.find(|word| !word.trim().is_empty())
}

fn kind(fields: &Map<String, Value>) -> Option<String> {
    type_name(fields).map(|name| words(&name))
}

/// The name of its type, such as `Recipe`, without the vocabulary that it is of.
fn type_name(fields: &Map<String, Value>) -> Option<String> {
    let name = match fields.get("@type")? {
        Value::Array(names) => names.first()?.as_str()?,
        name => name.as_str()?,
    };
    Some(clean::line(name.rsplit(['/', ':', '#']).next().unwrap_or(name)))
}

/// What a property is called on its own kind of thing: as people do, else without the name of that kind, `bookFormat` of
/// a Book is its `Format`.
fn own_label(fields: &Map<String, Value>, key: &str, language: SpokenLanguage) -> String {
    if let Some(name) = names::property(key, language) {
        return name.to_owned();
    }
    let kind = kind(fields).unwrap_or_default().to_lowercase();
    let rest = key.get(..kind.len()).filter(|head| !kind.is_empty() && head.eq_ignore_ascii_case(&kind));
    let own = rest.map(|head| &key[head.len()..]).filter(|rest| rest.starts_with(char::is_uppercase));
    words(&clean::line(own.unwrap_or(key)))
}

/// The entries of an item's lists that `holds` knows: at most [`ENTRIES_SHOWN_MAX`] of the
/// first list that has some.
fn entries(fields: &Map<String, Value>, holds: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let lists = fields.iter().filter(|(key, _)| !key.starts_with('@') && !HIDDEN.contains(&key.as_str()));
    lists.take(ENTRIES_MAX).find_map(|(_, value)| {
        let texts = value.as_array().filter(|all| all.len() > 1)?.iter().take(ENTRIES_MAX).filter_map(Value::as_str);
        let is_short = |text: &&str| text.chars().count() <= FACT_CHARS_MAX && !text.contains("://");
        let found: Vec<String> =
            texts.filter(is_short).filter(|text| holds(text)).map(clean::line).take(ENTRIES_SHOWN_MAX).collect();
        (!found.is_empty()).then_some(found)
    })
}

fn fact(key: &str, value: &Value, say: Sentences) -> Option<Fact> {
    if key.starts_with('@') || HIDDEN.contains(&key) {
        return None;
    }
    let value = clean::clip(&clean::line(&to_words(value, say)?), FACT_CHARS_MAX);
    let label = names::property(key, say.language()).map_or_else(|| words(&clean::line(key)), str::to_owned);
    (!value.is_empty() && !label.is_empty()).then_some(Fact { label, value })
}

/// A value in words; `None` for what has none.
fn to_words(value: &Value, say: Sentences) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(true) => Some(say.page_yes().to_lowercase()),
        Value::Bool(false) => Some(say.page_no().to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(duration(text).unwrap_or_else(|| named(text, say))),
        Value::Array(values) => list_to_words(values, say),
        Value::Object(fields) => object_to_words(fields, say),
    }
}

fn list_to_words(values: &[Value], say: Sentences) -> Option<String> {
    let said: Vec<String> = values.iter().take(FACT_VALUES_MAX).filter_map(|value| scalar(value, say)).collect();
    let more = values.len().saturating_sub(FACT_VALUES_MAX);
    match (said.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(said.join(", ")),
        (false, more) => Some(say.page_and_more(&said.join(", "), &more)),
    }
}

/// What an element of a list says: words, or the name of an object. No deeper.
fn scalar(value: &Value, say: Sentences) -> Option<String> {
    match value {
        Value::Array(_) => None,
        Value::Object(fields) => object_to_words(fields, say),
        other => to_words(other, say),
    }
}

/// A price, a rating or a name.
fn object_to_words(fields: &Map<String, Value>, say: Sentences) -> Option<String> {
    let plain = |key: &str| match fields.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let price = || match plain("priceCurrency") {
        Some(currency) => Some(format!("{} {currency}", plain("price")?)),
        None => plain("price"),
    };
    let rating = || match plain("ratingCount").or_else(|| plain("reviewCount")) {
        Some(count) => Some(say.page_rated(&plain("ratingValue")?, &count)),
        None => plain("ratingValue"),
    };
    price().or_else(rating).or_else(|| plain("name")).or_else(|| plain("value"))
}

/// `PT1H30M` as `1 h 30 min`; `None` when it is no duration of days, hours, minutes and seconds.
fn duration(text: &str) -> Option<String> {
    let rest = text.strip_prefix('P').filter(|rest| rest.len() <= 20 && rest.ends_with(['D', 'H', 'M', 'S']))?;
    let (mut said, mut digits, mut in_time) = (Vec::new(), String::new(), false);
    for c in rest.chars() {
        match (c, in_time) {
            ('0'..='9', _) => digits.push(c),
            ('T', false) if digits.is_empty() => in_time = true,
            ('D', false) => said.push(quantity(&mut digits, "d")?),
            ('H', true) => said.push(quantity(&mut digits, "h")?),
            ('M', true) => said.push(quantity(&mut digits, "min")?),
            ('S', true) => said.push(quantity(&mut digits, "s")?),
            _ => return None,
        }
    }
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Takes the digits; nothing is said of zero. `None` when there are no digits.
fn quantity(digits: &mut String, unit: &str) -> Option<Option<String>> {
    let number: u64 = std::mem::take(digits).parse().ok()?;
    Some((number > 0).then(|| format!("{number} {unit}")))
}

/// A value in the words of a page, where it is a name of a vocabulary that is known; other text as it is.
pub(crate) fn named(text: &str, say: Sentences) -> String {
    let name = short_name(text);
    names::value(name, say.language()).unwrap_or(name).to_owned()
}

/// `https://schema.org/VeganDiet` as `VeganDiet`; other text as it is.
fn short_name(text: &str) -> &str {
    let bare = text.strip_prefix("https://schema.org/").or_else(|| text.strip_prefix("http://schema.org/"));
    bare.unwrap_or(text)
}

/// `totalTime` and `total_time` as `Total time`.
pub(crate) fn words(key: &str) -> String {
    let mut label = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        match c {
            '_' | '-' => label.push(' '),
            c if c.is_uppercase() && label.ends_with(char::is_lowercase) => {
                label.push(' ');
                label.extend(c.to_lowercase());
            }
            c if label.is_empty() => label.extend(c.to_uppercase()),
            c => label.push(c),
        }
    }
    label
}

/// The host of a web link.
fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    // What stands before an `@` is a user's name, and may look like another host.
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| clean::line(host))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn english() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

    fn card(data: Value) -> Item {
        match views(&data, english()).into_iter().next() {
            Some(ItemView::Item(item)) => *item,
            _ => panic!("no card: {data}"),
        }
    }

    fn fact_of(value: Value) -> Option<String> {
        fact("x", &value, english()).map(|fact| fact.value)
    }

    #[test]
    fn what_has_no_name_is_shown_as_json() {
        for data in [json!(null), json!(1), json!("x"), json!([]), json!([1]), json!({"a": 1}), json!({"name": 1})] {
            assert!(matches!(views(&data, english())[..], [ItemView::Json(_)]), "{data}");
        }
    }

    fn facts(fields: &Map<String, Value>, say: Sentences) -> Vec<Fact> {
        in_order(fields).filter_map(|(key, value)| fact(key, value, say)).collect()
    }

    #[test]
    fn a_recipe_becomes_a_card() {
        let item = card(json!({
            "@type": ["Recipe"], "name": "Chana\nmasala", "url": "https://a.example/r/1", "description": "Quick.",
            "totalTime": "PT1H30M", "recipeYield": 4, "author": {"name": "Ada"},
            "aggregateRating": {"ratingValue": 4.5, "ratingCount": 10}, "offers": {"price": "3", "priceCurrency": "EUR"},
            "recipeIngredient": ["1", "2", "3", "4", "5", "6", "7"], "image": "https://a.example/i.png",
        }));
        assert_eq!((item.title.as_str(), kind(&item.fields).as_deref()), ("Chana masala", Some("Recipe")));
        assert_eq!(item.source.as_deref(), Some("a.example"));
        let said: Vec<_> = facts(&item.fields, english()).iter().map(|f| format!("{}: {}", f.label, f.value)).collect();
        assert_eq!(said[0], "Total time: 1 h 30 min");
        assert!(said.contains(&"Rating: 4.5 (10 ratings)".to_owned()), "{said:?}");
        assert!(said.contains(&"Price: 3 EUR".to_owned()), "{said:?}");
        assert!(said.contains(&"Ingredients: 1, 2, 3, 4, 5, 6 and 1 more".to_owned()), "{said:?}");
    }

    #[test]
    fn what_is_read_at_a_glance_is_short_and_no_address() {
        let item = card(json!({
            "name": "A", "totalTime": "PT5M", "license": "x", "x": "https://a.example/", "y": "z".repeat(BRIEF_CHARS_MAX + 1),
            "recipeCategory": "Soup", "difficulty": 2, "a": "1", "b": "2", "c": "3",
        }));
        let said: Vec<_> = item.brief.iter().map(|f| format!("{} {}", f.label, f.value)).collect();
        assert_eq!(said.len(), RESULT_FACTS_MAX);
        assert_eq!(said[0], "Total time 5 min");
        assert!(said.iter().all(|said| !said.contains("://") && !said.starts_with("License")), "{said:?}");
    }

    #[test]
    fn a_property_is_not_called_after_its_kind_of_thing() {
        let item = card(json!({
            "@type": "Book", "name": "A", "bookFormat": "2nd", "bookish": "yes",
            "bookParts": ["one leaf", "two sheets", "https://a.example/leaf"],
        }));
        let labels: Vec<&str> = item.brief.iter().map(|fact| fact.label.as_str()).collect();
        assert_eq!(labels, ["Format", "Bookish", "Parts"][..labels.len()]);
        let found = item.entries(|text| text.contains("leaf")).unwrap();
        assert_eq!(found, ["one leaf"]);
        assert_eq!(item.entries(|_| false), None);
    }

    #[test]
    fn entries_are_bounded() {
        let parts = |count: usize| card(json!({"name": "A", "parts": vec!["x"; count]})).entries(|_| true).unwrap();
        assert_eq!(parts(ENTRIES_SHOWN_MAX).len(), ENTRIES_SHOWN_MAX);
        assert_eq!(parts(ENTRIES_SHOWN_MAX + 1).len(), ENTRIES_SHOWN_MAX);
    }

    #[test]
    fn a_wrapped_object_is_unwrapped() {
        let item = card(json!({"name": "A", "score": 3, "schema_object": [{"@type": "schema:Movie", "genre": "x"}]}));
        assert_eq!(kind(&item.fields).as_deref(), Some("Movie"));
        assert_eq!(facts(&item.fields, english()), [Fact { label: "Genre".to_owned(), value: "x".to_owned() }]);
    }

    #[test]
    fn a_list_is_a_card_each() {
        assert_eq!(views(&json!([{"name": "a"}, {"name": "b"}]), english()).len(), 2);
    }

    #[test]
    fn a_link_of_another_scheme_is_left_out() {
        assert_eq!(card(json!({"name": "a", "url": "javascript:alert(1)"})).url, None);
    }

    #[test]
    fn facts_are_bounded() {
        assert_eq!(fact_of(json!("x".repeat(FACT_CHARS_MAX))).unwrap().chars().count(), FACT_CHARS_MAX);
        assert_eq!(fact_of(json!("x".repeat(FACT_CHARS_MAX + 1))).unwrap().chars().count(), FACT_CHARS_MAX + 1);
    }

    #[test]
    fn durations_are_said_in_words_and_other_text_is_left() {
        for (text, said) in [("PT45M", "45 min"), ("P1DT2H", "1 d 2 h"), ("PT0H5M", "5 min")] {
            assert_eq!(fact_of(json!(text)).as_deref(), Some(said));
        }
        for text in ["P", "PT", "PM", "PT5", "PTM", "P5M", "PDD", "Pizza M", "PT99999999999999999999M"] {
            assert_eq!(fact_of(json!(text)).as_deref(), Some(text), "{text}");
        }
    }

    #[test]
    fn what_schema_org_names_is_told_in_the_language_of_the_page() {
        let german = Sentences::in_language(SpokenLanguage::German);
        let item = json!({
            "@type": "Recipe", "name": "A", "totalTime": "PT5M", "suitableForDiet": "https://schema.org/VeganDiet",
            "glutenFree": true, "aggregateRating": {"ratingValue": 4, "ratingCount": 2}, "house_rule": "VeganDiner",
        });
        let said = facts(item.as_object().unwrap(), german);
        let said: Vec<_> = said.iter().map(|fact| format!("{}: {}", fact.label, fact.value)).collect();
        for wanted in [
            "Gesamtzeit: 5 min",
            "Ernährung: Vegan",
            "Gluten free: ja",
            "Bewertung: 4 (2 Bewertungen)",
            "House rule: VeganDiner",
        ] {
            assert!(said.contains(&wanted.to_owned()), "{wanted} in {said:?}");
        }
    }
}
