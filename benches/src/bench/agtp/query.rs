//! QUERY of `echo` without records, against a bare text server on tokio and rustls that answers the same bytes: on an
//! open TLS connection, on a new one each, and without TLS on a new one each.

use std::path::Path;

use super::{WITHOUT_RECORDS, agent_id, daemon};
use crate::arm::{Arm, echo_with};
use crate::load::{self, Asked};
use crate::report::{compare, sides};
use crate::run::Run;

/// What is asked, and what the answer says again.
pub(super) const WORDS: &str = "hello from the other side";

/// On an open TLS connection.
pub(in crate::bench) fn open(run: &Run) -> anyhow::Result<()> {
    within_tls(run, |asked| asked)
}

/// On a new TLS connection each.
pub(in crate::bench) fn new(run: &Run) -> anyhow::Result<()> {
    within_tls(run, Asked::each_anew)
}

fn within_tls(run: &Run, way: impl Fn(Asked) -> Asked) -> anyhow::Result<()> {
    let (ours, tls) = daemon(Arm::forecourt("forecourt echo", &echo_with(WITHOUT_RECORDS))?)?;
    let request = question(&agent_id(ours.port, &tls)?);
    let folder = ours.data()?;
    keep_answer(&folder, &load::sample_within(ours.port, Some(&tls), &request)?)?;
    let again = || Arm::baseline_over("rustls", "agtp", &folder);
    let arms = [again()?, again()?, ours];
    compare(run, "", &sides(&arms, |_| way(Asked::of(request.clone(), WORDS).within(&tls))))
}

/// Without TLS, on a new connection each: as the published Python server was measured.
pub(in crate::bench) fn plain(run: &Run) -> anyhow::Result<()> {
    let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let files = echo_with(&format!("[agtp]\nplaintext = \"127.0.0.1:{free}\"\n{WITHOUT_RECORDS}"));
    let (ours, tls) = daemon(Arm::forecourt("forecourt echo", &files)?)?;
    let request = question(&agent_id(ours.port, &tls)?);
    let (ours, folder) = (ours.at(free), tempfile::tempdir()?);
    keep_answer(folder.path(), &load::sample(free, &request)?)?;
    let again = || Arm::baseline_over("tokio", "agtp-plain", folder.path());
    let arms = [again()?, again()?, ours];
    compare(run, "", &sides(&arms, |_| Asked::of(request.clone(), WORDS).each_anew()))
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
