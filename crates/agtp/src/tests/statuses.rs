//! Each status code, as it comes over the wire. Base 4; AGTP-API 11.

use forecourt_host::{LimitSettings, Rate};
use serde_json::json;

use super::support::{blueprint, body, code, server, server_of};

#[tokio::test]
async fn s11_262_a_call_must_claim_its_scopes() {
    let server = server("").await;
    let answer = server.ask(&format!("FETCH /rooms/7\r\nAgent-ID: {}", server.id("chef")), "").await;
    assert_eq!(code(&answer), (262, "authorization-required".to_owned()));
    let error = &body(&answer)["error"];
    assert_eq!(error["type"], "scope-required");
    assert!(error["explanation"].is_string() && error["details"].is_object());
    assert_eq!(answer.field("Content-Type"), Some("application/json"));
    assert_eq!(error["details"], json!({"header": "Authority-Scope"}), "any scope of the agent will do");
    let answer = server.ask(&format!("PURCHASE /rooms/7\r\nAgent-ID: {}", server.id("chef")), "").await;
    let details = &body(&answer)["error"]["details"];
    assert_eq!(details, &json!({"header": "Authority-Scope", "missing_scopes": ["payments:take"]}));
    let open = super::support::server("[endpoints]\nscope_required = false").await;
    assert_eq!(open.ask(&format!("FETCH /rooms/7\r\nAgent-ID: {}", open.id("chef")), "").await.start.code, 200);
}

#[tokio::test]
async fn base_4_262_a_claim_beyond_what_is_declared() {
    let server = server("").await;
    let head = format!("FETCH /rooms/7\r\nAgent-ID: {}\r\nAuthority-Scope: payments:take", server.id("chef"));
    let error = body(&server.ask(&head, "").await)["error"].clone();
    assert_eq!(error["details"], json!({"code": "scope-claim-invalid", "excess_scopes": ["payments:take"]}));
}

#[tokio::test]
async fn base_4_400_names_the_field() {
    let server = server("").await;
    let answer = server.ask("FETCH /rooms/7\r\nAuthority-Scope: Booking", "").await;
    assert_eq!(code(&answer), (400, "invalid-header".to_owned()));
    assert_eq!(body(&answer)["error"]["header"], "Authority-Scope");
}

#[tokio::test]
async fn s11_404_says_what_is_not_there() {
    let error = body(&server("").await.ask("BOOK /nowhere", "").await)["error"].clone();
    assert_eq!((&error["method"], &error["path"]), (&json!("BOOK"), &json!("/nowhere")));
    assert_eq!(error["discover"], "/methods", "where to look for what there is");
    let nobody = body(&server("").await.ask("DESCRIBE /agents/nobody", "").await)["error"].clone();
    assert_eq!((&nobody["code"], &nobody["discover"]), (&json!("agent-handle-not-found"), &json!("/agents")));
}

#[tokio::test]
async fn base_4_401_names_the_field_that_says_who_calls() {
    let server = server("").await;
    for head in ["FETCH /rooms/7", "FETCH /rooms/7\r\nAgent-ID: nobody"] {
        let answer = server.ask(head, "").await;
        assert_eq!((answer.start.code, &body(&answer)["error"]["header"]), (401, &json!("Agent-ID")), "{head}");
    }
}

#[tokio::test]
async fn s11_405_lets_the_caller_recover() {
    let section = "[endpoints.methods]\nredirects = [{from_method = \"RESERVE\", from_path = \"/rooms/7\", to_method = \"BOOK\"}]";
    let server = server(section).await;
    let answer = server.ask_as_chef("CANCEL /rooms/7", "").await;
    assert_eq!(answer.start.code, 405);
    let said = body(&answer);
    for part in [&said, &said["error"]] {
        assert_eq!(part["allowed_methods_for_path"], json!(["BOOK", "FETCH", "PURCHASE"]));
        assert_eq!(part["redirects_for_path"], json!({"RESERVE": "BOOK"}));
    }
    assert_eq!(server.ask_as_chef("RESERVE /rooms/7", "").await.start.code, 200);
}

