//! PolicyPart 4.5 and REST 5.1, 5.3: refusals as statuses, fields and words.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::policy::{AuthChallenge, RefusalKind, Translation};
use forecourt_core::{Ending, Event, PolicyPart};
use forecourt_host::{LimitSettings, Rate};
use serde_json::{Map, Value, json};

use crate::support::{Place, Setup, bot, echo, get};

async fn refusing(part: PolicyPart) -> Place {
    bot(vec![Event::Ending(Ending::Refused(Box::new(part)))]).await
}

fn canonical(value: &Value) -> Map<String, Value> {
    let text = value.to_string().replace("CANON", "demo.localhost");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn s4_5_each_kind_has_its_status_and_fields() {
    let Some(bytes) = forecourt_testkit::vectors("policy/parts.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for case in cases.iter().filter(|case| case["http"].is_u64()) {
        let id = &case["id"];
        let part = PolicyPart::from_json(canonical(&case["part"])).unwrap();
        let place = refusing(part).await;
        for accept in ["text/html", "text/markdown", "application/json"] {
            let answer = place.ask("/~bot?user=a", accept).await;
            assert_eq!(u64::from(answer.status.as_u16()), case["http"].as_u64().unwrap(), "{id}");
            for (name, value) in case["headers"].as_object().into_iter().flatten() {
                let value = value.as_str().unwrap().replace("CANON", "demo.localhost");
                assert_eq!(answer.field(name), Some(value.as_str()), "{id}");
            }
            for name in case["headers_absent"].as_array().into_iter().flatten() {
                assert_eq!(answer.field(name.as_str().unwrap()), None, "{id}");
            }
            assert!(!answer.text().contains("<script>") || accept != "text/html");
            answer.has_required_fields("@bot@demo.localhost");
        }
    }
}

#[tokio::test]
async fn s4_5_consent_has_its_challenge() {
    let kind = RefusalKind::ConsentRequired { state: "s".into(), return_to: "https://demo.localhost/back".into() };
    let part = PolicyPart { url: Some("https://demo.localhost/consent?a=\"b".into()), ..PolicyPart::new(kind, "m") };
    let answer = refusing(part).await.ask("/~bot?user=a", "application/json").await.is(401);
    let challenge = answer.field("www-authenticate").unwrap();
    assert!(challenge.starts_with("Mentionable-Consent "), "{challenge}");
    assert!(challenge.contains(r#"realm="demo.localhost""#), "{challenge}");
    assert!(challenge.contains(r#"error_uri="https://demo.localhost/consent?a=%22b""#), "{challenge}");
}

#[tokio::test]
async fn s3_3_1_each_challenge_has_its_own_field() {
    let Some(bytes) = forecourt_testkit::vectors("headers/auth-challenges.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for case in cases {
        let Ok(challenge) = serde_json::from_value::<AuthChallenge>(case["in"].clone()) else { continue };
        let auth_challenges = vec![AuthChallenge::new("Bearer"), challenge];
        let answer = refusing(PolicyPart::new(RefusalKind::Unauthorized { auth_challenges }, "m")).await;
        let answer = answer.ask("/~bot?user=a", "application/json").await;
        match case["out"].as_str() {
            Some(out) => {
                let fields: Vec<_> = answer.headers.get_all("www-authenticate").iter().collect();
                assert_eq!(fields, ["Bearer", out], "{case}");
            }
            None => assert_eq!(answer.status, 502, "a malformed refusal is a failed agent: {case}"),
        }
    }
}

#[tokio::test]
async fn s5_3_a_refusal_is_told_in_each_form() {
    let kind = RefusalKind::PaymentRequired {
        accepted_payments: vec![serde_json::from_value(json!({"scheme": "x402.exact", "payload": {"n": 1}})).unwrap()],
    };
    let part = PolicyPart { url: Some("https://demo.localhost/pay/1".into()), ..PolicyPart::new(kind, "Two coins.") };
    let place = refusing(part).await;
    let words = place.ask("/~bot?user=a", "text/markdown").await.is(402);
    assert_eq!(words.text(), "Two coins.\n\nhttps://demo.localhost/pay/1");
    let json = place.ask("/~bot?user=a", "application/json").await.is(402).json();
    assert_eq!(json["v"], "v0.1");
    assert_eq!(json["policy"]["kind"], "payment_required");
    assert_eq!(json["policy"]["accepted_payments"][0]["payload"]["n"], 1);
    assert!(json.get("parts").is_none());
    let page = place.ask("/~bot?user=a", "text/html").await.is(402);
    assert!(page.text().contains("Two coins.") && page.text().contains(r#"href="https://demo.localhost/pay/1""#));
}

#[tokio::test]
async fn s5_1_content_language_is_that_of_the_words() {
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "no");
    let translation = Translation { title: None, message: "nein".into() };
    part.message_translations = BTreeMap::from([("de".to_owned(), translation)]);
    let place = refusing(part).await;
    for (wanted, language, words) in [("de-AT", "de", "nein"), ("fr", "en", "no"), ("*", "en", "no")] {
        let request = get("/~bot?user=a").header("accept", "text/markdown").header("accept-language", wanted);
        let answer = place.send(request).await.is(403);
        assert_eq!((answer.field("content-language"), answer.text()), (Some(language), words), "{wanted}");
    }
}

#[tokio::test]
async fn s3_1_lang_decides_the_translation_where_no_header_names_a_language() {
    let mut part = PolicyPart::new(RefusalKind::Forbidden, "no");
    let translation = |words: &str| Translation { title: None, message: words.into() };
    part.message_translations =
        BTreeMap::from([("de".to_owned(), translation("nein")), ("ko".to_owned(), translation("아니"))]);
    let place = refusing(part).await;
    for (header, language, words) in [(None, "de", "nein"), (Some("*"), "de", "nein"), (Some("ko"), "ko", "아니")] {
        let mut request = get("/~bot?user=a&lang=de-AT").header("accept", "text/markdown");
        if let Some(header) = header {
            request = request.header("accept-language", header);
        }
        let answer = place.send(request).await.is(403);
        assert_eq!((answer.field("content-language"), answer.text()), (Some(language), words), "{header:?}");
    }
    let page = place.ask("/~bot?user=a&lang=de", "text/html").await.is(403);
    assert!(page.text().contains("nein") && page.text().contains("<html lang=\"de\""), "{}", page.text());
    let posted = place.send_with(
        crate::support::post_to("/~bot?lang=de").header("accept", "text/markdown;q=1, application/json;q=0.1"),
        crate::support::form(&[("user", "a")]),
    );
    assert_eq!(posted.await.is(403).field("content-language"), Some("de"));
}

#[tokio::test]
async fn every_503_says_when_to_come_back() {
    for (known, told) in [(None, "5"), (Some(7), "7")] {
        let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: known };
        let place = refusing(PolicyPart::new(kind, "m")).await;
        for accept in ["text/html", "text/markdown", "application/json"] {
            let answer = place.ask("/~bot?user=a", accept).await.is(503);
            assert_eq!(answer.field("retry-after"), Some(told), "{accept}");
        }
    }
}

#[tokio::test]
async fn an_unknown_kind_is_never_success() {
    let part = PolicyPart::new(RefusalKind::Other("i_am_a_teapot".into()), "m");
    let answer = refusing(part).await.ask("/~bot?user=a", "application/json").await.is(403);
    assert_eq!(answer.json()["policy"]["kind"], "i_am_a_teapot");
}

#[tokio::test]
async fn s4_5_a_link_can_not_leave_its_field() {
    let url = "https://demo.localhost/>;rel=\"x\",<https://evil.example/".to_owned();
    let part = PolicyPart { url: Some(url), ..PolicyPart::new(RefusalKind::UnavailableForLegalReasons, "m") };
    let answer = refusing(part).await.ask("/~bot?user=a", "application/json").await;
    let link = answer.field("link").unwrap_or("<>; rel=\"blocked-by\"");
    assert_eq!(
        (link.matches('<').count(), link.matches('>').count(), link.matches("rel=\"").count()),
        (1, 1, 1),
        "{link}"
    );
}

#[tokio::test]
async fn the_policy_field_is_off_unless_the_operator_wants_it() {
    let part = || vec![Event::Ending(Ending::Refused(Box::new(PolicyPart::new(RefusalKind::Forbidden, "m"))))];
    let plain = bot(part()).await.ask("/~bot?user=a", "application/json").await.is(403);
    assert_eq!(plain.field("x-mentionable-policy"), None);
    let place = Setup { section: "policy_header = true", ..Setup::default().bot(part()) }.start().await;
    let answer = place.ask("/~bot?user=a", "application/json").await.is(403);
    let packed = STANDARD.decode(answer.field("x-mentionable-policy").unwrap()).unwrap();
    assert_eq!(packed, br#"{"part":{"kind":"forbidden","message":"m"},"v":"v0.1"}"#);
}

#[tokio::test]
async fn policy4_5_the_policy_field_agrees_with_the_body_and_has_a_bound() {
    // The envelope around it in bytes, and base64 in fours.
    let frame = r#"{"part":{"kind":"forbidden","message":""},"v":"v0.1"}"#.len();
    let of = |bytes: usize| PolicyPart::new(RefusalKind::Forbidden, "m".repeat(bytes / 4 * 3 - frame));
    for (bytes, is_there) in [(4 * 1024, true), (4 * 1024 + 4, false)] {
        let events = vec![Event::Ending(Ending::Refused(Box::new(of(bytes))))];
        let place = Setup { section: "policy_header = true", ..Setup::default().bot(events) }.start().await;
        let answer = place.ask("/~bot?user=a", "application/json").await.is(403);
        assert_eq!(answer.field("x-mentionable-policy").is_some(), is_there, "{bytes}");
        if let Some(packed) = answer.field("x-mentionable-policy") {
            let envelope: Value = serde_json::from_slice(&STANDARD.decode(packed).unwrap()).unwrap();
            assert_eq!((&envelope["v"], &envelope["part"]), (&json!("v0.1"), &answer.json()["policy"]));
        }
    }
}

/// One refusal of each kind, with all that a kind may have.
fn each_kind() -> Vec<PolicyPart> {
    let offer = serde_json::from_value(json!({"scheme": "x402.exact", "payload": {"x402Version": 2}})).unwrap();
    let kinds = vec![
        RefusalKind::ConsentRequired { state: "s".repeat(43), return_to: "https://demo.localhost/~bot".into() },
        RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer").with("realm", "a")] },
        RefusalKind::PaymentRequired { accepted_payments: vec![offer] },
        RefusalKind::Forbidden,
        RefusalKind::TooManyRequests { retry_after_seconds: Some(9) },
        RefusalKind::UnavailableForLegalReasons,
        RefusalKind::ServiceUnavailable { retry_after_seconds: Some(9) },
    ];
    let part = |kind| PolicyPart { url: Some("https://demo.localhost/act".into()), ..PolicyPart::new(kind, "Not so.") };
    kinds.into_iter().map(part).collect()
}

#[tokio::test]
async fn s5_3_each_kind_is_told_in_each_form_with_its_status_and_fields() {
    let fields: [(u16, &str, Option<&str>); 7] = [
        (
            401,
            "www-authenticate",
            Some(r#"Mentionable-Consent error_uri="https://demo.localhost/act", realm="demo.localhost""#),
        ),
        (401, "www-authenticate", Some(r#"Bearer realm="a""#)),
        (402, "payment-required", Some("eyJ4NDAyVmVyc2lvbiI6Mn0=")),
        (403, "retry-after", None),
        (429, "retry-after", Some("9")),
        (451, "link", Some("<https://demo.localhost/act>; rel=\"blocked-by\"")),
        (503, "retry-after", Some("9")),
    ];
    for (part, (status, name, value)) in each_kind().into_iter().zip(fields) {
        let kind = part.kind().to_owned();
        let place = refusing(part).await;
        for accept in ["text/html", "text/markdown", "application/json"] {
            let answer = place.ask("/~bot?user=a", accept).await.is(status);
            answer.has_required_fields("@bot@demo.localhost");
            let sorted = |text: &str| text.split(", ").map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
            match value {
                Some(value) => assert_eq!(
                    sorted(answer.field(name).unwrap().trim_start_matches("Mentionable-Consent ")),
                    sorted(value.trim_start_matches("Mentionable-Consent ")),
                    "{kind} in {accept}"
                ),
                None => assert_eq!(answer.field(name), None, "{kind} in {accept}"),
            }
            match accept {
                "application/json" => assert_eq!(answer.json()["policy"]["kind"], kind.as_str()),
                "text/markdown" => assert_eq!(answer.text(), "Not so.\n\nhttps://demo.localhost/act"),
                _ => assert!(answer.text().contains("Not so.") && answer.text().contains("https://demo.localhost/act")),
            }
        }
        let stream = place.ask("/~bot?user=a", "text/event-stream").await.is(200);
        let expected = format!("\"kind\":\"{kind}\"");
        assert!(stream.text().starts_with("event: policy\n") && stream.text().contains(&expected), "{}", stream.text());
        assert!(stream.text().ends_with("event: end\ndata: {}\n\n"));
    }
}

#[tokio::test]
async fn s8_4_too_many_requests_say_when_to_come_back() {
    let one = NonZeroU32::MIN;
    let limits = LimitSettings { per_address: Rate { per_second: one, burst: one }, ..LimitSettings::default() };
    let place = Setup { limits, ..Setup::default() }.start().await;
    place.ask("/~echo?user=a", "text/markdown").await.is(200);
    let id = "A".repeat(43);
    for path in ["/~echo?user=a", "/~echo", "/", &format!("/tasks/{id}"), &format!("/tasks/{id}/artifacts/a")] {
        let answer = place.ask(path, "application/json").await.is(429);
        assert!(answer.field("retry-after").unwrap().parse::<u64>().unwrap() >= 1, "{path}");
        assert_eq!(answer.json()["policy"]["kind"], "too_many_requests");
    }
    let stream = place.ask("/~echo?user=a", "text/event-stream").await.is(200);
    assert!(stream.text().starts_with("event: policy\n"));
}

#[tokio::test]
async fn a_host_that_drains_is_503() {
    let place = echo().await;
    place.host.drain(std::time::Duration::ZERO).await;
    let answer = place.ask("/~echo?user=a", "application/json").await.is(503);
    assert!(answer.field("retry-after").is_some());
    answer.has_required_fields("@echo@demo.localhost");
}
