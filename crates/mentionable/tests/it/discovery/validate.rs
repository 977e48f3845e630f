//! `validateAgentCard`: agent card, section 3.5 of the companion documents.

use forecourt_identity::HostKeys;
use forecourt_mentionable::discovery::limits::CARD_PROBLEMS_MAX;
use forecourt_mentionable::discovery::{Acct, CardError, ExpectedCard, validate_agent_card};
use forecourt_testkit::CountedEntropy;
use proptest::prelude::*;
use serde_json::{Value, json};

const REST: &str = "https://mentionable.dev/ns/transport-rest/v0.1";
const LEGACY_REST: &str = "https://mentionable.dev/spec/transport-rest/v0.1";

fn valid() -> Value {
    json!({
        "address": "@lean@firemanager.example",
        "name": "Lean",
        "version": "1.2.3",
        "protocol_version": "0.1",
        "a2a": {
            "endpoint": "https://firemanager.example/a2a/lean",
            "transport": "https+jsonrpc",
            "capabilities": {
                "streaming": true,
                "extensions": [{"uri": REST, "endpoint": "https://firemanager.example/~lean"}],
            },
            "skills": [{"id": "fire", "name": "FIRE"}],
            "input_modes": [{"kind": "text", "mime": "text/plain"}],
            "output_modes": [{"kind": "hologram"}],
            "auth": {"scheme": "none"},
        },
        "mentionable": {"supported_inbound": ["a2a"], "later": {"than": "us"}},
        "later": 1,
    })
}

/// The valid card with one place changed: set, or removed with `null`.
fn changed(pointer: &str, value: Value) -> Value {
    let mut card = valid();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let place = card.pointer_mut(parent).unwrap();
    match (place, value) {
        (Value::Object(object), Value::Null) => drop(object.remove(key)),
        (Value::Object(object), value) => drop(object.insert(key.to_owned(), value)),
        (Value::Array(list), value) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer} is no place"),
    }
    card
}

fn codes(card: &Value) -> Vec<(CardError, String)> {
    let found = validate_agent_card(card, ExpectedCard::default());
    found.into_iter().map(|problem| (problem.code, problem.path)).collect()
}

#[track_caller]
fn check(pointer: &str, value: Value, code: CardError, path: &str) {
    let card = changed(pointer, value);
    assert_eq!(codes(&card), [(code, path.to_owned())], "{pointer}");
}

#[test]
fn card_3_5_a_card_with_unknown_fields_modes_and_a_later_section_is_valid() {
    assert_eq!(codes(&valid()), []);
}

#[test]
fn card_3_5_not_an_object() {
    for value in [Value::Null, json!([]), json!("card"), json!(1)] {
        assert_eq!(codes(&value), [(CardError::WrongType, String::new())]);
    }
}

#[test]
fn card_3_5_every_required_field() {
    let required = [
        "/address",
        "/name",
        "/version",
        "/protocol_version",
        "/a2a",
        "/a2a/endpoint",
        "/a2a/transport",
        "/a2a/skills",
        "/a2a/skills/0/id",
        "/a2a/skills/0/name",
        "/a2a/input_modes",
        "/a2a/output_modes",
        "/a2a/auth",
        "/a2a/auth/scheme",
        "/a2a/capabilities/extensions/0/uri",
        "/mentionable",
        "/mentionable/supported_inbound",
    ];
    for pointer in required {
        let mut card = changed(pointer, Value::Null);
        assert!(codes(&card).contains(&(CardError::Missing, pointer.to_owned())), "{pointer}");
        card = changed(pointer, json!(7));
        assert!(codes(&card).contains(&(CardError::WrongType, pointer.to_owned())), "{pointer}");
    }
}

#[test]
fn card_3_5_optional_fields_have_their_types() {
    let wrong = [
        ("/description", json!(1)),
        ("/icon", json!("https://example.com/a.png")),
        ("/ext", json!([])),
        ("/activitypub", json!(true)),
        ("/a2a/capabilities", json!([])),
        ("/a2a/capabilities/streaming", json!("yes")),
        ("/a2a/capabilities/push_notifications", json!(1)),
        ("/a2a/capabilities/extensions", json!({})),
        ("/mentionable/homepage", json!({})),
        ("/mentionable/signing_key", json!("pem")),
    ];
    for (pointer, value) in wrong {
        check(pointer, value, CardError::WrongType, pointer);
    }
    check("/mentionable/supported_inbound", json!([1]), CardError::WrongType, "/mentionable/supported_inbound");
}

