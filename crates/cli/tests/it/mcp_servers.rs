//! MCP servers behind a deployment: files of `servers/`, what clients find, rules, reloads, and a tool as an endpoint.

use serde_json::{Value, json};

use crate::admin::{TOKEN, api};
use crate::support::{Deployment, Served, within};
use crate::wire::Answer;

/// A server of MCP on standard streams, of the revision with a handshake: it adds, counts how often it was started, and
/// dies when it is told to.
const SERVER: &str = r#"
import json, os, sys
def say(**fields): print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)
with open("starts", "a") as file: file.write("x")
number = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
tools = [{"name": "double", "inputSchema": number, "annotations": {"readOnlyHint": True}},
    {"name": "die", "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    told = json.loads(line)
    method, params = told.get("method"), told.get("params", {})
    if method == "initialize":
        say(id=told["id"], result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "sums", "version": "1"}})
    elif method == "tools/list":
        say(id=told["id"], result={"tools": tools})
    elif method == "tools/call" and params["name"] == "die":
        sys.exit(1)
    elif method == "tools/call":
        with open("calls", "a") as file: file.write("x")
        twice = params["arguments"]["a"] * 2
        say(id=told["id"], result={"content": [{"type": "text", "text": str(twice)}], "structuredContent": {"twice": twice}})
    elif "id" in told and method:
        say(id=told["id"], error={"code": -32601, "message": "no such method"})
"#;

const FILE: &str = "command = [\"python3\", \"sums.py\"]\n";

/// Its tool as an endpoint.
const ENDPOINT: &str = r#"
[endpoint]
method = "QUERY"
path = "/doubled"
description = "Doubles a number."
required_scopes = ["sums:do"]
[endpoint.semantic]
intent = "Double a number."
actor = "agent"
outcome = "The caller has twice the number."
capability = "retrieval"
confidence = 0.9
impact = "informational"
is_idempotent = true
[[endpoint.input.required]]
name = "a"
type = "integer"
description = "The number."
[[endpoint.output]]
name = "twice"
type = "integer"
description = "Twice the number."
[endpoint.errors]
list = ["tool_failed"]
[endpoint.handler]
type = "registered_function"
function = "servers.sums.double"
"#;

/// A deployment with the server behind it.
fn deployment(file: &str) -> Deployment {
    let agent = "handle = \"echo\"\nname = \"Echo\"\n\n[backend]\nkind = \"echo\"\n\n[agtp]\nscopes = [\"sums:do\"]\n";
    Deployment::empty()
        .and("forecourt.toml", "domain = \"demo.localhost\"\n")
        .and("agents/echo.toml", agent)
        .and("sums.py", SERVER)
        .and("servers/sums.toml", file)
}

/// A request of 2026-07-28.
fn ask(served: &Served, path: &str, method: &str, mut params: Value, more: &[&str]) -> Answer {
    let name = params["name"].as_str().map(|name| format!("mcp-name: {name}"));
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let said = format!("mcp-method: {method}");
    let mut arguments =
        vec!["-H", "content-type: application/json", "-H", "mcp-protocol-version: 2026-07-28", "-H", &said];
    arguments.extend(["-H", "accept: application/json, text/event-stream", "-d", &body]);
    arguments.extend(name.iter().flat_map(|name| ["-H", name.as_str()]));
    served.curl(path, &[&arguments, more].concat())
}

