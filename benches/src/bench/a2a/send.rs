//! `SendMessage` to `echo`, against an axum handler that reads and writes the same JSON with structs.

use serde_json::{Value, json};

use super::{alike, post, send_message};
use crate::arm::{Arm, ECHO};
use crate::load::{Asked, NUMBER};
use crate::report::{compare, sides};
use crate::run::Run;

const WORDS: &str = "hello from the other side";

/// Runs the comparison in 1.0, and in 0.3 for information.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let arms =
        [Arm::baseline("axum", "a2a")?, Arm::baseline("axum again", "a2a")?, Arm::forecourt("forecourt echo", ECHO)?];
    for (version, body) in [("1.0", send_message(WORDS, &json!({}))), ("0.3", message_send())] {
        println!("A2A {version}:");
        let request = |port: u16| post(port, "/a2a/echo", version, &body);
        alike(&arms[0], &arms[2], request)?;
        compare(run, &format!("{version}, "), &sides(&arms, |port| Asked::of(request(port), WORDS)))?;
    }
    Ok(())
}

fn message_send() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": "7c0ffee0-0000-4000-8000-000000000001",
        "method": "message/send",
        "params": {"message": {
            "kind": "message",
            "messageId": format!("9b2f0e1c-8e57-4b6c-9f0e-{NUMBER}"),
            "role": "user",
            "parts": [{"kind": "text", "text": WORDS}],
        }},
    })
}
