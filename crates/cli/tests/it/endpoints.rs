//! Endpoints of a deployment, from their files to callers: over AGTP, through the gateway, as tools of
//! MCP and as skills of A2A, with the same checks everywhere.

use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, Ran, Served};
use crate::wire::curl;

const BOOK: &str = r#"
[endpoint]
method = "BOOK"
path = "/rooms/{room_id}"
description = "Books a room."
required_scopes = ["booking:room"]
errors = ["room_unavailable"]
[endpoint.semantic]
intent = "Book a room."
actor = "agent"
outcome = "The room is the guest's."
capability = "transaction"
confidence = 0.9
impact = "reversible"
is_idempotent = false
[endpoint.input_schema]
type = "object"
required = ["room_id"]
additionalProperties = false
[endpoint.input_schema.properties]
room_id = { type = "integer" }
nights = { type = "integer", minimum = 1 }
[endpoint.output_schema]
type = "object"
required = ["reservation_id"]
[endpoint.handler]
type = "registered_function"
function = "rooms.book"
"#;

const ROOMS: &str = r#"
import forecourt

def book(ctx):
    print("a guest came")
    if ctx.input["room_id"] == 13:
        raise forecourt.EndpointError("room_unavailable", "Nobody sleeps there.", {"free": [12]})
    return {"reservation_id": "r-%d" % ctx.input["room_id"], "nights": ctx.input.get("nights", 1)}
"#;

/// A composition of two bookings, in the name of whoever calls it.
const PAIR: &str = r#"
[endpoint]
method = "RESERVE"
path = "/pairs"
description = "Books two rooms."
errors = ["composition_failed"]
[endpoint.semantic]
intent = "Book two rooms."
actor = "agent"
outcome = "Both rooms are the guest's."
capability = "transaction"
confidence = 0.8
impact = "reversible"
is_idempotent = false
[endpoint.input_schema]
type = "object"
required = ["first", "second"]
additionalProperties = false
properties = { first = { type = "integer" }, second = { type = "integer" } }
[endpoint.output_schema]
type = "array"
[endpoint.handler]
type = "composition"
recipe = "two-rooms"
"#;

const RECIPES: &str = r#"
[[recipe]]
name = "two-rooms"
[[recipe.steps]]
method = "BOOK"
path = "/rooms/{room_id}"
parameters.room_id = { kind = "proposal", value = "first" }
[[recipe.steps]]
method = "BOOK"
path = "/rooms/{room_id}"
parameters.room_id = { kind = "proposal", value = "second" }
[recipe.aggregation]
mode = "list"
"#;

pub(crate) fn hotel() -> Deployment {
    let deployment = Deployment::gatehouse().and("endpoints/book.toml", BOOK).and("functions/rooms.py", ROOMS);
    let deployment = deployment.and("endpoints/pair.toml", PAIR).and("recipes.toml", RECIPES);
    deployment.edit("agents/echo.toml", "[backend]", "[agtp]\nscopes = [\"booking:*\"]\n\n[backend]");
    deployment
}

/// The Agent-ID of @echo.
pub(crate) fn guest(served: &Served) -> String {
    let uri = format!("agtp://{DOMAIN}/agents");
    let agents = served.deployment.run("agtp", ["DISCOVER", &uri]).json();
    let echo = agents.as_array().unwrap().iter().find(|agent| agent["name"] == "echo").unwrap();
    echo["agent_id"].as_str().unwrap().to_owned()
}

fn call(served: &Served, agent: &str, method: &str, path: &str, more: &[&str]) -> Ran {
    let uri = format!("agtp://{DOMAIN}{path}");
    let who = [method, uri.as_str(), "--agent-id", agent];
    served.deployment.run("agtp", [&who, more].concat())
}

#[test]
fn s6_4_s12_2_an_endpoint_in_python_keeps_its_contract() {
    let served = hotel().serve();
    let agent = guest(&served);
    let scope = ["--scope", "booking:room"];
    let booked = call(&served, &agent, "BOOK", "/rooms/7?nights=2", &scope).json();
    assert_eq!(booked, json!({"reservation_id": "r-7", "nights": 2}));
    let said = call(&served, &agent, "BOOK", "/rooms/7", &[]).failed(1);
    assert!(said.contains("262"), "a scope is claimed: {said}");
    let said = call(&served, &agent, "BOOK", "/rooms/7", &["--scope", "booking:suite"]).failed(1);
    assert!(said.contains("455") && said.contains("booking:room"), "{said}");
    let said = call(&served, &agent, "BOOK", "/rooms/7?nights=none", &scope).failed(1);
    assert!(said.contains("422") && said.contains("/nights"), "{said}");
    let ran = call(&served, &agent, "BOOK", "/rooms/13", &scope);
    let body: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(body["error"]["code"], "room_unavailable", "{ran:?}");
    assert_eq!((ran.code, &body["error"]["details"]["free"][0]), (Some(1), &12.into()), "{ran:?}");
    let said = call(&served, &agent, "FETCH", "/rooms/7", &scope).failed(1);
    assert!(said.contains("405") && said.contains("BOOK"), "{said}");
}

