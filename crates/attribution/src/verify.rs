//! Whether anything was changed: every checksum, hash and signature of the log, each chain from its first record to
//! its last, and that nothing is gone. Segments are looked at side by side; what joins them, afterwards.

mod heads;
mod scan;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

use crate::checkpoint::{Checkpoint, checkpoint_path};
use crate::digest::{FIRST, Hash, to_hex};
use crate::error::LogError;
use crate::keys::RecordKeys;
use crate::limits::FINDINGS_MAX;
use crate::segment::{self, FIRST_NUMBER};
use crate::signature::require_signed;
use crate::snapshot::Snapshot;
use heads::{KeptHead, heads, require_reached};
use scan::{NamedMark, SegmentScan};

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// Where in it: the byte at which the entry begins, or the number of an entry in a store.
    pub offset: u64,
    /// What `offset` counts.
    pub unit: FindingUnit,
    /// The record's name, where it has one.
    pub audit_id: Option<String>,
    /// What does not hold.
    pub message: String,
}

/// What the place of a finding is counted in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FindingUnit {
    /// Bytes of a file.
    #[default]
    Byte,
    /// Entries of a stream in a store.
    Entry,
}

/// What a verification came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Segments that were looked at; of records in a store, streams.
    pub segments: usize,
    /// Records of responses.
    pub records: u64,
    /// Events of agents' lives.
    pub events: u64,
    /// Those of both that nobody signed.
    pub unsigned: u64,
    /// Agents that have a chain.
    pub agents: usize,
    /// What is wrong, in the order of the log; at most [`FINDINGS_MAX`].
    pub findings: Vec<Finding>,
    /// Findings above that.
    pub more_findings: u64,
    /// What is worth knowing and not wrong, in a sentence each.
    pub notes: Vec<String>,
    /// Whether nothing was ever written: no file says so, and no witness knows of any.
    pub is_unwritten: bool,
}

/// What somebody beside the folder knows of how far the log was: a store, a file elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadWitness {
    /// Who it is, in words: "the store".
    pub name: String,
    /// The newest head that it was told, as it was signed; `None`: none.
    pub head: Option<String>,
    /// Heads that an operator had the log begin at, as they were signed: what was there before is gone.
    pub accepted: Vec<String>,
}

impl HeadWitness {
    /// A store that keeps nothing, since it is not there, and so knows no head.
    pub fn knowing_nothing(name: &str) -> Self {
        Self { name: name.to_owned(), head: None, accepted: Vec::new() }
    }
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_fine(&self) -> bool {
        self.findings.is_empty()
    }

    /// What came of both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.segments += other.segments;
        self.records += other.records;
        self.events += other.events;
        self.unsigned += other.unsigned;
        self.agents += other.agents;
        self.more_findings += other.more_findings;
        self.notes.extend(other.notes);
        self.is_unwritten &= other.is_unwritten;
        other.findings.into_iter().for_each(|finding| self.found(finding));
        self
    }

    pub(crate) fn found(&mut self, finding: Finding) {
        match self.findings.len() < FINDINGS_MAX {
            true => self.findings.push(finding),
            false => self.more_findings += 1,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            FindingUnit::Byte => "byte",
            FindingUnit::Entry => "entry",
        };
        write!(f, "{}, {unit} {}", self.path.display(), self.offset)?;
        if let Some(audit_id) = &self.audit_id {
            write!(f, ", Audit-ID {audit_id}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Looks at the whole log in `folder`, also while it is written: at what stood there when it began. It has to be as far
/// as the mark beside it and each of the `witnesses` say, who are asked before this is called. `begun` is told how many
/// bytes there are, `done` how many more were looked at.
///
/// # Errors
/// The folder can't be read.
pub fn verify(
    folder: &Path,
    keys: &RecordKeys,
    witnesses: &[HeadWitness],
    begun: &dyn Fn(u64),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Verification, LogError> {
    let snapshot = Snapshot::take(folder)?;
    let mut told = Verification { segments: snapshot.segments.len(), ..Verification::default() };
    if snapshot.is_empty() && witnesses.iter().all(|witness| witness.head.is_none()) {
        return Ok(Verification { is_unwritten: true, ..told });
    }
    let heads = heads(&snapshot, keys, witnesses, &mut told)?;
    begun(snapshot.bytes());
    let scans = scan_all(&snapshot, &heads, keys, done);
    let mut chains = Chains::begin(&snapshot, keys, &mut told);
    for (number, scan) in scans {
        chains.join(number, scan?, &mut told);
    }
    told.agents = chains.heads.len();
    for head in &heads {
        require_reached(&snapshot, head, &mut told);
    }
    if told.unsigned > 0 {
        told.notes.push(format!("{} records are not signed: nobody can tell who made them", told.unsigned));
    }
    told.findings.sort_by(|a, b| (&a.path, a.offset).cmp(&(&b.path, b.offset)));
    Ok(told)
}

/// A segment with what was found in it.
type ScanResult = (u64, Result<SegmentScan, LogError>);

/// Every segment, in order.
fn scan_all(
    snapshot: &Snapshot,
    heads: &[KeptHead],
    keys: &RecordKeys,
    done: &(dyn Fn(u64) + Sync),
) -> Vec<ScanResult> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(snapshot.segments.len().max(1));
    let (next, scans) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, end)) = snapshot.segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let here = heads.iter().filter(|head| head.mark.segment == *number);
            let marks: Vec<NamedMark<'_>> = here.map(|head| (head.name.as_str(), &head.mark)).collect();
            let scan = SegmentScan::of(&segment::path(&snapshot.folder, *number), *end, keys, &marks, done);
            scans.lock().push((*number, scan));
        }
    };
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let mut scans = scans.into_inner();
    scans.sort_unstable_by_key(|(number, _)| *number);
    scans
}

