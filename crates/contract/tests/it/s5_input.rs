//! Sections 5.3 and 5.5: one input out of query, path and body.

use forecourt_contract::input::{merge, pairs};
use forecourt_contract::limits::QUERY_BYTES_MAX;
use forecourt_contract::{Schema, Violation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::object;

fn schema() -> Schema {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "either": {"type": ["integer", "string"]}, "maybe": {"type": ["integer", "null"]}, "any": {},
    }});
    Schema::input(schema).unwrap()
}

fn merged(query: &str, path: &[(&str, &str)], body: Value) -> Result<Value, Violation> {
    let path: Vec<_> = path.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    merge(Some(&schema()), Some(query), &path, object(body)).map(Value::Object)
}

#[test]
fn s5_5_a_percent_sign_that_encodes_nothing_is_refused() {
    for query in ["a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=%c0%ae"] {
        assert!(pairs(query).is_err(), "{query}");
    }
}

#[test]
fn s5_5_values_are_decoded_and_a_plus_is_a_plus() {
    assert_eq!(
        pairs("a=x%2Cy&b=1+1&%63=%C3%A9").unwrap(),
        [("a".into(), "x,y".into()), ("b".into(), "1+1".into()), ("c".into(), "\u{e9}".into()),]
    );
    assert_eq!(pairs("a&=1&&b=").unwrap(), [("a".into(), String::new()), ("b".into(), String::new())]);
    assert_eq!(pairs("a=1=2?3").unwrap(), [("a".into(), "1=2?3".into())]);
}

#[test]
fn s5_5_the_last_value_of_a_repeated_key_counts() {
    assert_eq!(merged("s=1&s=2&n=1&n=3", &[], json!({})).unwrap(), json!({"s": "2", "n": 3}));
}

#[test]
fn s5_5_the_body_wins_over_the_query() {
    assert_eq!(merged("s=query&n=1", &[], json!({"s": "body"})).unwrap(), json!({"s": "body", "n": 1}));
}

#[test]
fn s5_5_texts_become_what_is_declared_if_they_read_as_such() {
    let query = "n=5&x=-1.5e3&b=true&s=5&either=5&maybe=7&any=5";
    let expected = json!({"n": 5, "x": -1500.0, "b": true, "s": "5", "either": "5", "maybe": 7, "any": "5"});
    assert_eq!(merged(query, &[], json!({})).unwrap(), expected);
    for text in ["five", "", "%205", "05", "0x5", "5%20", "1e999", "true", "[5]", "null", "NaN", "%225%22"] {
        let decoded = pairs(&format!("n={text}")).unwrap()[0].1.clone();
        assert_eq!(merged(&format!("n={text}"), &[], json!({})).unwrap(), json!({"n": decoded}), "stays a text");
    }
    assert_eq!(merged("b=True", &[], json!({})).unwrap(), json!({"b": "True"}));
}

#[test]
fn s5_5_nothing_is_coerced_in_a_body() {
    assert_eq!(merged("", &[], json!({"n": "5"})).unwrap(), json!({"n": "5"}));
}

#[test]
fn s5_3_the_path_is_not_contradicted() {
    let taken = [("n", "5")];
    assert_eq!(merged("", &taken, json!({})).unwrap(), json!({"n": 5}));
    for same in [json!({"n": 5}), json!({"n": "5"})] {
        assert_eq!(merged("", &taken, same).unwrap(), json!({"n": 5}));
    }
    assert_eq!(merged("n=5", &taken, json!({})).unwrap(), json!({"n": 5}));
    for other in [json!({"n": 6}), json!({"n": null})] {
        assert_eq!(merged("", &taken, other).unwrap_err().field, "/n");
    }
    assert_eq!(merged("n=6", &taken, json!({})).unwrap_err().field, "/n");
}

#[test]
fn s5_5_a_query_has_a_bound() {
    let long = |bytes: usize| pairs(&format!("a={}", "x".repeat(bytes - 2)));
    assert!(long(QUERY_BYTES_MAX).is_ok());
    assert!(long(QUERY_BYTES_MAX + 1).is_err());
}

#[test]
fn without_a_schema_everything_is_text() {
    let input = merge(None, Some("n=5"), &[("id".into(), "7".into())], Map::new()).unwrap();
    assert_eq!(Value::Object(input), json!({"n": "5", "id": "7"}));
}

proptest! {
    #[test]
    fn any_query_is_refused_or_merged(query in "[a-z0-9=&%+.é\u{0}]{0,60}") {
        let _ = merged(&query, &[], json!({}));
    }
}
