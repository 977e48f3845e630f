//! How far the log was, by the mark beside it and by those who keep its head elsewhere.

use std::path::{Path, PathBuf};

use super::{Finding, FindingUnit, HeadWitness, Verification};
use crate::checkpoint::{KeptMark, Mark, mark_path, unverified};
use crate::error::LogError;
use crate::keys::RecordKeys;
use crate::node::node_name;
use crate::segment;
use crate::signature::require_signed;
use crate::snapshot::Snapshot;

/// A statement on how far the log was, and who kept it.
pub(super) struct KeptHead {
    pub name: String,
    /// Where it is, for findings.
    path: PathBuf,
    jws: String,
    pub mark: Mark,
}

/// What is known of how far the log was: by the mark beside it and by others. Each has to be there and signed.
pub(super) fn heads(
    snapshot: &Snapshot,
    keys: &RecordKeys,
    witnesses: &[HeadWitness],
    told: &mut Verification,
) -> Result<Vec<KeptHead>, LogError> {
    let node = node_name(&snapshot.folder)?;
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let mut wrong = |path: &Path, message: String| {
        told.found(Finding { path: path.to_path_buf(), offset: 0, unit: FindingUnit::Byte, audit_id: None, message });
    };
    let path = mark_path(&snapshot.folder);
    match &snapshot.mark {
        KeptMark::Read(mark, jws) => {
            found.push(KeptHead { name: "the mark".to_owned(), path, jws: jws.clone(), mark: mark.clone() });
        }
        KeptMark::Missing => wrong(&path, "the mark is gone, which says how far the records were".to_owned()),
        KeptMark::Unreadable => wrong(&path, "the mark holds no statement of how far the records were".to_owned()),
    }
    for HeadWitness { name, head, accepted } in witnesses {
        let begun: Vec<Mark> = accepted.iter().filter_map(|jws| unverified(jws)).collect();
        notes.extend(begun.iter().map(|mark| begins_at(name, mark)));
        let path = PathBuf::from(name);
        match head.as_ref().map(|jws| (jws, unverified::<Mark>(jws))) {
            Some((jws, Some(mark))) => found.push(KeptHead { name: name.clone(), path, jws: jws.clone(), mark }),
            Some((_, None)) => wrong(&path, "what is kept there as the head of the records is no statement".to_owned()),
            None => wrong(
                &path,
                "it knows no head of these records: it was taken out, or nobody served them since heads are kept there"
                    .to_owned(),
            ),
        }
    }
    for head in &found {
        if let Err(message) = require_signed(&head.jws, keys) {
            wrong(&head.path, message);
        }
        if head.mark.node.is_some() && head.mark.node != node {
            wrong(&head.path, format!("it speaks of the records of node {}", head.mark.node.as_deref().unwrap_or("")));
        }
    }
    told.notes.append(&mut notes);
    Ok(found)
}

/// What is said of a place at which an operator had a log begin.
fn begins_at(name: &str, mark: &Mark) -> String {
    let Mark { segment, offset, issued_at, accepted, .. } = mark;
    let reason = accepted.as_deref().unwrap_or("no reason was given");
    format!(
        "in {name}, heads begin at byte {offset} of segment {segment} on {issued_at} ({reason}): whether anything was cut \
         off before that can't be told"
    )
}

/// The log has to go on to where a head says that it was.
pub(super) fn require_reached(snapshot: &Snapshot, head: &KeptHead, told: &mut Verification) {
    let KeptHead { name, mark, .. } = head;
    let length = snapshot.segments.iter().find(|(number, _)| *number == mark.segment).map(|(_, bytes)| *bytes);
    if !mark_is_past(mark, length, &snapshot.segments) {
        return;
    }
    let message = format!(
        "by {name} of {} the log was on the disk up to byte {} and ends before that: records are gone",
        mark.issued_at, mark.offset
    );
    let path = segment::path(&snapshot.folder, mark.segment);
    told.found(Finding { path, offset: length.unwrap_or_default(), unit: FindingUnit::Byte, audit_id: None, message });
}

/// Whether the log ends before what was known to be there.
fn mark_is_past(mark: &Mark, length: Option<u64>, segments: &[(u64, u64)]) -> bool {
    match length {
        Some(length) => length < mark.offset,
        // Its segment is gone: by age, which later ones show, or otherwise.
        None => segments.last().is_none_or(|(last, _)| *last < mark.segment),
    }
}
