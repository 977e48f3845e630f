//! YAML from strangers.

use forecourt_core::limits::JSON_DEPTH_MAX;
use forecourt_core::yaml::{YamlBounds, parse, write};
use proptest::prelude::*;
use serde_json::json;

const BOUNDS: YamlBounds = YamlBounds { nodes_max: 1_000, repeated_max: 100 };

fn read(text: &str) -> Result<serde_json::Value, String> {
    parse(text.as_bytes(), BOUNDS)
}

#[test]
fn what_json_could_say_is_read() {
    let value = read("a: 1\nb: [x, \"07\", 07, 1_0, yes, true, null, 1.5]\nc: |\n  two\n  lines\n").unwrap();
    assert_eq!(value["a"], 1);
    assert_eq!(value["b"], json!(["x", "07", "07", "1_0", "yes", true, null, 1.5]));
    assert_eq!(value["c"], "two\nlines\n");
    assert_eq!(read("{\"a\": [1, 2]}").unwrap(), json!({"a": [1, 2]}));
    assert_eq!(read("a: &x [1]\nb: *x\n").unwrap(), json!({"a": [1], "b": [1]}));
}

#[test]
fn what_could_be_read_in_two_ways_is_not() {
    for wrong in ["a: 1\na: 2", "a: .nan", "a: .inf", "a: *x", "a: [", "---\na: 1\n---\na: 2\n", "a: 1\n b: 2", "\u{1}"]
    {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
    assert!(parse(b"a: \xff", BOUNDS).is_err());
}

#[test]
fn everything_has_a_bound() {
    let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    // The list itself is a value too.
    assert!(read(&list(BOUNDS.nodes_max - 1)).is_ok());
    assert!(read(&list(BOUNDS.nodes_max)).is_err());
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read(&deep(JSON_DEPTH_MAX)).is_ok());
    assert!(read(&deep(JSON_DEPTH_MAX + 1)).is_err());
    let repeated = |times: usize| format!("a: &a 1\nb: [{}]\n", vec!["*a"; times].join(","));
    assert!(read(&repeated(BOUNDS.repeated_max)).is_ok());
    assert!(read(&repeated(BOUNDS.repeated_max + 1)).is_err());
    let bomb: String = (1..20).map(|n| format!("k{n}: &k{n} [*k{p},*k{p},*k{p}]\n", p = n - 1)).collect();
    assert!(read(&format!("k0: &k0 [1]\n{bomb}")).is_err());
}

/// Texts that YAML could take for something else.
const ODD: &[&str] = &[
    "",
    "~",
    "null",
    "yes",
    "07",
    "1_0",
    "0x1f",
    "1e3",
    ".nan",
    "- a",
    "a: b",
    "#c",
    "*a",
    "&a",
    "!t",
    "|",
    "%",
    "@",
    "`",
    " a ",
    "a\nb\n",
    "\n",
    "\t",
    "2001-01-01",
    "<<",
    "---",
    "...",
    "'",
    "\"",
    "\\",
    "\u{85}",
    "\u{feff}",
    "\u{7f}",
    "\u{2028}",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(ODD).prop_map(str::to_owned), ".{0,60}", "(?s).{0,20}"]
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::Array),
            proptest::collection::btree_map(text(), inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in value()) {
        let written = write(&value).unwrap();
        prop_assert_eq!(parse(written.as_bytes(), BOUNDS), Ok(value), "{}", written);
    }

    #[test]
    fn nothing_makes_it_panic(text in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = parse(text.as_bytes(), BOUNDS);
        let _ = parse(&bytes, BOUNDS);
    }
}
