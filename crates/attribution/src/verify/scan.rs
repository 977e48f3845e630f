//! One segment: its frames, the records in them, and the part of each chain that lies in it.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::{Finding, FindingUnit, broken_chain};
use crate::checkpoint::Mark;
use crate::digest::{Hash, from_hex, to_hex};
use crate::error::LogError;
use crate::frame::{Frame, FrameKind};
use crate::keys::RecordKeys;
use crate::limits::FINDINGS_MAX;
use crate::segment::{FrameReader, SegmentError, SegmentHeader, SegmentSeal};
use crate::signature::{SignatureCheck, SignatureOutcome};

/// How many bytes are looked at between two words on how far it is.
const PROGRESS_BYTES: u64 = 1024 * 1024;

/// What was found in one segment.
#[derive(Default)]
pub(super) struct SegmentScan {
    /// What its first frame carries.
    pub link: Option<Hash>,
    /// What the next segment has to carry; `None` where the last frames can't be read.
    pub end_link: Option<Hash>,
    pub is_sealed: bool,
    pub records: u64,
    pub events: u64,
    pub unsigned: u64,
    pub chains: HashMap<Hash, ChainPart>,
    pub findings: Vec<Finding>,
    pub more_findings: u64,
    pub notes: Vec<String>,
    /// The places of marks that were held against it.
    compared: Vec<u64>,
}

/// A mark, and where it was kept.
pub(super) type NamedMark<'a> = (&'a str, &'a Mark);

/// The part of a chain that lies in one segment.
pub(super) struct ChainPart {
    pub first: Hash,
    pub first_offset: u64,
    pub first_previous: Hash,
    pub last: Hash,
    last_previous: Hash,
}

/// What a payload says of its place.
#[derive(Deserialize)]
struct Place<'a> {
    agent_id: &'a str,
    previous_audit_id: &'a str,
}

