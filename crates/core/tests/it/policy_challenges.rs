//! Auth challenges. PolicyPart 3.3.1.

use forecourt_core::PolicyPart;
use forecourt_core::limits::{CHALLENGES_BYTES_MAX, CHALLENGES_MAX};
use forecourt_core::policy::{AuthChallenge, PolicyPartError, RefusalKind};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::cases;

/// The header values of a refusal with these challenges, read as an answer of another host would be.
fn headers(challenges: &Value, code: &Value) -> Result<Vec<String>, PolicyPartError> {
    let part = json!({"kind": "unauthorized", "message": "m", "auth_challenges": challenges, "code": code});
    let part = PolicyPart::from_json(part.as_object().cloned().unwrap_or_default())?;
    part.validate("agent.example")?;
    let RefusalKind::Unauthorized { auth_challenges } = part.kind else { panic!("another kind") };
    Ok(auth_challenges.iter().map(|challenge| challenge.encode().unwrap()).collect())
}

#[test]
fn s3_3_1_challenges_follow_the_vectors() {
    for case in cases("headers/auth-challenges.json") {
        let made = headers(&case["in"], &case["code"]);
        let wanted: Option<Vec<String>> = serde_json::from_value(case["out"].clone()).ok();
        match wanted {
            Some(wanted) => assert_eq!(made, Ok(wanted), "{}", case["id"]),
            None if case["reject"] == json!(true) => assert!(made.is_err(), "{}: {made:?}", case["id"]),
            None => assert!(made.iter().flatten().all(|h| !h.contains(['\r', '\n', '\0'])), "{}", case["id"]),
        }
    }
}

#[test]
fn s3_3_1_an_encoder_refuses_what_a_decoder_would() {
    for bad in ["a\r\nb", "a\0", "\u{7f}", "é"] {
        assert_eq!(AuthChallenge::new("Bearer").with("realm", bad).encode(), None, "{bad:?}");
        assert_eq!(AuthChallenge::new("Bearer").with(bad, "x").encode(), None, "{bad:?}");
        assert_eq!(AuthChallenge::new(bad).encode(), None, "{bad:?}");
    }
}

#[test]
fn s3_3_1_a_hand_made_part_is_checked_before_it_is_sent() {
    let made = |challenges| PolicyPart::new(RefusalKind::Unauthorized { auth_challenges: challenges }, "m");
    assert!(made(vec![]).validate("agent.example").is_err());
    assert!(made(vec![AuthChallenge::new("Bea rer")]).validate("agent.example").is_err());
    assert!(made(vec![AuthChallenge::new("Bearer")]).validate("agent.example").is_ok());
}

#[test]
fn sixteen_challenges_are_taken_and_no_more() {
    let challenges = |n: usize| json!(vec![json!({"scheme": "Bearer"}); n]);
    assert!(headers(&challenges(CHALLENGES_MAX), &Value::Null).is_ok());
    assert!(headers(&challenges(CHALLENGES_MAX + 1), &Value::Null).is_err());
}

#[test]
fn all_challenges_together_have_at_most_eight_kibibytes() {
    let frame = r#"Bearer realm="""#.len();
    let challenge = |n: usize| json!([{"scheme": "Bearer", "params": {"realm": "a".repeat(n - frame)}}]);
    assert!(headers(&challenge(CHALLENGES_BYTES_MAX), &Value::Null).is_ok());
    assert!(headers(&challenge(CHALLENGES_BYTES_MAX + 1), &Value::Null).is_err());
}

#[test]
fn s3_3_1_codes_of_other_vocabularies_are_not_compared() {
    let challenges = json!([{"scheme": "bearer", "params": {"error": "invalid_token"}}, {"scheme": "Basic"}]);
    assert!(headers(&challenges, &json!("mentionable:whatever")).is_ok());
    assert!(headers(&challenges, &json!("oauth:invalid_token")).is_ok());
    assert!(headers(&challenges, &json!("oauth:other")).is_err());
}

/// Undoes RFC 9110 5.6.4, the way a reader does.
fn unquote(quoted: &str) -> Option<String> {
    let mut chars = quoted.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next()?),
            '"' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

proptest! {
    #[test]
    fn values_come_out_as_they_went_in(value in "[\\t -~]{0,60}") {
        let encoded = AuthChallenge::new("Bearer").with("realm", value.as_str()).encode().unwrap();
        let quoted = encoded.strip_prefix("Bearer realm=").unwrap();
        prop_assert_eq!(unquote(quoted), Some(value));
    }

    #[test]
    fn no_text_breaks_out_of_its_header(scheme in any::<String>(), name in any::<String>(), value in any::<String>()) {
        if let Some(encoded) = AuthChallenge::new(scheme).with(name, value).encode() {
            prop_assert!(encoded.bytes().all(|b| b == b'\t' || (0x20..0x7f).contains(&b)));
        }
    }

    #[test]
    fn no_document_makes_the_reader_panic(value in crate::json_strict::values()) {
        let mut fields = Map::new();
        fields.insert("kind".to_owned(), "unauthorized".into());
        fields.insert("auth_challenges".to_owned(), value);
        let _ = PolicyPart::from_json(fields);
    }
}