#[test]
fn s12_2_a_function_that_is_broken_fails_alone_and_heals_when_it_is_mended() {
    let served = hotel().serve();
    let (agent, scope) = (guest(&served), ["--scope", "booking:room"]);
    call(&served, &agent, "BOOK", "/rooms/7", &scope).fine();
    served.deployment.write("functions/rooms.py", "def book(ctx:\n");
    let said = call(&served, &agent, "BOOK", "/rooms/7", &scope);
    assert!(!said.stdout.contains("rooms.py") && said.failed(1).contains("500"));
    served.deployment.write("functions/rooms.py", "import os\n\ndef book(ctx):\n    os._exit(9)\n");
    assert!(call(&served, &agent, "BOOK", "/rooms/7", &scope).failed(1).contains("500"));
    served.deployment.write("functions/rooms.py", ROOMS);
    call(&served, &agent, "BOOK", "/rooms/7", &scope).fine();
}

#[test]
fn s12_1_a_composition_has_the_authority_of_its_caller_and_says_where_it_failed() {
    let served = hotel().serve();
    let (agent, both) = (guest(&served), ["-d", r#"{"first": 1, "second": 2}"#]);
    let scope = ["--scope", "booking:room"];
    let booked = call(&served, &agent, "RESERVE", "/pairs", &[&scope, &both[..]].concat()).json();
    assert_eq!(booked[1]["reservation_id"], "r-2", "{booked}");
    let said =
        call(&served, &agent, "RESERVE", "/pairs", &[&["--scope", "booking:suite"], &both[..]].concat()).failed(1);
    assert!(said.contains("455") && said.contains("booking:room"), "{said}");
    let failing = ["--scope", "booking:room", "-d", r#"{"first": 1, "second": 13}"#];
    let ran = call(&served, &agent, "RESERVE", "/pairs", &failing);
    let body: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(body["error"]["code"], "composition_failed", "{body}");
    let details = &body["error"]["details"];
    assert_eq!((&details["failed_step"], &details["underlying_status"]), (&1.into(), &422.into()), "{body}");
}

/// A session of MCP: what answers a method with these parameters.
fn session(served: &Served) -> impl Fn(&str, Value) -> Value + use<'_> {
    let post = |served: &Served, session: Option<&str>, body: Value| {
        let (body, session) = (body.to_string(), session.map(|id| format!("Mcp-Session-Id: {id}")));
        let mut words = vec!["-H", "Content-Type: application/json", "-d", &body];
        words.extend(["-H", "Accept: application/json, text/event-stream"]);
        session.iter().for_each(|session| words.extend(["-H", session.as_str()]));
        served.curl("/mcp", &words)
    };
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let begun = post(served, None, json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    let id = begun.named("mcp-session-id");
    post(served, Some(&id), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    move |method, params| {
        let answer = post(served, Some(&id), json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let text = answer.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.starts_with('{'));
        serde_json::from_str::<Value>(data.unwrap_or(&text)).unwrap_or_else(|_| panic!("{text}"))
    }
}

#[test]
fn endpoints_are_tools_and_skills_and_behind_the_gateway_under_the_same_checks() {
    let deployment = hotel();
    deployment.edit("forecourt.toml", "[agtp]", "[agtp]\ngateway = \"127.0.0.1:0\"");
    let served = deployment.serve();
    let recorded: Value = serde_json::from_str(&served.deployment.read(".forecourt/serving.json")).unwrap();
    let gateway = format!("127.0.0.1:{}", recorded["sockets"]["gateway"]);
    let agent = format!("X-Agent-Id: {}", guest(&served));
    let url = format!("http://{gateway}/rooms/7?nights=3");
    let refused = curl(&url, &["-X", "BOOK", "-H", &agent]);
    assert_eq!(refused.json()["error"]["code"], "authorization-required", "{}", refused.text());
    assert_eq!(refused.field("agtp-status-code").as_deref(), Some("262"));
    let booked = curl(&url, &["-X", "BOOK", "-H", &agent, "-H", "Authority-Scope: booking:room"]);
    assert_eq!(booked.with_status(200).json(), json!({"reservation_id": "r-7", "nights": 3}));

    let rpc = session(&served);
    let tools = rpc("tools/list", json!({}));
    let tool = tools["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "book_rooms_room_id");
    assert_eq!(tool.expect("the endpoint is a tool")["inputSchema"]["required"][0], "room_id");
    let called = rpc("tools/call", json!({"name": "book_rooms_room_id", "arguments": {"room_id": 7}}));
    let said = called.to_string();
    assert!(said.contains("who they are") || said.contains("which agent is calling"), "nobody is anybody: {said}");

    let card = served.curl_tls("/.well-known/agent-card.json", &[]).json();
    let skill = card["skills"].as_array().unwrap().iter().find(|skill| skill["id"] == "reserve_pairs");
    assert!(skill.is_some(), "{card}");
    let manifest = served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}")]).fine();
    assert!(manifest.contains("/rooms/{room_id}"));
    assert!(!manifest.contains("rooms.book") && !manifest.contains("two-rooms"), "bindings are the operator's");
}

#[test]
fn s9_4_check_shows_the_endpoints_and_what_the_policy_says_in_vain() {
    let deployment = hotel();
    let said = deployment.run("check", [] as [&str; 0]).fine();
    let listed = said.lines().any(|line| line.starts_with("BOOK ") && line.contains("/rooms/{room_id}"));
    assert!(listed && said.lines().any(|line| line.ends_with("booking:room")), "{said}");
    let json = deployment.run("check", ["--json"]).json();
    let book = json["endpoints"].as_array().unwrap().iter().find(|endpoint| endpoint["method"] == "BOOK").cloned();
    assert_eq!(book.unwrap()["handler"].as_object().unwrap().len(), 1, "{json}");

    deployment.edit("forecourt.toml", "[agtp]", "[endpoints.methods]\ndisallow = [\"RESERVE\", \"LEARN\"]\n[agtp]");
    let output = deployment.run("check", [] as [&str; 0]);
    let said = &output.stderr;
    assert!(said.contains("`LEARN` under `disallow`"), "{said}");
    assert!(said.contains("RESERVE /pairs: the method policy lets nobody call it"), "{said}");
    output.fine();
}

#[test]
fn s13_2_check_names_every_refused_endpoint_and_serve_takes_the_rest() {
    let wrong = BOOK.replace("/rooms/{room_id}", "/order/{room_id}").replace("confidence = 0.9", "confidence = 9");
    let deployment = hotel().and("endpoints/wrong.toml", &wrong);
    let said = deployment.run("check", [] as [&str; 0]).failed(1);
    assert!(said.contains("path-grammar") && said.contains("semantic-bad-confidence"), "{said}");
    assert!(said.contains("wrong.toml:4") && !said.contains("book.toml"), "{said}");
    let served = deployment.serve();
    let agent = guest(&served);
    call(&served, &agent, "BOOK", "/rooms/7", &["--scope", "booking:room"]).fine();
    let deployment = served.killed();
    deployment.edit("forecourt.toml", "[agtp]", "[endpoints]\non_refused = \"fail\"\n[agtp]");
    let said = deployment.run("serve", crate::support::FREE_PORTS).failed(1);
    assert!(said.contains("wrong.toml"), "{said}");
}

#[test]
fn keys_that_moved_are_told_and_rewritten() {
    let old = "[agtp]\n# None of these.\n[agtp.policies.methods]\ndisallow = [\"RESERVE\"] # never\n";
    let deployment = hotel();
    deployment.edit("forecourt.toml", "[agtp]", old);
    let ran = deployment.run("check", [] as [&str; 0]);
    let told = "`agtp.policies.methods` is now `endpoints.methods`; `forecourt check --fix` rewrites it";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("forecourt.toml:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("RESERVE /pairs: the method policy lets nobody call it"), "{}", ran.stderr);
    ran.fine();
    deployment.run("check", ["--fix"]).fine();
    let text = deployment.read("forecourt.toml");
    assert!(text.contains("# None of these.\n[endpoints.methods]\ndisallow = [\"RESERVE\"] # never\n"), "{text}");
    let ran = deployment.run("check", [] as [&str; 0]);
    assert!(!ran.stderr.contains("is now") && ran.stderr.contains("lets nobody call it"), "{}", ran.stderr);
    ran.fine();
}
