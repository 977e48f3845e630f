//! What a crash leaves, and disks that take nothing.

use std::fs;
use std::time::Duration;

use forecourt_attribution::{AttributionLog, LogError, LogOptions, SyncPolicy, limits};
use serde_json::json;

use crate::support::{agent, close, draft, kept, open_in, options, payload, segment, signer, source, verified};

#[tokio::test]
async fn half_an_entry_at_the_end_is_cut_off_kept_beside_and_the_chain_goes_on() {
    let kept = kept(options());
    let one = agent(1);
    let first = kept.record(&one, "a").await;
    let clock = kept.clock.clone();
    let folder = kept.closed();
    let path = segment(folder.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes.extend_from_within(..90);
    bytes.truncate(whole + 40);
    fs::write(&path, &bytes).unwrap();
    let log = open_in(folder.path(), options(), clock);
    assert_eq!(fs::metadata(&path).unwrap().len(), whole as u64);
    let beside = folder.path().join(format!("torn-0000000001-{whole}.bin"));
    assert_eq!(fs::read(beside).unwrap(), bytes[whole..]);
    let next = log.record(draft(Some(&one), "b")).await.unwrap();
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(first.audit_id));
    close(log);
    assert!(verified(folder.path()).is_fine());
}

#[tokio::test]
async fn what_was_on_the_disk_is_never_cut_off() {
    let kept = kept(options());
    for response in ["a", "b", "c"] {
        kept.record(&agent(1), response).await;
    }
    let clock = kept.clock.clone();
    let folder = kept.closed();
    let path = segment(folder.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let refused = AttributionLog::open(folder.path(), options(), source(&signer()), clock).err();
    assert!(matches!(refused, Some(LogError::Damaged { .. })), "{refused:?}");
    assert!(refused.unwrap().to_string().contains("segment-0000000001.log"));
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was changed");
}

#[tokio::test(start_paused = true)]
async fn while_the_folder_takes_nothing_callers_are_told_and_afterwards_it_goes_on() {
    let kept = kept(LogOptions { sync: SyncPolicy::Always, ..options() });
    let one = agent(1);
    let first = kept.record(&one, "a").await;
    let path = segment(kept.folder.path(), 1);
    let away = kept.folder.path().join("away");
    let end = fs::metadata(&path).unwrap().len();
    // Somebody cut the file off under us.
    fs::copy(&path, &away).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(end - 1).unwrap();
    let refused = kept.log.record(draft(Some(&one), "b")).await;
    assert!(matches!(refused, Err(LogError::Damaged { .. })), "{refused:?}");
    assert!(kept.log.ready().await.is_err(), "told at once, without looking");
    fs::write(&path, fs::read(&away).unwrap()).unwrap();
    tokio::time::advance(limits::RETRY_AFTER + Duration::from_millis(1)).await;
    kept.log.ready().await.unwrap();
    let next = kept.record(&one, "c").await;
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(first.audit_id));
    assert!(verified(kept.closed().path()).is_fine());
}