#[tokio::test]
async fn s13_2_422_points_at_what_is_wrong() {
    let answer = server("").await.ask_as_chef("FETCH /rooms/7", r#"{"n": "x"}"#).await;
    let error = &body(&answer)["error"];
    assert_eq!((&error["code"], &error["field"]), (&json!("input-validation-failed"), &json!("/n")));
    assert!(error["schema_path"].as_str().unwrap().ends_with("/type") && error["detail"].is_string());
    assert_eq!((&error["method"], &error["path"]), (&json!("FETCH"), &json!("/rooms/7")));
}

#[tokio::test]
async fn s6_4_422_is_also_an_error_that_the_endpoint_declares() {
    let answer = server("").await.ask_as_chef("FETCH /rooms/7", r#"{"how": "taken"}"#).await;
    assert_eq!(code(&answer), (422, "room_unavailable".to_owned()));
    assert_eq!(body(&answer)["error"]["message"], "the room is taken");
}

#[tokio::test]
async fn base_4_429_says_when_to_come_back_in_both_places() {
    let one = std::num::NonZeroU32::MIN;
    let rate = Rate { per_second: one, burst: one };
    let limits = LimitSettings { per_address: rate, ..forecourt_testhost::unlimited() };
    let server = server_of(forecourt_testhost::Blueprint { limits, ..blueprint("") }).await;
    assert_eq!(server.ask_as_chef("FETCH /rooms/7", "").await.start.code, 200);
    let answer = server.ask_as_chef("FETCH /rooms/7", "").await;
    assert_eq!(code(&answer), (429, "rate-limited".to_owned()));
    let said = body(&answer);
    let seconds = answer.field("Retry-After").unwrap().parse::<u64>().unwrap();
    assert_eq!(
        (&said["retry_after_seconds"], &said["error"]["retry_after_seconds"]),
        (&json!(seconds), &json!(seconds))
    );
    assert_eq!((&said["scope"], &said["error"]["scope"]), (&json!("requests"), &json!("requests")));
}

#[tokio::test]
async fn s6_4_455_names_the_missing_scopes() {
    let answer = server("").await.ask_as_chef("PURCHASE /rooms/7", "").await;
    let error = &body(&answer)["error"];
    assert_eq!((answer.start.code, &error["missing_scopes"]), (455, &json!(["payments:take"])));
    assert!(error["explanation"].is_string());
}

#[tokio::test]
async fn s4_459_suggests_methods() {
    let error = body(&server("").await.ask("QEURY /", "").await)["error"].clone();
    assert_eq!((&error["method"], &error["catalog_version"]), (&json!("QEURY"), &json!("1.0.0")));
    assert_eq!(error["suggestions"], json!(["QUERY", "RETRY"]));
    for method in ["query", "AB", "QU3RY", &"A".repeat(33)] {
        assert_eq!(server("").await.ask(&format!("{method} /"), "").await.start.code, 459, "{method}");
    }
}

#[tokio::test]
async fn s5_460_names_the_segment() {
    let server = server("").await;
    for (path, segment) in [("/rooms/b-o_ok", "b-o_ok"), ("/x/", ""), ("x", "x")] {
        let error = body(&server.ask(&format!("QUERY {path}"), "").await)["error"].clone();
        assert_eq!((&error["code"], &error["segment"]), (&json!("endpoint-violation"), &json!(segment)), "{path}");
    }
}

#[tokio::test]
async fn base_4_500_says_nothing_of_the_inside() {
    let server = server("").await;
    for (how, wanted) in
        [("crash", "handler-exception"), ("undeclared", "undeclared-error-code"), ("wrong", "output-validation-failed")]
    {
        let answer = server.ask_as_chef("FETCH /rooms/7", &json!({"how": how}).to_string()).await;
        assert_eq!(code(&answer), (500, wanted.to_owned()));
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
    }
}

#[tokio::test]
async fn base_4_503_while_the_host_drains() {
    let server = server("").await;
    server.mounted.mount.host.drain(std::time::Duration::ZERO).await;
    assert_eq!(code(&server.ask_as_chef("FETCH /rooms/7", "").await), (503, "unavailable".to_owned()));
}

#[tokio::test]
async fn s11_what_is_not_answered_at_the_root_is_not_implemented() {
    let server = server("").await;
    for method in ["BOOK", "FETCH"] {
        assert_eq!(
            code(&server.ask_as_chef(&format!("{method} /"), "").await),
            (405, "method-not-implemented".to_owned())
        );
    }
    assert_eq!(code(&server.ask_as_chef("DESCRIBE /rooms/7", "").await), (405, "method-not-allowed".to_owned()));
}

#[tokio::test]
async fn base_7_a_host_that_drains_answers_no_method_and_says_when_to_come_back() {
    let server = server("").await;
    server.mounted.mount.host.drain(std::time::Duration::ZERO).await;
    let methods = forecourt_contract::catalog::EMBEDDED.iter().map(|method| format!("{method} /"));
    let heads = methods.chain(["DISCOVER /methods", "DISCOVER /genesis", "BOOK /rooms/7"].map(str::to_owned));
    for head in heads {
        for key in ["", "\r\nIdempotency-Key: k"] {
            let answer = server.ask_as_chef(&format!("{head}{key}"), "{}").await;
            assert_eq!(code(&answer), (503, "unavailable".to_owned()), "{head}");
            assert_eq!(answer.field("Retry-After"), Some("5"), "{head}");
        }
    }
}