impl SegmentScan {
    /// Looks at the first `end` bytes of a segment.
    pub(super) fn of(
        path: &Path,
        end: u64,
        keys: &RecordKeys,
        marks: &[NamedMark<'_>],
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, LogError> {
        let file = File::open(path).map_err(LogError::io(path))?;
        let mut reader = FrameReader::new(BufReader::with_capacity(256 * 1024, file), 0, end);
        let mut scan = Self::default();
        let mut signatures = SignatureCheck::new(keys);
        let (mut link, mut told) = (None, 0);
        loop {
            let at = reader.offset;
            if at - told >= PROGRESS_BYTES {
                done(at - told);
                told = at;
            }
            scan.compare(path, marks, at, link);
            match reader.next() {
                Ok(Some(read)) => link = Some(scan.frame(path, &read.frame, at, link, &mut signatures)),
                Ok(None) => break,
                Err(SegmentError::Io(error)) => return Err(LogError::io(path)(error)),
                Err(fault) => {
                    // What follows can't be compared with what could not be read; its own chains and signatures still
                    // are.
                    link = None;
                    if !scan.fault(path, at, end, marks, &fault) || !reader.skip() {
                        break;
                    }
                }
            }
        }
        done(end - told);
        scan.end_link = link;
        scan.compare_missed(path, marks, end);
        Ok(scan)
    }

    /// Whether the log is here what it was when the marks were made.
    fn compare(&mut self, path: &Path, marks: &[NamedMark<'_>], at: u64, link: Option<Hash>) {
        for (witness, mark) in marks.iter().filter(|(_, mark)| mark.offset == at) {
            self.compared.push(at);
            if link.is_some_and(|link| to_hex(&link) != mark.link) {
                let message = format!("what stands before it is not what was signed as being on the disk ({witness})");
                self.found(path, at, None, message);
            }
        }
    }

    /// A mark in the middle of an entry is one of another log.
    fn compare_missed(&mut self, path: &Path, marks: &[NamedMark<'_>], end: u64) {
        for (witness, mark) in marks.iter().filter(|(_, mark)| mark.offset <= end) {
            // Nothing is known of what stands behind bytes that are no entries: those were told.
            if !self.compared.contains(&mark.offset) && self.end_link.is_some() {
                let message = format!("no entry ends where {witness} says that the log was: it is another one");
                self.found(path, mark.offset, None, message);
            }
        }
    }

    /// Bytes that are no frame. Gives whether anything behind them is looked at.
    fn fault(&mut self, path: &Path, at: u64, end: u64, marks: &[NamedMark<'_>], fault: &SegmentError) -> bool {
        // Half an entry before a mark is no crash: it was on the disk, so somebody cut it.
        let is_synced = marks.iter().any(|(_, mark)| mark.offset > at);
        if matches!(fault, SegmentError::Cut) && !is_synced {
            let bytes = end - at;
            self.notes.push(format!(
                "{}: {bytes} bytes at the end are half an entry, which a crash leaves: the server cuts them off",
                path.display()
            ));
            return false;
        }
        self.found(path, at, None, format!("{fault}: the entry was changed"));
        matches!(fault, SegmentError::Frame(_))
    }

    /// One frame; gives the hash that the next one has to carry.
    fn frame(
        &mut self,
        path: &Path,
        frame: &Frame<'_>,
        at: u64,
        link: Option<Hash>,
        signatures: &mut SignatureCheck<'_>,
    ) -> Hash {
        let digest = frame.digest();
        let audit_id = || frame.kind.is_signed().then(|| to_hex(&digest));
        if at == 0 {
            self.link = Some(frame.link);
        } else if link.is_some_and(|link| link != frame.link) {
            let message = "entries before it were removed, added or swapped: it does not follow the one before it";
            self.found(path, at, audit_id(), message.to_owned());
        }
        if self.is_sealed || (at == 0) != (frame.kind == FrameKind::Header) {
            self.found(path, at, audit_id(), "the entry stands where none of its kind may".to_owned());
        }
        match frame.kind {
            FrameKind::Record | FrameKind::Event => self.record(path, frame, at, digest, signatures),
            FrameKind::Header => {
                if serde_json::from_slice::<SegmentHeader>(frame.body).is_err() {
                    self.found(path, at, None, "the header can't be read".to_owned());
                }
            }
            FrameKind::Seal => self.seal(path, frame, at),
            FrameKind::Note => {}
        }
        frame.next_link(&digest)
    }

    fn seal(&mut self, path: &Path, frame: &Frame<'_>, at: u64) {
        self.is_sealed = true;
        let counted = self.records + self.events;
        match serde_json::from_slice::<SegmentSeal>(frame.body) {
            Ok(seal) if seal.records == counted => {}
            Ok(seal) => {
                let message = format!("the segment was sealed with {} records, and has {counted}", seal.records);
                self.found(path, at, None, message);
            }
            Err(_) => self.found(path, at, None, "the seal can't be read".to_owned()),
        }
    }

    fn record(&mut self, path: &Path, frame: &Frame<'_>, at: u64, digest: Hash, signatures: &mut SignatureCheck<'_>) {
        if frame.kind == FrameKind::Event {
            self.events += 1
        } else {
            self.records += 1
        };
        let audit_id = || Some(to_hex(&digest));
        let Ok(jws) = std::str::from_utf8(frame.jws()) else {
            return self.found(path, at, audit_id(), "the record is no text".to_owned());
        };
        match signatures.check(jws) {
            SignatureOutcome::Good => {}
            SignatureOutcome::Unsigned => self.unsigned += 1,
            SignatureOutcome::Bad(message) => self.found(path, at, audit_id(), message),
        }
        let payload = jws.split('.').nth(1).and_then(|payload| URL_SAFE_NO_PAD.decode(payload).ok());
        let place: Option<Place<'_>> = payload.as_deref().and_then(|payload| serde_json::from_slice(payload).ok());
        let Some(place) = place else {
            return self.found(path, at, audit_id(), "the record's payload can't be read".to_owned());
        };
        let agent = if place.agent_id.is_empty() { Some([0; 32]) } else { from_hex(place.agent_id) };
        if agent != Some(frame.agent) {
            return self.found(path, at, audit_id(), "the record is filed under another agent".to_owned());
        }
        let Some(previous) = from_hex(place.previous_audit_id) else {
            return self.found(path, at, audit_id(), "the record names no record before it".to_owned());
        };
        if frame.agent != [0; 32] {
            self.chain(path, frame.agent, at, digest, previous);
        }
    }

    fn chain(&mut self, path: &Path, agent: Hash, at: u64, digest: Hash, previous: Hash) {
        let Some(part) = self.chains.get_mut(&agent) else {
            let part = ChainPart {
                first: digest,
                first_offset: at,
                first_previous: previous,
                last: digest,
                last_previous: previous,
            };
            self.chains.insert(agent, part);
            return;
        };
        let (last, last_previous) = (part.last, part.last_previous);
        (part.last, part.last_previous) = (digest, previous);
        if previous == last {
            return;
        }
        let message = match previous == last_previous {
            true => format!(
                "the chain of agent {} forks: {} names the same record before it",
                to_hex(&agent),
                to_hex(&last)
            ),
            false => broken_chain(&agent, &last, &previous),
        };
        self.found(path, at, Some(to_hex(&digest)), message);
    }

    fn found(&mut self, path: &Path, offset: u64, audit_id: Option<String>, message: String) {
        match self.findings.len() < FINDINGS_MAX {
            true => self.findings.push(Finding {
                path: path.to_path_buf(),
                offset,
                unit: FindingUnit::Byte,
                audit_id,
                message,
            }),
            false => self.more_findings += 1,
        }
    }
}
