//! JSON from strangers.

use std::time::{Duration, Instant};

use forecourt_core::json::parse;
use forecourt_core::limits::JSON_DEPTH_MAX;
use proptest::prelude::*;
use serde_json::Value;

use crate::{cases, text};

/// Debug builds on a busy machine are slow; what is to be caught is quadratic work.
const SLOW: Duration = Duration::from_secs(2);

#[test]
fn rfc8259_what_must_be_read_is_read_and_the_rest_refused() {
    for file in forecourt_testkit::vector_files("json-parsing").unwrap_or_default() {
        let name = file.file_name().unwrap().to_string_lossy();
        let bytes = std::fs::read(&file).unwrap();
        let started = Instant::now();
        let read = parse(&bytes);
        assert!(started.elapsed() < SLOW, "{name}");
        match name.as_bytes()[0] {
            // Names must be unique (RFC 8259 4 says SHOULD, we say must).
            b'y' if name.contains("duplicated_key") => assert!(read.is_err(), "{name}"),
            b'y' => assert!(read.is_ok(), "{name}: {read:?}"),
            b'n' => assert!(read.is_err(), "{name}: {read:?}"),
            _ => {}
        }
    }
}

#[test]
fn hostile_documents_are_refused_fast() {
    for case in cases("json-hostile/cases.json") {
        let started = Instant::now();
        let read = parse(text(&case, "json").as_bytes());
        assert!(started.elapsed() < SLOW, "{}", case["id"]);
        let about_json_rpc = text(&case, "id").starts_with("jh-batch") || text(&case, "id").starts_with("jh-rpc");
        match text(&case, "expect") {
            "accept" | "accept-fast" => assert!(read.is_ok(), "{}: {read:?}", case["id"]),
            "reject" | "reject-fast" if !about_json_rpc => assert!(read.is_err(), "{}", case["id"]),
            _ => {}
        }
    }
}

#[test]
fn sixty_four_levels_are_read_and_no_more() {
    let arrays = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}0{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    for nested in [arrays, objects] {
        assert!(parse(nested(JSON_DEPTH_MAX).as_bytes()).is_ok());
        let error = parse(nested(JSON_DEPTH_MAX + 1).as_bytes()).unwrap_err();
        assert!(error.contains("64 levels"), "{error}");
    }
    assert!(parse("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn a_scalar_at_the_deepest_level_is_read() {
    let nested = format!("{}1{}", "[".repeat(JSON_DEPTH_MAX), "]".repeat(JSON_DEPTH_MAX));
    assert!(parse(nested.as_bytes()).is_ok());
}

#[test]
fn a_key_that_occurs_twice_is_named_but_not_in_full() {
    let key = "k".repeat(10_000);
    let error = parse(format!(r#"{{"{key}":1,"{key}":2}}"#).as_bytes()).unwrap_err();
    assert!(error.contains("occurs twice") && error.len() < 300, "{error}");
}

#[test]
fn a_byte_order_mark_is_refused() {
    assert!(parse("\u{feff}{}".as_bytes()).is_err());
}

#[test]
fn integers_beyond_64_bits_are_doubles() {
    assert_eq!(parse(b"12345678901234567890123").unwrap().as_f64(), Some(12345678901234567890123.0));
    assert_eq!(parse(b"18446744073709551615").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(parse(b"-9223372036854775808").unwrap().as_i64(), Some(i64::MIN));
}

/// JSON values of a few levels.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in values()) {
        prop_assert_eq!(parse(value.to_string().as_bytes()), Ok(value));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>()) {
        let _ = parse(&bytes);
    }

    #[test]
    fn what_it_reads_the_usual_reader_reads_alike(text in "[\\[\\]{}\":,0-9eE.+\\-tfn a\\\\u]{0,40}") {
        if let Ok(value) = parse(text.as_bytes()) {
            prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
        }
    }
}
