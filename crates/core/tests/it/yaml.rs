//! YAML from strangers.

use forecourt_core::limits::JSON_DEPTH_MAX;
use forecourt_core::yaml::{YamlBounds, parse};
use proptest::prelude::*;
use serde_json::json;

const BOUNDS: YamlBounds = YamlBounds { nodes_max: 1_000, repeated_max: 100 };

fn read(text: &str) -> Result<serde_json::Value, String> {
    parse(text.as_bytes(), BOUNDS)
}

#[test]
fn what_json_could_say_is_read() {
    let value = read("a: 1\nb: [x, \"07\", 07, 1_0, yes, true, null, 1.5]\nc: {d: |\n  two\n  lines\n}\n").unwrap();
    assert_eq!(value["a"], 1);
    assert_eq!(value["b"], json!(["x", "07", "07", "1_0", "yes", true, null, 1.5]));
    assert_eq!(read("{\"a\": [1, 2]}").unwrap(), json!({"a": [1, 2]}));
    assert_eq!(read("a: &x [1]\nb: *x\n").unwrap(), json!({"a": [1], "b": [1]}));
}

#[test]
fn what_could_be_read_in_two_ways_is_not() {
    for wrong in ["a: 1\na: 2", "a: .nan", "a: .inf", "a: *x", "a: [", "---\na: 1\n---\na: 2\n", "a: 1\n b: 2", "\u{1}"] {
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

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = parse(text.as_bytes(), BOUNDS);
        let _ = parse(&bytes, BOUNDS);
    }
}