#[test]
fn card_3_5_protocol_version_is_0_1() {
    check("/protocol_version", json!("0.2"), CardError::ProtocolVersion, "/protocol_version");
}

#[test]
fn card_3_5_the_address_is_canonical() {
    let wrong = [
        "lean@firemanager.example",
        "acct:lean@firemanager.example",
        "@Lean@firemanager.example",
        "@lean@Firemanager.example",
        "@lean@localhost",
        "@@firemanager.example",
        "@a@b@c.example",
        "@.@firemanager.example",
        "@..@firemanager.example",
        "@l\u{e9}an@firemanager.example",
        "@lean@b\u{fc}cher.example",
        "",
    ];
    for text in wrong {
        check("/address", json!(text), CardError::Address, "/address");
    }
    for fine in ["@first.last@firemanager.example", "@lean@xn--bcher-kva.example"] {
        assert_eq!(codes(&changed("/address", json!(fine))), [], "{fine}");
    }
    let long = |n: usize| json!(format!("@{}@firemanager.example", "a".repeat(n)));
    assert_eq!(codes(&changed("/address", long(64))), []);
    check("/address", long(65), CardError::Address, "/address");
}

#[test]
fn wf_2_4_the_address_is_the_one_that_was_asked_for() {
    let codes = |asked: &str| {
        let acct = Acct::parse(asked).unwrap();
        let expected = ExpectedCard { acct: Some(&acct), canonical_host: None };
        validate_agent_card(&valid(), expected).into_iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("ACCT:Lean@FireManager.example"), []);
    assert_eq!(codes("@lean@other.example"), [CardError::AddressMismatch]);
    assert_eq!(codes("@other@firemanager.example"), [CardError::AddressMismatch]);
}

#[test]
fn card_3_5_urls_are_https_without_userinfo() {
    let wrong = [
        "http://firemanager.example/a2a/lean",
        "/a2a/lean",
        "firemanager.example",
        "https://user@firemanager.example/",
        "https://@firemanager.example/",
        "https://",
        "javascript:alert(1)",
        " https://firemanager.example/",
    ];
    for url in wrong {
        check("/a2a/endpoint", json!(url), CardError::NotHttps, "/a2a/endpoint");
        check("/icon", json!({"url": url}), CardError::NotHttps, "/icon/url");
        check("/mentionable/homepage", json!(url), CardError::NotHttps, "/mentionable/homepage");
        let place = "/a2a/capabilities/extensions/0/uri";
        check(place, json!(url), CardError::NotHttps, place);
        let place = "/a2a/capabilities/extensions/0/endpoint";
        check(place, json!(url), CardError::NotHttps, place);
    }
}

#[test]
fn card_3_5_transport_is_one_of_three_and_auth_is_open() {
    check("/a2a/transport", json!("https+grpc"), CardError::Transport, "/a2a/transport");
    for fine in ["https+json", "https+sse", "https+jsonrpc"] {
        assert_eq!(codes(&changed("/a2a/transport", json!(fine))), []);
    }
    assert_eq!(codes(&changed("/a2a/auth/scheme", json!("retina-scan"))), []);
}

#[test]
fn rest_2_the_rest_entry_needs_its_endpoint() {
    let place = "/a2a/capabilities/extensions/0/endpoint";
    check(place, Value::Null, CardError::RestEndpointMissing, place);
    check("/a2a/capabilities/extensions/0", json!({"uri": LEGACY_REST}), CardError::RestEndpointMissing, place);
    assert_eq!(codes(&changed("/a2a/capabilities/extensions", json!([]))), []);
    assert_eq!(codes(&changed("/a2a/capabilities/extensions/0", json!({"uri": "https://example.com/x"}))), []);
}

