//! Servers behind the host that are hostile or broken, and callers who want what is another's.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use forecourt_testhost::ServerBlueprint;
use forecourt_testkit::{ScriptedAgent, card};
use http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::scripted_server::{far, host, listed, listen, server, tools};
use crate::support::{Answer, Place, Setup, modern};

/// A server of 2025-11-25 that answers each request at once with JSON, and what it was called with.
#[derive(Clone)]
struct Raw {
    tools: Arc<Value>,
    calls: Arc<Mutex<Vec<String>>>,
    /// Calls of `slow` wait for one of these.
    gate: Arc<Semaphore>,
}

impl Raw {
    async fn start(tools: Value) -> (String, Self) {
        let raw = Self { tools: Arc::new(tools), calls: Arc::default(), gate: Arc::new(Semaphore::new(0)) };
        let answering = raw.clone();
        let router = axum::Router::new().fallback(move |body: Bytes| {
            let raw = answering.clone();
            async move { raw.answer(&body).await }
        });
        (listen(router).await, raw)
    }

    async fn answer(&self, body: &[u8]) -> Response {
        let Ok(asked) = serde_json::from_slice::<Value>(body) else {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        };
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"}}),
            "tools/list" => json!({"tools": *self.tools}),
            "tools/call" => {
                let name = asked["params"]["name"].as_str().unwrap_or_default().to_owned();
                self.calls.lock().push(name.clone());
                if name == "slow" {
                    self.gate.acquire().await.unwrap().forget();
                }
                json!({"content": [{"type": "text", "text": format!("called {name}")}]})
            }
            _ if asked["id"].is_null() => return StatusCode::ACCEPTED.into_response(),
            _ => {
                let error = json!({"code": -32601, "message": "no such method"});
                return axum::Json(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).into_response();
            }
        };
        axum::Json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).into_response()
    }
}

fn plain(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn text(answer: &Answer) -> String {
    answer.last()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A program that is a server: what it does with each `message` is `body`, in Python.
fn program(body: &str, more: &str) -> ServerBlueprint {
    let script = format!(
        r#"
import json, os, sys, time
def say(**fields): print(json.dumps({{"jsonrpc": "2.0", **fields}}), flush=True)
def text(id, words): say(id=id, result={{"content": [{{"type": "text", "text": words}}]}})
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {{}})
    if method == "initialize":
        say(id=id, result={{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
            "serverInfo": {{"name": "far", "version": "1"}}}})
    elif method == "tools/list":
        say(id=id, result={{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in ["good", "bad"]]}})
    elif method == "tools/call" and params["name"] == "good":
        text(id, "good")
    elif method == "tools/call":
{body}
    elif id is not None and method:
        say(id=id, error={{"code": -32601, "message": "no such method"}})
"#
    );
    let section = format!("command = [\"python3\", \"-c\", '''{script}''']\n{more}");
    ServerBlueprint { name: "far".into(), section, rules: Vec::new() }
}

/// Calls a tool until it answers as it should.
async fn good(place: &Place) {
    let again = async { while text(&place.call("far_good", json!({})).await) != "good" {} };
    tokio::time::timeout(Duration::from_secs(20), again).await.expect("it answers again");
}

#[tokio::test]
async fn of_ten_thousand_tools_the_first_thousand_count() {
    let all: Vec<Value> = (0..10_000).map(|n| plain(&format!("t{n}"))).collect();
    let (url, raw) = Raw::start(all.into()).await;
    let place = host(vec![server(&url, "")]).await;
    listed(&place, "find_tools").await;
    assert_eq!(text(&place.call("far_t999", json!({})).await), "called t999");
    let led = place.call("call_tool", json!({"name": "far_t999"})).await;
    assert_eq!(text(&led), "called t999");
    for (name, arguments) in [("far_t1000", json!({})), ("call_tool", json!({"name": "far_t1000"}))] {
        assert!(place.call(name, arguments).await.last()["error"].is_object());
    }
    assert_eq!(raw.calls.lock().len(), 2, "the server heard of two");
}