pub(crate) fn tools(served: &Served, path: &str) -> Vec<String> {
    let listed = ask(served, path, "tools/list", json!({}), &[]);
    let listed: Value = serde_json::from_str(&listed.text()).unwrap_or_default();
    let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// Waits for a tool at the host's endpoint.
fn lists(served: &Served, tool: &str) {
    within("the tool is listed", || tools(served, "/mcp").iter().any(|one| one == tool).then_some(()));
}

fn call(served: &Served, path: &str, tool: &str, arguments: Value) -> Value {
    let answer = ask(served, path, "tools/call", json!({"name": tool, "arguments": arguments}), &[]);
    serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{}", answer.text()))
}

#[test]
fn a_program_is_offered_at_both_paths_and_is_started_again_when_it_dies() {
    let served = deployment(FILE).serve();
    lists(&served, "sums_double");
    assert_eq!(tools(&served, "/mcp/sums"), ["double", "die"]);
    let answer = call(&served, "/mcp", "sums_double", json!({"a": 21}));
    assert_eq!(answer["result"]["structuredContent"], json!({"twice": 42}), "{answer}");
    assert_eq!(call(&served, "/mcp/sums", "double", json!({"a": 2}))["result"]["content"][0]["text"], "4");
    let died = call(&served, "/mcp/sums", "die", json!({}));
    assert_eq!(died["result"]["isError"], true, "{died}");
    within("it is started again", || {
        let again = call(&served, "/mcp/sums", "double", json!({"a": 3}));
        (again["result"]["structuredContent"] == json!({"twice": 6})).then_some(())
    });
    assert!(served.deployment.read("starts").len() >= 2);
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_server_up{server=\"sums\"} 1"), "{metrics}");
    let counted = "forecourt_replies_total{agent=\"sums\",via=\"mcp\",ending=\"complete\",cause=\"\"}";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn the_operator_sees_how_each_server_does() {
    let deployment = deployment(FILE).with("admin", &format!("token = \"{TOKEN}\""));
    let served = deployment.and("servers/away.toml", "command = [\"python3\", \"not-there.py\"]\n").serve();
    lists(&served, "sums_double");
    let away = within("the other one does not answer", || {
        let told = api(&served, "/servers", &[]).json();
        (told["servers"][0]["answers"] == false).then_some(told)
    });
    assert_eq!(away["servers"][0]["server"], "away");
    assert!(away["servers"][0]["last_error"].as_str().is_some_and(|words| !words.is_empty()), "{away}");
    let sums = &away["servers"][1];
    assert_eq!(
        (&sums["answers"], &sums["tools"], &sums["last_error"]),
        (&json!(true), &json!(2), &json!(null)),
        "{away}"
    );
    assert!(served.operator("/readyz").text().contains("`away`"));
}

#[test]
fn rules_of_the_file_stand_before_its_tools() {
    let rules = "[[policy]]\nkind = \"require_identity\"\ntools = [\"di*\"]\n\n\
                 [[policy]]\nkind = \"require_consent\"\ntools = [\"double\"]\ntext = \"Sums may be wrong.\"\n";
    let served = deployment(&format!("{FILE}{rules}")).serve();
    lists(&served, "sums_double");
    let refused = ask(&served, "/mcp/sums", "tools/call", json!({"name": "die", "arguments": {}}), &[]);
    assert!(refused.with_status(401).named("www-authenticate").starts_with("Bearer"));
    let asked = call(&served, "/mcp", "sums_double", json!({"a": 1}));
    let refusal = &asked["result"]["structuredContent"]["refusal"];
    assert_eq!(refusal["kind"], "consent_required", "{asked}");
    assert!(refusal["url"].as_str().unwrap_or_default().contains("/consent/"), "{asked}");
}

#[test]
fn a_reload_takes_over_what_changed_and_keeps_what_did_not() {
    let served = deployment(FILE).serve();
    lists(&served, "sums_double");
    let starts = served.deployment.read("starts");
    served
        .deployment
        .write("servers/more.toml", "command = [\"python3\", \"sums.py\"]\nprefix = \"\"\nonly = [\"double\"]\n");
    lists(&served, "double");
    assert_eq!(served.deployment.read("starts").len(), starts.len() + 1, "the other one goes on");
    std::fs::remove_file(served.deployment.path().join("servers/sums.toml")).unwrap();
    within("it is gone", || (!tools(&served, "/mcp").iter().any(|tool| tool == "sums_double")).then_some(()));
    assert_eq!(call(&served, "/mcp", "double", json!({"a": 4}))["result"]["structuredContent"], json!({"twice": 8}));
}

#[test]
fn definitions_that_are_wrong_are_found_before_anybody_is_answered() {
    let found = |name: &str, text: &str| {
        let deployment = deployment(FILE).and(&format!("servers/{name}.toml"), text);
        deployment.run("check", [] as [&str; 0]).failed(1)
    };
    for (name, text, what) in [
        ("echo", FILE, "the name `echo` is taken by ./agents/echo.toml"),
        ("Big", FILE, "`Big` is no name of a server"),
        ("far", "url = \"ftp://a\"\n", "`url` must be an absolute http"),
        ("far", "url = \"https://a.example\"\nnothing = 1\n", "servers/far.toml:2"),
        ("far", "command = [\"a\"]\n[[policy]]\nkind = \"nothing\"\n", "there is no rule `nothing`"),
        ("far", "command = [\"a\"]\n[[policy]]\nkind = \"guardrail\"\nblock = [\"x\"]\n", "servers/far.toml"),
    ] {
        let words = found(name, text);
        assert!(words.contains(what), "{what}: {words}");
    }
}

#[test]
fn a_tool_answers_an_endpoint() {
    let served = deployment(FILE).and("endpoints/doubled.toml", ENDPOINT).serve();
    lists(&served, "sums_double");
    assert!(!tools(&served, "/mcp").iter().any(|tool| tool == "query_doubled"), "it is shown once");
    let id = served.deployment.agent_id("echo");
    let arguments =
        ["QUERY", "agtp://demo.localhost/doubled", "--agent-id", &id, "--scope", "sums:do", "-d", "{\"a\": 5}"];
    let said = served.deployment.run("agtp", arguments).fine();
    assert!(said.contains("\"twice\":10"), "{said}");
    let missing = deployment(FILE).and("endpoints/doubled.toml", &ENDPOINT.replace("servers.sums", "servers.nobody"));
    let words = missing.run("check", [] as [&str; 0]).failed(1);
    assert!(words.contains("there is no file servers/nobody.toml"), "{words}");
}

#[test]
fn a_rule_before_a_tool_holds_by_whatever_name_and_way_it_is_called() {
    let file = format!(
        "{FILE}prefix = \"s\"\n[tools.double]\nname = \"twice\"\n\n\
         [[policy]]\nkind = \"require_consent\"\ntools = [\"double\"]\ntext = \"Sums may be wrong.\"\n"
    );
    let declared = ENDPOINT.replace("\"tool_failed\"", "\"tool_failed\", \"consent_required\"");
    let served = deployment(&file).and("endpoints/doubled.toml", &declared).serve();
    lists(&served, "twice");
    for path in ["/mcp", "/mcp/sums"] {
        for tool in ["twice", "double", "s_double", "s_twice", "sums_double"] {
            let arguments = json!({"a": 1});
            call(&served, path, tool, arguments.clone());
            call(&served, path, "call_tool", json!({"name": tool, "arguments": arguments}));
        }
        let asked = call(&served, path, "call_tool", json!({"name": "twice", "arguments": {"a": 1}}));
        assert_eq!(asked["result"]["structuredContent"]["refusal"]["kind"], "consent_required", "{asked}");
    }
    let id = served.deployment.agent_id("echo");
    let arguments =
        ["QUERY", "agtp://demo.localhost/doubled", "--agent-id", &id, "--scope", "sums:do", "-d", "{\"a\": 5}"];
    let refused = served.deployment.command("agtp").args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&[refused.stdout, refused.stderr].concat()).into_owned();
    assert!(!refused.status.success() && said.contains("consent_required"), "{said}");
    assert!(!served.deployment.path().join("calls").exists(), "the server heard of none");
}

