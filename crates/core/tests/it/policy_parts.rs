//! Refusals, read, checked and written. PolicyPart 3.

use forecourt_core::part::find_policy_part;
use forecourt_core::policy::{
    AcceptedPayment, AuthChallenge, PolicyPartError, RefusalKind, canonical_stringify, sanitize_policy_data,
    validate_auth_challenge, validate_url_origin,
};
use forecourt_core::{Language, Part, PolicyPart, TaskState};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::cases;
use crate::json_strict::values;

const HOST: &str = "agent.example";

fn read(part: &Value) -> Result<PolicyPart, PolicyPartError> {
    let part = PolicyPart::from_json(part.as_object().cloned().unwrap_or_default())?;
    part.validate(HOST)?;
    Ok(part)
}

/// The spelling that the A2A column of the vectors uses.
fn state_name(state: TaskState) -> String {
    state.name().replace('_', "-")
}

#[test]
fn s3_6_parts_follow_the_vectors() {
    for case in cases("policy/parts.json") {
        let part: Value = serde_json::from_str(&case["part"].to_string().replace("CANON", HOST)).unwrap();
        let result = read(&part);
        match &case["valid"] {
            Value::Bool(valid) => assert_eq!(result.is_ok(), *valid, "{}: {result:?}", case["id"]),
            Value::String(_) => {
                let kept = result.as_ref().unwrap_or_else(|fault| panic!("{}: {fault}", case["id"]));
                assert_eq!(json!(kept), part, "{}", case["id"]);
                assert_ne!(kept.task_state(), TaskState::Completed, "{}", case["id"]);
            }
            _ => {}
        }
        if let (Some(state), Ok(part)) = (case["a2a"].as_str(), &result) {
            assert_eq!(state_name(part.task_state()), state, "{}", case["id"]);
        }
    }
}

#[test]
fn s4_2_each_kind_has_its_task_state() {
    let payments = vec![AcceptedPayment { scheme: "x402.exact".to_owned(), payload: Map::new() }];
    let table = [
        (
            RefusalKind::ConsentRequired { state: "s".into(), return_to: "https://agent.example/".into() },
            "input-required",
        ),
        (RefusalKind::PaymentRequired { accepted_payments: payments }, "input-required"),
        (RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer")] }, "auth-required"),
        (RefusalKind::Forbidden, "rejected"),
        (RefusalKind::TooManyRequests { retry_after_seconds: None }, "failed"),
        (RefusalKind::UnavailableForLegalReasons, "rejected"),
        (RefusalKind::ServiceUnavailable { retry_after_seconds: Some(1) }, "failed"),
        (RefusalKind::Other("i_am_a_teapot".into()), "failed"),
    ];
    for (kind, state) in table {
        let known = PolicyPart::knows(kind.name());
        let part = PolicyPart::new(kind, "m");
        assert_eq!(state_name(part.task_state()), state, "{}", part.kind());
        assert_eq!(part.validate(HOST), Ok(()), "{}", part.kind());
        assert_eq!(known, part.kind() != "i_am_a_teapot");
        assert_eq!(PolicyPart::from_json(part.to_json()), Ok(part));
    }
}

#[test]
fn s3_2_keys_that_reach_into_prototypes_are_taken_out() {
    for case in cases("json-hostile/prototype.json") {
        let part = json!({
            "kind": "payment_required", "message": "m", "data": case["in"],
            "accepted_payments": [{"scheme": "x402.exact", "payload": case["in"]}],
        });
        let part = read(&part).unwrap();
        let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { panic!("another kind") };
        match &case["out_data"] {
            Value::Null => assert_eq!(json!(accepted_payments[0].payload), case["out"], "{}", case["id"]),
            data => assert_eq!(&json!(part.data), data, "{}", case["id"]),
        }
    }
}

#[test]
fn s3_2_fields_of_later_versions_are_sanitized_and_kept() {
    let part = json!({"kind": "i_am_a_teapot", "payload": {"__proto__": 1, "size": 2}});
    let kept = read(&part).unwrap();
    assert_eq!(kept.more["payload"], json!({"size": 2}));
    assert!(!kept.message.is_empty());
}

#[test]
fn s3_3_3_a_payload_is_passed_on_unchanged() {
    let payload = json!({"x402Version": 1, "accepts": [{"amount": "10", "unprefixed": null}]});
    let part = json!({"kind": "payment_required", "message": "m",
        "accepted_payments": [{"scheme": "x402.exact", "payload": payload}]});
    assert_eq!(json!(read(&part).unwrap())["accepted_payments"][0]["payload"], payload);
}

#[test]
fn s3_2_unprefixed_keys_are_reserved() {
    let part = json!({"kind": "forbidden", "message": "m", "data": {"a": 1, ".b": 2, "c.": 3, "oauth.error": 4}});
    assert_eq!(json!(read(&part).unwrap().data), json!({"oauth.error": 4}));
    let mut made = PolicyPart::new(RefusalKind::Forbidden, "m");
    made.data.insert("plain".to_owned(), json!(1));
    assert!(matches!(made.validate(HOST), Err(PolicyPartError::Wrong("data", _))));
}

#[test]
fn s3_3_what_a_kind_demands_is_demanded_of_hand_made_parts_too() {
    let consent = |state: &str, return_to: &str| {
        PolicyPart::new(RefusalKind::ConsentRequired { state: state.into(), return_to: return_to.into() }, "m")
            .validate(HOST)
    };
    assert_eq!(consent("s", "https://agent.example/back"), Ok(()));
    assert_eq!(consent("", "https://agent.example/back"), Err(PolicyPartError::Missing("state")));
    assert_eq!(consent("s", "https://evil.example/"), Err(PolicyPartError::ForeignUrl("return_to")));
    let pay =
        |payments| PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments: payments }, "m").validate(HOST);
    assert!(pay(vec![]).is_err());
    assert!(pay(vec![AcceptedPayment { scheme: String::new(), payload: Map::new() }]).is_err());
    let mut foreign = PolicyPart::new(RefusalKind::Forbidden, "m");
    foreign.url = Some("https://evil.example/".into());
    assert_eq!(foreign.validate(HOST), Err(PolicyPartError::ForeignUrl("url")));
}