#[tokio::test]
async fn schemas_that_are_hostile_are_left_to_their_server() {
    let mut nested = json!({"type": "string"});
    for _ in 0..60 {
        nested = json!({"type": "object", "properties": {"a": nested}});
    }
    let hostile = [
        ("loops", json!({"type": "object", "$ref": "#"})),
        (
            "chases",
            json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        ),
        ("fetches", json!({"type": "object", "properties": {"a": {"$ref": "http://169.254.169.254/schema"}}})),
        ("matches", json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}})),
        ("breaks", json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(("}}})),
        ("nests", nested),
        ("lies", json!({"type": "object", "properties": {"a": {"type": 7}}, "required": "a"})),
    ];
    let mut all: Vec<Value> =
        hostile.iter().map(|(name, schema)| json!({"name": name, "inputSchema": schema})).collect();
    all.push(json!({"name": "swells", "description": "x".repeat(10_000_000), "inputSchema": {"type": "object"}}));
    let (url, raw) = Raw::start(all.into()).await;
    let place = host(vec![server(&url, "")]).await;
    let known = listed(&place, "far_loops").await;
    assert!(!known.iter().any(|name| name == "far_swells"), "what is too large is left out: {known:?}");
    for (name, _) in &hostile {
        let arguments = json!({"a": format!("{}!", "a".repeat(5_000))});
        let tool = format!("far_{name}");
        let called = place.call(&tool, arguments);
        let answer = tokio::time::timeout(Duration::from_secs(10), called).await.expect(name);
        assert!(answer.last()["result"].is_object(), "{name}: {:?}", answer.last());
    }
    assert!(raw.calls.lock().iter().any(|name| name == "loops"), "what can't be understood, the server judges");
}

#[tokio::test]
async fn a_servers_tool_never_takes_the_place_of_the_hosts_own() {
    let names = ["ask_chef", "await_task", "find_tools", "describe_tool", "call_tool", "own"];
    let (url, raw) = Raw::start(names.map(plain).to_vec().into()).await;
    let place = host(vec![server(&url, "prefix = \"\"\n")]).await;
    let all = listed(&place, "own").await;
    for name in names {
        assert_eq!(all.iter().filter(|one| *one == name).count(), 1, "{name}: {all:?}");
    }
    assert_eq!(text(&place.call("ask_chef", json!({"message": "hello"})).await), "soup");
    let unknown = place.call("await_task", json!({"task_id": "x"})).await;
    assert!(!text(&unknown).starts_with("called"), "{:?}", unknown.last());
    assert!(raw.calls.lock().is_empty());
    // Where the list shows all, the three that lead to others are not the host's.
    assert_eq!(text(&place.call("find_tools", json!({})).await), "called find_tools");
    // Where it does not, they are.
    let setup = Setup { servers: vec![server(&url, "prefix = \"\"\n")], ..Setup::default() };
    let setup = Setup { section: "tools_listed_max = 4\n", ..setup };
    let cut = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    listed(&cut, "find_tools").await;
    let calls = raw.calls.lock().len();
    let led = async { cut.call("call_tool", json!({"name": "own"})).await };
    assert_eq!(text(&led.await), "called own");
    assert!(cut.call("find_tools", json!({"query": "own"})).await.last()["result"]["structuredContent"].is_object());
    assert_eq!(raw.calls.lock().len(), calls + 1);
}

#[tokio::test]
async fn what_is_left_out_is_reached_by_no_name() {
    let (url, seen) = far().await;
    let file = "only = [\"get\", \"steps\", \"drop\"]\nexcept = [\"drop\"]\n[tools.get]\nname = \"fetch\"\n";
    let place = host(vec![server(&url, file)]).await;
    listed(&place, "fetch").await;
    for name in ["drop", "far_drop", "ask", "far_ask", "get", "far_get", "far_fetch", "DROP", "far_Drop", "far.drop"] {
        for path in ["/mcp", "/mcp/far", "/mcp/chef"] {
            for (tool, arguments) in [(name, json!({})), ("call_tool", json!({"name": name, "arguments": {"n": 1}}))] {
                let called = json!({"name": tool, "arguments": arguments});
                let answer = place.modern(path, "tools/call", called).await;
                assert!(answer.last()["error"].is_object(), "{path} {tool} {name}: {:?}", answer.last());
            }
        }
    }
    assert!(seen.calls.lock().is_empty(), "the server heard of none");
    assert_eq!(tools(&place, "/mcp/far").await, ["fetch", "steps"]);
}

/// A request of 2026 by somebody who can be asked, with what else it says.
fn asking(place: &Place, who: Option<&str>, tool: &str, more: Value) -> http::Request<axum::body::Body> {
    let mut params = json!({"name": tool, "arguments": {}});
    params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let mut request = modern("/mcp", "tools/call", params, json!({"elicitation": {"form": {}}}));
    if let Some(who) = who {
        request.headers_mut().insert("authorization", place.token(who).parse().unwrap());
    }
    request
}

#[tokio::test]
async fn a_question_is_answered_by_nobody_but_who_was_asked_and_a_broken_answer_loses_nothing() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let (url, seen) = far().await;
        let servers = vec![server(&url, &format!("revision = \"{revision}\"\n"))];
        let setup = Setup { servers, issuer: true, ..Setup::default() };
        let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
        listed(&place, "far_get").await;
        let asked = place.send(asking(&place, Some("alice"), "far_ask", json!({}))).await;
        let state = asked.last()["result"]["requestState"].clone();
        assert!(state.is_string(), "{:?}", asked.last());
        let said = json!({"action": "accept", "content": {"a": "blue"}});
        let answers = json!({"requestState": state, "inputResponses": {"input": said}});
        for (who, tool) in [(Some("bob"), "far_ask"), (None, "far_ask"), (Some("alice"), "far_steps")] {
            let other = place.send(asking(&place, who, tool, answers.clone())).await;
            assert!(other.last()["error"].is_object(), "{who:?} {tool}: {:?}", other.last());
        }
        for broken in [json!({}), json!({"input": 7}), json!({"other": said})] {
            let more = json!({"requestState": state, "inputResponses": broken});
            let refused = place.send(asking(&place, Some("alice"), "far_ask", more)).await;
            assert!(refused.last()["error"]["message"].as_str().unwrap().contains("`input`"), "{:?}", refused.last());
        }
        let more = json!({"requestState": state, "inputResponses": {"input": said, "nothing": 7}});
        let answer = place.send(asking(&place, Some("alice"), "far_ask", more)).await;
        let own: Value = serde_json::from_str(&text(&answer)).unwrap();
        assert_eq!(own["content"], json!({"a": "blue"}));
        assert!(seen.calls.lock().len() <= 2, "it was one call");
    }
}

