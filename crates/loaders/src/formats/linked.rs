//! JSON-LD's ways to put items into other items.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{At, Reason, Sink, Stop, graph, json_feed, shape};
use crate::item;
use crate::item::type_name;

/// Members that hold the items of a collection.
const LISTS: &[&str] = &["itemListElement", "dataFeedElement"];
/// Types that are a wrapping around one item, and the member it is in.
const WRAPPINGS: &[(&str, &str)] = &[("ListItem", "item"), ("DataFeedItem", "item"), ("WebPage", "mainEntity")];
/// Types whose questions are items.
const QUESTION_LISTS: &[&str] = &["FAQPage", "QAPage", "Quiz"];

/// Characters of what is no price that are told.
const PRICE_CHARS_SAID: usize = 60;

/// Takes one item.
type Take<'t> = &'t mut dyn FnMut(&Value) -> Result<(), Stop>;

/// Passes on the items in a value. `raw` is how the value itself is written.
pub(super) fn offer(value: &Value, at: At, raw: Option<&[u8]>, sink: &mut dyn Sink) -> Result<(), Stop> {
    tell_price(value, at, sink)?;
    each_item(value, &mut |item| match item.is_object() {
        true => sink.item(at, item, raw.filter(|_| std::ptr::eq(item, value))),
        false => sink.skip(at, Reason::NotAnObject),
    })
}

/// Tells that a price is none, if it is so.
pub(super) fn tell_price(value: &Value, at: At, sink: &mut dyn Sink) -> Result<(), Stop> {
    match shape::unreadable_price(value) {
        Some(text) => sink.skip(at, Reason::NoPrice(text.chars().take(PRICE_CHARS_SAID).collect())),
        None => Ok(()),
    }
}

/// Visits the items in a value: the elements of arrays and collections, what wrappings hold, or
/// the value itself. Goes as deep as the value does, which the parser has bounded.
pub(crate) fn each_item(value: &Value, take: Take<'_>) -> Result<(), Stop> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| each_item(item, take)),
        Value::Object(fields) => {
            if let Some(Value::Array(nodes)) = fields.get("@graph") {
                return of_graph(nodes, &mut |_, item| take(item));
            }
            if let Some(items) = json_feed::items(value) {
                return items.iter().try_for_each(take);
            }
            if let Some(questions) = questions(value) {
                return questions.iter().try_for_each(take);
            }
            let list = LISTS.iter().find_map(|key| fields.get(*key).filter(|list| list.is_array()));
            match list.or_else(|| wrapped(value)) {
                Some(inner) => each_item(inner, take),
                None => match shape::shaped(value) {
                    Some(shaped) => take(&shaped),
                    None => take(value),
                },
            }
        }
        _ => take(value),
    }
}

/// The items of a graph, each with what it refers to and the place of the node that it is in. What several lead
/// to is one item.
pub(super) fn of_graph(nodes: &[Value], take: &mut dyn FnMut(usize, &Value) -> Result<(), Stop>) -> Result<(), Stop> {
    let mut seen = HashSet::new();
    for (at, node) in graph::joined(nodes) {
        each_item(&node, &mut |item| match item.get("@id").and_then(Value::as_str) {
            // A node with a name is an item by itself and within each node that refers to it.
            Some(id) if !seen.insert(id.to_owned()) => Ok(()),
            _ => take(at, item),
        })?;
    }
    Ok(())
}

fn kind(value: &Value) -> Option<&str> {
    let kind = value.get("@type")?;
    kind.as_str().or_else(|| kind.as_array()?.iter().find_map(Value::as_str)).map(type_name)
}

fn wrapped(value: &Value) -> Option<&Value> {
    let own = kind(value)?;
    let (_, member) = WRAPPINGS.iter().find(|(kind, _)| *kind == own)?;
    // A page whose main entity has no name is the item itself.
    value.get(*member).filter(|inner| item::name(inner).is_some() || inner.is_array())
}

