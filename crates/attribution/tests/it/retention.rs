//! Old segments go only where the operator said so, and the rest stays provable.

use std::fs;
use std::time::Duration;

use forecourt_attribution::{LogOptions, limits};
use serde_json::json;

use crate::support::{agent, close, draft, kept, open_in, options, payload, segment, verified};

const SMALL: u64 = limits::SEGMENT_BYTES_MIN;

#[tokio::test]
async fn over_its_size_the_oldest_segments_go_and_chains_are_provable_from_the_checkpoint() {
    let bounded = LogOptions { segment_bytes: SMALL, size_max: Some(3 * SMALL), ..options() };
    let kept = kept(bounded.clone());
    let (one, two) = (agent(1), agent(2));
    let rare = kept.record(&one, "rare").await;
    for number in 0..600 {
        kept.record(&two, &number.to_string()).await;
    }
    let clock = kept.clock.clone();
    let folder = kept.closed();
    assert!(!segment(folder.path(), 1).exists());
    let told = verified(folder.path());
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains("removed by age or size")), "{told:?}");
    let log = open_in(folder.path(), bounded, clock);
    assert_eq!(log.find(&rare.audit_id).await.unwrap(), None);
    let head = log.head(&one).await.unwrap().unwrap();
    assert_eq!((head.audit_id, head.jws), (rare.audit_id.clone(), None), "its place in the chain is kept");
    let next = log.record(draft(Some(&one), "next")).await.unwrap();
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(rare.audit_id));
    close(log);
    assert!(verified(folder.path()).is_fine());
    let checkpoint = folder.path().join("checkpoint.jws");
    let text = fs::read_to_string(&checkpoint).unwrap();
    fs::write(&checkpoint, text.replacen(".ey", ".eX", 1)).unwrap();
    let keys = forecourt_attribution::RecordKeys::beside(folder.path()).unwrap();
    let told = forecourt_attribution::verify::verify(folder.path(), &keys, &[], &|_| (), &|_| ());
    assert!(told.map_or(true, |told| !told.is_fine()), "a checkpoint that was changed is found");
}

#[tokio::test]
async fn nothing_goes_by_itself() {
    let kept = kept(LogOptions { segment_bytes: SMALL, ..options() });
    for number in 0..300 {
        kept.record(&agent(1), &number.to_string()).await;
    }
    let folder = kept.closed();
    assert!(segment(folder.path(), 1).exists());
    fs::remove_file(segment(folder.path(), 1)).unwrap();
    let told = verified(folder.path());
    assert!(told.findings[0].message.contains("segments 1 to 1 are gone"), "{told:?}");
}

#[tokio::test]
async fn a_segment_that_is_gone_in_the_middle_is_found() {
    let kept = kept(LogOptions { segment_bytes: SMALL, retention: Some(Duration::from_secs(1 << 40)), ..options() });
    for number in 0..300 {
        kept.record(&agent(1), &number.to_string()).await;
    }
    let folder = kept.closed();
    fs::remove_file(segment(folder.path(), 2)).unwrap();
    let told = verified(folder.path());
    assert!(told.findings.iter().any(|finding| finding.message.contains("segments 2 to 2 are gone")), "{told:?}");
}

#[tokio::test]
async fn what_one_process_removes_no_other_one_stumbles_over() {
    let small = LogOptions { segment_bytes: SMALL, ..options() };
    let kept = kept(small.clone());
    let (one, two) = (agent(1), agent(2));
    let rare = kept.record(&one, "rare").await;
    for number in 0..300 {
        kept.record(&two, &number.to_string()).await;
    }
    // Another one, which has not looked up anything yet.
    let other = open_in(kept.folder.path(), small, kept.clock.clone());
    let bounded = LogOptions { segment_bytes: SMALL, size_max: Some(2 * SMALL), ..options() };
    let removing = open_in(kept.folder.path(), bounded, kept.clock.clone());
    assert!(!segment(kept.folder.path(), 1).exists());
    assert_eq!(other.find(&rare.audit_id).await.unwrap(), None);
    let next = other.record(draft(Some(&one), "next")).await.unwrap();
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(rare.audit_id));
    close(other);
    close(removing);
    assert!(verified(kept.closed().path()).is_fine());
}
