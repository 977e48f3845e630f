//! An agent that lives elsewhere, asked through the `a2a` backend, against a bare reverse proxy and,
//! where there is one, Envoy with its A2A filter.

use serde_json::json;

use super::{post, send_message};
use crate::arm::{Arm, OPEN_LIMITS};
use crate::envoy;
use crate::load::Asked;
use crate::report::{compare, sides};
use crate::run::Run;

const WORDS: &str = "hello from the other side";
/// Names the program of Envoy, when it is to be measured.
const ENVOY: &str = "BENCH_ENVOY";

/// Runs the comparison; every arm forwards to the same remote agent.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let remote = Arm::baseline("remote", "a2a")?;
    let agent = format!(
        "handle = \"echo\"\nname = \"Far\"\n[backend]\nkind = \"a2a\"\nurl = \"http://127.0.0.1:{}/\"\n",
        remote.port
    );
    let mut arms = vec![
        Arm::proxy("hyper proxy", remote.port)?,
        Arm::proxy("hyper proxy again", remote.port)?,
        Arm::forecourt("forecourt", &[("forecourt.toml", OPEN_LIMITS), ("agents/echo.toml", &agent)])?,
    ];
    match std::env::var_os(ENVOY) {
        Some(program) => arms.push(envoy::start("envoy", program.as_ref(), remote.port)?),
        None => println!("no Envoy: {ENVOY} names none"),
    }
    // Our answer is a task all the same, kept on disk before the remote agent is asked, and some 300
    // bytes longer than its message.
    let body = send_message(WORDS, &json!({"historyLength": 0}));
    let request = |port: u16| post(port, "/a2a/echo", "1.0", &body);
    compare(run, "", &sides(&arms, |port| Asked::of(request(port), WORDS)))
}
