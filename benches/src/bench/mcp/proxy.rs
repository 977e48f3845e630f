//! A tool of a server that lives elsewhere, called through the gateway, against a bare reverse proxy to that server.

use super::{WORDS, call};
use crate::arm::{Arm, ECHO, OPEN_LIMITS};
use crate::load::Asked;
use crate::report::{Side, compare};
use crate::run::Run;

/// The server's tool, by its own name.
const TOOL: &str = "ask_echo";

/// Runs the comparison; every arm forwards to the same server.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let remote = Arm::forecourt("remote", ECHO)?;
    let agent = "handle = \"own\"\nname = \"Own\"\n[backend]\nkind = \"echo\"\n";
    let server = format!("url = \"http://127.0.0.1:{}/mcp/echo\"\n", remote.port);
    let files = [("forecourt.toml", OPEN_LIMITS), ("agents/own.toml", agent), ("servers/far.toml", &server)];
    let (proxy, again) = (Arm::proxy("hyper proxy", remote.port)?, Arm::proxy("hyper proxy again", remote.port)?);
    let gateway = Arm::forecourt("forecourt", &files)?;
    let side = |arm, path: &str| {
        let arm: &Arm = arm;
        Side { name: arm.name, arm, asked: Asked::of(call(arm.port, path, TOOL), WORDS) }
    };
    compare(run, "", &[side(&proxy, "/mcp/echo"), side(&again, "/mcp/echo"), side(&gateway, "/mcp/far")])
}
