//! RFC 8785.

use forecourt_core::LazyJson;
use forecourt_core::json::{canonical, canonical_text, parse};
use proptest::prelude::*;
use serde_json::json;

use crate::json_strict::values;
use crate::{cases, text};

#[test]
fn s3_2_the_published_documents_have_their_canonical_form() {
    for file in forecourt_testkit::vector_files("jcs/input").unwrap_or_default() {
        let name = file.file_name().unwrap().to_string_lossy();
        let input = parse(&std::fs::read(&file).unwrap()).unwrap();
        let output = forecourt_testkit::vectors(&format!("jcs/output/{name}")).unwrap();
        assert_eq!(canonical_text(&input).unwrap(), String::from_utf8(output).unwrap().trim_end(), "{name}");
    }
}

#[test]
fn s3_2_documents_match_an_ecmascript_engine_and_stay() {
    for case in cases("jcs/documents.json") {
        let once = canonical_text(&parse(text(&case, "input").as_bytes()).unwrap()).unwrap();
        assert_eq!(once, text(&case, "canonical"), "{}", case["id"]);
        let twice = canonical_text(&parse(once.as_bytes()).unwrap()).unwrap();
        assert_eq!(twice, once, "{}", case["id"]);
    }
}

#[test]
fn s3_2_2_3_numbers_are_written_as_ecmascript_does() {
    let Some(bytes) = forecourt_testkit::vectors("jcs/numbers.csv") else { return };
    for line in String::from_utf8(bytes).unwrap().lines() {
        let (bits, wanted) = line.split_once(',').unwrap();
        let number = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        assert_eq!(canonical_text(&number).unwrap(), wanted, "{line}");
        assert_eq!(parse(wanted.as_bytes()).unwrap().as_f64(), Some(number + 0.0), "{line}");
    }
}

#[test]
fn s3_2_2_3_what_is_not_finite_has_no_form() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(canonical(&number).is_err());
        assert!(serde_json::Number::from_f64(number).is_none());
    }
}

#[test]
fn an_integer_never_becomes_another() {
    const EXACT: u64 = 1 << 53;
    assert_eq!(canonical_text(&EXACT).unwrap(), "9007199254740992");
    assert!(canonical(&(EXACT + 1)).is_err());
    assert!(canonical(&json!({"a": [-(EXACT as i64) - 1]})).is_err());
    assert_eq!(canonical_text(&(EXACT + 2)).unwrap(), "9007199254740994");
    assert!(canonical(&u64::MAX).is_err());
    assert!(canonical(&i64::MAX).is_err());
    assert_eq!(canonical_text(&i64::MIN).unwrap(), "-9223372036854776000");
    assert_eq!(canonical_text(&-101_597_791_913_322_128_i64).unwrap(), "-101597791913322130");
    assert_eq!(canonical_text(&-101_597_791_913_322_130_i64).unwrap(), "-101597791913322130");
    assert!(canonical(&-101_597_791_913_322_129_i64).is_err());
}

#[test]
fn a_text_that_is_kept_has_the_form_of_what_it_says() {
    let form = |text: &str| canonical_text(&[LazyJson::from_text(text.to_owned()).unwrap()]);
    assert_eq!(
        form(r#"{"b": 1.50, "a": [true, null, "\u0061"], "c": -0.0}"#).unwrap(),
        r#"[{"a":[true,null,"a"],"b":1.5,"c":0}]"#
    );
    assert!(form("9007199254740993").unwrap_err().contains("no double"));
    assert!(form(r#"{"a": {"b": 1, "\u0062": 2}}"#).unwrap_err().contains("duplicate"));
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(form(&deep(100)).is_ok() && form(&deep(1000)).is_err());
}

proptest! {
    #[test]
    fn a_text_has_the_form_of_its_value(value in values()) {
        let kept = LazyJson::from_text(value.to_string()).unwrap();
        prop_assert_eq!(canonical(&kept).ok(), canonical(&value).ok());
    }

    #[test]
    fn the_form_is_stable_and_bytes_equal_text(value in values()) {
        if let Ok(once) = canonical(&value) {
            prop_assert_eq!(canonical_text(&value).unwrap().into_bytes(), once.clone());
            prop_assert_eq!(canonical(&parse(&once).unwrap()).unwrap(), once);
        }
    }
}
