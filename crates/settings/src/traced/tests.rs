//! What is read is what `serde_json` reads, with the same words where it is not right, and the place beside them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;

#[derive(Debug, PartialEq, Deserialize, PartialOrd, Eq, Ord)]
struct Name(String);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Choice {
    Plain,
    One(u8),
    Two(u8, String),
    Named { port: u16 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    A { size: u8 },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    flag: bool,
    ratio: f64,
    letter: char,
    pair: (i8, Option<String>),
    choices: Vec<Choice>,
    #[serde(default)]
    codes: BTreeMap<u16, String>,
    #[serde(default)]
    names: BTreeMap<Name, ()>,
    #[serde(default)]
    any: Value,
    #[serde(default)]
    tagged: Option<Tagged>,
}

fn whole() -> Value {
    json!({
        "flag": true, "ratio": 1, "letter": "x", "pair": [-3, null],
        "choices": ["plain", {"one": 1}, {"two": [2, "b"]}, {"named": {"port": 80}}],
        "codes": {"404": "none"}, "names": {"n": null}, "any": {"a": [1, 2.5, null, u64::MAX]},
        "tagged": {"kind": "a", "size": 3}
    })
}

/// Where it is wrong; the words are those of `serde_json`.
fn steps_of_error<T: DeserializeOwned + Debug>(value: &Value) -> Vec<Step> {
    let error = deserialize::<T>(value).map(|read| format!("{read:?}")).unwrap_err();
    assert_eq!(error.message, serde_json::from_value::<T>(value.clone()).unwrap_err().to_string());
    error.steps
}

#[test]
fn what_is_right_is_read() {
    let read: Whole = deserialize(&whole()).unwrap();
    assert_eq!(read, serde_json::from_value(whole()).unwrap());
    assert_eq!(read.codes[&404], "none");
    assert_eq!(deserialize::<BTreeMap<bool, u8>>(&json!({"true": 1})).unwrap()[&true], 1);
}

#[test]
fn what_is_wrong_is_said_in_the_same_words_with_its_place() {
    let key = |name: &str| Step::Key(name.to_owned());
    let wrong: Vec<(&str, Value, Vec<Step>)> = vec![
        ("flag", json!("yes"), vec![key("flag")]),
        ("flag", json!(1.5), vec![key("flag")]),
        ("ratio", json!(null), vec![key("ratio")]),
        ("letter", json!("xy"), vec![key("letter")]),
        ("pair", json!([200, null]), vec![key("pair"), Step::Index(0)]),
        ("pair", json!([1, 2]), vec![key("pair"), Step::Index(1)]),
        ("pair", json!([1]), vec![key("pair")]),
        ("pair", json!([1, null, 3]), vec![key("pair")]),
        ("choices", json!({}), vec![key("choices")]),
        ("choices", json!(["none"]), vec![key("choices"), Step::Index(0)]),
        ("choices", json!(["plain", {"one": 256}]), vec![key("choices"), Step::Index(1)]),
        ("choices", json!(["one"]), vec![key("choices"), Step::Index(0)]),
        ("choices", json!([{"one": 1, "two": 2}]), vec![key("choices"), Step::Index(0)]),
        ("choices", json!([{"two": 3}]), vec![key("choices"), Step::Index(0)]),
        ("choices", json!([{"two": [1, 2]}]), vec![key("choices"), Step::Index(0), Step::Index(1)]),
        ("choices", json!([{"named": {"port": -1}}]), vec![key("choices"), Step::Index(0), key("port")]),
        ("choices", json!([{"plain": 1}]), vec![key("choices"), Step::Index(0)]),
        ("choices", json!([7]), vec![key("choices"), Step::Index(0)]),
        ("codes", json!({"404": 1}), vec![key("codes"), key("404")]),
        ("names", json!({"n": 1}), vec![key("names"), key("n")]),
        ("tagged", json!({"kind": "a", "size": 300}), vec![key("tagged")]),
        ("more", json!(1), vec![key("more")]),
    ];
    for (name, value, place) in wrong {
        let mut all = whole();
        all[name] = value;
        assert_eq!(steps_of_error::<Whole>(&all), place, "{all}");
    }
    let mut less = whole();
    less.as_object_mut().unwrap().remove("ratio");
    assert_eq!(steps_of_error::<Whole>(&less), []);
    // Of keys that are numbers, `serde_json` would name a line and a column of the key.
    for wrong in [json!({"4x": 1}), json!({"70000": 1}), json!({"": 1})] {
        let error = deserialize::<BTreeMap<u16, u8>>(&wrong).unwrap_err();
        let (name, _) = wrong.as_object().unwrap().iter().next().unwrap();
        assert_eq!(error.steps, [key(name)], "{wrong}");
    }
}
