//! The client libraries that others talk A2A and MCP with, against the real program. What they check is in
//! `tests/sdk`, in their own languages; `dev/sdk/setup` brings them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::identity::{believing, token_of};
use crate::scripts::{client_script, library, run_checks, script_path};
use crate::support::{Deployment, Served};

/// An agent that takes its time, and one that waits until it is stopped.
const WORKER: &str = r#"
handle = "worker"
name = "Worker"
description = "Works when it is told to, and waits when it is told to."

[[skills]]
id = "work"
name = "Work"
description = "Counts to three."
tags = ["test"]

[backend]
kind = "script"

[[backend.rule]]
text = "^work"
events = [{ text = "One, " }, { wait_ms = 300 }, { text = "two, " }, { wait_ms = 300 }, { text = "three." }]

[[backend.rule]]
text = "^wait"
events = [{ text = "Waiting." }, { wait_ms = 120000 }]
"#;

/// An agent for callers that it knows.
const VIP: &str = r#"
handle = "vip"
name = "Vip"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_identity"
"#;

/// An agent for callers that agreed to its terms.
const TERMS: &str = r#"
handle = "terms"
name = "Terms"

[backend]
kind = "echo"

[[policy.rules]]
kind = "require_consent"
message = "Agree to the terms first."
text = "What you say is kept."
version = "1"
"#;

const DEPLOYMENT: &str = r#"
domain = "demo.localhost"
name = "Demo"
default_agent = "echo"
"#;

/// One library: where it is, and its checks.
struct Library {
    name: &'static str,
    script: &'static str,
}

const PYTHON_0_3: Library = Library { name: "python-0.3", script: "python_0_3.py" };
const PYTHON_1: Library = Library { name: "python-1", script: "python_1.py" };
const ADK: Library = Library { name: "adk", script: "adk.py" };
const JS_0_3: Library = Library { name: "js-0.3", script: "js_0_3.mjs" };
const JS_1: Library = Library { name: "js-1", script: "js_1.mjs" };
const MCP_PYTHON: Library = Library { name: "mcp-python", script: "mcp_python.py" };
const MCP_JS: Library = Library { name: "mcp-js", script: "mcp_js.mjs" };

impl Library {
    /// Runs the checks of one wire, unless the library is not there.
    #[track_caller]
    fn holds(&self, wire: &str) {
        let Some(folder) = library(self.name) else { return };
        let served = deployment(wire).serve();
        run_checks(self.command(&folder, &served).arg(wire));
    }

    /// Its interpreter with the script, which trusts the local authority and nothing else, and uses no
    /// proxy of its user's.
    fn command(&self, folder: &Path, served: &Served) -> Command {
        let mut command = client_script(self.script, Some(folder));
        command.current_dir(served.deployment.path()).env("FORECOURT_URL", served.https_url(""));
        command.env("FORECOURT_TOKEN", token_of("alice"));
        let data = served.deployment.data().display().to_string();
        let pipe = [env!("CARGO_BIN_EXE_forecourt"), "mcp", "--data", &data];
        command.env("FORECOURT_PIPE", serde_json::json!(pipe).to_string());
        for authority in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
            command.env(authority, served.ca());
        }
        command.env_remove("SSL_CERT_DIR");
        command
    }
}

/// @echo, @gate and @worker, and behind rules @vip and @terms, which may notify this machine. Cards name gRPC, and say how callers
/// identify themselves, only where that is what is checked: some clients refuse a card with gRPC.
fn deployment(wire: &str) -> Deployment {
    let deployment = Deployment::gatehouse().and("forecourt.toml", DEPLOYMENT).and("agents/worker.toml", WORKER);
    let deployment = deployment.open_to_loopback();
    match wire {
        "grpc" => deployment.with("a2a", "grpc_on_cards = true"),
        "identity" => {
            let top = deployment.read("forecourt.toml");
            let deployment = deployment.and("forecourt.toml", &format!("{top}\n{}", believing()));
            deployment.and("agents/vip.toml", VIP).and("agents/terms.toml", TERMS)
        }
        // A call of a tool is not waited for for long.
        "modern" | "legacy" => deployment.with("mcp", "call_timeout_seconds = 5"),
        _ => deployment,
    }
}

#[test]
fn mcp_python_talks_the_newest_revision() {
    MCP_PYTHON.holds("modern");
}

#[test]
fn mcp_python_talks_with_a_handshake() {
    MCP_PYTHON.holds("legacy");
}