#[test]
fn rest_2_the_endpoint_is_on_the_canonical_host() {
    let place = "/a2a/capabilities/extensions/0/endpoint";
    for url in [
        "https://other.example/~lean",
        "https://sub.firemanager.example/~lean",
        "https://firemanager.example.evil.example/~lean",
        "https://firemanager.example:8443/~lean",
    ] {
        check(place, json!(url), CardError::ForeignEndpoint, place);
    }
    for url in ["https://FIREMANAGER.example/~lean", "https://firemanager.example:443/", "https://firemanager.example."]
    {
        assert_eq!(codes(&changed(place, json!(url))), [], "{url}");
    }
    let expected = ExpectedCard { acct: None, canonical_host: Some("cards.example") };
    let found = validate_agent_card(&valid(), expected);
    assert_eq!(found[0].code, CardError::ForeignEndpoint);
    assert!(found[0].message.contains("cards.example"));
}

#[test]
fn url_scheme_the_canonical_entry_goes_before_its_alias_and_the_first_before_the_second() {
    let entry = |uri: &str, host: &str| json!({"uri": uri, "endpoint": format!("https://{host}/~lean")});
    let fine = |list: Value| codes(&changed("/a2a/capabilities/extensions", list)).is_empty();
    let (own, foreign) = ("firemanager.example", "other.example");
    assert!(fine(json!([entry(LEGACY_REST, own)])));
    assert!(!fine(json!([entry(LEGACY_REST, foreign)])));
    assert!(fine(json!([entry(LEGACY_REST, foreign), entry(REST, own)])));
    assert!(fine(json!([entry(REST, own), entry(REST, foreign)])));
    assert!(!fine(json!([entry(REST, foreign), entry(REST, own)])));
}

#[test]
fn card_3_5_signing_keys_are_ed25519_in_pem() {
    let key = HostKeys::in_memory(&CountedEntropy::default()).current().public().to_card();
    assert_eq!(codes(&changed("/mentionable/signing_key", key.clone())), []);
    let mut other = key.clone();
    other["alg"] = json!("ES256");
    let place = "/mentionable/signing_key";
    check(place, other, CardError::SigningKey, place);
    for pem in ["", "key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
        check(place, json!({"alg": "Ed25519", "pem": pem}), CardError::SigningKey, place);
    }
    check(place, json!({"pem": key["pem"]}), CardError::Missing, "/mentionable/signing_key/alg");
    check(place, json!({"alg": "Ed25519"}), CardError::Missing, "/mentionable/signing_key/pem");
}

#[test]
fn card_3_5_skill_ids_are_unique() {
    let twice = json!([{"id": "a", "name": "A"}, {"id": "b", "name": "B"}, {"id": "a", "name": "C"}]);
    check("/a2a/skills", twice, CardError::DuplicateSkill, "/a2a/skills/2/id");
}

#[test]
fn problems_are_bounded_and_have_codes_for_machines() {
    let skills = |n: usize| changed("/a2a/skills", json!(vec![json!({"name": "A"}); n]));
    assert_eq!(codes(&skills(CARD_PROBLEMS_MAX)).len(), CARD_PROBLEMS_MAX);
    assert_eq!(codes(&skills(CARD_PROBLEMS_MAX + 1)).len(), CARD_PROBLEMS_MAX);
    let problems = validate_agent_card(&changed("/a2a/transport", json!("x")), ExpectedCard::default());
    let written = serde_json::to_value(&problems).unwrap();
    assert_eq!((&written[0]["code"], &written[0]["path"]), (&json!("transport"), &json!("/a2a/transport")));
}

proptest! {
    #[test]
    fn no_card_makes_it_panic(text in "[\\[\\]{}\",:a2amentionable0-9.@/-]{0,200}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            validate_agent_card(&value, ExpectedCard::default());
        }
    }

    #[test]
    fn addresses_are_read_as_they_are_written(text in "(acct:|@)?[a-zA-Z0-9._-]{0,70}@[a-z0-9.-]{0,20}") {
        if let Ok(acct) = Acct::parse(&text) {
            prop_assert_eq!(&Acct::parse(&acct.to_string()).unwrap(), &acct);
            prop_assert_eq!(&Acct::parse(&acct.to_uri()).unwrap(), &acct);
        }
    }

    #[test]
    fn no_address_makes_it_panic(text in "\\PC{0,40}") {
        let _ = Acct::parse(&text);
    }
}
