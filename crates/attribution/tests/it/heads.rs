//! What is found when the end of the log is gone, whatever went with it: by the mark, and by the head in a store.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::heads::HEADS;
use forecourt_attribution::verify::verify;
use forecourt_attribution::{AttributionLog, FileCopy, LogError, RecordKeys, RecordSigner, accept, limits};
use forecourt_core::Clock;
use forecourt_host::Ledger;
use forecourt_store::Memory;
use serde_json::json;

use crate::kept::{Kept, messages, passes};
use crate::support::{agent, close, draft, options, payload, segment, signer, source};

#[tokio::test]
async fn what_was_never_written_is_told_as_such_and_only_while_the_store_says_so_too() {
    let kept = Kept::new();
    let told = kept.verified().await;
    assert!(told.is_unwritten && told.is_fine(), "{told:?}");
    kept.record(1, true).await;
    assert!(kept.verified().await.is_fine());
    kept.remove(|_| true);
    let told = kept.verified().await;
    assert!(!told.is_unwritten && messages(&told).contains("records are gone"), "an empty folder: {told:?}");
    fs::remove_dir(kept.folder.path()).unwrap();
    assert!(messages(&kept.verified().await).contains("records are gone"), "no folder");
}

#[tokio::test]
async fn a_tail_that_was_cut_off_is_found_whatever_became_of_the_mark() {
    for mark in ["kept", "gone", "older"] {
        let kept = Kept::new();
        kept.record(3, true).await;
        let copy = kept.copy();
        kept.record(3, true).await;
        assert!(kept.verified().await.is_fine());
        fs::copy(segment(copy.path(), 1), segment(kept.folder.path(), 1)).unwrap();
        match mark {
            "gone" => kept.remove(|name| name == "mark.jws"),
            "older" => drop(fs::copy(copy.path().join("mark.jws"), kept.folder.path().join("mark.jws")).unwrap()),
            _ => {}
        }
        let told = kept.verified().await;
        assert!(
            messages(&told).contains("by the store of") && messages(&told).contains("records are gone"),
            "{told:?}"
        );
        assert_eq!(messages(&told).contains("the mark is gone"), mark == "gone");
        let refused = kept.refused().await;
        assert!(matches!(refused, LogError::SetBack { .. }), "{mark}: {refused:?}");
        assert!(!kept.verified().await.is_fine(), "a start heals nothing of it");
    }
}

#[tokio::test]
async fn a_mark_is_obligatory_without_a_store_too() {
    let kept = Kept::new();
    kept.record(2, true).await;
    for (named, bytes) in [("gone", None), ("statement", Some("x"))] {
        match bytes {
            Some(bytes) => fs::write(kept.folder.path().join("mark.jws"), bytes).unwrap(),
            None => kept.remove(|name| name == "mark.jws"),
        }
        let keys = RecordKeys::beside(kept.folder.path()).unwrap();
        let told = verify(kept.folder.path(), &keys, &[], &|_| (), &|_| ()).unwrap();
        assert!(messages(&told).contains(named), "{told:?}");
    }
    kept.record(0, true).await;
    assert!(kept.verified().await.is_fine(), "the store's head proves that nothing is gone: it is made anew");
}

#[tokio::test]
async fn a_folder_of_another_log_is_found_though_it_is_whole_in_itself() {
    let (kept, other) = (Kept::new(), Kept::new());
    kept.record(3, true).await;
    let log = other.open().unwrap();
    log.record(draft(Some(&agent(7)), "another")).await.unwrap();
    close(log);
    other.record(8, true).await;
    kept.set_back(other.folder.path());
    assert!(!kept.verified().await.is_fine());
    assert!(matches!(kept.refused().await, LogError::SetBack { .. }));
}

#[tokio::test]
async fn a_statement_that_nobody_signed_proves_nothing() {
    let kept = Kept::new();
    kept.record(3, true).await;
    let mark = fs::read_to_string(kept.folder.path().join("mark.jws")).unwrap();
    let unsigned = |jws: &str| {
        let claims = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
        RecordSigner::unsigned().compact(&claims)
    };
    fs::write(kept.folder.path().join("mark.jws"), unsigned(mark.trim())).unwrap();
    let told = kept.verified().await;
    assert!(told.findings.len() == 1 && messages(&told).contains("alg: none"), "{told:?}");
    fs::write(kept.folder.path().join("mark.jws"), &mark).unwrap();
    kept.heads().accept(&unsigned(mark.trim())).await.unwrap();
    assert!(messages(&kept.verified().await).contains("alg: none"));
    assert!(matches!(kept.refused().await, LogError::Unproven { .. }));
    kept.heads().accept("nonsense").await.unwrap();
    assert!(messages(&kept.verified().await).contains("no statement"));
    assert!(matches!(kept.refused().await, LogError::Unproven { .. }));
}

#[tokio::test]
async fn a_crash_between_the_file_and_the_store_is_healed_at_the_next_start() {
    let kept = Kept::new();
    kept.record(2, true).await;
    let before = kept.heads().last().await.unwrap().unwrap();
    let last = kept.record(2, false).await;
    assert_eq!(kept.heads().last().await.unwrap().unwrap(), before, "written, and not told");
    assert!(kept.verified().await.is_fine(), "a head that is behind is no loss");
    let log = kept.open().unwrap();
    log.ready().await.unwrap();
    let head = kept.heads().last().await.unwrap().unwrap();
    assert!(payload(&head)["offset"].as_u64() > payload(&before)["offset"].as_u64());
    // Agent 2 wrote last.
    let next = log.record(draft(Some(&agent(2)), "next")).await.unwrap();
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(last));
    close(log);
    assert!(kept.verified().await.is_fine());
}