#[test]
fn a_server_of_mcp_python_asks_in_the_middle_of_a_call_and_is_answered_in_the_conversation() {
    let Some(folder) = library(MCP_PYTHON.name) else { return };
    let command = serde_json::json!([folder.join("bin/python"), script_path("mcp_asking.py")]);
    let agent = format!(
        "handle = \"booker\"\nname = \"Booker\"\n\n[backend]\nkind = \"mcp\"\ncommand = {command}\n\
         tool = \"book\"\nquestions = true\n"
    );
    let served = Deployment::gatehouse().and("agents/booker.toml", &agent).serve();
    let data = served.deployment.data().display().to_string();
    let ask =
        |rest: &[&str]| served.deployment.run("ask", [&["--data", &data, "@booker@demo.localhost"], rest].concat());
    let asked = ask(&["dinner"]);
    assert!(asked.stdout.contains("Two things."), "{} {}", asked.stdout, asked.stderr);
    let session = asked.stderr.lines().find_map(|line| line.strip_prefix("continue with: --session ")).unwrap();
    let booked = ask(&["--session", session, "Where? Rome\nHow many guests? 3"]);
    assert!(booked.stdout.contains("dinner: Rome, 3 guests"), "{} {}", booked.stdout, booked.stderr);
}

#[test]
fn what_a_server_of_mcp_python_wraps_is_words_and_items() {
    let Some(folder) = library(MCP_PYTHON.name) else { return };
    let command = serde_json::json!([folder.join("bin/python"), script_path("mcp_wrapping.py")]);
    let mut deployment = Deployment::gatehouse();
    for tool in ["words", "dishes", "names"] {
        let agent = format!(
            "handle = \"{tool}\"\nname = \"{tool}\"\n\n[backend]\nkind = \"mcp\"\ncommand = {command}\ntool = \"{tool}\"\n"
        );
        deployment = deployment.and(&format!("agents/{tool}.toml"), &agent);
    }
    let served = deployment.serve();
    let parts = |tool: &str| {
        let said = served.curl(&format!("/~{tool}?user=@{tool}%20hello"), &["-H", "Accept: application/json"]);
        serde_json::from_str::<Value>(&said.text()).unwrap()["parts"].clone()
    };
    let texts = |parts: &Value| -> Vec<String> {
        parts.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(texts(&parts("words")), ["You said hello."]);
    assert_eq!(texts(&parts("names")), ["- pea\n- leek"]);
    let dishes = parts("dishes");
    assert_eq!((dishes.as_array().map(Vec::len), &dishes[1]["data"]["title"]), (Some(2), &"Leek tart".into()));
    let asked = r#"{"query": {"text": "hello", "site": "dishes"}, "prefer": {"streaming": false}}"#;
    let found = served.curl("/ask", &["-H", "Content-Type: application/json", "-d", asked]);
    let items = serde_json::from_str::<Value>(&found.text()).unwrap()["results"].clone();
    for (item, name) in items.as_array().unwrap().iter().zip(["Pea soup", "Leek tart"]) {
        assert_eq!((item["@type"].as_str(), item["name"].as_str()), (Some("Thing"), Some(name)), "{item}");
    }
}

#[test]
fn mcp_js_talks_with_a_handshake() {
    MCP_JS.holds("legacy");
}

#[test]
fn python_0_3_discovers() {
    PYTHON_0_3.holds("discovery");
}

#[test]
fn python_0_3_identifies_itself() {
    PYTHON_0_3.holds("identity");
}

#[test]
fn python_0_3_talks_json_rpc() {
    PYTHON_0_3.holds("jsonrpc");
}

#[test]
fn python_0_3_talks_http_json() {
    PYTHON_0_3.holds("rest");
}

#[test]
fn python_0_3_talks_grpc() {
    PYTHON_0_3.holds("grpc");
}

#[test]
fn python_1_discovers() {
    PYTHON_1.holds("discovery");
}

#[test]
fn python_1_identifies_itself() {
    PYTHON_1.holds("identity");
}

#[test]
fn python_1_talks_json_rpc() {
    PYTHON_1.holds("jsonrpc");
}

#[test]
fn python_1_talks_http_json() {
    PYTHON_1.holds("rest");
}

#[test]
fn python_1_talks_grpc() {
    PYTHON_1.holds("grpc");
}

#[test]
fn js_0_3_discovers() {
    JS_0_3.holds("discovery");
}

#[test]
fn js_0_3_identifies_itself() {
    JS_0_3.holds("identity");
}

#[test]
fn js_0_3_talks_json_rpc() {
    JS_0_3.holds("jsonrpc");
}

#[test]
fn js_0_3_talks_grpc() {
    JS_0_3.holds("grpc");
}

#[test]
fn js_0_3_talks_http_json() {
    JS_0_3.holds("rest");
}

#[test]
fn js_1_discovers() {
    JS_1.holds("discovery");
}

#[test]
fn js_1_identifies_itself() {
    JS_1.holds("identity");
}

#[test]
fn js_1_talks_json_rpc() {
    JS_1.holds("jsonrpc");
}

#[test]
fn js_1_talks_grpc() {
    JS_1.holds("grpc");
}

#[test]
fn js_1_talks_http_json() {
    JS_1.holds("rest");
}

#[test]
fn adk_talks() {
    ADK.holds("legacy");
}

#[test]
fn adk_talks_in_its_current_form() {
    ADK.holds("current");
}
