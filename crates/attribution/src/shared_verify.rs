//! Whether anything was changed among the records that nodes share: every signature, and each chain from its first entry
//! to its last. The last entry of each chain is its head; what a second place knows of heads is held against them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, Timestamp};
use forecourt_host::Ledger;
use futures::future::BoxFuture;
use serde_json::json;

use crate::checkpoint::{SharedHead, unverified};
use crate::digest::{FIRST, Hash, from_hex, sha256, to_hex};
use crate::export::{ExportFilter, ExportedRecord, issued_at};
use crate::keys::RecordKeys;
use crate::limits::CHAIN_READ_MAX;
use crate::payload::Place;
use crate::shared_log::{CHAIN, CHAINS, signers};
use crate::shared_retention::{RETENTIONS, Retentions};
use crate::signature::{SignatureCheck, SignatureOutcome, require_signed};
use crate::verify::{Finding, FindingUnit, Verification};

/// Looks at all records in the streams of `ledger`, also while nodes write: at what stood there when it came by.
/// `keys`: `None` for those that are kept beside them. `elsewhere`: statements of second places, read before
/// this is called; each chain has to be as far as the furthest one on it says.
///
/// # Errors
/// The store can't be asked.
pub fn verify_shared<'a>(
    ledger: &'a Ledger,
    keys: Option<&'a RecordKeys>,
    elsewhere: &'a [String],
    now: Timestamp,
) -> BoxFuture<'a, Result<Verification, Error>> {
    Box::pin(async move {
        let beside = match keys {
            Some(_) => RecordKeys::default(),
            None => RecordKeys::read(&json!({"keys": signers(ledger).await?})).unwrap_or_default(),
        };
        let keys = keys.unwrap_or(&beside);
        let mut told = Verification::default();
        let mut streams = latest(elsewhere, keys, now, &mut told);
        let (retentions, wrong) = Retentions::read(ledger, keys).await?;
        wrong.into_iter().for_each(|(number, message)| told.found(finding(RETENTIONS, number, None, message)));
        // Those that are gone with their entries in the list are there by then.
        list(ledger, &mut streams).await?;
        for (stream, elsewhere) in streams {
            let mut chain = ChainCheck::new(&stream, keys, (&retentions, now));
            chain.elsewhere = elsewhere;
            let mut after = 0;
            loop {
                let page = ledger.entries(&stream, Span::After(after), CHAIN_READ_MAX).await?;
                let Some((last, _)) = page.last() else { break };
                after = *last;
                page.iter().for_each(|(number, entry)| chain.entry(*number, entry, &mut told));
            }
            chain.end(&mut told);
        }
        if told.unsigned > 0 {
            told.notes.push(format!("{} records are not signed: nobody can tell who made them", told.unsigned));
        }
        told.is_unwritten = told.segments == 0;
        Ok(told)
    })
}

/// Gives every record that is wanted to `take`, chain by chain, each from its first record on. Gives how many.
///
/// # Errors
/// The store can't be asked, or `take` fails.
pub fn export_shared<'a>(
    ledger: &'a Ledger,
    filter: &'a ExportFilter,
    take: &'a mut (dyn FnMut(ExportedRecord<'_>) -> io::Result<()> + Send),
) -> BoxFuture<'a, Result<io::Result<u64>, Error>> {
    Box::pin(async move {
        let only = filter.agent.as_ref().map(|agent| format!("{CHAIN}{agent}"));
        let (mut count, mut streams) = (0, Streams::new());
        list(ledger, &mut streams).await?;
        for stream in streams.into_keys().filter(|stream| only.as_ref().is_none_or(|only| only == stream)) {
            let mut after = 0;
            loop {
                let page = ledger.entries(&stream, Span::After(after), CHAIN_READ_MAX).await?;
                let Some((last, _)) = page.last() else { break };
                after = *last;
                for (_, entry) in &page {
                    let jws = entry.body["jws"].as_str().unwrap_or_default();
                    let is_since = |since: Timestamp| issued_at(jws).is_some_and(|issued| issued >= since);
                    if !filter.since.is_none_or(is_since) {
                        continue;
                    }
                    let (audit_id, is_event) = (to_hex(&sha256(jws.as_bytes())), entry.body["kind"] == "event");
                    if let Err(error) = take(ExportedRecord { audit_id: &audit_id, is_event, jws }) {
                        return Ok(Err(error));
                    }
                    count += 1;
                }
            }
        }
        Ok(Ok(count))
    })
}

/// Streams, with what a second place knows of each.
type Streams = BTreeMap<String, Option<SharedHead>>;

/// Adds the streams with records to those that are known.
async fn list(ledger: &Ledger, streams: &mut Streams) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let page = ledger.entries(CHAINS, Span::After(after), CHAIN_READ_MAX).await?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = *last;
        for stream in page.iter().filter_map(|(_, entry)| entry.body["stream"].as_str()) {
            streams.entry(stream.to_owned()).or_default();
        }
    }
}

/// One stream, entry by entry.
struct ChainCheck<'a> {
    stream: &'a str,
    /// In whose chain it is; `None`: nothing links these records.
    agent: Option<Hash>,
    signatures: SignatureCheck<'a>,
    /// For how long records are kept, and what time it is.
    retentions: (&'a Retentions, Timestamp),
    /// The number and the name of the last entry, and when it was written.
    last: Option<(u64, Hash, Timestamp)>,
    /// Where a second place says that it was.
    elsewhere: Option<SharedHead>,
}

