//! What proves who is speaking reaches nobody but the verifier: not the agent, not the store, not the log.
//! Identity evidence v0.1; REST 7.3.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::identity::{believing, token_of};
use crate::receiver::Receiver;
use crate::support::{DOMAIN, Deployment, Served};

/// What stands in every carrier here and may be found nowhere else.
const MARK: &str = "carried-7f3a9c";

fn evidence() -> Value {
    json!([{"subject": format!("slack:{MARK}"), "issuer": "slack.example", "method": "m", "assurance": "platform",
        "audience": "@agent@demo.localhost", "issued_at": "2026-01-01T00:00:00Z",
        "proof": {"type": "signed-attestation", "alg": "Ed25519", "kid": "k", "value": MARK}}])
}

/// The fields that carry evidence over HTTP.
fn fields() -> Vec<String> {
    let packed = URL_SAFE_NO_PAD.encode(evidence().to_string());
    ["Mentionable-Identity-Evidence", "Mentionable-Identity", "X-Mentionable-Identity"]
        .iter()
        .map(|name| format!("{name}: {packed}"))
        .chain([format!("Authorization: Bearer {}", token_of("ada"))])
        .collect()
}

/// The keys that carry it in objects.
fn keys() -> Value {
    json!({
        "mentionable": {"identity_evidence": evidence(), "verifiable_credentials": evidence()},
        "mentionable.identity_evidence": evidence(), "mentionable.verifiable_credentials": evidence(),
    })
}

fn ask(served: &Served, wire: &str) {
    let fields = fields();
    let with: Vec<&str> = fields.iter().flat_map(|field| ["-H", field.as_str()]).collect();
    let post = |path: &str, more: &[&str], body: Value| {
        let body = body.to_string();
        let json = ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"];
        served.curl(path, &[&json[..], more, &with, &["-d", &body]].concat()).with_status(200)
    };
    match wire {
        "REST" => {
            let history = json!([{"role": "user", "parts": [{"kind": "text", "mime": "text/plain", "content": "hi"}],
                "sender": {"address": "@a@b.example", "auth_method": "x", "verified": true, "identities": evidence()}}]);
            let history = format!("history={history};type=application/json");
            served.curl("/~agent", &[&with[..], &["-F", &history, "-F", "user=hello"]].concat()).with_status(200);
        }
        "A2A" => {
            let message =
                json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}], "metadata": keys()});
            let params = json!({"message": message, "metadata": keys()});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
            post("/a2a/agent", &["-H", "A2A-Version: 1.0"], call);
        }
        "MCP" => {
            let mut meta = keys();
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "ask_agent", "arguments": {"message": "hello"}, "_meta": meta}});
            let named =
                ["-H", "mcp-protocol-version: 2026-07-28", "-H", "mcp-method: tools/call", "-H", "mcp-name: ask_agent"];
            post("/mcp", &named, call);
        }
        "NLWeb" => {
            let body = json!({"query": {"text": "hello"}, "meta": keys(), "prefer": {"streaming": false}});
            post("/~agent/ask", &[], body);
        }
        _ => {
            let uri = format!("agtp://{DOMAIN}/agents/agent");
            let mut words = vec!["QUERY".to_owned(), uri];
            fields.iter().for_each(|field| words.extend(["-H".to_owned(), field.clone()]));
            let mut body = keys();
            body["intent"] = "hello".into();
            body["query"] = "hello".into();
            words.extend(["-d".to_owned(), body.to_string()]);
            served.deployment.run("agtp", words);
        }
    }
}

#[test]
fn rest_7_3_evidence_is_nowhere_but_with_the_verifier() {
    const WIRES: [&str; 5] = ["REST", "A2A", "MCP", "NLWeb", "AGTP"];
    let receiver = Receiver::answering(vec![json!({"text": "Well."}); WIRES.len() + 1]);
    let backend = format!("kind = \"http\"\nurl = \"{}\"\n", receiver.webhook_url());
    let deployment = Deployment::of_backend(&backend).open_to_loopback();
    let top = format!("{}\n{}", deployment.read("forecourt.toml"), believing());
    let served =
        deployment.and("forecourt.toml", &top).serve_with(&crate::support::FREE_PORTS, &[("FORECOURT_LOG", "debug")]);
    let token = fields().pop().unwrap();
    let signature = token.rsplit('.').next().unwrap().to_owned();
    let packed = URL_SAFE_NO_PAD.encode(evidence().to_string());
    let secret = |text: &str| [MARK, &signature, &packed].iter().any(|secret| text.contains(*secret));
    for wire in WIRES {
        ask(&served, wire);
        if wire == "AGTP" {
            continue;
        }
        let heard = receiver.post();
        let told = String::from_utf8_lossy(&heard.body).into_owned();
        assert!(told.contains("hello") && !secret(&told), "{wire}: {told}");
        let fields = format!("{heard:?}");
        assert!(!secret(&fields), "{wire}: {fields}");
    }
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, deployment) = served.ended();
    assert!(!secret(&log), "{log}");
    for file in std::fs::read_dir(deployment.data()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(file.path()) else { continue };
        assert!(!secret(&String::from_utf8_lossy(&bytes)), "{}", file.path().display());
    }
}