#[test]
fn guardrails_judge_what_is_said_to_a_server_and_what_it_says() {
    let rules = r#"
[[policy]]
kind = "guardrail"
name = "no-thirteen"
check = "message"
patterns = ['\b13\b']

[[policy]]
kind = "guardrail"
name = "no-forty-two"
check = "reply"
tools = ["double"]
patterns = ['\b42\b']
replacement = "many"
"#;
    let served = deployment(&format!("{FILE}{rules}")).with("admin", &format!("token = \"{TOKEN}\"")).serve();
    lists(&served, "sums_double");
    for (path, tool) in [("/mcp", "sums_double"), ("/mcp/sums", "double")] {
        let refused = call(&served, path, tool, json!({"a": 13}));
        assert!(refused.to_string().contains("mentionable:guardrail"), "{refused}");
        let held = call(&served, path, tool, json!({"a": 21}));
        assert!(held.to_string().contains("mentionable:guardrail"), "{held}");
        assert!(!held.to_string().contains("42"), "{held}");
        let passed = call(&served, path, tool, json!({"a": 4}));
        assert_eq!(passed["result"]["structuredContent"], json!({"twice": 8}), "{passed}");
    }
    assert_eq!(served.deployment.read("calls").len(), 4, "what was refused never reached the server");
    within("both are in the audit", || {
        let noted = api(&served, "/refusals", &[]).text();
        (noted.contains("no-thirteen") && noted.contains("no-forty-two")).then_some(())
    });
}
