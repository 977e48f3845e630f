//! NLWeb 7: paths, methods, statuses; refusals; who may ask from where.

use std::num::NonZeroU32;
use std::path::Path;

use forecourt_core::policy::{AcceptedPayment, AuthChallenge, RefusalKind};
use forecourt_core::{AgentCard, PolicyPart};
use forecourt_host::{LimitSettings, Rate};
use forecourt_nlweb::PROTOCOL;
use forecourt_settings::Section;
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::json;

use crate::support::*;

fn hi() -> String {
    json!({"query": {"text": "hi"}}).to_string()
}

#[tokio::test(start_paused = true)]
async fn s7_1_the_host_and_each_agent_are_asked_at_their_paths() {
    let (place, _, _) = two().await;
    for (path, agent) in [
        ("/ask", "chef"),
        ("/ask/", "chef"),
        ("/~gate/ask", "gate"),
        ("/~GATE/ask/", "gate"),
        ("/%7Egate/ask", "gate"),
        ("/%7egate/ask", "gate"),
    ] {
        let answer = place.send(post(path), hi()).await;
        assert_eq!(answer.json()["results"][0]["text"], agent, "{path}");
    }
    for path in ["/~nobody/ask", "/~nobody/await", "/~@gate/ask", "/~a%20b/ask"] {
        let answer = place.send(post(path), hi()).await;
        assert_eq!(answer.verdict(), (404, "failure".to_owned(), "NOT_FOUND".to_owned()), "{path}");
        assert!(answer.message().contains("chef, gate"), "{}", answer.text);
    }
    let section = Section::empty(Path::new("forecourt.toml"), "nlweb");
    let endpoints = (PROTOCOL.open)(section).unwrap().endpoints(place.host.site(), &card("gate"));
    assert_eq!(endpoints[0].url, "https://demo.localhost/~gate/ask");
}

#[tokio::test(start_paused = true)]
async fn s7_1_other_methods_are_405_and_say_what_is_taken() {
    let (place, _, _) = two().await;
    for (path, allow, methods) in [
        ("/ask", "GET, HEAD, POST, OPTIONS", &["PUT", "DELETE", "PATCH"][..]),
        ("/await", "POST, OPTIONS", &["GET", "PUT", "DELETE"][..]),
    ] {
        for method in methods {
            let answer = place.send(request(method, path), "").await;
            assert_eq!((answer.status.as_u16(), answer.field("allow")), (405, allow), "{method} {path}");
        }
        let options = place.send(request("OPTIONS", path), "").await;
        assert_eq!((options.status.as_u16(), options.field("allow")), (204, allow));
    }
}

