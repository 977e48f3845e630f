//! Whether anything was changed: every checksum, hash and signature of the log, each chain from its first record to
//! its last, and that nothing is gone. Segments are looked at side by side; what joins them, afterwards.

mod scan;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

use crate::checkpoint::{Checkpoint, Mark};
use crate::digest::{FIRST, Hash, to_hex};
use crate::error::LogError;
use crate::keys::RecordKeys;
use crate::limits::FINDINGS_MAX;
use crate::node::mark_of;
use crate::segment::{self, FIRST_NUMBER};
use crate::snapshot::Snapshot;
use scan::{SegmentScan, SignatureCheck};

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// The byte at which the entry begins.
    pub offset: u64,
    /// The record's name, where it has one.
    pub audit_id: Option<String>,
    /// What does not hold.
    pub message: String,
}

/// What a verification came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Segments that were looked at.
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
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_fine(&self) -> bool {
        self.findings.is_empty()
    }

    fn found(&mut self, finding: Finding) {
        match self.findings.len() < FINDINGS_MAX {
            true => self.findings.push(finding),
            false => self.more_findings += 1,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, byte {}", self.path.display(), self.offset)?;
        if let Some(audit_id) = &self.audit_id {
            write!(f, ", Audit-ID {audit_id}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Looks at the whole log in `folder`, also while it is written: at what stood there when it began. `anchor` is the
/// newest statement on how far it was that was kept elsewhere. `begun` is told
/// how many bytes there are, `done` how many more were looked at.
///
/// # Errors
/// The folder can't be read.
pub fn verify(
    folder: &Path,
    keys: &RecordKeys,
    anchor: Option<&str>,
    begun: &dyn Fn(u64),
    done: &(dyn Fn(u64) + Sync),
) -> Result<Verification, LogError> {
    let mut snapshot = Snapshot::take(folder)?;
    let is_further = |mark: &Mark| {
        let kept = snapshot.mark.as_ref().map(|(mark, _)| (mark.segment, mark.offset));
        kept.is_none_or(|kept| kept < (mark.segment, mark.offset))
    };
    // The mark beside the log can be set back together with it; the one that was kept elsewhere can not.
    if let Some((mark, anchor)) =
        anchor.and_then(|anchor| Some((mark_of(anchor)?, anchor))).filter(|(mark, _)| is_further(mark))
    {
        snapshot.mark = Some((mark, anchor.to_owned()));
    }
    begun(snapshot.bytes());
    let scans = scan_all(&snapshot, keys, done);
    let mut told = Verification { segments: snapshot.segments.len(), ..Verification::default() };
    let mut chains = Chains::begin(&snapshot, keys, &mut told);
    for (number, scan) in scans {
        chains.join(number, scan?, &mut told);
    }
    chains.end(&snapshot, keys, &mut told);
    Ok(told)
}

/// A segment with what was found in it.
type ScanResult = (u64, Result<SegmentScan, LogError>);

/// Every segment, in order.
fn scan_all(snapshot: &Snapshot, keys: &RecordKeys, done: &(dyn Fn(u64) + Sync)) -> Vec<ScanResult> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(snapshot.segments.len().max(1));
    let (next, scans) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, end)) = snapshot.segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mark = snapshot.mark.as_ref().map(|(mark, _)| mark).filter(|mark| mark.segment == *number);
            let scan = SegmentScan::of(&segment::path(&snapshot.folder, *number), *end, keys, mark, done);
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
            let path = folder.join("checkpoint.jws");
            check_statement(&path, jws, keys, told);
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
            told.found(Finding { path: path.clone(), offset: 0, audit_id: None, message });
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

    fn end(self, snapshot: &Snapshot, keys: &RecordKeys, told: &mut Verification) {
        told.agents = self.heads.len();
        if let Some((mark, jws)) = &snapshot.mark {
            let path = snapshot.folder.join("mark.jws");
            check_statement(&path, jws, keys, told);
            let length = snapshot.segments.iter().find(|(number, _)| *number == mark.segment).map(|(_, bytes)| *bytes);
            if mark_is_past(mark, length, &snapshot.segments) {
                let path = segment::path(&snapshot.folder, mark.segment);
                let message = format!(
                    "the log was on the disk up to byte {} and ends before that: records are gone",
                    mark.offset
                );
                told.found(Finding { path, offset: length.unwrap_or_default(), audit_id: None, message });
            }
        }
        if told.unsigned > 0 {
            told.notes.push(format!("{} records are not signed: whoever made them can't be told", told.unsigned));
        }
        told.findings.sort_by(|a, b| (&a.path, a.offset).cmp(&(&b.path, b.offset)));
    }
}

/// Whether the log ends before what was known to be there.
fn mark_is_past(mark: &Mark, length: Option<u64>, segments: &[(u64, u64)]) -> bool {
    match length {
        Some(length) => length < mark.offset,
        // Its segment is gone: by age, which later ones show, or otherwise.
        None => segments.last().is_none_or(|(last, _)| *last < mark.segment),
    }
}

fn check_statement(path: &Path, jws: &str, keys: &RecordKeys, told: &mut Verification) {
    let message = match SignatureCheck::new(keys).check(jws) {
        scan::SignatureOutcome::Good | scan::SignatureOutcome::Unsigned => return,
        scan::SignatureOutcome::Bad(message) => message,
    };
    told.found(Finding { path: path.to_path_buf(), offset: 0, audit_id: None, message });
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
