//! Where a log begins counts as far as somebody signed it.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_attribution::{LogError, LogOptions, RecordSigner, accept, limits};
use forecourt_core::Clock;
use forecourt_store::Memory;

use crate::kept::{Kept, messages, passes};
use crate::support::{agent, close, draft, options, segment, signer};

const SMALL: u64 = limits::SEGMENT_BYTES_MIN;

/// A log of several segments whose older ones somebody took out, with a checkpoint that says so and that nobody signed.
async fn beheaded() -> Kept {
    let kept = Kept::new();
    let small = LogOptions { segment_bytes: SMALL, ..options() };
    let log = kept.open_with(small.clone()).unwrap();
    for number in 0..300 {
        log.record(draft(Some(&agent(1)), &number.to_string())).await.unwrap();
    }
    log.close().await.unwrap();
    close(log);
    let removing = Kept { store: Arc::new(Memory::new()), clock: kept.clock.clone(), folder: kept.copy() };
    close(removing.open_with(LogOptions { size_max: Some(2 * SMALL), ..small }).unwrap());
    let checkpoint = fs::read_to_string(removing.folder.path().join("checkpoint.jws")).unwrap();
    let (jws, list) = checkpoint.split_once('\n').unwrap();
    let claims = URL_SAFE_NO_PAD.decode(jws.split('.').nth(1).unwrap()).unwrap();
    let unsigned = format!("{}\n{list}", RecordSigner::unsigned().compact(&claims));
    fs::write(kept.folder.path().join("checkpoint.jws"), unsigned).unwrap();
    fs::remove_file(segment(kept.folder.path(), 1)).unwrap();
    kept
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_nobody_signed_hides_no_segment_until_an_operator_takes_the_loss() {
    let kept = beheaded().await;
    assert!(messages(&kept.verified().await).contains("alg: none"));
    // Nor does the next one, signed when more is removed, make it good.
    let bounded = LogOptions { segment_bytes: SMALL, size_max: Some(SMALL), ..options() };
    close(kept.open_with(bounded).unwrap());
    let refused = kept.refused().await;
    assert!(matches!(refused, LogError::Unproven { .. }) && refused.to_string().contains("checkpoint"), "{refused}");
    let running = kept.open().unwrap();
    running.ready().await.unwrap_err();
    let head = accept(kept.folder.path(), &signer(), "taken out", kept.clock.now()).unwrap();
    kept.heads().accept(&head).await.unwrap();
    passes(limits::RETRY_AFTER + Duration::from_millis(1)).await;
    running.ready().await.unwrap();
    close(running);
    kept.record(1, true).await;
    let told = kept.verified().await;
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains("taken out")), "{told:?}");
}

#[tokio::test]
async fn an_unsigned_checkpoint_of_a_version_before_heads_is_taken_once_and_signed() {
    let kept = Kept { store: Arc::new(Memory::new()), ..beheaded().await };
    kept.record(1, true).await;
    let told = kept.verified().await;
    assert!(told.is_fine() && told.notes.iter().any(|note| note.contains("no head was kept before")), "{told:?}");
    kept.record(1, true).await;
    assert!(kept.verified().await.is_fine());
}
