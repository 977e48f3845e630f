//! Logs hold no questions, answers, tokens or personal content, whatever level the operator sets.

use serde_json::json;

use crate::support::{Deployment, Served};
use crate::wire::curl;

/// Is in no log.
const MARKER: &str = "xyzzyquux";
const OPERATOR: &str = "a-token-of-the-operator";
const JSON: &str = "Content-Type: application/json";

/// Asks over every wire, each time with the marker in the question, in a header and in an answer.
fn ask_everywhere(served: &Served) {
    let token = format!("Authorization: Bearer {MARKER}.{MARKER}.{MARKER}");
    let about = format!("X-Personal: {MARKER}");
    let words = format!("soup with {MARKER}");
    for agent in ["echo", "chef"] {
        served.curl(&format!("/~{agent}?user={MARKER}&session={MARKER}"), &["-H", &about]).with_status(200);
        served.curl(&format!("/~{agent}?user={MARKER}"), &["-H", &token]);
        served.curl(&format!("/~{agent}"), &["-F", &format!("user={words}")]).with_status(200);
        let file = format!("user={MARKER};type=image/png;filename={MARKER}.png");
        served.curl(&format!("/~{agent}"), &["-F", &format!("user={words}"), "-F", &file]);
        let message = json!({"messageId": MARKER, "contextId": MARKER, "role": "ROLE_USER", "parts": [{"text": words}],
            "metadata": {"said": MARKER}});
        let push = json!({"url": format!("https://{MARKER}.example/{MARKER}"), "token": MARKER});
        for params in [
            json!({"message": message, "metadata": {"said": MARKER}}),
            json!({"message": message, "configuration": {"taskPushNotificationConfig": push}}),
        ] {
            let call = json!({"jsonrpc": "2.0", "id": MARKER, "method": "SendMessage", "params": params}).to_string();
            served.curl(&format!("/a2a/{agent}"), &["-H", JSON, "-H", "A2A-Version: 1.0", "-H", &token, "-d", &call]);
            let fields = ["-H", JSON, "-H", "A2A-Version: 1.0", "-d", &call];
            assert!(served.curl(&format!("/a2a/{agent}"), &fields).text().contains(MARKER));
        }
        let ask = json!({"query": {"text": words, "name": MARKER}, "context": {"memory": MARKER, "prev": [MARKER]},
            "meta": {"user": MARKER, "request_id": MARKER, "session_context": {"said": MARKER}}});
        for streaming in [true, false] {
            let mut ask = ask.clone();
            ask["prefer"] = json!({"streaming": streaming, "mode": "list, summarize"});
            served
                .curl(&format!("/~{agent}/ask"), &["-H", JSON, "-H", &about, "-d", &ask.to_string()])
                .with_status(200);
        }
        served.curl(&format!("/mcp/{agent}"), &["-H", JSON, "-d", &format!("{{\"broken\": \"{MARKER}")]);
        let data = served.deployment.data().display().to_string();
        let address = format!("@{agent}@demo.localhost");
        let ran = served.deployment.run("ask", ["--via", "mcp", "--data", &data, &address, &words]);
        assert!(ran.code == Some(0) && ran.stdout.contains(MARKER), "{ran:?}");
        let input = json!({"intent": words}).to_string();
        let uri = format!("agtp://demo.localhost/agents/{agent}");
        let ran = served.deployment.run("agtp", ["QUERY", &uri, "-d", &input]);
        assert!(ran.stdout.contains(MARKER), "{ran:?}");
        served
            .deployment
            .run("agtp", ["QUERY", "agtp://demo.localhost", "-d", &input, "-H", &format!("X-A: {MARKER}")]);
    }
}

/// Pushes content with the marker in it, as the operator and as somebody else.
fn push(served: &Served) {
    let item = json!({"@id": format!("urn:{MARKER}"), "name": format!("Pie of {MARKER}")}).to_string();
    for (token, status) in [(OPERATOR, 200), (MARKER, 401)] {
        let url = format!("http://127.0.0.1:{}/content/chef", served.admin);
        let authorization = format!("Authorization: Bearer {token}");
        let lines = "Content-Type: application/x-ndjson";
        curl(&url, &["-H", &authorization, "-H", lines, "--data-binary", &item]).with_status(status);
    }
}

#[test]
fn not_even_a_trace_of_what_is_asked_answered_or_pushed_is_in_the_log() {
    for level in ["trace", "trace,hyper=trace,h2=trace,rmcp=trace,tantivy=trace,reqwest=trace,rusqlite=trace"] {
        let served = Deployment::kitchen()
            .with("admin", &format!("token = \"{OPERATOR}\""))
            .with("log", &format!("level = \"{level}\""))
            .serve();
        push(&served);
        ask_everywhere(&served);
        served.signal(nix::sys::signal::Signal::SIGTERM);
        let (_, log, _) = served.ended();
        assert!(log.contains("content was pushed"), "what is ours is logged: {log}");
        for secret in [MARKER, OPERATOR] {
            let said: Vec<&str> = log.lines().filter(|line| line.contains(secret)).take(5).collect();
            assert!(said.is_empty(), "{level}: {said:#?}");
        }
    }
}
