//! What is found when somebody changes the files.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use forecourt_attribution::SignerSource;
use forecourt_attribution::frame::{Frame, FrameKind, HEAD_BYTES};
use forecourt_attribution::limits::FRAME_BYTES_MAX;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::support::{UnsignedRecords, agent, draft, kept_by, options, segment, signer, source, verified};

/// A log of one segment with a few records of two agents and of nobody, closed: made once, and copied.
fn filled() -> TempDir {
    static MADE: LazyLock<TempDir> = LazyLock::new(|| made(source(&signer())));
    copy(MADE.path())
}

/// The same without signatures, which take their time.
fn filled_unsigned() -> TempDir {
    static MADE: LazyLock<TempDir> = LazyLock::new(|| made(Arc::new(UnsignedRecords)));
    copy(MADE.path())
}

fn copy(of: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(of).unwrap().map(|entry| entry.unwrap()) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

fn made(source: Arc<dyn SignerSource>) -> TempDir {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = runtime.block_on(async {
        let kept = kept_by(options(), source);
        for number in 0..9u8 {
            let agent = agent(number % 3 + 1);
            let agent = (number % 3 != 2).then_some(&agent);
            kept.log.record(draft(agent, &number.to_string())).await.unwrap();
        }
        kept.closed()
    });
    assert!(verified(folder.path()).is_fine());
    folder
}

/// Where each frame begins and ends.
fn frames(bytes: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Ok(Some((_, length))) = Frame::read(&bytes[at..]) {
        found.push((at, at + length));
        at += length;
    }
    found
}

fn edited(edit: impl FnOnce(&mut Vec<u8>)) -> Vec<String> {
    let folder = filled_unsigned();
    let path = segment(folder.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    edit(&mut bytes);
    fs::write(&path, bytes).unwrap();
    told(folder.path())
}

fn told(folder: &Path) -> Vec<String> {
    verified(folder).findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_removed_a_swapped_and_a_doubled_record_are_found_wherever_they_are() {
    let count = 10;
    for at in 1..count {
        let removed = edited(|bytes| {
            let (start, end) = frames(bytes)[at];
            bytes.drain(start..end);
        });
        assert!(!removed.is_empty(), "the removal of {at}");
        let doubled = edited(|bytes| {
            let (start, end) = frames(bytes)[at];
            let again = bytes[start..end].to_vec();
            bytes.splice(end..end, again);
        });
        assert!(!doubled.is_empty(), "the doubling of {at}");
        if at + 1 < count {
            let swapped = edited(|bytes| {
                let (first, second) = (frames(bytes)[at], frames(bytes)[at + 1]);
                let both = [&bytes[second.0..second.1], &bytes[first.0..first.1]].concat();
                bytes.splice(first.0..second.1, both);
            });
            assert!(!swapped.is_empty(), "the swap of {at}");
        }
    }
}

#[test]
fn a_forged_record_is_found_though_all_checksums_and_hashes_are_made_anew() {
    let folder = filled();
    let path = segment(folder.path(), 1);
    let bytes = fs::read(&path).unwrap();
    let (mut out, mut link) = (Vec::new(), [0; 32]);
    for (number, (start, end)) in frames(&bytes).into_iter().enumerate() {
        let (frame, _) = Frame::read(&bytes[start..end]).unwrap().unwrap();
        let mut body = frame.body.to_vec();
        if number == 4 {
            // One character of the payload, which stays base64url.
            let at = body.iter().position(|byte| *byte == b'.').unwrap() + 30;
            body[at] = if body[at] == b'A' { b'B' } else { b'A' };
        }
        let forged = Frame { body: &body, link, ..frame };
        forged.write(&mut out);
        link = forged.next_link(&forged.digest());
    }
    fs::write(&path, out).unwrap();
    let found = told(folder.path());
    assert!(found.iter().any(|finding| finding.contains("signature") && finding.contains("Audit-ID")), "{found:?}");
    assert!(found.iter().any(|finding| finding.contains("signed as being on the disk")), "{found:?}");
}

#[test]
fn an_end_that_was_cut_off_is_found_and_what_a_crash_leaves_is_only_told() {
    let cut = edited(|bytes| {
        let (start, _) = *frames(bytes).last().unwrap();
        bytes.truncate(start);
    });
    assert!(cut.iter().any(|finding| finding.contains("records are gone")), "{cut:?}");
    let folder = filled();
    let path = segment(folder.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let (start, end) = frames(&bytes)[3];
    let half = bytes[start..end - 5].to_vec();
    bytes.extend(half);
    fs::write(&path, bytes).unwrap();
    let told = verified(folder.path());
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains("crash")), "{told:?}");
}

#[test]
fn frames_at_their_bound_are_read_and_over_it_are_refused() {
    let frame = |length: usize| {
        let mut out = Vec::new();
        Frame { kind: FrameKind::Record, link: [1; 32], agent: [2; 32], body: &vec![7; length] }.write(&mut out);
        out
    };
    let (at, over) = (frame(FRAME_BYTES_MAX), frame(FRAME_BYTES_MAX + 1));
    assert_eq!(Frame::read(&at).unwrap().unwrap().1, HEAD_BYTES + FRAME_BYTES_MAX);
    assert!(Frame::read(&over).is_err());
}

proptest! {
    #[test]
    fn whatever_the_bytes_are_reading_them_ends(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(Some((frame, length))) = Frame::read(&bytes) {
            prop_assert!(length <= bytes.len() && frame.bytes() == length);
        }
    }

    #[test]
    fn whatever_stands_in_a_segment_verifying_it_ends(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(segment(folder.path(), 1), bytes).unwrap();
        verified(folder.path());
    }

    #[test]
    fn any_flipped_bit_is_found(place in any::<prop::sample::Index>(), bit in 0u8..8) {
        let found = edited(|bytes| { let at = place.index(bytes.len()); bytes[at] ^= 1 << bit; });
        prop_assert!(!found.is_empty());
    }

    #[test]
    fn any_frame_is_read_as_it_was_written(
        kind in 0usize..5, link in any::<[u8; 32]>(), agent in any::<[u8; 32]>(),
        body in proptest::collection::vec(any::<u8>(), 0..300), behind in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        use FrameKind::{Event, Header, Note, Record, Seal};
        let frame = Frame { kind: [Header, Record, Event, Seal, Note][kind], link, agent, body: &body };
        let mut out = Vec::new();
        frame.write(&mut out);
        let whole = out.len();
        out.extend(&behind);
        prop_assert_eq!(Frame::read(&out), Ok(Some((frame, whole))));
        prop_assert_eq!(Frame::read(&out[..whole - 1]), Ok(None));
    }
}
