//! Chains: one for each agent, whoever records at the same time.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::sync::Arc;

use forecourt_attribution::{AttributionLog, LogError, LogOptions, RecordKeys, RecordSigner, limits};
use forecourt_identity::SigningKey;
use forecourt_testkit::CountedEntropy;
use futures::future::join_all;
use serde_json::json;

use crate::support::{agent, close, draft, kept, open_in, options, payload, source, verified};

#[tokio::test]
async fn base_8_1_each_agent_has_a_chain_that_begins_with_zeros() {
    let kept = kept(options());
    let (one, two) = (agent(1), agent(2));
    let first = kept.record(&one, "a").await;
    let other = kept.record(&two, "b").await;
    let second = kept.record(&one, "c").await;
    let previous = |jws: &str| payload(jws)["previous_audit_id"].as_str().unwrap().to_owned();
    assert_eq!((previous(&first.jws), previous(&other.jws)), ("0".repeat(64), "0".repeat(64)));
    assert_eq!(previous(&second.jws), first.audit_id);
    assert_eq!(kept.log.head(&one).await.unwrap().unwrap().audit_id, second.audit_id);
    assert_eq!(kept.log.head(&one).await.unwrap().unwrap().jws, Some(second.jws.clone()));
    assert_eq!(kept.log.head(&agent(3)).await.unwrap(), None);
    assert_eq!(kept.log.chain(&one, 10).await.unwrap(), [second.jws, first.jws.clone()]);
    assert_eq!(kept.log.find(&first.audit_id).await.unwrap(), Some(first.jws));
    assert_eq!(kept.log.find(&"1".repeat(64)).await.unwrap(), None);
    assert_eq!(kept.log.find("../../etc/passwd").await.unwrap(), None);
}

#[tokio::test]
async fn base_8_1_strangers_have_records_and_no_chain() {
    let kept = kept(options());
    for response in ["a", "b"] {
        let record = kept.log.record(draft(None, response)).await.unwrap();
        let payload = payload(&record.jws);
        assert_eq!((&payload["agent_id"], &payload["previous_audit_id"]), (&json!(""), &json!("0".repeat(64))));
        assert_eq!(kept.log.find(&record.audit_id).await.unwrap(), Some(record.jws));
    }
    let told = verified(kept.closed().path());
    assert!(told.is_fine() && told.records == 2 && told.agents == 0, "{told:?}");
}

