//! One run under callgrind, and the number that it prints.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::arm::Arm;
use crate::client::REQUESTS;

/// Instructions of one request over `arm`, the client's share included.
///
/// # Errors
/// When callgrind is not installed, or the run fails.
pub(crate) fn count(arm: Arm) -> anyhow::Result<u64> {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        // Only what happens below this function counts: neither the start nor the first requests.
        .args(["--toggle-collect=*measured_requests*", "--"])
        .arg(std::env::current_exe()?)
        .args(["run", arm.name()])
        .output()
        .context("valgrind can't be started: is it installed?")?;
    let text = String::from_utf8_lossy(&valgrind.stderr);
    ensure!(valgrind.status.success(), "{} did not run to its end:\n{text}", arm.name());
    let collected = text.lines().find_map(|line| line.split("Collected : ").nth(1)?.trim().parse::<u64>().ok());
    let collected = collected.with_context(|| format!("callgrind counted nothing:\n{text}"))?;
    ensure!(collected > 0, "callgrind did not find the function to count:\n{text}");
    Ok(collected / u64::from(REQUESTS))
}
