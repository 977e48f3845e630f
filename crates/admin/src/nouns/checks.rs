//! Whether the parts of a house are well: a line each, for one look.

use std::fs;
use std::time::Duration;

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::desk::Ask;
use crate::house::{CertificateInUse, TelemetryState};

/// How long before its end a certificate is worth a word: those that are renewed have been by then.
const CERTIFICATE_ENDS_SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How long ago a backup may be before that is worth a word.
const BACKUP_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long ago content may have been looked at: it is every few seconds where nothing is in the way.
const CONTENT_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// The file in the data folder in which `forecourt backup` says when it made the last one.
pub const LAST_BACKUP_FILE: &str = "last-backup.json";

/// How a part is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Which part: `store`, `bus`, `certificates`, `telemetry`, `content`, `backup`, or `note` for what belongs to none.
    pub part: String,
    /// `good`, `warn`, `bad`, or `off` where the deployment has no such part.
    pub state: String,
    /// The same in words, with what to do.
    pub about: String,
}

impl Check {
    fn new(part: &str, state: &str, about: impl Into<String>) -> Self {
        Self { part: part.to_owned(), state: state.to_owned(), about: about.into() }
    }
}

/// What `forecourt backup` writes down of the last backup.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastBackup {
    /// When it was made.
    pub made_at: Timestamp,
}

/// All parts, with what readiness says.
pub(crate) fn all(ask: &Ask, ready: &Result<Vec<String>, String>) -> Vec<Check> {
    let (around, now) = (&ask.desk.around, ask.now());
    let mut checks = vec![store(ask, ready), bus(around.bus_fault())];
    checks.push(certificates(&around.certificates(), now));
    checks.push(telemetry(around.telemetry()));
    checks.push(content(ask, now));
    checks.push(backup(ask, now));
    let known: Vec<String> = around.bus_fault().flatten().into_iter().collect();
    // The fault of the bus has a line of its own above.
    let notes = ready.iter().flatten().filter(|note| !known.iter().any(|known| note.starts_with(known.as_str())));
    checks.extend(notes.map(|note| Check::new("note", "warn", note.as_str())));
    checks
}

fn store(ask: &Ask, ready: &Result<Vec<String>, String>) -> Check {
    match (ready, ask.desk.reads.load().system) {
        (Err(reason), _) => Check::new("store", "bad", format!("not ready: {reason}")),
        (Ok(_), "memory") => {
            Check::new("store", "warn", "in memory, which ends with the program: set kind = \"sqlite\" in [store]")
        }
        (Ok(_), "postgresql") => Check::new("store", "good", "PostgreSQL answers"),
        (Ok(_), system) => Check::new("store", "good", format!("{system}, in the data folder")),
    }
}

/// `None`: there is no bus.
fn bus(error: Option<Option<String>>) -> Check {
    match error {
        None => Check::new("bus", "off", "one node needs none: [bus] is for several"),
        Some(None) => Check::new("bus", "good", "connected"),
        Some(Some(error)) => Check::new("bus", "warn", format!("{error}; nothing is lost, it takes seconds longer")),
    }
}

fn certificates(in_use: &[CertificateInUse], now: Timestamp) -> Check {
    let Some(first) = in_use.iter().min_by_key(|one| one.not_after) else {
        return Check::new("certificates", "off", "none is read from a file");
    };
    let (names, until) = (first.names.join(", "), first.not_after.strftime("%Y-%m-%d"));
    let about = format!("{names}: good until {until}");
    match first.not_after.duration_since(now) {
        left if left.is_negative() => Check::new("certificates", "bad", format!("{names}: ended on {until}")),
        left if left.unsigned_abs() < CERTIFICATE_ENDS_SOON => {
            Check::new("certificates", "warn", format!("{about}, and not renewed: `forecourt admin certificates`"))
        }
        _ => Check::new("certificates", "good", about),
    }
}

fn telemetry(state: TelemetryState) -> Check {
    match state {
        TelemetryState::Off => Check::new("telemetry", "off", "no collector: `endpoint` in [telemetry] names one"),
        TelemetryState::Sending => Check::new("telemetry", "good", "the collector takes what it is sent"),
        TelemetryState::Failing => {
            Check::new("telemetry", "warn", "the collector took nothing last time; the log says why")
        }
    }
}

fn content(ask: &Ask, now: Timestamp) -> Check {
    if ask.house.contents.is_empty() {
        return Check::new("content", "off", "no agent answers from content");
    }
    let is_old = |at: Timestamp| now.duration_since(at).unsigned_abs() > CONTENT_AGE_MAX;
    let contents = ask.house.contents.iter();
    let stale: Vec<String> = contents
        // Never read counts as old.
        .filter(|(_, content)| content.read_at().is_none_or(is_old))
        .map(|(agent, _)| format!("@{agent}"))
        .collect();
    match stale.is_empty() {
        true => Check::new("content", "good", "read within the last hour"),
        false => {
            let of = stale.join(", ");
            Check::new(
                "content",
                "warn",
                format!("not read within the last hour: {of}; `forecourt admin content` says why"),
            )
        }
    }
}

fn backup(ask: &Ask, now: Timestamp) -> Check {
    let text = fs::read(ask.desk.data.join(LAST_BACKUP_FILE));
    let last: Option<LastBackup> = text.ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Some(LastBackup { made_at }) = last else {
        return Check::new("backup", "off", "none was made with `forecourt backup` yet; other ways are not seen here");
    };
    let about = format!("made with `forecourt backup` on {}", made_at.strftime("%Y-%m-%d"));
    match now.duration_since(made_at).unsigned_abs() > BACKUP_AGE_MAX {
        true => Check::new("backup", "warn", format!("{about}, more than a week ago")),
        false => Check::new("backup", "good", about),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(until: &str) -> CertificateInUse {
        let at = |text: &str| text.parse().unwrap();
        let (names, issuer) = (vec!["a.example".to_owned()], "CA".to_owned());
        CertificateInUse { names, issuer, not_before: at("2026-01-01T00:00:00Z"), not_after: at(until) }
    }

    #[test]
    fn a_certificate_is_good_until_it_should_have_been_renewed() {
        let now = "2026-06-01T00:00:00Z".parse().unwrap();
        let state = |until: &str| certificates(&[certificate("2027-01-01T00:00:00Z"), certificate(until)], now).state;
        assert_eq!(state("2026-06-15T00:00:01Z"), "good");
        assert_eq!(state("2026-06-14T00:00:00Z"), "warn");
        assert_eq!(state("2026-05-31T23:59:59Z"), "bad");
        assert_eq!(certificates(&[], now).state, "off");
    }

    #[test]
    fn a_bus_that_is_away_is_a_warning_and_none_is_none() {
        assert_eq!(bus(None).state, "off");
        assert_eq!(bus(Some(None)).state, "good");
        let away = bus(Some(Some("the bus at nats://a:4222 is away".to_owned())));
        assert!(away.state == "warn" && away.about.contains("nats://a:4222"), "{away:?}");
    }
}