/// The questions of a page of them, each with its answer as its text.
fn questions(value: &Value) -> Option<Vec<Value>> {
    kind(value).filter(|kind| QUESTION_LISTS.contains(kind))?;
    let list = value.get("mainEntity").or_else(|| value.get("hasPart"))?;
    let list = list.as_array().map_or(std::slice::from_ref(list), Vec::as_slice);
    let page = ["url", "@id"].iter().find_map(|key| value.get(*key)?.as_str());
    let questions = list.iter().filter(|question| item::name(question).is_some());
    let questions: Vec<Value> = questions
        .zip(1..)
        .map(|(question, place)| {
            let mut question = shape::shaped(question).unwrap_or_else(|| question.clone());
            if let Value::Object(fields) = &mut question {
                fields.entry("@type").or_insert_with(|| "Question".into());
                if let Some(name) = item::name(value) {
                    fields.entry("isPartOf").or_insert_with(|| json!(name));
                }
                if let Some(page) = page.filter(|_| !fields.contains_key("url")) {
                    // All questions of a page have its address; the number tells them apart.
                    fields.entry("@id").or_insert_with(|| format!("{page}#question-{place}").into());
                    fields.insert("url".to_owned(), page.into());
                }
            }
            question
        })
        .collect();
    (!questions.is_empty()).then_some(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(value: &Value) -> Vec<Value> {
        let mut out = Vec::new();
        each_item(value, &mut |item| {
            out.push(item.clone());
            Ok(())
        })
        .unwrap();
        out
    }

    fn names(value: Value) -> Vec<String> {
        items(&value).iter().map(|item| item["name"].as_str().unwrap_or("?").to_owned()).collect()
    }

    #[test]
    fn collections_and_wrappings_are_opened() {
        assert_eq!(names(json!({"@graph": [{"name": "a"}, [{"name": "b"}]]})), ["a", "b"]);
        assert_eq!(names(json!({"@type": "WebPage", "name": "p", "mainEntity": {"name": "a"}})), ["a"]);
        assert_eq!(names(json!({"@type": "WebPage", "name": "p"})), ["p"]);
        assert_eq!(names(json!({"@type": "Recipe", "name": "r", "item": {"name": "a"}})), ["r"]);
        assert_eq!(names(json!([1, null])), ["?", "?"]);
    }

    #[test]
    fn questions_are_items_with_their_answers() {
        let page = json!({"@type": "FAQPage", "name": "Help", "url": "https://e.org/faq", "mainEntity": [
            {"@type": "Question", "name": "Can I return it?", "acceptedAnswer": {"@type": "Answer", "text": "<p>Yes, within <b>30</b> days.</p>"}},
            {"@type": "Question", "name": "And then?", "@id": "#then", "suggestedAnswer": [{"text": "One."}, {"text": "Two."}]}]});
        let items = items(&page);
        assert_eq!(items[0]["text"], "Yes, within 30 days.");
        assert_eq!(items[0]["@id"], "https://e.org/faq#question-1");
        assert_eq!((&items[0]["url"], &items[0]["isPartOf"]), (&json!("https://e.org/faq"), &json!("Help")));
        assert_eq!((&items[1]["@id"], &items[1]["text"]), (&json!("#then"), &json!("One.\nTwo.")));
        assert_eq!(names(json!({"@type": "FAQPage", "name": "Empty", "mainEntity": []})), ["Empty"]);
    }

    #[test]
    fn what_a_graph_leads_to_twice_is_one_item() {
        let graph = json!({"@graph": [
            {"@type": "WebPage", "@id": "p", "name": "Page", "mainEntity": {"@id": "r"}},
            {"@type": "Recipe", "@id": "r", "name": "Soup", "author": {"@id": "a"}, "offers": {"@id": "o"}},
            {"@type": "Person", "@id": "a", "name": "Ann"},
            {"@type": "Offer", "@id": "o", "price": 5}]});
        let items = items(&graph);
        assert_eq!(items.iter().map(|item| item["name"].as_str().unwrap()).collect::<Vec<_>>(), ["Soup", "Ann"]);
        assert_eq!(items[0]["author"]["name"], "Ann");
        assert_eq!(items[0]["offers"]["price"], 5);
    }
}
