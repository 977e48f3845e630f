//! Counting and keeping revisions.

use forecourt_core::store::Span;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_768_467_600 + seconds).unwrap()
}

fn hashes(content: &str, endpoints: &str) -> Hashes {
    Hashes { content: content.to_owned(), endpoints: endpoints.to_owned() }
}

async fn host() -> MountedHost {
    let residents = vec![resident(card("chef"), ScriptedAgent::saying(["hi"]), Vec::new())];
    Blueprint { residents, ..Blueprint::default() }.start(None).await
}

#[test]
fn s8_2_the_document_version_changes_with_the_content_and_not_otherwise() {
    let first = Revision::after(None, &hashes("aaaaaaaaaa", "e"), at(0));
    assert_eq!(first.document_version(), "v1-aaaaaaaa");
    assert_eq!(Revision::after(Some(&first), &hashes("aaaaaaaaaa", "e"), at(9)), first);
    let second = Revision::after(Some(&first), &hashes("bbbbbbbbbb", "e"), at(9));
    assert_eq!(second.document_version(), "v2-bbbbbbbb");
    assert_eq!((second.issued, second.updated), (at(0), at(9)));
}

#[test]
fn the_api_version_changes_with_the_endpoints_and_never_decreases() {
    let first = Revision::after(None, &hashes("a", "e"), at(0));
    let policy = Revision::after(Some(&first), &hashes("b", "e"), at(1));
    assert_eq!(first.api_version(), policy.api_version());
    let same_second = Revision::after(Some(&policy), &hashes("c", "f"), at(0));
    assert!(same_second.contract > policy.contract, "two changes within a second");
    let clock_went_back = Revision::after(Some(&same_second), &hashes("d", "g"), at(-1_000));
    assert!(clock_went_back.contract > same_second.contract);
    let all_lost = Revision::after(None, &hashes("d", "g"), at(100));
    assert!(all_lost.contract > clock_went_back.contract, "also when nothing is known of before");
}

#[tokio::test]
async fn a_revision_is_kept_once() {
    let host = host().await;
    let host = &host.mount.host;
    let first = Revision::keep(host, &hashes("a", "e"), at(0)).await.unwrap();
    let again = Revision::keep(host, &hashes("a", "e"), at(50)).await.unwrap();
    assert_eq!(first, again);
    Revision::keep(host, &hashes("b", "e"), at(60)).await.unwrap();
    let kept = host.ledger(crate::NAME).entries(STREAM, Span::After(0), 10).await.unwrap();
    assert_eq!(kept.len(), 2);
}

#[tokio::test]
async fn nodes_that_start_together_agree() {
    let host = host().await;
    let host = &host.mount.host;
    let hashes = hashes("a", "e");
    let starts = (0..8).map(|second| Revision::keep(host, &hashes, at(second)));
    let revisions = futures::future::join_all(starts).await;
    let first = revisions[0].as_ref().unwrap();
    assert!(revisions.iter().all(|revision| revision.as_ref().unwrap() == first));
}

#[tokio::test]
async fn what_a_newer_program_wrote_counts_as_nothing() {
    let host = host().await;
    let host = &host.mount.host;
    host.ledger(crate::NAME).append(STREAM, json!({"shape": 2}), None, None).await.unwrap();
    assert_eq!(Revision::keep(host, &hashes("a", "e"), at(1)).await.unwrap().count, 1);
}
