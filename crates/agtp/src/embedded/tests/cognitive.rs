//! QUERY, DESCRIBE, SUMMARIZE, PLAN, PROPOSE and INSPECT. Base 3.1, 3.3.

use forecourt_core::{AgentCard, Ending};
use forecourt_testkit::{ScriptedAgent, card};
use serde_json::{Value, json};

use super::{asks, call, ends, finds, server, server_as, server_with, word};

fn composing() -> AgentCard {
    AgentCard { composes: true, ..card("chef") }
}

#[tokio::test]
async fn s3_1_every_parameter_that_is_missing_is_named() {
    let server = server().await;
    let rows = [
        ("QUERY", json!({}), json!(["intent"])),
        ("QUERY", json!({"intent": ""}), json!(["intent"])),
        ("QUERY", json!({"intent": null}), json!(["intent"])),
        ("SUMMARIZE", json!({}), json!(["source"])),
        ("PLAN", json!({}), json!(["goal"])),
        ("INSPECT", json!({}), json!(["target"])),
        ("EXECUTE", json!({}), json!(["action"])),
        ("DELEGATE", json!({}), json!(["target_agent_id", "task", "authority_scope", "delegation_token"])),
        ("ESCALATE", json!({}), json!(["task_id", "reason", "context"])),
        ("CONFIRM", json!({}), json!(["target_id"])),
        ("CONFIRM", json!({"target_id": "t"}), json!(["status"])),
        ("SUSPEND", json!({}), json!(["session_id"])),
        ("NOTIFY", json!({}), json!(["recipient", "content"])),
        ("REVOKE", json!({}), json!(["reason"])),
    ];
    for (method, parameters, missing) in rows {
        let (code, body) = call(&server, method, parameters).await;
        assert_eq!((code, word(&body)), (422, "missing-required-params"), "{method} {body}");
        assert_eq!((&body["error"]["missing"], &body["error"]["method"]), (&missing, &json!(method)));
    }
}

#[tokio::test]
async fn s3_1_a_parameter_of_another_kind_is_named() {
    let server = server().await;
    let rows = [
        ("QUERY", json!({"intent": 1}), "/intent"),
        ("QUERY", json!({"intent": "x", "confidence_threshold": 1.1}), "/confidence_threshold"),
        ("QUERY", json!({"intent": "x", "format": "verse"}), "/format"),
        ("SUMMARIZE", json!({"source": "x", "length": "endless"}), "/length"),
        ("PLAN", json!({"goal": "x", "max_steps": 1.5}), "/max_steps"),
        ("ESCALATE", json!({"task_id": "t", "reason": "boredom", "context": {}}), "/reason"),
        ("NOTIFY", json!({"recipient": "gate", "content": "x", "urgency": "loud"}), "/urgency"),
        ("DEPRECATE", json!({"migration_deadline": "soon"}), "/migration_deadline"),
    ];
    for (method, parameters, field) in rows {
        let (code, body) = call(&server, method, parameters).await;
        assert_eq!((code, word(&body)), (422, "input-validation-failed"), "{method} {body}");
        assert_eq!(body["error"]["field"], field);
    }
}

#[tokio::test]
async fn s3_1_a_query_is_answered_by_the_agent_in_the_callers_name() {
    let agent = ScriptedAgent::saying(["Soup."]);
    let server = server_with(agent.clone()).await;
    let (code, body) = call(&server, "QUERY", json!({"intent": "dinner?", "context": {"diet": "vegan"}})).await;
    assert_eq!(code, 200, "{body}");
    assert_eq!((&body["result_count"], &body["results"][0]["content"]), (&json!(1), &json!("Soup.")));
    assert_eq!(body["results"][0]["provenance"]["agent_id"], body["agent_id"]);
    let heard = agent.heard().remove(0);
    assert_eq!(heard.text(), "dinner?");
    assert_eq!(heard.sender.claimed_address, Some(format!("agtp://{}", server.id("chef"))));
    assert!(!heard.sender.verified);
}

