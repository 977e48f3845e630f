//! AGTP: questions on open and new connections, calls among many endpoints, the manifest, and
//! connections that say nothing.

pub(super) mod contract;
pub(super) mod dispatch;
pub(super) mod idle;
pub(super) mod manifest;
pub(super) mod query;
pub(super) mod records;

use anyhow::Context;
use serde_json::Value;
use tokio_rustls::TlsConnector;

use crate::arm::Arm;
use crate::load;

/// Settings under which no answer leaves a record.
const WITHOUT_RECORDS: &str = "[agtp.audit]\nenabled = false\n";

/// A request without a body.
fn bare(line: &str) -> String {
    format!("AGTP/1.0 {line}\r\n\r\n")
}

/// The Agent-ID of the default agent, which hosts know its callers by.
fn agent_id(port: u16, tls: &TlsConnector) -> anyhow::Result<String> {
    let agents = load::sample_within(port, Some(tls), &bare("DISCOVER /agents"))?;
    let body = agents.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    let agents: Value = serde_json::from_str(body)?;
    Ok(agents[0]["agent_id"].as_str().context("an agent lives there")?.to_owned())
}

/// Starts the daemon, whose port is that of AGTP, and a client that trusts it.
fn daemon(arm: Arm) -> anyhow::Result<(Arm, TlsConnector)> {
    let (port, tls) = (arm.agtp_port()?, load::trusting(&arm.data()?)?);
    Ok((arm.at(port), tls))
}