#[tokio::test(start_paused = true)]
async fn s7_2_a_body_that_does_not_say_it_is_json_is_415() {
    let (place, chef, _) = two().await;
    for kind in ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        for path in ["/ask", "/await"] {
            let answer = place.send(request("POST", path).header("content-type", kind), hi()).await;
            assert_eq!(answer.verdict(), (415, "failure".to_owned(), "INVALID_QUERY".to_owned()), "{kind}");
        }
    }
    assert!(chef.heard().is_empty());
    let json = request("POST", "/ask").header("content-type", "Application/JSON; charset=utf-8");
    assert_eq!(place.send(json, hi()).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn s7_4_bodies_are_bounded() {
    let (place, _, _) = two().await;
    let of = |bytes: usize| format!("{}{}", hi(), " ".repeat(bytes - hi().len()));
    assert_eq!(place.send(post("/ask"), of(1024 * 1024)).await.status, 200);
    let answer = place.send(post("/ask"), of(1024 * 1024 + 1)).await;
    assert_eq!(answer.verdict(), (413, "failure".to_owned(), "TOKEN_LIMIT".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn s7_4_each_refusal_has_its_status_its_fields_and_its_words() {
    let login = RefusalKind::Unauthorized { auth_challenges: vec![AuthChallenge::new("Bearer").with("realm", "x")] };
    let payments = vec![AcceptedPayment { scheme: "x402.exact".to_owned(), payload: serde_json::Map::new() }];
    for (kind, status, code, field) in [
        (login, 401, "UNAUTHORIZED", "www-authenticate"),
        (RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }, 429, "RATE_LIMITED", "retry-after"),
        (RefusalKind::PaymentRequired { accepted_payments: payments }, 402, "PAYMENT_REQUIRED", ""),
        (RefusalKind::Forbidden, 403, "FORBIDDEN", ""),
        (RefusalKind::UnavailableForLegalReasons, 451, "UNAVAILABLE_FOR_LEGAL_REASONS", ""),
        (RefusalKind::ServiceUnavailable { retry_after_seconds: Some(9) }, 503, "SERVICE_UNAVAILABLE", "retry-after"),
        (RefusalKind::ServiceUnavailable { retry_after_seconds: None }, 503, "SERVICE_UNAVAILABLE", "retry-after"),
        (RefusalKind::Other("stamp_required".to_owned()), 403, "STAMP_REQUIRED", ""),
    ] {
        let mut part = PolicyPart::new(kind, "Not now.");
        part.url = Some(format!("{ORIGIN}/why"));
        let kind = part.kind().to_owned();
        let answer = bot(vec![text("Let me see."), refuse(part)]).await.say("x").await;
        assert_eq!(answer.verdict(), (status, "failure".to_owned(), code.to_owned()));
        assert_eq!(answer.message(), "Not now.\n\nhttps://demo.localhost/why");
        assert!(field.is_empty() || !answer.field(field).is_empty(), "{field}");
        assert_eq!(answer.json()["_meta"]["mentionable"]["policy"]["part"]["kind"], kind);
    }
}

#[tokio::test(start_paused = true)]
async fn s7_4_a_refusal_is_told_in_the_callers_language() {
    let part = serde_json::json!({"kind": "forbidden", "message": "No.",
        "message_translations": {"de": {"message": "Nein."}}});
    let part: PolicyPart = serde_json::from_value(part).unwrap();
    let place = bot(vec![refuse(part)]).await;
    let german = place.send(post("/ask").header("accept-language", "de-CH"), hi()).await;
    assert_eq!(german.message(), "Nein.");
    let body = json!({"query": {"text": "x"}, "prefer": {"accept-language": "en"}}).to_string();
    assert_eq!(place.send(post("/ask").header("accept-language", "de"), body).await.message(), "No.");
}

#[tokio::test(start_paused = true)]
async fn s2_4_credentials_that_do_not_hold_are_401() {
    let (place, chef, _) = two().await;
    for path in ["/ask", "/await"] {
        let body = json!({"query": {"text": "hi"}, "promise_token": "x", "action": "checkin"}).to_string();
        let answer = place.send(post(path).header("authorization", "Bearer nonsense"), body).await;
        assert_eq!(answer.verdict(), (401, "failure".to_owned(), "UNAUTHORIZED".to_owned()), "{path}");
        assert!(answer.field("www-authenticate").starts_with("Bearer"));
    }
    assert!(chef.heard().is_empty());
    place.send(post("/ask").header("authorization", place.token("alice")), hi()).await;
    assert!(chef.heard()[0].sender.verified);
}

#[tokio::test(start_paused = true)]
async fn s2_5_asking_too_often_is_429_with_seconds_to_wait() {
    let one = NonZeroU32::MIN;
    let limits = LimitSettings { per_address: Rate { per_second: one, burst: one }, ..LimitSettings::default() };
    let setup = Setup { limits: Some(limits), ..Setup::default() };
    let place = setup.with(card("bot"), ScriptedAgent::saying(["x"])).start().await;
    assert_eq!(place.say("x").await.status, 200);
    for answer in [
        place.say("x").await,
        place.stream(json!({"query": {"text": "x"}})).await,
        place.awaits("x", "checkin").await,
        place.send(request("GET", "/ask?query=x"), "").await,
    ] {
        assert_eq!((answer.status.as_u16(), answer.field("retry-after")), (429, "1"));
        assert_eq!(answer.json()["error"]["code"], "RATE_LIMITED");
    }
}

#[tokio::test(start_paused = true)]
async fn pages_of_other_origins_ask_agents_that_allow_it() {
    let open = AgentCard { cors: true, ..card("open") };
    let place = Setup::default()
        .with(card("shut"), ScriptedAgent::saying(["x"]))
        .with(open, ScriptedAgent::saying(["x"]))
        .start()
        .await;
    for (path, origin) in [("/ask", ""), ("/~shut/ask", ""), ("/~open/ask", "*"), ("/~open/await", "*")] {
        for method in ["OPTIONS", "POST"] {
            let request = request(method, path).header("content-type", "application/json");
            let answer = place.send(request.header("origin", "https://evil.example"), hi()).await;
            assert_eq!(answer.field("access-control-allow-origin"), origin, "{method} {path}");
            assert!(answer.field("access-control-allow-credentials").is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_shuts_down_says_so() {
    let (place, _, _) = two().await;
    place.host.drain(std::time::Duration::ZERO).await;
    let answer = place.say("x").await;
    assert_eq!(answer.verdict(), (503, "failure".to_owned(), "SERVICE_UNAVAILABLE".to_owned()));
    assert!(!answer.field("retry-after").is_empty());
}
