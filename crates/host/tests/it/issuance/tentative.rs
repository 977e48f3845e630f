//! The beginning of a question, and one that is asked of several agents at once: nothing is used up, paid or asked for
//! it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::PaidFor;
use forecourt_core::{Allowance, Message, SearchOptions, Sender};
use forecourt_testkit::ScriptedAgent;

use super::audit::records;
use super::credit::paid_host;
use super::support::{Till, Wants, ask, coins, consent, payment, setup, stores, submitting};
use crate::support::{in_thread, message};

/// A pause while typing.
fn half_typed(message: Message) -> Message {
    let search = SearchOptions { completes: true, ..SearchOptions::default() };
    Message { search, unrecorded: true, ..message }
}

#[tokio::test]
async fn credit_is_kept_for_whole_questions() {
    for (store, _folder) in stores() {
        let (host, agent, _, thread) = paid_host(&store).await;
        for _ in 0..5 {
            let suggested = ask(&host, half_typed(in_thread("Din", thread.clone()))).await;
            assert_eq!(suggested.refusal().kind(), "forbidden");
            assert_eq!(suggested.refusal().code.as_deref(), Some("mentionable:whole_question_needed"));
        }
        assert!(agent.heard().is_empty());
        for _ in 0..4 {
            assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer(), "nothing was taken");
        }
    }
}

#[tokio::test]
async fn a_paid_answer_and_a_payment_beside_it_are_kept_for_the_whole_question() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        let thread = || refused.thread.clone();
        let beside = submitting("Din", thread(), Some(refused.state()), Some(coins("5", "a")));
        assert_eq!(ask(&host, half_typed(beside)).await.refusal().kind(), "forbidden");
        assert_eq!(till.settled.load(Ordering::SeqCst), 0, "a payment is not taken");
        host.pay(&refused.state(), &coins("5", "b"), &Default::default()).await.unwrap();
        for brought in [Some(refused.state()), None] {
            let suggested = ask(&host, half_typed(submitting("Din", thread(), brought, None))).await;
            assert_eq!(suggested.refusal().kind(), "forbidden");
        }
        assert!(ask(&host, in_thread("Dinner?", thread())).await.is_answer(), "what was paid is there");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_rule_wants_is_not_asked_for_at_each_pause() {
    for wanted in [payment("5", PaidFor::Turn), consent("1", None), consent("1", Some(0))] {
        let store = stores().remove(0).0;
        let (rule, till) = (Wants::this(wanted), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        for _ in 0..100 {
            let suggested = ask(&host, half_typed(message("Din"))).await;
            assert_eq!((suggested.refusal().kind(), &suggested.thread), ("forbidden", &None));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(records(&setup).await.is_empty(), "nothing is issued, and so nothing written");
        assert!(!ask(&host, message("Dinner?")).await.is_answer());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(records(&setup).await.len(), 1, "a whole question is asked for it");
    }
}

#[tokio::test]
async fn a_consent_that_holds_lets_a_half_typed_question_pass() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(consent("1", Some(60))), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
        assert!(ask(&host, half_typed(in_thread("Din", refused.thread.clone()))).await.is_answer());
        assert!(!ask(&host, half_typed(message("Din"))).await.is_answer(), "it is nobody else's");
        setup.clock.advance(Duration::from_secs(61));
        assert!(!ask(&host, half_typed(in_thread("Din", refused.thread))).await.is_answer());
    }
}

#[tokio::test]
async fn a_question_to_several_agents_takes_no_credit_and_says_what_to_do() {
    for (store, _folder) in stores() {
        let (host, agent, _, thread) = paid_host(&store).await;
        let search = SearchOptions { asks_several: true, ..SearchOptions::default() };
        let asked = Message { search, unrecorded: true, ..in_thread("Dinner?", thread.clone()) };
        let refused = ask(&host, asked).await;
        assert_eq!(refused.refusal().code.as_deref(), Some("mentionable:own_question_needed"));
        assert!(agent.heard().is_empty());
        for _ in 0..4 {
            assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer(), "nothing was taken");
        }
    }
}

/// What an operator tries out.
fn tried_out(message: Message, as_if_met: bool) -> Message {
    let sender = Sender { allowance: Allowance::TriedOut { as_if_met }, ..message.sender.clone() };
    Message { sender, ..message }
}

#[tokio::test]
async fn an_operator_who_tries_it_out_meets_what_a_caller_does_and_uses_nothing_up() {
    for (store, _folder) in stores() {
        let (host, agent, _, thread) = paid_host(&store).await;
        let tried = |as_if_met: bool| tried_out(in_thread("Dinner?", thread.clone()), as_if_met);
        let refused = ask(&host, tried(false)).await;
        let refusal = refused.refusal();
        assert_eq!((refusal.kind(), refusal.data.get("state")), ("payment_required", None), "nobody can pay for it");
        assert!(agent.heard().is_empty());
        for _ in 0..3 {
            assert!(ask(&host, tried(true)).await.is_answer());
        }
        for _ in 0..4 {
            assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer(), "nothing was taken");
        }
    }
}

#[tokio::test]
async fn trying_a_consent_out_issues_nothing() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(consent("1", Some(60))), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let tried = |as_if_met: bool| tried_out(message("Dinner?"), as_if_met);
        assert_eq!(ask(&host, tried(false)).await.refusal().kind(), "consent_required");
        assert!(ask(&host, tried(true)).await.is_answer());
        assert_eq!(ask(&host, tried(false)).await.refusal().kind(), "consent_required", "nothing was agreed to");
        assert!(records(&setup).await.is_empty());
    }
}
