//! QUERY of `echo` on an open TLS connection, whose answers carry records that nobody signs, then signed ones, against
//! the same daemon without records. What one record costs, and how fast a million are verified, is measured by
//! `cargo run --release -p forecourt-attribution --example measure`.

use std::collections::HashMap;

use super::query::question;
use super::{agent_id, daemon};
use crate::arm::{Arm, ECHO};
use crate::load::Asked;
use crate::report::compare;

/// What is asked, and what the answer says again.
const WORDS: &str = "hello from the other side";
const WITHOUT: &str = "[agtp.audit]\nenabled = false\n";

pub(in crate::bench) fn run() -> anyhow::Result<()> {
    for (name, section) in [("unsigned", "[agtp.signing]\nenabled = false\n"), ("signed", "")] {
        let arms = [with("without records", WITHOUT)?, with("without again", WITHOUT)?, with(name, section)?];
        let (mut asked, mut served) = (HashMap::new(), Vec::new());
        for arm in arms {
            let (arm, tls) = daemon(arm)?;
            let request = question(&agent_id(arm.port, &tls)?);
            asked.insert(arm.port, (request, tls));
            served.push(arm);
        }
        compare(&served, |port| {
            let (request, tls) = &asked[&port];
            Asked::of(request.clone(), WORDS).within(tls)
        })?;
    }
    Ok(())
}

/// The daemon with more settings.
fn with(name: &'static str, section: &str) -> anyhow::Result<Arm> {
    let mut files: Vec<(&str, String)> = ECHO.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    files[0].1.push_str(section);
    Arm::forecourt(name, &files)
}