#[test]
fn s3_7_null_is_read_as_absent_and_never_written() {
    let part = json!({"kind": "too_many_requests", "message": "m", "url": null, "data": null, "title": null,
        "retry_after_seconds": null, "message_translations": null, "code": null});
    assert_eq!(json!(read(&part).unwrap()), json!({"kind": "too_many_requests", "message": "m"}));
    let lacking = json!({"kind": "consent_required", "message": "m", "state": null, "return_to": null});
    assert_eq!(read(&lacking), Err(PolicyPartError::Missing("state")));
    assert_eq!(read(&json!({"kind": "forbidden", "message": null})), Err(PolicyPartError::Missing("message")));
}

#[test]
fn s3_2_the_best_translation_is_chosen() {
    let part = json!({"kind": "forbidden", "message": "no", "title": "No", "message_translations": {
        "de": {"message": "nein", "title": "Nein"}, "zh-Hant": {"message": "不"}, "PT-br": {"message": "não"}}});
    let part = read(&part).unwrap();
    let said = |tag: &str| part.in_language(Language::parse(tag).as_ref());
    assert_eq!(said("de"), ("Nein", "nein"));
    assert_eq!(said("de-AT"), ("Nein", "nein"));
    assert_eq!(said("zh-Hant-TW"), ("No", "不"));
    assert_eq!(said("pt-BR"), ("No", "não"));
    assert_eq!(said("pt"), ("No", "no"));
    assert_eq!(part.in_language(None), ("No", "no"));
    assert_eq!(PolicyPart::new(RefusalKind::Forbidden, "m").in_language(None), ("Not allowed", "m"));
}

#[test]
fn s5_2_the_refusal_among_parts_is_found() {
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "m");
    let parts = [Part::text("a"), Part::Policy(refusal.clone()), Part::text("b")];
    assert_eq!(find_policy_part(&parts), Some(&refusal));
    assert_eq!(find_policy_part(&parts[..1]), None);
}