#[tokio::test]
async fn base_8_2_events_join_the_chain_of_their_agent() {
    let kept = kept(options());
    let one = agent(1);
    let record = kept.record(&one, "a").await;
    let said = json!({"event_type": "rcns_revoke", "reason": "x", "actor": "operator",
        "agent_id": "another", "previous_audit_id": "made up", "details": {"previous_audit_id": "y"}});
    let event = kept.log.event(&one, said.as_object().unwrap().clone()).await.unwrap();
    let next = kept.record(&one, "b").await;
    let told = payload(&kept.log.find(&event).await.unwrap().unwrap());
    assert_eq!(told["previous_audit_id"], json!(record.audit_id));
    assert_eq!((&told["event_type"], &told["agent_id"]), (&json!("rcns_revoke"), &json!(one.as_str())));
    assert_eq!((&told["server_id"], &told["owner_id"]), (&json!("srv.example"), &json!("")));
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(event));
    assert_eq!(kept.log.events(&one, 10).await.unwrap().len(), 1);
    assert!(kept.log.events(&agent(2), 10).await.unwrap().is_empty());
    let told = verified(kept.closed().path());
    assert!(told.is_fine() && (told.records, told.events, told.agents) == (2, 1, 1), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_chain_forks_however_many_record_at_once() {
    // Small segments, so that many are sealed in between.
    let kept = kept(LogOptions { segment_bytes: limits::SEGMENT_BYTES_MIN, ..options() });
    let all = (0..200u8).map(|number| {
        let log = Arc::clone(&kept.log);
        tokio::spawn(async move {
            for round in 0..2 {
                let agent = agent(number % 3 + 1);
                log.record(draft(Some(&agent), &format!("{number}-{round}"))).await.unwrap();
            }
        })
    });
    join_all(all).await.into_iter().for_each(|done| done.unwrap());
    for number in 1..=3 {
        let chain = kept.log.chain(&agent(number), limits::CHAIN_READ_MAX).await.unwrap();
        let previous: BTreeSet<String> =
            chain.iter().map(|jws| payload(jws)["previous_audit_id"].to_string()).collect();
        assert_eq!(previous.len(), chain.len(), "nobody shares the record before it");
        assert!((130..=136).contains(&chain.len()), "{}", chain.len());
    }
    let told = verified(kept.closed().path());
    assert!(told.is_fine() && told.records == 400 && told.agents == 3 && told.segments > 3, "{told:?}");
}

#[tokio::test]
async fn a_chain_goes_on_after_a_restart_and_through_sealed_segments() {
    let small = LogOptions { segment_bytes: limits::SEGMENT_BYTES_MIN, ..options() };
    let kept = kept(small.clone());
    let (one, two) = (agent(1), agent(2));
    let first = kept.record(&one, "a").await;
    for number in 0..200 {
        kept.record(&two, &number.to_string()).await;
    }
    let clock = kept.clock.clone();
    let folder = kept.closed();
    // Indexes are only a convenience.
    for entry in std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|found| found == "idx") {
            std::fs::remove_file(entry).unwrap();
        }
    }
    let log = open_in(folder.path(), small, clock);
    assert_eq!(log.find(&first.audit_id).await.unwrap(), Some(first.jws));
    let next = log.record(draft(Some(&one), "z")).await.unwrap();
    assert_eq!(payload(&next.jws)["previous_audit_id"], json!(first.audit_id));
    assert_eq!(log.chain(&two, 1_000).await.unwrap().len(), 200);
    close(log);
    assert!(verified(folder.path()).is_fine());
}

#[tokio::test]
async fn another_key_goes_on_in_the_same_chain_and_both_are_kept() {
    let kept = kept(options());
    let one = agent(1);
    kept.record(&one, "a").await;
    let entropy = CountedEntropy::default();
    let (_, other) = (SigningKey::generate(&entropy), SigningKey::generate(&entropy));
    let signer = Arc::new(RecordSigner::ed25519(other, Some("records-2")));
    kept.log.replace(options(), source(&signer));
    kept.record(&one, "b").await;
    let folder = kept.closed();
    assert_eq!(RecordKeys::beside(folder.path()).unwrap().len(), 2);
    assert!(verified(folder.path()).is_fine());
    let only = json!({"keys": [signer.public().unwrap().to_jwk()]});
    let told =
        forecourt_attribution::verify::verify(folder.path(), &RecordKeys::read(&only).unwrap(), &[], &|_| (), &|_| ());
    let told = told.unwrap();
    assert!(told.findings.iter().any(|finding| finding.message.contains("no key `")), "{told:?}");
}

#[tokio::test]
async fn more_than_may_wait_are_told_so_and_those_at_the_bound_are_written() {
    let kept = kept(options());
    // Another process has the folder until all of these futures were polled once, so that nothing is written: of what
    // waits the writer has taken a group by then, at most.
    let lock = OpenOptions::new().write(true).open(kept.folder.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let log: &Arc<AttributionLog> = &kept.log;
    let all = limits::QUEUE_MAX + limits::GROUP_MAX + 1;
    let records = join_all((0..all).map(|_| log.record(draft(None, "x"))));
    let (done, ()) = futures::join!(records, async { lock.unlock().unwrap() });
    let refused = done.iter().filter(|one| matches!(one, Err(LogError::Busy))).count();
    let written = done.iter().filter(|one| one.is_ok()).count();
    assert_eq!(refused + written, all);
    assert!(written >= limits::QUEUE_MAX && refused > 0, "{written}");
    assert!(log.record(draft(None, "y")).await.is_ok(), "there is room again");
}