#[tokio::test(start_paused = true)]
async fn an_operator_takes_a_loss_which_is_told_from_then_on() {
    let kept = Kept::new();
    kept.record(4, true).await;
    kept.remove(|name| name.starts_with("segment-"));
    let refused = kept.refused().await;
    assert!(matches!(refused, LogError::SetBack { .. }), "{refused:?}");
    taken(&kept, "the disk broke").await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_takes_the_loss_of_a_file_that_was_cut_off_within_an_entry() {
    let kept = Kept::new();
    kept.record(4, true).await;
    let path = segment(kept.folder.path(), 1);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let refused = kept.open().err();
    assert!(matches!(refused, Some(LogError::Damaged { .. })), "{refused:?}");
    taken(&kept, "power was cut").await;
    // Bytes that were changed in the middle are no end, and nothing is cut off for them.
    let mut changed = fs::read(&path).unwrap();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(&path, &changed).unwrap();
    accept(kept.folder.path(), &signer(), "no", kept.clock.now()).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), changed);
}

/// Has the log go on without what is gone.
async fn taken(kept: &Kept, reason: &str) {
    let head = accept(kept.folder.path(), &signer(), reason, kept.clock.now()).unwrap();
    kept.heads().accept(&head).await.unwrap();
    let log = kept.open().unwrap();
    log.record(draft(Some(&agent(1)), "on")).await.unwrap();
    close(log);
    let told = kept.verified().await;
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains(reason)), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_running_server_goes_on_once_the_store_is_as_it_was() {
    let kept = Kept::new();
    kept.record(2, true).await;
    let (good, copy) = (kept.heads().last().await.unwrap().unwrap(), kept.copy());
    kept.heads().accept("nonsense").await.unwrap();
    let log = kept.open().unwrap();
    assert!(log.ready().await.is_err());
    kept.heads().accept(&good).await.unwrap();
    tokio::time::advance(limits::RETRY_AFTER + Duration::from_millis(1)).await;
    log.ready().await.unwrap();
    log.record(draft(Some(&agent(1)), "on")).await.unwrap();
    drop((log, copy));
}

#[tokio::test]
async fn a_data_folder_that_is_set_back_with_its_store_is_found_by_a_second_place() {
    let kept = Kept::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = FileCopy::new(&elsewhere.path().join("heads"));
    let log = kept.open().unwrap();
    log.copy_heads(Some(Arc::new(copy.clone())));
    log.record(draft(Some(&agent(1)), "a")).await.unwrap();
    log.close().await.unwrap();
    let (older, head) = (kept.copy(), kept.heads().last().await.unwrap().unwrap());
    log.record(draft(Some(&agent(1)), "b")).await.unwrap();
    log.close().await.unwrap();
    close(log);
    // The store of that time.
    let before = Kept { store: Arc::new(Memory::new()), clock: kept.clock.clone(), folder: older };
    before.heads().accept(&head).await.unwrap();
    assert!(before.verified().await.is_fine(), "files and store agree");
    let keys = RecordKeys::beside(before.folder.path()).unwrap();
    let told = verify(before.folder.path(), &keys, &[copy.witness(None).unwrap()], &|_| (), &|_| ()).unwrap();
    assert!(messages(&told).contains("head copy") && messages(&told).contains("records are gone"), "{told:?}");
    let log = before.open().unwrap();
    log.copy_heads(Some(Arc::new(copy.clone())));
    assert!(matches!(log.ready().await, Err(LogError::SetBack { .. })));
    let none = FileCopy::new(&elsewhere.path().join("gone")).witness(None).unwrap();
    assert!(!verify(before.folder.path(), &keys, &[none], &|_| (), &|_| ()).unwrap().is_fine(), "a copy that is gone");
}

#[tokio::test(start_paused = true)]
async fn the_store_knows_the_head_of_a_log_for_good_that_was_closed_or_quiet_since() {
    for is_closed in [true, false] {
        let kept = Kept::new();
        let log = kept.open().unwrap();
        log.ready().await.unwrap();
        let mut head = kept.heads().last().await.unwrap();
        for response in ["a", "b"] {
            log.record(draft(Some(&agent(1)), response)).await.unwrap();
            passes(Duration::from_secs(2)).await;
            let before = std::mem::replace(&mut head, kept.heads().last().await.unwrap());
            assert_ne!(head, before, "told within a second");
        }
        match is_closed {
            true => log.close().await.unwrap(),
            false => passes(Duration::from_secs(10 * 60)).await,
        }
        let ledger = Ledger::new(kept.store.clone(), kept.clock.clone(), HEADS);
        assert_eq!(ledger.last("of-node:alone").await.unwrap().unwrap().1.expires_at, None);
        kept.clock.advance(Duration::from_secs(25 * 60 * 60));
        assert_eq!(kept.heads().last().await.unwrap(), head, "closed: {is_closed}");
    }
}

#[tokio::test]
async fn a_log_from_before_there_were_heads_gets_one_that_says_so() {
    let kept = Kept::new();
    let log = AttributionLog::open(kept.folder.path(), options(), source(&signer()), kept.clock.clone()).unwrap();
    log.record(draft(Some(&agent(1)), "old")).await.unwrap();
    close(log);
    let told = kept.verified().await;
    assert!(messages(&told).contains("it knows no head of these records"), "{told:?}");
    kept.record(1, true).await;
    let told = kept.verified().await;
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains("no head was kept before")), "{told:?}");
}
