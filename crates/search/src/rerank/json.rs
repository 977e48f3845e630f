//! JSON out of what a model writes: bare, fenced, behind a preface, or cut off in the middle.

use serde_json::{Deserializer, Value};

/// Places where JSON may begin that are tried.
const PLACES_MAX: usize = 256;

/// The whole JSON values in `text`, in their order. Of one that is cut off, the whole values inside.
pub(super) fn values(text: &str) -> Vec<Value> {
    let (mut found, mut at) = (Vec::new(), 0);
    for _ in 0..PLACES_MAX {
        let Some(begin) = text[at..].find(['{', '[']).map(|offset| at + offset) else { break };
        // As a stream, which stops behind the first value: models write prose after their JSON.
        let mut read = Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        at = match read.next() {
            Some(Ok(value)) => {
                found.push(value);
                begin + read.byte_offset()
            }
            // A value that is cut off has whole ones inside: each bracket is tried.
            _ => begin + 1,
        };
    }
    found
}

/// The objects that have `key`: among the values themselves, and in lists at their first two levels.
pub(super) fn objects_with<'a>(values: &'a [Value], key: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for value in values {
        gather(value, key, 3, &mut found);
    }
    found
}

fn gather<'a>(value: &'a Value, key: &str, depth: usize, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) if fields.contains_key(key) => found.push(value),
        Value::Object(fields) if depth > 0 => fields.values().for_each(|inner| gather(inner, key, depth - 1, found)),
        Value::Array(items) if depth > 0 => items.iter().for_each(|inner| gather(inner, key, depth - 1, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_wherever_it_stands() {
        let wanted = vec![json!({"a": [1]})];
        for text in [
            r#"{"a":[1]}"#,
            "```json\n{\"a\": [1]}\n```",
            r#"Sure! Here you are: {"a":[1]} I hope {this} helps."#,
            "\u{feff} {\"a\":[1]}",
        ] {
            assert_eq!(values(text), wanted, "{text}");
        }
        assert_eq!(values("I would rather not."), [] as [Value; 0]);
    }

    #[test]
    fn of_a_list_that_is_cut_off_the_whole_entries_are_kept() {
        let cut = r#"{"items": [{"n": 1, "score": 9}, {"n": 2, "score": 8}, {"n": 3, "sco"#;
        let values = values(cut);
        let found: Vec<u64> = objects_with(&values, "n").iter().filter_map(|item| item["n"].as_u64()).collect();
        assert_eq!(found, [1, 2]);
    }

    #[test]
    fn only_so_many_places_are_tried() {
        let behind = |count: usize| values(&format!("{}{{}}", "{".repeat(count))).len();
        assert_eq!((behind(PLACES_MAX - 1), behind(PLACES_MAX)), (1, 0));
    }

    #[test]
    fn objects_are_found_in_wrappings() {
        for text in [r#"[{"n":1}]"#, r#"{"items":[{"n":1}]}"#, r#"{"n":1}"#, r#"{"answer":{"items":[{"n":1}]}}"#] {
            assert_eq!(objects_with(&values(text), "n").len(), 1, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_to_something(text in "[\\[\\]{}\",:0-9a-z\\\\ é]{0,200}") {
            let found = values(&text);
            prop_assert!(found.len() <= PLACES_MAX);
        }
    }
}