#[tokio::test]
async fn who_calls_a_slow_server_very_often_leaves_room_for_others() {
    let (url, raw) = Raw::start(json!([plain("slow"), plain("fast")])).await;
    let setup = Setup { servers: vec![server(&url, "")], issuer: true, ..Setup::default() };
    let place = Arc::new(setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await);
    listed(&place, "far_slow").await;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let place = place.clone();
        let request = asking(&place, Some("alice"), "far_slow", json!({}));
        all.spawn(async move { place.send(request).await });
    }
    let arrived = async {
        while raw.calls.lock().len() < 32 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), arrived).await.expect("as many as she may have");
    let bobs = place.send(asking(&place, Some("bob"), "far_fast", json!({}))).await;
    assert_eq!(text(&bobs), "called fast", "{:?}", bobs.last());
    let soup = place.call("ask_chef", json!({"message": "hello"})).await;
    assert_eq!(text(&soup), "soup", "and so do agents");
    assert_eq!(raw.calls.lock().iter().filter(|name| *name == "slow").count(), 32, "she has no more at once");
    raw.gate.add_permits(200);
    let mut served = 0;
    while let Some(answer) = all.join_next().await {
        served += usize::from(text(&answer.unwrap()) == "called slow");
    }
    assert!(served >= 32, "{served}");
}

#[tokio::test]
async fn what_a_program_prints_between_its_answers_is_passed_over() {
    let noise = r#"        print("Listening on port 80"); print(); print("{"); print("[]"); print('{"jsonrpc": "2.0"}')
        sys.stdout.buffer.write(b"\xff\xfe\x00\n")
        say(id=98765, result={"content": []})
        text(id, "heard")"#;
    let place = host(vec![program(noise, "")]).await;
    listed(&place, "far_bad").await;
    assert_eq!(text(&place.call("far_bad", json!({})).await), "heard");
    good(&place).await;
}

