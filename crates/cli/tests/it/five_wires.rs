//! One question over every wire: the agent hears the same, but for ids, conversation, wire and time.

use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::{Deployment, Served};
use crate::wire::Answer;

const WORDS: &str = "Grüße, @agent: what is this?\nAnd \"that\"?";
/// What each wire has its own of.
const OWN: [&str; 8] =
    ["id", "thread_id", "conversation", "request", "received_via", "received_at", "deadline", "timeout_ms"];

fn served(receiver: &Receiver) -> Served {
    let backend = format!("kind = \"http\"\nurl = \"{}\"\n", receiver.webhook_url());
    let modes = "input_modes = [{ kind = \"text\", mime = \"text/plain\" }, { kind = \"file\", mime = \"image/*\" }]\n";
    let deployment = Deployment::of_backend(&backend).open_to_loopback();
    deployment.edit("agents/agent.toml", "\n[backend]", &format!("{modes}\n[backend]"));
    deployment.serve()
}

/// Posts JSON as a client that prefers German.
fn post(served: &Served, path: &str, version: &str, body: &Value) -> Answer {
    let version = format!("A2A-Version: {version}");
    let fields = ["-H", "Content-Type: application/json", "-H", &version, "-H", "Accept-Language: de"];
    served.curl(path, &[&fields[..], &["-d", &body.to_string()]].concat()).with_status(200)
}

fn call(method: &str, message: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}})
}

fn new_message() -> Value {
    json!({"messageId": "m1", "role": "ROLE_USER",
        "parts": [{"text": WORDS}, {"raw": "cG5n", "mediaType": "image/png", "filename": "a.png"}]})
}

/// Asks over a wire; what comes back must hold the answer.
fn asked(served: &Served, wire: &str) -> Answer {
    let old_file = json!({"bytes": "cG5n", "mimeType": "image/png", "name": "a.png"});
    match wire {
        "JSON-RPC 0.3" => {
            let parts = json!([{"kind": "text", "text": WORDS}, {"kind": "file", "file": old_file}]);
            let message = json!({"kind": "message", "messageId": "m1", "role": "user", "parts": parts});
            post(served, "/a2a", "0.3", &call("message/send", message))
        }
        "JSON-RPC 1.0" => post(served, "/a2a/agent", "1.0", &call("SendMessage", new_message())),
        "HTTP+JSON 0.3" => {
            let file = json!({"fileWithBytes": "cG5n", "mimeType": "image/png", "name": "a.png"});
            let content = json!([{"text": WORDS}, {"file": file}]);
            let message = json!({"messageId": "m1", "role": "ROLE_USER", "content": content});
            let body = json!({"message": message, "configuration": {"blocking": true}});
            post(served, "/a2a/v1/message:send", "0.3", &body)
        }
        "HTTP+JSON 1.0" => post(served, "/a2a/message:send", "1.0", &json!({"message": new_message()})),
        "HTTP+JSON 1.0, streamed" => post(served, "/a2a/message:stream", "1.0", &json!({"message": new_message()})),
        _ => {
            served.deployment.write("a.png", "png");
            let file =
                format!("user=@{};type=image/png;filename=a.png", served.deployment.path().join("a.png").display());
            let words = format!("user={WORDS}");
            let fields = ["-H", "Accept-Language: de", "--form-string", &words, "-F", &file];
            served.curl("/~agent", &fields).with_status(200)
        }
    }
}

#[test]
fn the_agent_hears_the_same_over_every_wire() {
    let answer = json!({"text": "A picture."});
    let receiver = Receiver::answering(vec![answer; 6]);
    let served = served(&receiver);
    let wires = ["REST", "JSON-RPC 0.3", "JSON-RPC 1.0", "HTTP+JSON 0.3", "HTTP+JSON 1.0", "HTTP+JSON 1.0, streamed"];
    let heard = wires.map(|wire| {
        let answer = asked(&served, wire);
        assert!(answer.text().contains("A picture."), "{wire}: {answer:?}");
        let mut message = receiver.post().json();
        let via = if wire == "REST" { "rest" } else { "a2a" };
        assert_eq!(message["received_via"], via);
        for key in OWN {
            message.as_object_mut().unwrap().remove(key);
        }
        message
    });
    for (wire, message) in wires.iter().zip(&heard) {
        assert_eq!(message, &heard[0], "{wire}");
    }
    let parts = heard[0]["parts"].as_array().unwrap();
    assert_eq!((&parts[0]["content"], &parts[1]["name"]), (&json!(WORDS), &json!("a.png")));
    assert_eq!((&heard[0]["recipient"], &heard[0]["language"]), (&json!("@agent@demo.localhost"), &json!("de")));
}

/// Questions of NLWeb hold no files.
#[test]
fn words_alone_are_heard_the_same_over_nlweb() {
    let receiver = Receiver::answering(vec![json!({"text": "Words."}); 2]);
    let served = served(&receiver);
    let words = format!("user={WORDS}");
    served.curl("/~agent", &["-H", "Accept-Language: de", "--form-string", &words]).with_status(200);
    let rest = receiver.post().json();
    let body = json!({"query": {"text": WORDS}, "prefer": {"accept-language": "de"}}).to_string();
    let answer = served.curl("/~agent/ask", &["-H", "Content-Type: application/json", "-d", &body]).with_status(200);
    assert!(answer.text().contains("Words."), "{answer:?}");
    let nlweb = receiver.post().json();
    assert_eq!((&rest["received_via"], &nlweb["received_via"]), (&json!("rest"), &json!("nlweb")));
    let shared = |mut message: Value| {
        let fields = message.as_object_mut().unwrap();
        OWN.iter().for_each(|key| drop(fields.remove(*key)));
        message
    };
    assert_eq!(shared(nlweb), shared(rest));
}