#[test]
fn s3_6_each_row_of_the_table() {
    let read = |part: Value| read(&part);
    // `unauthorized` with no challenges, `payment_required` with no ways to pay, `consent_required` without both of
    // its fields: malformed, missing or empty.
    for part in [
        json!({"kind": "unauthorized", "message": "m"}),
        json!({"kind": "unauthorized", "message": "m", "auth_challenges": []}),
        json!({"kind": "unauthorized", "message": "m", "auth_challenges": {}}),
        json!({"kind": "payment_required", "message": "m"}),
        json!({"kind": "payment_required", "message": "m", "accepted_payments": []}),
        json!({"kind": "consent_required", "message": "m", "state": "s"}),
        json!({"kind": "consent_required", "message": "m", "return_to": "https://agent.example/"}),
        json!({"kind": "consent_required", "message": "m", "state": "", "return_to": "https://agent.example/"}),
        json!({"kind": "consent_required", "message": "m", "state": "s", "return_to": ""}),
        // A URL on another host.
        json!({"kind": "forbidden", "message": "m", "url": "https://www.agent.example/"}),
    ] {
        assert!(read(part.clone()).is_err(), "{part}");
    }
    // `too_many_requests` without a time is valid.
    assert!(read(json!({"kind": "too_many_requests", "message": "m"})).is_ok());
    // Poisoned keys are taken out and unprefixed ones passed over; neither is a fault.
    let data = json!({"a.b": {"constructor": 1, "kept": [{"__proto__": 2}]}, "plain": 3, "prototype": 4});
    let part = read(json!({"kind": "forbidden", "message": "m", "data": data})).unwrap();
    assert_eq!(json!(part.data), json!({"a.b": {"kept": [{}]}}));
    // An unknown kind is kept as it came, its bytes by RFC 8785 too, and is never success.
    let unknown = json!({"kind": "quota_spent", "message": "m", "zeta": [1.5, null], "alpha": {"b": 1, "a": 2}});
    let kept = read(unknown.clone()).unwrap();
    assert_eq!(canonical_stringify(&kept), canonical_stringify(&unknown));
    assert_eq!(kept.task_state(), TaskState::Failed);
}

#[test]
fn s5_2_the_helpers_go_by_the_names_that_they_have_there() {
    assert_eq!(canonical_stringify(&json!({"b": 1.0, "a": "é"})).unwrap(), "{\"a\":\"é\",\"b\":1}");
    assert!(canonical_stringify(&json!(9_007_199_254_740_993_u64)).is_err());
    assert!(validate_auth_challenge(&AuthChallenge::new("Bearer").with("realm", "a b")));
    assert!(!validate_auth_challenge(&AuthChallenge::new("Bearer").with("realm", "a\r\nX: y")));
    let Value::Object(data) = json!({"x.y": {"__proto__": {"z": 1}, "kept": 1}, "constructor": 2}) else { panic!() };
    assert_eq!(json!(sanitize_policy_data(data)), json!({"x.y": {"kept": 1}}));
    assert!(validate_url_origin("https://AGENT.example.:443/consent", HOST));
    assert!(!validate_url_origin("https://agent.example@evil.example/", HOST));
}

fn kinds() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(RefusalKind::NAMES.to_vec()).prop_map(str::to_owned), "[a-z_]{1,12}"]
}

proptest! {
    #[test]
    fn what_was_read_reads_the_same_again(kind in kinds(), message in any::<String>(), more in values()) {
        let mut fields = more.as_object().cloned().unwrap_or_default();
        fields.insert("kind".into(), kind.into());
        fields.insert("message".into(), message.into());
        fields.insert("data".into(), json!({"x.y": more}));
        if let Ok(part) = PolicyPart::from_json(fields) {
            prop_assert_eq!(PolicyPart::from_json(part.to_json()), Ok(part));
        }
    }

    #[test]
    fn whatever_is_read_has_no_key_that_reaches_into_prototypes(kind in kinds(), more in values(), poison in prop::sample::select(vec!["__proto__", "constructor", "prototype"])) {
        let hidden = json!({poison: more.clone(), "kept": [{poison: more.clone()}]});
        let fields = json!({
            "kind": kind, "message": "m", "data": {"x.y": hidden}, "later": hidden, "state": "s",
            "return_to": "https://agent.example/", "auth_challenges": [{"scheme": "Bearer"}],
            "accepted_payments": [{"scheme": "x402.exact", "payload": hidden}],
        });
        let Value::Object(fields) = fields else { return Ok(()) };
        if let Ok(part) = PolicyPart::from_json(fields) {
            prop_assert!(!holds(&json!(part), poison), "{:?}", part);
        }
    }

    #[test]
    fn no_url_but_those_of_the_host_is_ever_valid(url in any::<String>(), other in "[a-z.@:/]{1,16}") {
        for url in [url, format!("https://{other}"), format!("https://{other}agent.example/")] {
            let mut part = PolicyPart::new(RefusalKind::Forbidden, "m");
            part.url = Some(url.clone());
            let on_host = url::Url::parse(&url).is_ok_and(|url| url.host_str() == Some(HOST) && url.scheme() == "https");
            prop_assert!(part.validate(HOST).is_err() || on_host, "{}", url);
        }
    }
}

/// Whether a key occurs at any depth.
fn holds(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(key) || fields.values().any(|value| holds(value, key)),
        Value::Array(items) => items.iter().any(|item| holds(item, key)),
        _ => false,
    }
}
