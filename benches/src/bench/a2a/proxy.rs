//! An agent that lives elsewhere, asked through the `a2a` backend, against a bare reverse proxy and,
//! where there is one, Envoy with its A2A filter.

use serde_json::json;

use super::{post, send_message};
use crate::arm::{Arm, OPEN_LIMITS};
use crate::envoy;
use crate::load::Asked;
use crate::report::compare;

const WORDS: &str = "hello from the other side";
/// Names the program of Envoy, when it is to be measured.
const ENVOY: &str = "BENCH_ENVOY";
/// Work is then kept in memory alone: the rest of the cost is on the disk's account.
const IN_MEMORY: &str = "[store]\nkind = \"memory\"\n";

/// Runs the comparison; every arm forwards to the same remote agent.
pub(in crate::bench) fn run() -> anyhow::Result<()> {
    let remote = Arm::baseline("remote", "a2a")?;
    let agent = format!(
        "handle = \"echo\"\nname = \"Far\"\n[backend]\nkind = \"a2a\"\nurl = \"http://127.0.0.1:{}/\"\n",
        remote.port
    );
    let in_memory = format!("{OPEN_LIMITS}{IN_MEMORY}");
    let files = |settings| [("forecourt.toml", settings), ("agents/echo.toml", agent.as_str())];
    let mut arms = vec![
        Arm::proxy("hyper proxy", remote.port)?,
        Arm::proxy("hyper proxy again", remote.port)?,
        Arm::forecourt("forecourt", &files(OPEN_LIMITS))?,
        Arm::forecourt("forecourt, in memory", &files(&in_memory))?,
    ];
    match std::env::var_os(ENVOY) {
        Some(program) => arms.push(envoy::start("envoy", program.as_ref(), remote.port)?),
        None => println!("no Envoy: {ENVOY} names none"),
    }
    // Our answer is a task all the same, some 300 bytes longer than the message of the remote agent.
    let body = send_message(WORDS, &json!({"historyLength": 0}));
    let request = |port: u16| post(port, "/a2a/echo", "1.0", &body);
    compare(&arms, |port| Asked { text: request(port), holds: WORDS })
}
