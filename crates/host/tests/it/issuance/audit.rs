//! The audit tells what happened, and nothing that opens anything.

use std::sync::Arc;
use std::time::Duration;

use forecourt_audit::{AUDIT_STREAM, AuditOutcome, AuditReader, AuditRecord, RequestOrigin};
use forecourt_core::policy::PaidFor;
use forecourt_core::{Clock, MessageId};
use forecourt_testkit::ScriptedAgent;

use super::support::{Till, Wants, ask, coins, payment, setup, stores, submitting, with_state};
use crate::support::{Setup, message};

pub(super) async fn records(setup: &Setup) -> Vec<AuditRecord> {
    let mut reader = AuditReader::new(setup.store.clone());
    let mut all = Vec::new();
    while let Some(records) = reader.next(setup.clock.now()).await.unwrap() {
        all.extend(records);
    }
    all
}

#[tokio::test(start_paused = true)]
async fn every_step_is_told_without_states_or_words() {
    let store = stores().remove(0).0;
    let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("a-secret-question")).await;
    let state = refused.state();
    let page = RequestOrigin::new("rest", &MessageId::parse("page-1").unwrap());
    host.pay(&state, &coins("5", "a-secret-nonce"), &page).await.unwrap();
    ask(&host, with_state("", refused.thread.clone(), &state)).await;
    ask(&host, with_state("a-secret-question", refused.thread.clone(), &state)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let records = records(&setup).await;
    let outcomes: Vec<AuditOutcome> = records.iter().map(|record| record.outcome).collect();
    use AuditOutcome::{Issued, Paid, Replayed, Resumed};
    assert_eq!(outcomes, [Issued, Paid, Resumed, Replayed, Issued]);
    assert!(records[..4].iter().all(|record| record.state == records[0].state), "one state, one name");
    let by: Vec<_> = records.iter().map(|record| record.origin.request.as_deref().unwrap()).collect();
    assert_eq!(by, ["m1", "page-1", "m2", "m2", "m2"]);
    let over: Vec<_> = records.iter().map(|record| record.origin.transport.as_deref().unwrap()).collect();
    assert_eq!(over, ["test", "rest", "test", "test", "test"]);
    assert_eq!(records[0].state.as_ref().unwrap().len(), 8);
    assert_eq!((records[0].rule.as_str(), records[0].who.as_str()), ("fee", "192.0.2.1"));
    let all = serde_json::to_string(&records).unwrap();
    let thread = refused.thread.as_ref().unwrap();
    for secret in ["a-secret", state.expose(), thread.expose()] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
    // Kept for its time, and then no more.
    let entries = |now| setup.store.entries(AUDIT_STREAM, forecourt_core::store::Span::After(0), 9, now);
    let last = setup.clock.now() + Duration::from_secs(90 * 24 * 60 * 60);
    assert!(entries(last).await.unwrap().is_empty());
    assert!(!entries(last - Duration::from_secs(1)).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_state_that_comes_again_is_told_of_once_whatever_comes_with_it() {
    let store = stores().remove(0).0;
    let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let (state, thread) = (refused.state(), refused.thread.clone());
    ask(&host, submitting("", thread.clone(), Some(state.clone()), Some(coins("5", "a")))).await;
    ask(&host, submitting("Again.", thread, Some(state), Some(coins("5", "b")))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let outcomes: Vec<AuditOutcome> = records(&setup).await.iter().map(|record| record.outcome).collect();
    use AuditOutcome::{Issued, Paid, Replayed, Resumed};
    assert_eq!(outcomes, [Issued, Paid, Resumed, Replayed, Issued, Paid, Resumed]);
}