/// The furthest statement of second places on each stream, but for those on records that are gone by age.
fn latest(statements: &[String], keys: &RecordKeys, now: Timestamp, told: &mut Verification) -> Streams {
    let mut found = Streams::new();
    for jws in statements {
        let Some(head) = unverified::<SharedHead>(jws).filter(|head| !head.is_gone(now)) else { continue };
        if let Err(message) = require_signed(jws, keys) {
            told.found(Finding {
                path: PathBuf::from(format!("the head copy, {}", head.stream)),
                offset: head.number,
                unit: FindingUnit::Entry,
                audit_id: None,
                message,
            });
            continue;
        }
        // Several nodes tell the second place, each in its time: the last line need not be the furthest.
        let known = found.entry(head.stream.clone()).or_default();
        if known.as_ref().is_none_or(|known| known.number <= head.number) {
            *known = Some(head);
        }
    }
    found
}

impl<'a> ChainCheck<'a> {
    fn new(stream: &'a str, keys: &'a RecordKeys, retentions: (&'a Retentions, Timestamp)) -> Self {
        let agent = stream.strip_prefix(CHAIN).and_then(from_hex);
        Self { stream, agent, signatures: SignatureCheck::new(keys), retentions, last: None, elsewhere: None }
    }

    fn entry(&mut self, number: u64, entry: &LedgerEntry, told: &mut Verification) {
        let jws = entry.body["jws"].as_str().unwrap_or_default();
        let audit_id = sha256(jws.as_bytes());
        match entry.body["kind"] == "event" {
            true => told.events += 1,
            false => told.records += 1,
        }
        match self.signatures.check(jws) {
            SignatureOutcome::Good => {}
            SignatureOutcome::Unsigned => told.unsigned += 1,
            SignatureOutcome::Bad(message) => self.found(told, number, Some(&audit_id), message),
        }
        if let Some(head) = self.elsewhere.take_if(|head| head.number == number)
            && head.audit_id != to_hex(&audit_id)
        {
            let message = "another record stands here than a second place was told".to_owned();
            self.found(told, number, Some(&audit_id), message);
        }
        let expected = self.expected(number, entry, told);
        self.last = Some((number, audit_id, entry.at));
        let Some(place) = unverified::<Place>(jws) else {
            return self.found(told, number, Some(&audit_id), "the record's payload can't be read".to_owned());
        };
        let agent = if place.agent_id.is_empty() { None } else { from_hex(&place.agent_id) };
        if agent != self.agent {
            self.found(told, number, Some(&audit_id), "the record is filed under another agent".to_owned());
        }
        let named = &place.previous_audit_id;
        if let Some(expected) = expected.filter(|expected| self.agent.is_some() && to_hex(expected) != *named) {
            let message =
                format!("the chain breaks: the record before this one is {}, and it names {named}", to_hex(&expected));
            self.found(told, number, Some(&audit_id), message);
        }
    }

    /// The name of the record before an entry; `None`: that can't be known.
    fn expected(&self, number: u64, entry: &LedgerEntry, told: &mut Verification) -> Option<Hash> {
        let (retentions, now) = self.retentions;
        let are_gone_by_age = |from| retentions.are_gone(from, entry.at, now);
        match self.last {
            Some((last, audit_id, _)) if last + 1 == number => Some(audit_id),
            Some((last, _, at)) if are_gone_by_age(Some(at)) => {
                told.notes
                    .push(format!("{}: records between entries {last} and {number} were removed by age", self.stream));
                None
            }
            Some((last, ..)) => {
                self.found(told, number, None, format!("the entries between {last} and this one are gone"));
                None
            }
            None if number == 1 => Some(FIRST),
            None if entry.expires_at.is_some() || are_gone_by_age(None) => {
                told.notes.push(format!("{}: records before entry {number} were removed by age", self.stream));
                None
            }
            None => {
                self.found(told, number, None, "the entries before this one are gone".to_owned());
                None
            }
        }
    }

    fn end(self, told: &mut Verification) {
        let last = self.last.map_or(0, |(number, ..)| number);
        // It was taken out where it was met.
        if let Some(head) = self.elsewhere.as_ref().filter(|head| head.number > last) {
            let SharedHead { issued_at, number, .. } = head;
            let message =
                format!("by the head copy of {issued_at} the chain went on to entry {number}: records are gone");
            self.found(told, last, None, message);
        }
        if self.last.is_none() {
            told.notes
                .push(format!("{}: there is no record any more, or its first one was never written", self.stream));
        }
        told.segments += 1;
        told.agents += usize::from(self.agent.is_some());
    }

    fn found(&self, told: &mut Verification, number: u64, audit_id: Option<&Hash>, message: String) {
        told.found(finding(self.stream, number, audit_id, message));
    }
}

/// What is wrong with an entry of a stream.
fn finding(stream: &str, number: u64, audit_id: Option<&Hash>, message: String) -> Finding {
    Finding {
        path: PathBuf::from(format!("the store, {stream}")),
        offset: number,
        unit: FindingUnit::Entry,
        audit_id: audit_id.map(to_hex),
        message,
    }
}
