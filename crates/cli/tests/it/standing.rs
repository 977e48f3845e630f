//! An agent that is suspended, deprecated or retired over AGTP is so over every protocol, also after a
//! restart.

use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, Served};
use crate::wire::Answer;

/// Lets `@echo` stand elsewhere, by a method of AGTP.
fn change(served: &Served, method: &str) {
    let uri = format!("agtp://{DOMAIN}/agents/echo");
    served.deployment.run("agtp", [method, &uri, "-d", "{\"reason\": \"a test\"}"]).fine();
}

fn rest(served: &Served) -> Answer {
    served.curl("/~echo?user=hi", &["-H", "Accept: application/json"])
}

fn a2a(served: &Served) -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}).to_string();
    served.curl("/a2a/echo", &["-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0", "-d", &call]).json()
}

fn nlweb(served: &Served) -> Answer {
    served.curl("/~echo/ask?query=hi&streaming=false", &[])
}

#[test]
fn a_suspended_agent_is_unavailable_and_a_retired_one_gone_over_every_protocol() {
    let served = Deployment::gatehouse().serve();
    change(&served, "DEACTIVATE");
    let served = served.killed().serve();
    assert_eq!((rest(&served).status, nlweb(&served).status), (503, 503));
    assert!(a2a(&served).to_string().contains("service_unavailable"));
    change(&served, "REINSTATE");
    assert_eq!((rest(&served).status, nlweb(&served).status), (200, 200));
    change(&served, "DEPRECATE");
    assert_eq!((rest(&served).status, nlweb(&served).status), (200, 200));
    change(&served, "REVOKE");
    let served = served.killed().serve();
    assert_eq!((rest(&served).status, nlweb(&served).status), (410, 410));
    assert_eq!(a2a(&served)["error"]["code"], -32600);
}
