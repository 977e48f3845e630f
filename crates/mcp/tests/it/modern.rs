//! Clients of 2026-07-28, whose every request stands for itself.

use http::StatusCode;
use serde_json::json;

use forecourt_testkit::{ScriptedAgent, card};

use crate::support::{Setup, modern, post, rpc};

fn two() -> Setup {
    let chef = forecourt_core::AgentCard { examples: vec!["soup?".into(), "soup?".into()], ..card("chef") };
    Setup::default().with(chef, ScriptedAgent::saying(["soup"])).with(card("echo"), ScriptedAgent::saying(["echo"]))
}

fn names(answer: &crate::support::Answer, list: &str) -> Vec<String> {
    let all = answer.last()["result"][list].as_array().cloned().unwrap_or_default();
    all.iter().map(|one| one["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn s3_the_host_lists_every_agent_and_an_agent_itself() {
    let place = two().start().await;
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    assert_eq!(names(&listed, "tools"), ["await_task", "ask_chef", "ask_echo"]);
    let listed = place.modern("/mcp/echo", "tools/list", json!({})).await;
    assert_eq!(names(&listed, "tools"), ["ask_echo", "await_task"]);
    let result = &listed.last()["result"];
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(result["ttlMs"].is_u64());
}

#[tokio::test]
async fn s3_schemas_are_objects_and_tools_name_the_widget() {
    let place = two().start().await;
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    let tool = &listed.last()["result"]["tools"][1];
    assert_eq!(tool["inputSchema"]["type"], "object");
    assert_eq!(tool["outputSchema"]["type"], "object");
    assert_eq!(tool["_meta"]["ui"]["resourceUri"], "ui://forecourt/results.html");
    assert_eq!(tool["_meta"]["openai/outputTemplate"], "ui://forecourt/results.html");
    assert_eq!(tool["annotations"]["readOnlyHint"], false);
}

#[tokio::test]
async fn s7_the_widget_is_there_unless_it_is_turned_off() {
    let place = two().start().await;
    let read = place.modern("/mcp", "resources/read", json!({"uri": "ui://forecourt/results.html"})).await;
    let contents = &read.last()["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "text/html;profile=mcp-app");
    assert!(
        contents["text"].as_str().is_some_and(|page| page.contains("ui/initialize") && !page.contains("src=\"http"))
    );
    let place = Setup { section: "widget = false", ..two() }.start().await;
    let read = place.modern("/mcp", "resources/read", json!({"uri": "ui://forecourt/results.html"})).await;
    assert_eq!(read.last()["error"]["code"], -32602);
    let listed = place.modern("/mcp", "tools/list", json!({})).await;
    assert!(listed.last()["result"]["tools"][1].get("_meta").is_none());
}

#[tokio::test]
async fn agents_are_resources_and_their_examples_prompts() {
    let place = two().start().await;
    let listed = place.modern("/mcp", "resources/list", json!({})).await;
    assert_eq!(names(&listed, "resources"), ["chef", "echo", "results"]);
    let read = place.modern("/mcp", "resources/read", json!({"uri": "agent://chef"})).await;
    let text = read.last()["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("@chef@demo.localhost"), "{text}");
    let elsewhere = place.modern("/mcp/echo", "resources/read", json!({"uri": "agent://chef"})).await;
    assert_eq!(elsewhere.last()["error"]["code"], -32602);
    let listed = place.modern("/mcp", "prompts/list", json!({})).await;
    assert_eq!(names(&listed, "prompts"), ["chef_1"]);
    let prompt = place.modern("/mcp", "prompts/get", json!({"name": "chef_1"})).await;
    let words = prompt.last()["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_default().to_owned();
    assert!(words.starts_with("soup?") && words.contains("ask_chef"), "{words}");
    let none = place.modern("/mcp", "prompts/get", json!({"name": "chef_2"})).await;
    assert_eq!(none.last()["error"]["code"], -32602);
}

#[tokio::test]
async fn s1_discover_tells_the_revisions_and_who_answers() {
    let place = two().start().await;
    let found = place.modern("/mcp/chef", "server/discover", json!({})).await;
    let result = &found.last()["result"];
    assert!(result["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "@chef@demo.localhost");
    assert!(result["instructions"].as_str().is_some_and(|words| words.contains("ask_chef") && !words.contains("echo")));
}

#[tokio::test]
async fn s2_headers_must_say_what_the_body_says() {
    let place = two().start().await;
    let mut wrong = modern("/mcp", "tools/call", json!({"name": "ask_chef", "arguments": {"message": "x"}}), json!({}));
    wrong.headers_mut().insert("mcp-name", http::HeaderValue::from_static("ask_echo"));
    let answer = place.send(wrong).await;
    assert_eq!((answer.status, &answer.last()["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32020)));
    let bare = post("/mcp").header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/list");
    let answer = place.send(bare.body(rpc(1, "tools/list", json!({}))).unwrap()).await;
    assert_eq!((answer.status, &answer.last()["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32602)));
}

#[tokio::test]
async fn s1_methods_and_revisions_that_do_not_exist() {
    let place = two().start().await;
    let answer = place.modern("/mcp", "tools/dance", json!({})).await;
    assert_eq!((answer.status, &answer.last()["error"]["code"]), (StatusCode::NOT_FOUND, &json!(-32601)));
    let mut later = modern("/mcp", "tools/list", json!({}), json!({}));
    later.headers_mut().insert("mcp-protocol-version", http::HeaderValue::from_static("2031-01-01"));
    let answer = place.send(later).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn s1_there_are_no_sessions() {
    let place = two().start().await;
    let answer = place.modern("/mcp", "tools/list", json!({})).await;
    assert_eq!(answer.field("mcp-session-id"), "");
    for method in ["GET", "DELETE"] {
        let request = http::Request::builder().method(method).uri("/mcp").header("host", "demo.localhost");
        let request = request.header("mcp-protocol-version", "2026-07-28").body(axum::body::Body::empty()).unwrap();
        assert_eq!(place.send(request).await.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
}