/// What is known of the log up to a segment.
struct Chains<'a> {
    folder: &'a Path,
    /// The segment that comes next.
    number: u64,
    /// What its first frame carries; `None` where that can't be known.
    link: Option<Hash>,
    heads: HashMap<Hash, Hash>,
    /// Whether the segment before was sealed.
    is_sealed: bool,
    has_begun: bool,
}

impl<'a> Chains<'a> {
    fn begin(snapshot: &'a Snapshot, keys: &RecordKeys, told: &mut Verification) -> Self {
        let folder = &snapshot.folder;
        let mut chains = Self {
            folder,
            number: FIRST_NUMBER,
            link: Some(FIRST),
            heads: HashMap::new(),
            is_sealed: true,
            has_begun: false,
        };
        if let Some(Checkpoint { statement, jws, heads }) = &snapshot.checkpoint {
            chains.number = statement.segment;
            chains.link = crate::from_hex(&statement.link);
            chains.heads = heads.clone();
            if let Err(message) = require_signed(jws, keys) {
                told.found(Finding {
                    path: checkpoint_path(folder),
                    offset: 0,
                    unit: FindingUnit::Byte,
                    audit_id: None,
                    message,
                });
            }
            told.notes.push(format!(
                "records before segment {} were removed by age or size; {} chains go on from the checkpoint of {}",
                statement.segment, statement.heads, statement.issued_at
            ));
        }
        chains
    }

    fn join(&mut self, number: u64, scan: SegmentScan, told: &mut Verification) {
        let path = segment::path(self.folder, number);
        let mut at_start = |message: String| {
            told.found(Finding { path: path.clone(), offset: 0, unit: FindingUnit::Byte, audit_id: None, message });
        };
        if number != self.number {
            at_start(format!("segments {} to {} are gone", self.number, number.saturating_sub(1)));
        } else if scan.link.is_some() && self.link.is_some() && scan.link != self.link {
            at_start("the segment does not go on from the one before it".to_owned());
        }
        if self.has_begun && !self.is_sealed {
            at_start("the segment before it was never sealed: its end is gone".to_owned());
        }
        for (agent, chain) in scan.chains {
            let expected = self.heads.get(&agent).copied().unwrap_or(FIRST);
            if chain.first_previous != expected {
                told.found(Finding {
                    path: path.clone(),
                    offset: chain.first_offset,
                    unit: FindingUnit::Byte,
                    audit_id: Some(to_hex(&chain.first)),
                    message: broken_chain(&agent, &expected, &chain.first_previous),
                });
            }
            self.heads.insert(agent, chain.last);
        }
        told.records += scan.records;
        told.events += scan.events;
        told.unsigned += scan.unsigned;
        told.more_findings += scan.more_findings;
        scan.findings.into_iter().for_each(|finding| told.found(finding));
        told.notes.extend(scan.notes);
        (self.number, self.link, self.is_sealed, self.has_begun) = (number + 1, scan.end_link, scan.is_sealed, true);
    }
}

/// What is said when a record does not name the one before it.
fn broken_chain(agent: &Hash, expected: &Hash, found: &Hash) -> String {
    format!(
        "the chain of agent {} breaks: the record before this one is {}, and it names {}",
        to_hex(agent),
        to_hex(expected),
        to_hex(found)
    )
}
