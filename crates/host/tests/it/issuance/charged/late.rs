//! What becomes of an answer whose payment is refused, late, unknown or about to run out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{Charge, PaymentError, PaymentSubmission, RefusalKind, Settlement};
use forecourt_core::{Clock, Event};
use forecourt_host::Run;
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, SETTLE_TIME_MAX, SETTLE_TRIES_MAX};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use super::super::support::{Till, Wants, ask, coins, fee, refused_payment, setup, state_in, stores, submitting};
use super::Paid;
use crate::support::{in_thread, message};

fn unreachable() -> Settlement {
    Settlement::Refused(PaymentError { is_passing: true, ..refused_payment("settlement_failed") })
}

async fn saying(says: Vec<Settlement>) -> Paid {
    let till = Arc::new(Till::default());
    *till.says.lock() = says;
    Paid::of(&stores().remove(0).0, Charge::After, ScriptedAgent::saying(["Soup."]), till).await
}

#[tokio::test]
async fn an_answer_whose_payment_is_refused_is_withheld_and_another_payment_gets_it() {
    for (store, _folder) in stores() {
        let till = Arc::new(Till::default());
        *till.says.lock() = vec![Settlement::Refused(refused_payment("insufficient_funds"))];
        let paid = Paid::of(&store, Charge::After, ScriptedAgent::saying(["Soup."]), till).await;
        let refused = ask(&paid.host, paid.again()).await;
        assert_eq!(refused.refusal().code.as_deref(), Some("payment:insufficient_funds"));
        assert_eq!(state_in(refused.refusal()), paid.refused.state(), "for the same state");
        assert!(refused.receipt.is_none());
        assert_eq!(paid.stands().await, (IssuanceStatus::Issued, 1, false));
        // Nothing was taken, so the same payment may come again, and the question was kept.
        let again = submitting("", paid.refused.thread.clone(), Some(paid.refused.state()), Some(coins("5", "a")));
        assert!(ask(&paid.host, again).await.is_answer());
        assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 2, true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_facilitator_that_is_away_for_a_moment_is_asked_again() {
    for (away, is_answer) in [(SETTLE_TRIES_MAX - 1, true), (SETTLE_TRIES_MAX, false)] {
        let paid = saying((0..away).map(|_| unreachable()).collect()).await;
        assert_eq!(ask(&paid.host, paid.again()).await.is_answer(), is_answer, "{away}");
        assert_eq!(paid.settled(), SETTLE_TRIES_MAX);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_nobody_knows_whether_it_was_paid_is_given() {
    let paid = saying(vec![Settlement::Unknown("timed out".to_owned()), Settlement::Unknown("still".to_owned())]).await;
    let answered = ask(&paid.host, paid.again()).await;
    assert!(answered.is_answer() && answered.receipt.is_none());
    // The debt is ours to find out: nobody waits for it, and nobody is answered by it again.
    assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, false));
    let next = ask(&paid.host, in_thread("And?", paid.refused.thread.clone())).await;
    assert_eq!(next.refusal().kind(), "payment_required");
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(paid.till.reconciled.load(Ordering::SeqCst), 2);
    assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, true));
}

#[tokio::test(start_paused = true)]
async fn what_turns_out_to_be_unpaid_stays_used() {
    let refused = Settlement::Refused(refused_payment("expired"));
    let paid = saying(vec![Settlement::Unknown("timed out".to_owned()), refused]).await;
    assert!(ask(&paid.host, paid.again()).await.is_answer());
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, false));
    assert!(!ask(&paid.host, paid.again()).await.is_answer());
    let replayed = ask(&paid.host, submitting("Dinner?", None, None, Some(coins("5", "a")))).await;
    assert_eq!(replayed.refusal().code.as_deref(), Some("payment:payment_already_used"));
}

#[tokio::test(start_paused = true)]
async fn a_facilitator_that_never_answers_holds_an_answer_back_for_a_bounded_time() {
    let till = Arc::new(Till { hangs: true, ..Till::default() });
    let paid = Paid::of(&stores().remove(0).0, Charge::After, ScriptedAgent::saying(["Soup."]), till).await;
    let begun = tokio::time::Instant::now();
    assert!(ask(&paid.host, paid.again()).await.is_answer());
    assert_eq!(begun.elapsed(), SETTLE_TIME_MAX);
    // Found out by asking again.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, true));
}

