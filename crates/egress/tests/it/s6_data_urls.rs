//! `data:` URLs. RFC 2397, Mentionable REST 3.3.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_egress::limits::ATTACHMENT_BYTES_MAX;
use forecourt_egress::{DataUrlError, data_url};
use forecourt_testkit::vectors;
use proptest::prelude::*;
use serde_json::Value;

fn cases(path: &str) -> Vec<Value> {
    let Some(bytes) = vectors(path) else { return Vec::new() };
    serde_json::from_slice(&bytes).unwrap()
}

fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    Some(value.as_array()?.iter().map(|byte| byte.as_u64().unwrap() as u8).collect())
}

#[test]
fn urls_decode_as_the_vectors_say() {
    for case in cases("data-url/data-urls.json") {
        let found = data_url(case[0].as_str().unwrap());
        match case[1].as_str() {
            None => assert!(found.is_err(), "{case}: {found:?}"),
            Some(mime) => {
                let found = found.unwrap();
                assert_eq!((found.mime.as_str(), Some(found.bytes.to_vec())), (mime, bytes_of(&case[2])), "{case}");
            }
        }
    }
}

#[test]
fn base64_decodes_as_the_vectors_say() {
    for case in cases("data-url/base64.json") {
        let found = data_url(&format!("data:;base64,{}", case[0].as_str().unwrap()));
        assert_eq!(found.ok().map(|url| url.bytes.to_vec()), bytes_of(&case[1]), "{case}");
    }
}

#[test]
fn media_types_are_fit_for_a_field_whatever_they_were() {
    for case in cases("data-url/mime-types.json") {
        let Some(input) = case["input"].as_str() else { continue };
        let Ok(found) = data_url(&format!("data:{input},x")) else { continue };
        assert!(http::HeaderValue::from_str(&found.mime).is_ok(), "{case}: {}", found.mime);
    }
}

#[test]
fn hostile_urls_are_refused_or_plain_bytes() {
    for case in cases("data-url/hostile.json") {
        let Some(url) = case["url"].as_str() else { continue };
        let found = data_url(url);
        if case["expect"].as_str().unwrap().starts_with("refused") {
            assert!(found.is_err(), "{case}: {found:?}");
        }
        if let Ok(found) = found {
            assert!(http::HeaderValue::from_str(&found.mime).is_ok(), "{case}: {}", found.mime);
        }
    }
}

#[test]
fn one_level_is_decoded_and_no_charset() {
    assert_eq!(data_url("data:text/plain,data:text/plain,hi").unwrap().bytes, "data:text/plain,hi");
    assert_eq!(data_url("data:text/plain;charset=utf-7,+ADw-").unwrap().bytes, "+ADw-");
}

#[test]
fn the_content_has_at_most_the_bytes_of_an_attachment() {
    for (length, fits) in [(ATTACHMENT_BYTES_MAX, true), (ATTACHMENT_BYTES_MAX + 1, false)] {
        let url = format!("data:;base64,{}", STANDARD.encode(vec![7u8; length]));
        assert_eq!(data_url(&url).is_ok(), fits, "{length}");
    }
    assert_eq!(data_url(&format!("data:,{}", "x".repeat(8 * 1024 * 1024))), Err(DataUrlError::TooLarge));
}

proptest! {
    #[test]
    fn s0_no_text_makes_the_decoder_panic(text in ".{0,200}") {
        let _ = data_url(&text);
        let _ = data_url(&format!("data:{text}"));
    }

    #[test]
    fn what_was_encoded_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let found = data_url(&format!("data:image/png;base64,{}", STANDARD.encode(&bytes))).unwrap();
        prop_assert_eq!((found.mime.as_str(), found.bytes.to_vec()), ("image/png", bytes));
    }
}
