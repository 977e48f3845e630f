//! API keys of programs: made, used, limited and revoked while a deployment is served, over every protocol.

use serde_json::{Value, json};

use crate::endpoints::{guest, hotel};
use crate::support::{DOMAIN, Deployment, Ran, Served};
use crate::wire::Answer;

/// A hotel with `@vip`, who answers nobody but proven callers. Every endpoint wants a token.
fn served() -> Served {
    let vip =
        "handle = \"vip\"\nname = \"Vip\"\n[backend]\nkind = \"echo\"\n[[policy.rules]]\nkind = \"require_identity\"\n";
    hotel().and("agents/vip.toml", vip).serve()
}

fn keys(served: &Served, words: &[&str]) -> Ran {
    served.deployment.run("keys", [&["api"], words].concat())
}

fn create(served: &Served, words: &[&str]) -> String {
    let key = keys(served, &[&["create"], words].concat()).fine().trim().to_owned();
    assert!(key.starts_with("fck_") && key.len() == 47, "{key}");
    key
}

const WIRES: [&str; 4] = ["REST", "A2A", "MCP", "NLWeb"];

/// Asks `@vip` over a wire; `None` is nobody.
fn ask(served: &Served, wire: &str, key: Option<&str>) -> Answer {
    let bearer = format!("Authorization: Bearer {}", key.unwrap_or_default());
    let posted = ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"];
    let proof: &[&str] = if key.is_some() { &["-H", &bearer] } else { &[] };
    let post = |path: &str, more: &[&str], body: Value| {
        served.curl(path, &[&posted[..], more, proof, &["-d", &body.to_string()]].concat())
    };
    match wire {
        "REST" => served.curl("/~vip?user=hello", &[&["-H", "Accept: application/json"], proof].concat()),
        "A2A" => {
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
            post("/a2a/vip", &["-H", "A2A-Version: 1.0"], call)
        }
        "MCP" => {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "ask_vip", "arguments": {"message": "hello"}, "_meta": meta}});
            let named =
                ["-H", "mcp-protocol-version: 2026-07-28", "-H", "mcp-method: tools/call", "-H", "mcp-name: ask_vip"];
            post("/mcp", &named, call)
        }
        _ => post("/~vip/ask", &[], json!({"query": {"text": "hello"}, "prefer": {"streaming": false}})),
    }
}

#[test]
fn s7_a_key_opens_every_wire_until_it_is_revoked() {
    let served = served();
    let key = create(&served, &["nightly", "--scope", "booking:room"]);
    for wire in WIRES {
        let answer = ask(&served, wire, Some(&key)).with_status(200);
        assert!(answer.text().contains("hello") && !answer.text().contains("unauthorized"), "{wire}: {answer:?}");
        let stranger = ask(&served, wire, None);
        assert!(stranger.status == 401 || stranger.text().contains("unauthorized"), "{wire}: {stranger:?}");
    }
    let agent = guest(&served);
    let book = |bearer: &str| {
        let (uri, bearer) = (format!("agtp://{DOMAIN}/rooms/7"), format!("Authorization: Bearer {bearer}"));
        served.deployment.run("agtp", ["BOOK", &uri, "--agent-id", &agent, "-H", &bearer, "--scope", "booking:room"])
    };
    let booked = book(&key);
    assert_eq!(booked.code, Some(0), "{booked:?}");
    let bare = create(&served, &["bare"]);
    let refused = book(&bare);
    assert!(refused.code == Some(1) && format!("{refused:?}").contains("booking:room"), "{refused:?}");

    keys(&served, &["revoke", "nightly"]).fine();
    for wire in WIRES {
        let answer = ask(&served, wire, Some(&key)).with_status(401);
        assert!(answer.named("www-authenticate").contains("invalid_token"), "{wire}: {answer:?}");
    }
    let refused = book(&key);
    assert!(refused.code == Some(1) && format!("{refused:?}").contains("oauth-invalid"), "{refused:?}");
}

#[test]
fn s12_over_the_limit_of_a_key_every_wire_names_it() {
    let served = served();
    for wire in WIRES {
        let key = create(&served, &[&wire.to_lowercase(), "--limit", "2/day"]);
        for _ in 0..2 {
            ask(&served, wire, Some(&key)).with_status(200);
        }
        let refused = ask(&served, wire, Some(&key));
        assert!(refused.text().contains("The limit of this API key, 2 requests a day,"), "{wire}: {refused:?}");
        if wire != "A2A" && wire != "MCP" {
            assert_eq!(refused.status, 429, "{wire}: {refused:?}");
            assert!(refused.named("retry-after").parse::<u64>().unwrap() > 40_000, "{wire}: {refused:?}");
        }
    }
    let key = create(&served, &["agtp", "--limit", "1/day", "--scope", "booking:room"]);
    let (uri, bearer) = (format!("agtp://{DOMAIN}/rooms/7"), format!("Authorization: Bearer {key}"));
    let agent = guest(&served);
    let words = ["BOOK", &uri, "--agent-id", &agent, "-H", &bearer, "--scope", "booking:room"];
    let book = || served.deployment.run("agtp", words);
    book().fine();
    let refused = book();
    assert!(format!("{refused:?}").contains("1 request a day") && refused.code == Some(1), "{refused:?}");
}

#[test]
fn s8_a_key_is_nowhere_but_with_its_bearer() {
    let served = served();
    let made = keys(&served, &["create", "nightly", "--expires", "90d", "--json"]).json();
    let key = made["secret"].as_str().unwrap().to_owned();
    assert_eq!((&made["key"]["name"], made["key"]["scopes"].as_array().map(Vec::len)), (&json!("nightly"), Some(0)));
    ask(&served, "REST", Some(&key)).with_status(200);
    ask(&served, "REST", Some(&format!("{key}x"))).with_status(401);
    let listed = keys(&served, &["list", "--json"]).json();
    assert_eq!(listed[0]["name"], "nightly");
    assert!(!listed.to_string().contains(&key[4..]), "{listed}");
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, deployment) = served.ended();
    assert!(!log.contains(&key[4..]), "{log}");
    let listed = deployment.run("keys", ["api", "list"]).fine();
    assert!(listed.contains("nightly") && listed.contains("last used 2"), "{listed}");
    let mut looked_at = 0;
    for file in std::fs::read_dir(deployment.data()).unwrap().flatten() {
        let Ok(bytes) = std::fs::read(file.path()) else { continue };
        looked_at += 1;
        let found = bytes.windows(key.len() - 4).any(|window| window == &key.as_bytes()[4..]);
        assert!(!found, "{} holds the key", file.path().display());
    }
    assert!(looked_at > 1);
}

#[test]
fn what_is_wrong_with_a_key_is_said() {
    let deployment = Deployment::gatehouse();
    let refused = |words: &[&str], code: i32| deployment.run("keys", [&["api"], words].concat()).failed(code);
    assert!(refused(&["create", "Not A Name"], 1).contains("not a name for a key"));
    assert!(refused(&["create", "a", "--scope", "Nonsense"], 1).contains("no scope"));
    assert!(refused(&["create", "a", "--limit", "60/fortnight"], 2).contains("60/min"));
    assert!(refused(&["create", "a", "--expires", "2020-01-01"], 1).contains("expired already"));
    assert!(refused(&["revoke", "a"], 1).contains("no API key in force"));
    deployment.run("keys", ["api", "create", "a"]).fine();
    assert!(refused(&["create", "a"], 1).contains("in force"));
    let memory = Deployment::gatehouse().with("store", "kind = \"memory\"");
    assert!(memory.run("keys", ["api", "create", "a"]).failed(1).contains("memory"));
}
