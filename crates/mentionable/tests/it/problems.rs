//! RFC 9457: refusals and faults as Problem Details, for who names them.

use forecourt_core::policy::{RefusalKind, Translation};
use forecourt_core::{Ending, Event, PolicyPart};
use serde_json::{Value, json};

use crate::support::{Place, bot, echo, get};

const PROBLEM: &str = "application/problem+json";

async fn refusing(part: PolicyPart) -> Place {
    bot(vec![Event::Ending(Ending::Refused(Box::new(part)))]).await
}

fn payment() -> PolicyPart {
    let payload = json!({"x402Version": 1, "error": "pay", "accepts": []});
    let accepted_payments = vec![serde_json::from_value(json!({"scheme": "x402.exact", "payload": payload})).unwrap()];
    let mut part = PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments }, "Two coins.");
    part.url = Some("https://demo.localhost/pay/1".into());
    let german = Translation { title: Some("Kostet etwas".into()), message: "Zwei Münzen.".into() };
    part.message_translations.insert("de".into(), german);
    part
}

#[tokio::test]
async fn rfc9457_3_1_a_refusal_has_the_standard_members_and_the_whole_part() {
    let place = refusing(payment()).await;
    let request = get("/~bot?user=a").header("accept", "application/json, application/problem+json");
    let answer = place.send(request.header("accept-language", "de")).await.is(402);
    answer.has_required_fields("@bot@demo.localhost");
    assert_eq!(answer.field("content-type"), Some(PROBLEM));
    assert_eq!(answer.field("content-language"), Some("de"));
    let problem = answer.json();
    let expected = [
        ("type", json!("about:blank")),
        ("title", json!("Kostet etwas")),
        ("status", json!(402)),
        ("detail", json!("Zwei Münzen.")),
        ("instance", json!("https://demo.localhost/pay/1")),
        ("kind", json!("payment_required")),
        ("x402Version", json!(1)),
    ];
    for (name, value) in expected {
        assert_eq!(problem[name], value, "{name}");
    }
    assert_eq!(problem["policy"]["message"], "Two coins.");
}

#[tokio::test]
async fn rfc9457_a_fault_is_a_problem_too() {
    let place = echo().await;
    for (path, status, code) in [
        ("/~nobody?user=a", 404, "agent-not-found"),
        ("/~echo?user=a&assistant=b", 400, "bad-request"),
        ("/x", 404, "not-found"),
        ("/tasks/x", 404, "task-not-found"),
    ] {
        let answer = place.ask(path, PROBLEM).await.is(status);
        assert_eq!(answer.field("content-type"), Some(PROBLEM), "{path}");
        let problem = answer.json();
        assert_eq!((&problem["status"], &problem["code"]), (&json!(status), &json!(code)), "{path}");
    }
    // What is no error has other forms: who names problems alone reads JSON.
    let answer = place.ask("/~echo?user=a", PROBLEM).await.is(200);
    assert_eq!(answer.field("content-type"), Some("application/json"));
    let both = place.ask("/~echo?user=a", "application/json, application/problem+json").await.is(200);
    assert_eq!(both.field("content-type"), Some("application/json"));
}

#[tokio::test]
async fn rfc9110_12_5_1_quality_decides_between_a_problem_and_the_usual_form() {
    let place = refusing(payment()).await;
    for (accept, form) in [
        ("application/json, application/problem+json", PROBLEM),
        ("application/problem+json, application/json", PROBLEM),
        ("application/json;q=0.5, application/problem+json", PROBLEM),
        ("application/json, application/problem+json;q=0.5", "application/json"),
        ("application/json, application/problem+json;q=0", "application/json"),
        ("text/html, application/problem+json;q=0.9", "text/html; charset=utf-8"),
        ("text/markdown;q=0.3, application/problem+json;q=0.4", PROBLEM),
        ("application/*", "application/json"),
        ("*/*", "text/html; charset=utf-8"),
        (PROBLEM, PROBLEM),
        ("*/*, application/problem+json", PROBLEM),
    ] {
        let answer = place.ask("/~bot?user=a", accept).await.is(402);
        assert_eq!(answer.field("content-type"), Some(form), "{accept}");
    }
}

#[tokio::test]
async fn policy4_5_a_stream_tells_its_refusal_as_a_frame() {
    let answer = refusing(payment()).await.ask("/~bot?user=a", "text/event-stream, application/problem+json").await;
    let answer = answer.is(200);
    assert!(answer.text().starts_with("event: policy\n"), "{}", answer.text());
}

#[tokio::test]
async fn s4_problems_change_nothing_of_what_is_chosen_for_answers() {
    let Some(bytes) = forecourt_testkit::vectors("accept/cases.json") else { return };
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let place = echo().await;
    for case in file["cases"].as_array().unwrap() {
        let accept = case["accept"].as_str().unwrap();
        let Ok(value) = http::HeaderValue::from_str(accept) else { continue };
        let answer = place.send(get("/~echo?user=a").header("accept", value)).await;
        let form = answer.field("content-type").and_then(|text| text.split(';').next());
        match case["chosen"].as_str() {
            Some(chosen) => assert_eq!((answer.status.as_u16(), form), (200, Some(chosen)), "{accept:?}"),
            None => assert_eq!(answer.status, 406, "{accept:?}"),
        }
    }
}
