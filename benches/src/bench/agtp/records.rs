//! QUERY of `echo` on an open TLS connection, one after the other and pipelined, whose answers carry records that nobody
//! signs, then signed ones, against the same daemon without records. What one record costs, and how fast a million are
//! verified, is measured by `cargo run --release -p forecourt-attribution --example measure`.

use super::query::{WORDS, question};
use super::{WITHOUT_RECORDS, agent_id, daemon};
use crate::arm::{Arm, echo_with};
use crate::load::Asked;
use crate::report::{Side, compare};
use crate::run::Run;

/// Calls of one connection that are under way at once, where they are pipelined.
const PIPELINED: usize = 16;

pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let kinds = [
        ("records off", WITHOUT_RECORDS),
        ("records off again", WITHOUT_RECORDS),
        ("unsigned", "[agtp.signing]\nenabled = false\n"),
        ("signed", ""),
    ];
    let mut served = Vec::new();
    for (name, section) in kinds {
        let (arm, tls) = daemon(Arm::forecourt(name, &echo_with(section))?)?;
        let request = question(&agent_id(arm.port, &tls)?);
        served.push((arm, Asked::of(request, WORDS).within(&tls)));
    }
    for (what, at_once) in [("one by one", 1), ("pipelined", PIPELINED)] {
        println!("{what}:");
        let ways = served.iter().map(|(arm, asked)| (arm, asked.clone().pipelined(at_once)));
        let sides: Vec<Side<'_>> = ways.map(|(arm, asked)| Side { name: arm.name, arm, asked }).collect();
        compare(run, &format!("{what}, "), &sides)?;
    }
    Ok(())
}