#[tokio::test]
async fn an_answer_under_another_id_is_none() {
    let other = "        text(id + 1000, \"for whom?\")";
    let place = host(vec![program(other, "total_seconds = 1\n")]).await;
    listed(&place, "far_bad").await;
    let late = place.call("far_bad", json!({})).await;
    assert_eq!(late.last()["result"]["isError"], true);
    assert!(text(&late).contains("took too long"), "{:?}", late.last());
    good(&place).await;
}

#[tokio::test]
async fn a_program_that_stops_reading_is_started_anew() {
    let deaf = "        time.sleep(1000)";
    let place = host(vec![program(deaf, "total_seconds = 1\n")]).await;
    listed(&place, "far_bad").await;
    let much = "x".repeat(1024 * 1024);
    let late = place.call("far_bad", json!({"much": much})).await;
    assert!(text(&late).contains("took too long"), "{:?}", late.last());
    good(&place).await;
}

#[tokio::test]
async fn a_program_that_dies_or_prints_without_end_in_the_middle_of_an_answer_is_started_anew() {
    let dies = "        sys.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": '); sys.stdout.flush(); os._exit(1)";
    let floods = "        while True: sys.stdout.write('x' * 65536)";
    for body in [dies, floods] {
        let place = host(vec![program(body, "total_seconds = 10\n")]).await;
        listed(&place, "far_bad").await;
        let broken = place.call("far_bad", json!({})).await;
        assert_eq!(broken.last()["result"]["isError"], true, "{:?}", broken.last());
        good(&place).await;
    }
}

#[tokio::test]
async fn arguments_that_stand_in_header_fields_stand_there_truly() {
    let input = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let (url, raw) = Raw::start(json!([{"name": "at", "inputSchema": input}])).await;
    let place = host(vec![server(&url, "")]).await;
    listed(&place, "far_at").await;
    let call = |path: &str, name: &str, field: Option<&str>| {
        let mut request =
            modern(path, "tools/call", json!({"name": name, "arguments": {"region": "north"}}), json!({}));
        if let Some(field) = field {
            request.headers_mut().insert("mcp-param-region", field.parse().unwrap());
        }
        place.send(request)
    };
    for (path, name) in [("/mcp", "far_at"), ("/mcp/far", "at")] {
        for wrong in [None, Some("south")] {
            let refused = call(path, name, wrong).await;
            assert_eq!(refused.last()["error"]["code"], -32020, "{path} {wrong:?}: {:?}", refused.last());
        }
        assert_eq!(text(&call(path, name, Some("north")).await), "called at");
        let led = json!({"name": name, "arguments": {"region": "north"}});
        let led = place.modern(path, "tools/call", json!({"name": "call_tool", "arguments": led})).await;
        assert!(led.last()["error"]["message"].as_str().unwrap().contains("by its own name"), "{:?}", led.last());
    }
    assert_eq!(raw.calls.lock().len(), 2);
}

#[tokio::test]
async fn a_question_in_a_call_that_was_given_up_is_put_to_nobody_else() {
    let asks = r#"        if "first" in params["arguments"]: continue
        say(id="q", method="elicitation/create",
            params={"message": "Hers?", "requestedSchema": {"type": "object", "properties": {}}})
        told = {}
        while "result" not in told: told = json.loads(sys.stdin.readline())
        text(id, told["result"]["action"])"#;
    let servers = vec![program(asks, "total_seconds = 1\n")];
    let setup = Setup { servers, issuer: true, ..Setup::default() };
    let place = setup.with(card("chef"), ScriptedAgent::saying(["soup"])).start().await;
    listed(&place, "far_bad").await;
    let call = async |who: &str, arguments: Value| {
        let again = async {
            loop {
                let request = asking(&place, Some(who), "far_bad", json!({"arguments": arguments}));
                let answer = place.send(request).await;
                // It is left alone for a second after it took too long.
                if !text(&answer).contains("does not answer") && answer.last()["result"]["isError"] != true {
                    return answer;
                }
                if text(&answer).contains("took too long") {
                    return answer;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), again).await.expect("it answers")
    };
    assert!(text(&call("alice", json!({"first": true})).await).contains("took too long"));
    assert_eq!(text(&call("bob", json!({})).await), "decline", "it may be what alice was to be asked");
    let hers = call("alice", json!({})).await;
    assert_eq!(hers.last()["result"]["resultType"], "input_required", "{:?}", hers.last());
}