#[tokio::test]
async fn s3_1_what_is_found_has_a_confidence_and_a_threshold_holds() {
    let server = server_with(finds()).await;
    let (_, all) = call(&server, "QUERY", json!({"intent": "soup"})).await;
    let shown: Vec<_> = all["results"].as_array().unwrap().iter().map(|one| (&one["id"], &one["confidence"])).collect();
    assert_eq!(shown, [(&json!("urn:soup"), &json!(1.0)), (&json!("urn:stew"), &json!(0.25))]);
    assert_eq!((&all["summary"], &all["confidence_basis"]), (&json!("Two soups."), &json!("relative-to-best")));
    let (_, sure) = call(&server, "QUERY", json!({"intent": "soup", "confidence_threshold": 0.5})).await;
    assert_eq!(sure["result_count"], 1);
    let (_, raw) = call(&server, "QUERY", json!({"intent": "soup", "format": "raw"})).await;
    assert_eq!(raw["results"][0]["content"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn s3_1_a_question_back_is_told_and_a_failure_is_a_problem() {
    let (code, body) = call(&server_with(asks()).await, "QUERY", json!({"intent": "book"})).await;
    assert_eq!((code, &body["question"]["text"], &body["result_count"]), (200, &json!("Which room?"), &json!(0)));
    let failing = server_with(ends(Ending::failed("The oven is cold."))).await;
    let (code, body) = call(&failing, "QUERY", json!({"intent": "book"})).await;
    assert_eq!((code, word(&body)), (500, "agent-failed"));
}

#[tokio::test]
async fn s3_1_a_claim_beyond_what_is_declared_is_262() {
    let server = server().await;
    let id = server.id("chef");
    let head = format!("QUERY /\r\nAgent-ID: {id}\r\nAuthority-Scope: payments:take");
    let response = server.ask(&head, "{\"intent\": \"x\"}").await;
    let body = crate::tests::support::body(&response);
    assert_eq!((response.start.code, word(&body)), (262, "authorization-required"));
    assert_eq!(body["error"]["details"]["code"], "scope-claim-invalid");
}

#[tokio::test]
async fn s3_1_a_summary_is_the_texts_own_sentences_where_the_agent_does_not_write() {
    let server = server().await;
    let source = "Chickpeas are the base of hummus. It rained. Hummus of chickpeas needs tahini. Somebody laughed.";
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": source, "length": "brief"})).await;
    assert_eq!((code, &body["summary"]), (200, &json!("Chickpeas are the base of hummus.")), "{body}");
    assert_eq!((&body["kind"], &body["source_length"]), (&json!("extractive"), &json!(source.len())));
    assert!(body["source_hash"].as_str().unwrap().starts_with("sha256:"));
    let (_, bullets) =
        call(&server, "SUMMARIZE", json!({"source": source, "format": "bullets", "focus": "rain"})).await;
    assert!(bullets["summary"].as_str().unwrap().lines().all(|line| line.starts_with("- ")), "{bullets}");
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": "... !"})).await;
    assert_eq!((code, word(&body)), (422, "unreadable-source"));
}

#[tokio::test]
async fn s3_1_an_agent_that_writes_is_asked_for_the_summary() {
    let agent = ScriptedAgent::saying(["Hummus is chickpeas."]);
    let server = server_as(composing(), agent.clone()).await;
    let (_, body) = call(&server, "SUMMARIZE", json!({"source": "A long text.", "focus": "hummus"})).await;
    assert_eq!((&body["summary"], &body["kind"]), (&json!("Hummus is chickpeas."), &json!("abstractive")));
    let heard = agent.heard()[0].text();
    assert!(heard.contains("A long text.") && heard.contains("Focus on: hummus"), "{heard}");
}

#[tokio::test]
async fn s3_1_a_source_by_address_is_fetched_under_the_hosts_guard() {
    let server = server().await;
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": "data:text/plain,Soup%20is%20hot."})).await;
    assert_eq!((code, word(&body)), (200, ""), "{body}");
    for hostile in ["http://127.0.0.1:1/", "https://169.254.169.254/latest"] {
        let (code, body) = call(&server, "SUMMARIZE", json!({"source": hostile})).await;
        assert_eq!((code, word(&body)), (422, "unreadable-source"), "{hostile} {body}");
    }
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": "data:image/png;base64,AAAA"})).await;
    assert_eq!((code, word(&body)), (422, "unreadable-source"));
}

#[tokio::test]
async fn s3_1_every_step_of_a_plan_is_a_pair_that_can_be_called() {
    let server = server().await;
    let (_, body) = call(&server, "PLAN", json!({"goal": "book a room", "max_steps": 2})).await;
    let steps = body["ordered_steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2, "{body}");
    for step in steps {
        let registry = &server.service.contract().registry;
        let is_there = |at: &forecourt_contract::registry::RegisteredEndpoint| {
            at.endpoint.method.as_str() == step["method"] && at.endpoint.path.as_str() == step["path"]
        };
        assert!(registry.iter().any(is_there), "{step}");
    }
    let (_, none) = call(&server, "PLAN", json!({"goal": "zzz"})).await;
    assert_eq!(
        (&none["ordered_steps"][0]["method"], &none["ordered_steps"][0]["path"]),
        (&json!("QUERY"), &json!("/"))
    );
    let (_, only) = call(&server, "PLAN", json!({"goal": "book a room", "available_methods": ["FETCH"]})).await;
    assert!(only["ordered_steps"].as_array().unwrap().iter().all(|step| step["method"] == "FETCH"), "{only}");
}

#[tokio::test]
async fn s9_2_no_step_is_one_that_the_policy_keeps_out() {
    let server = crate::tests::support::server("[endpoints.methods]\ndisallow = [\"BOOK\"]").await;
    let (_, body) = call(&server, "PLAN", json!({"goal": "book a room"})).await;
    let steps = body["ordered_steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["method"] == "FETCH"), "{body}");
    assert!(steps.iter().all(|step| step["method"] != "BOOK"), "{body}");
}

#[tokio::test]
async fn s3_1_what_a_caller_lacks_for_a_step_is_told() {
    let server = server().await;
    let goal = json!({"goal": "book a room", "available_methods": "PURCHASE"});
    let (_, body) = call(&server, "PLAN", goal).await;
    assert_eq!(body["ordered_steps"][0]["missing_scopes"], json!(["payments:take"]), "{body}");
}

#[tokio::test]
async fn s3_1_an_agent_that_writes_orders_the_steps() {
    let agent = ScriptedAgent::saying(["First EXECUTE /plays, then BOOK /rooms/{room}. Never DELETE /all."]);
    let server = server_as(composing(), agent).await;
    let (_, body) = call(&server, "PLAN", json!({"goal": "a night out"})).await;
    let pairs: Vec<_> =
        body["ordered_steps"].as_array().unwrap().iter().map(|step| (&step["method"], &step["path"])).collect();
    assert_eq!(pairs, [(&json!("EXECUTE"), &json!("/plays")), (&json!("BOOK"), &json!("/rooms/{room}"))]);
}

#[tokio::test]
async fn s8_7_no_endpoint_is_made_while_serving() {
    let (code, body) = call(&server().await, "PROPOSE", json!({"name": "x"})).await;
    assert_eq!((code, word(&body)), (463, "proposal-rejected"));
    assert_eq!(body["error"]["reason"], "synthesis-disabled");
}

#[tokio::test]
async fn s3_1_a_description_is_the_identity_document_in_the_form_that_is_taken() {
    let server = server().await;
    let id = server.id("chef");
    for (accept, media_type, begin) in [
        ("application/json", "application/vnd.agtp.identity+json", "{"),
        ("application/yaml", "application/vnd.agtp.identity+yaml", "agent_id"),
        ("text/html", "text/html; charset=utf-8", "<!doctype html>"),
    ] {
        let response = server.ask(&format!("DESCRIBE /\r\nAgent-ID: {id}\r\nAccept: {accept}"), "").await;
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        assert_eq!((response.start.code, response.field("Content-Type")), (200, Some(media_type)), "{text}");
        assert!(text.contains(&id) && text.contains(begin), "{text}");
    }
}

#[tokio::test]
async fn s6_3_the_document_has_what_readers_need_and_says_where_the_agent_stands() {
    let server = server().await;
    let (_, document) = call(&server, "DESCRIBE", json!({})).await;
    for name in ["agtp_version", "document_version", "name", "issued_at", "skills", "requires", "manifest_signature"] {
        assert!(!document[name].is_null(), "{name}: {document}");
    }
    assert_eq!((&document["status"], &document["updated_at"]), (&json!("active"), &document["issued_at"]));
    let (_, changed) = call(&server, "DEPRECATE", json!({"reason": "old"})).await;
    let (_, document) = call(&server, "DESCRIBE", json!({})).await;
    assert_eq!((&document["status"], &document["updated_at"]), (&json!("deprecated"), &changed["issued_at"]));
}

#[tokio::test]
async fn s3_1_capabilities_are_those_of_the_domains_asked_for() {
    let server = server().await;
    let (_, some) =
        call(&server, "DESCRIBE", json!({"capability_domains": "version, methods", "version_min": "2"})).await;
    let names: Vec<&String> = some.as_object().unwrap().keys().collect();
    assert_eq!(names, ["agent_id", "methods", "version", "version_min_satisfied"]);
    assert_eq!((&some["version_min_satisfied"], some["methods"].as_array().unwrap().len()), (&json!(false), 18));
    let (code, body) = call(&server, "DESCRIBE", json!({"capability_domains": "weather"})).await;
    assert_eq!((code, &body["error"]["field"]), (422, &json!("/capability_domains")));
    let (code, body) = call(&server, "DESCRIBE", json!({"agent_id": "0".repeat(64)})).await;
    assert_eq!((code, word(&body)), (404, "agent-not-found"));
}

#[tokio::test]
async fn s3_3_what_is_not_kept_is_not_found_under_its_own_code() {
    let server = server().await;
    let rows = [
        (json!({"target": "audit", "audit_id": "0"}), 404, "audit-record-not-found"),
        (json!({"target": "chain_head", "agent_id": "0"}), 404, "chain-head-not-found"),
        (json!({"target": "contract", "synthesis_id": "s"}), 404, "contract-not-found"),
        (json!({"target": "rcns-attempt", "attempt_id": "a"}), 404, "rcns-attempt-not-found"),
        (json!({"target": "task", "task_id": "t"}), 404, "task-not-found"),
        (json!({"target": "escalation", "escalation_id": "e"}), 404, "escalation-not-found"),
        (json!({"target": "weather"}), 422, "unknown-inspect-target"),
    ];
    for (parameters, status, code) in rows {
        let (found, body) = call(&server, "INSPECT", parameters.clone()).await;
        assert_eq!((found, word(&body)), (status, code), "{parameters}");
    }
}

#[tokio::test]
async fn s3_3_a_parameter_that_a_target_needs_is_400() {
    let server = server().await;
    for target in ["audit", "chain_head", "lifecycle", "contract", "rcns-attempt", "task", "escalation"] {
        let (code, body): (u16, Value) = call(&server, "INSPECT", json!({"target": target})).await;
        assert_eq!((code, word(&body)), (400, "missing-required-params"), "{target}");
    }
}

#[tokio::test]
async fn s3_1_a_source_may_be_what_another_method_answered() {
    let server = server().await;
    let found = json!({
        "method": "QUERY",
        "results": [
            {"id": "1", "content": {"name": "Hummus", "description": "Chickpeas are the base of hummus."}, "confidence": 0.9},
            {"id": "2", "content": "Hummus of chickpeas needs tahini."},
        ],
        "result_count": 2,
    });
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": found, "length": "detailed"})).await;
    assert_eq!(code, 200, "{body}");
    let summary = body["summary"].as_str().unwrap();
    assert!(summary.contains("Chickpeas are the base") && summary.contains("tahini"), "{summary}");
    assert!(!summary.contains("confidence") && !summary.contains("QUERY"), "{summary}");
    for wrong in [json!(7), json!(true)] {
        let (code, body) = call(&server, "SUMMARIZE", json!({"source": wrong})).await;
        assert_eq!((code, body["error"]["field"].as_str()), (422, Some("/source")), "{body}");
    }
    let (code, body) = call(&server, "SUMMARIZE", json!({"source": {"n": 1, "words": ["A soup is hot."]}})).await;
    assert_eq!(code, 200, "what has no words for people is taken as it is: {body}");
}

#[tokio::test]
async fn s3_1_the_length_is_a_word_or_a_number_under_either_name() {
    let server = server().await;
    let source = "Chickpeas are the base of hummus. It rained. Hummus of chickpeas needs tahini. Somebody laughed.";
    for (name, value) in
        [("length", json!("brief")), ("max_length", json!("brief")), ("length", json!(20)), ("max_length", json!(20))]
    {
        let (code, body) = call(&server, "SUMMARIZE", json!({"source": source, name: value})).await;
        assert_eq!((code, &body["summary"]), (200, &json!("Chickpeas are the base of hummus.")), "{name} {body}");
    }
    for (name, value) in [
        ("length", json!("endless")),
        ("max_length", json!("endless")),
        ("length", json!(0)),
        ("max_length", json!(2_001)),
    ] {
        assert_eq!(call(&server, "SUMMARIZE", json!({"source": source, name: value})).await.0, 422, "{name}");
    }
}