/// A payment that can be settled for so long.
fn good_for(seconds: i64, now: forecourt_core::Timestamp) -> PaymentSubmission {
    let mut payment = coins("5", "a");
    payment.payload.insert("until".to_owned(), (now.as_second() + seconds).into());
    payment
}

#[tokio::test]
async fn what_would_run_out_at_work_is_taken_before_it_and_owed_then() {
    // An agent has 120 s, and settling 60 s.
    for (seconds, is_early) in [(180, false), (179, true)] {
        for (store, _folder) in stores() {
            let (rule, till) = (Wants::this(fee("5", Charge::After)), Arc::<Till>::default());
            let setup = setup(&store, &rule, &till);
            let failing = setup.host(super::ends(forecourt_core::Ending::failed("No salt."))).await;
            let refused = ask(&failing, message("Dinner?")).await;
            let payment = good_for(seconds, setup.clock.now());
            failing.pay(&refused.state(), &payment, &Default::default()).await.unwrap();
            let again = || submitting("", refused.thread.clone(), Some(refused.state()), None);
            let failed = ask(&failing, again()).await;
            assert_eq!(
                (till.settled.load(Ordering::SeqCst), failed.receipt.is_some()),
                (usize::from(is_early), is_early)
            );
            let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
            let answered = ask(&host, again()).await;
            assert!(answered.is_answer() && answered.receipt.is_some());
            assert_eq!(till.settled.load(Ordering::SeqCst), 1);
        }
    }
}

#[tokio::test]
async fn what_is_reserved_ends_with_its_authorization() {
    let (store, rule) = (stores().remove(0).0, Wants::this(fee("5", Charge::After)));
    let till = Arc::<Till>::default();
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let payment = good_for(300, setup.clock.now());
    let outcome = host.pay(&refused.state(), &payment, &Default::default()).await.unwrap();
    assert_eq!(outcome, IssuanceOutcome::Verified(None));
    setup.clock.advance(Duration::from_secs(300));
    let again = submitting("", refused.thread.clone(), Some(refused.state()), None);
    assert_eq!(ask(&host, again).await.refusal().kind(), "payment_required");
    assert_eq!(till.settled.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_refused_or_unknown_before_the_answer_is_asked_for_or_waited_for() {
    for (says, kind) in [
        (Settlement::Refused(refused_payment("insufficient_funds")), "payment_required"),
        (Settlement::Unknown("timed out".to_owned()), "service_unavailable"),
    ] {
        let (store, rule) = (stores().remove(0).0, Wants::this(fee("5", Charge::After)));
        let till = Arc::<Till>::default();
        *till.says.lock() = vec![says];
        let setup = setup(&store, &rule, &till);
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup.host(agent.clone()).await;
        let payment = good_for(100, setup.clock.now());
        let refused = ask(&host, submitting("Dinner?", None, None, Some(payment))).await;
        let is_wait = matches!(refused.refusal().kind, RefusalKind::ServiceUnavailable { .. });
        assert_eq!((refused.refusal().kind(), is_wait), (kind, kind != "payment_required"));
        assert!(agent.heard().is_empty());
    }
}

#[tokio::test]
async fn who_leaves_an_answer_that_was_taken_early_is_owed_it() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(fee("5", Charge::After)), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let slow = setup.host(ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Hang])).await;
        let refused = ask(&slow, message("Dinner?")).await;
        let payment = good_for(179, setup.clock.now());
        slow.pay(&refused.state(), &payment, &Default::default()).await.unwrap();
        let again = || submitting("", refused.thread.clone(), Some(refused.state()), None);
        let mut reply = slow.receive(again(), Run::without_task()).await.unwrap();
        reply.events.next().await.unwrap();
        assert_eq!(till.settled.load(Ordering::SeqCst), 1, "it was taken early");
        drop(reply);
        // It is written behind.
        while slow.issuance(&refused.state()).await.unwrap().unwrap().status != IssuanceStatus::Verified {
            tokio::task::yield_now().await;
        }
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        for may_pass in [true, false] {
            assert_eq!(ask(&host, again()).await.is_answer(), may_pass);
        }
        assert_eq!(till.settled.load(Ordering::SeqCst), 1);
    }
}
