//! PROPOSE, from its switch to its terms.

use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_contract::call::Thread;
use forecourt_core::Clock;
use forecourt_synthesis::contracts::{ContractRecord, ContractScope};
use forecourt_synthesis::negotiator::{NegotiationError, ProposeOutcome};
use forecourt_synthesis::proposal::{ProposalRefusal, RejectionReason};
use serde_json::{Map, Value, json};

use crate::support::{Process, Settings, World, agent, call, claimed, connection, presenting, session};

fn process(change: impl FnOnce(&mut Settings)) -> Process {
    let mut settings = Settings::default();
    change(&mut settings);
    Process::with(&World::new(), settings)
}

async fn refused(process: &Process, thread: &Thread) -> String {
    match process.propose(&agent("a"), thread, "/x", json!({"recipe": "none"})).await {
        ProposeOutcome::Refused(ProposalRefusal::Rejected { reason, .. }) => reason.word().to_owned(),
        ProposeOutcome::Escalate { turns } => format!("escalate after {turns}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_switch_is_looked_at_first() {
    let off = process(|settings| settings.is_synthesis_enabled = false);
    for more in [json!({}), json!({"malformed": true})] {
        let outcome = off.propose(&agent("a"), &session("s"), "/x", more).await;
        let ProposeOutcome::Refused(ProposalRefusal::Rejected { reason, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(reason, RejectionReason::SynthesisDisabled);
    }
    for _ in 0..5 {
        assert_eq!(refused(&off, &session("s")).await, "synthesis-disabled", "none of these counts as a turn");
    }
}

#[tokio::test]
async fn s10_3_after_three_refusals_of_a_session_the_agent_escalates() {
    let process = process(|_| {});
    let s = session("s");
    for _ in 0..3 {
        let outcome = process.propose(&agent("a"), &s, "/x", json!({"malformed": true})).await;
        assert!(matches!(outcome, ProposeOutcome::Refused(ProposalRefusal::Malformed { .. })));
    }
    for _ in 0..3 {
        assert_eq!(refused(&process, &s).await, "composition-impossible");
    }
    assert_eq!(refused(&process, &s).await, "escalate after 3");
    let asked = process.source.asked.load(Ordering::SeqCst);
    assert_eq!(refused(&process, &s).await, "escalate after 3");
    assert_eq!(process.source.asked.load(Ordering::SeqCst), asked, "nothing was looked at");
    assert_eq!(refused(&process, &session("t")).await, "composition-impossible");
    assert_eq!(refused(&process, &connection("1")).await, "composition-impossible");
    let b = process.propose(&agent("b"), &s, "/x", json!({})).await;
    assert!(matches!(b, ProposeOutcome::Approved { .. }), "turns are an agent's own");
    process.negotiator.escalated(&agent("a"), &s);
    assert_eq!(refused(&process, &s).await, "composition-impossible");
}

#[tokio::test]
async fn s10_3_an_approval_begins_anew() {
    let process = process(|_| {});
    for _ in 0..3 {
        refused(&process, &session("s")).await;
        refused(&process, &session("s")).await;
        process.proposed(&agent("a"), &session("s"), "/x", json!({})).await;
    }
}

/// How long a contract lasts, what it is bound to and what was said of that.
async fn terms(process: &Process, thread: &Thread, more: Value) -> (i64, ContractRecord, Vec<String>) {
    match process.propose(&agent("a"), thread, "/x", more).await {
        ProposeOutcome::Approved { contract, log } => {
            let record = ContractRecord::clone(&contract.record);
            let lasts = record.expires_at.duration_since(process.world.clock.now()).as_secs();
            (lasts, record, log[1..].to_vec())
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn s10_8_a_contract_is_for_the_session_unless_more_is_asked_for() {
    let process = process(|settings| settings.synthesis.session_duration_seconds = 100.try_into().unwrap());
    let (lasts, record, log) = terms(&process, &session("s"), json!({})).await;
    assert_eq!((lasts, record.is_persistent, log.len()), (100, false, 0));
    assert_eq!(record.scope, ContractScope::Session("s".into()));
    let (_, record, _) = terms(&process, &connection("1"), json!({})).await;
    assert!(matches!(record.scope, ContractScope::Connection { .. }));
    let (lasts, _, log) = terms(&process, &session("s"), json!({"duration": 40})).await;
    assert_eq!((lasts, log.len()), (40, 0));
    let (lasts, _, log) = terms(&process, &session("s"), json!({"duration": 101})).await;
    let cut = "It lasts 100 seconds, the longest here, and not the 101 that were asked for.";
    assert_eq!((lasts, log), (100, vec![cut.to_owned()]));
}

#[tokio::test]
async fn s10_8_a_persistent_contract_lasts_as_long_as_the_operator_allows() {
    let process = process(|settings| {
        settings.synthesis.persistent_default_seconds = 700.try_into().unwrap();
        settings.synthesis.persistent_max_seconds = 1_000;
    });
    let (lasts, record, log) = terms(&process, &session("s"), json!({"persistent": true})).await;
    assert_eq!((lasts, record.is_persistent, record.scope, log.len()), (700, true, ContractScope::Agent, 0));
    let (lasts, _, log) = terms(&process, &session("s"), json!({"persistent": true, "duration": 1_000})).await;
    assert_eq!((lasts, log.len()), (1_000, 0));
    let (lasts, _, log) = terms(&process, &session("s"), json!({"persistent": true, "duration": 1_001})).await;
    assert_eq!((lasts, log.len()), (1_000, 1));
}

#[tokio::test]
async fn s10_8_where_nothing_is_persistent_a_contract_is_made_for_the_session_and_says_so() {
    let process = process(|settings| settings.synthesis.persistent_max_seconds = 0);
    let (_, record, log) = terms(&process, &session("s"), json!({"persistent": true})).await;
    assert_eq!((record.is_persistent, record.scope), (false, ContractScope::Session("s".into())));
    assert_eq!(log, ["It was made for the session: contracts that outlive one are not made here."]);
}

#[tokio::test]
async fn an_agent_without_a_name_proposes_nothing() {
    let process = process(|_| {});
    let nobody = forecourt_contract::Caller { agent_id: None, ..agent("a") };
    let outcome = process.negotiator.propose(&Map::new(), &nobody, &session("s")).await;
    assert_eq!(outcome.unwrap_err(), NegotiationError::Unnamed);
}

fn later(settings: &mut Settings) {
    settings.synthesis.async_evaluation_enabled = true;
    settings.synthesis.max_evaluation_seconds = 60.try_into().unwrap();
}

async fn pending(process: &Process, more: Value) -> String {
    match process.propose(&agent("a"), &session("s"), "/x", more).await {
        ProposeOutcome::Pending { proposal_id, until } => {
            assert_eq!(until.duration_since(process.world.clock.now()).as_secs(), 60);
            proposal_id
        }
        other => panic!("{other:?}"),
    }
}

/// What a proposal came to, once it has.
async fn decided(process: &Process, proposal_id: &str) -> ProposeOutcome {
    loop {
        match process.negotiator.proposal(proposal_id, &agent("a")).unwrap() {
            ProposeOutcome::Pending { .. } => tokio::task::yield_now().await,
            outcome => return outcome,
        }
    }
}

#[tokio::test]
async fn s11_261_a_proposal_is_looked_at_later_and_its_proposer_asks_for_it() {
    let process = process(later);
    let (go, waits) = std::sync::mpsc::channel();
    *process.source.waits.lock() = Some(waits);
    let id = pending(&process, json!({})).await;
    assert!(matches!(process.negotiator.proposal(&id, &agent("a")), Some(ProposeOutcome::Pending { .. })));
    for other in [agent("b"), claimed("a")] {
        assert!(process.negotiator.proposal(&id, &other).is_none());
    }
    assert!(process.negotiator.proposal("made-up", &agent("a")).is_none());
    go.send(()).unwrap();
    let ProposeOutcome::Approved { contract, log } = decided(&process, &id).await else { panic!() };
    assert_eq!(log, ["it is the recipe"]);
    let name = contract.record.synthesis_id.to_string();
    let call = forecourt_contract::Call { thread: session("s"), ..presenting(agent("a"), "/x", &name) };
    assert_eq!(process.word(call).await, "edition 1");
    assert_eq!(process.events.take(), ["rcns_propose_accepted of a"]);
    process.world.pass(3_600);
    assert!(process.negotiator.proposal(&id, &agent("a")).is_none());
}

#[tokio::test]
async fn s11_261_refused_turns_count_however_they_were_looked_at() {
    let process = process(later);
    for _ in 0..3 {
        let id = pending(&process, json!({"recipe": "none"})).await;
        assert!(matches!(decided(&process, &id).await, ProposeOutcome::Refused(_)));
    }
    assert_eq!(refused(&process, &session("s")).await, "escalate after 3");
}

#[tokio::test]
async fn s11_261_what_takes_too_long_is_refused() {
    let process = process(later);
    let (go, waits) = std::sync::mpsc::channel();
    *process.source.waits.lock() = Some(waits);
    tokio::time::pause();
    let id = pending(&process, json!({})).await;
    tokio::task::yield_now().await;
    tokio::time::advance(Duration::from_secs(61)).await;
    let outcome = decided(&process, &id).await;
    let ProposeOutcome::Refused(ProposalRefusal::Rejected { reason, .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(reason, RejectionReason::PolicyRefused);
    go.send(()).unwrap();
    assert_eq!(process.word(call(agent("a"), "/x")).await, "404", "nothing was made");
}

#[tokio::test]
async fn a_proposal_that_is_looked_at_at_once_holds_up_nobody_else() {
    let process = process(|_| {});
    let (go_on, waits) = std::sync::mpsc::channel();
    *process.source.waits.lock() = Some(waits);
    let (caller, thread) = (agent("a"), session("s"));
    // There is one worker: what computes on it lets nothing else happen.
    let (proposed, ()) = tokio::join!(process.propose(&caller, &thread, "/x", json!({})), async {
        go_on.send(()).unwrap();
    });
    assert!(matches!(proposed, ProposeOutcome::Approved { .. }), "{proposed:?}");
}
