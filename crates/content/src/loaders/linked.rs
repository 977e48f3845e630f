//! JSON-LD's ways to put items into other items.

use serde_json::Value;

use super::Stop;

/// Members that hold the items of a collection.
const LISTS: &[&str] = &["@graph", "itemListElement", "dataFeedElement"];
/// Types that are a wrapping around one item, and the member it is in.
const WRAPPINGS: &[(&str, &str)] = &[("ListItem", "item"), ("DataFeedItem", "item"), ("WebPage", "mainEntity")];

/// Visits the items in a value: the elements of arrays and collections, what wrappings hold, or
/// the value itself. Goes as deep as the value does, which the parser has bounded.
pub(crate) fn each_item<'v>(value: &'v Value, take: &mut dyn FnMut(&'v Value) -> Result<(), Stop>) -> Result<(), Stop> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| each_item(item, take)),
        Value::Object(fields) => {
            let list = LISTS.iter().find_map(|key| fields.get(*key).filter(|list| list.is_array()));
            match list.or_else(|| wrapped(value)) {
                Some(inner) => each_item(inner, take),
                None => take(value),
            }
        }
        _ => take(value),
    }
}

fn wrapped(value: &Value) -> Option<&Value> {
    let own = value.get("@type")?.as_str().map(crate::facts::type_name)?;
    let (_, member) = WRAPPINGS.iter().find(|(kind, _)| *kind == own)?;
    value.get(*member).filter(|inner| crate::item::name(inner).is_some() || inner.is_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(value: Value) -> Vec<String> {
        let mut out = Vec::new();
        let mut take = |item: &Value| {
            out.push(item["name"].as_str().unwrap_or("?").to_owned());
            Ok(())
        };
        each_item(&value, &mut take).unwrap();
        out
    }

    #[test]
    fn collections_and_wrappings_are_opened() {
        assert_eq!(names(json!({"@graph": [{"name": "a"}, [{"name": "b"}]]})), ["a", "b"]);
        assert_eq!(names(json!({"@type": "WebPage", "name": "p", "mainEntity": {"name": "a"}})), ["a"]);
        assert_eq!(names(json!({"@type": "WebPage", "name": "p"})), ["p"]);
        assert_eq!(names(json!({"@type": "Recipe", "name": "r", "item": {"name": "a"}})), ["r"]);
        assert_eq!(names(json!([1, null])), ["?", "?"]);
    }
}
