//! QUERY of `echo`, against a bare text server on tokio and rustls that answers the same bytes: on an
//! open TLS connection, on a new one each, and without TLS on a new one each.

use std::path::Path;

use super::{agent_id, daemon};
use crate::arm::{Arm, ECHO};
use crate::load::{self, Asked};
use crate::report::compare;

/// What is asked, and what the answer says again.
const WORDS: &str = "hello from the other side";

/// On an open TLS connection.
pub(in crate::bench) fn open() -> anyhow::Result<()> {
    within_tls(|asked| asked)
}

/// On a new TLS connection each.
pub(in crate::bench) fn new() -> anyhow::Result<()> {
    within_tls(Asked::each_anew)
}

fn within_tls(way: impl Fn(Asked) -> Asked) -> anyhow::Result<()> {
    let (ours, tls) = daemon(Arm::forecourt("forecourt echo", ECHO)?)?;
    let request = question(&agent_id(ours.port, &tls)?);
    let folder = ours.data()?;
    keep_answer(&folder, &load::sample_within(ours.port, Some(&tls), &request)?)?;
    let again = || Arm::baseline_over("rustls", "agtp", &folder);
    compare(&[again()?, again()?, ours], |_| way(Asked::of(request.clone(), WORDS).within(&tls)))
}

/// Without TLS, on a new connection each: as the published Python server was measured.
pub(in crate::bench) fn plain() -> anyhow::Result<()> {
    let mut files: Vec<(&str, String)> = ECHO.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    files[0].1.push_str(&format!("[agtp]\nplaintext = \"127.0.0.1:{free}\"\n"));
    let (ours, tls) = daemon(Arm::forecourt("forecourt echo", &files)?)?;
    let request = question(&agent_id(ours.port, &tls)?);
    let (ours, folder) = (ours.at(free), tempfile::tempdir()?);
    keep_answer(folder.path(), &load::sample(free, &request)?)?;
    let again = || Arm::baseline_over("tokio", "agtp-plain", folder.path());
    compare(&[again()?, again()?, ours], |_| Asked::of(request.clone(), WORDS).each_anew())
}

pub(super) fn question(agent_id: &str) -> String {
    let body = format!("{{\"intent\":\"{WORDS}\"}}");
    format!(
        "AGTP/1.0 QUERY /\r\nAgent-ID: {agent_id}\r\nTask-ID: task-1\r\n\
         Request-ID: 0197a1b2-0000-7000-8000-000000000001\r\nContent-Type: application/vnd.agtp+json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn keep_answer(folder: &Path, answer: &str) -> anyhow::Result<()> {
    Ok(std::fs::write(folder.join(crate::baseline::ANSWER), answer)?)
}
