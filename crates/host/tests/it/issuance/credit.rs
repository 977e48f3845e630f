//! Credit: what was paid over the price of one message, deducted message by message. PolicyPart F-7.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{CreditTerms, DeductionCaps, DeductionPeriod, Demand, PaidFor, Requirement};
use forecourt_core::{Allowance, Store, ThreadId};
use forecourt_host::Host;
use forecourt_testkit::ScriptedAgent;

use super::support::{Till, Wants, ask, coins, consent, payment, setup, stores};
use crate::support::{Setup, in_thread, message};

fn by_credit(per_turn: &str, caps: Option<(&str, &str)>) -> Requirement {
    let mut requirement = payment("20", PaidFor::Credit);
    let caps = caps.map(|(per_turn_max, period_max)| DeductionCaps {
        consent: Box::new(consent("caps", None)),
        per_turn_max: per_turn_max.to_owned(),
        period_max: period_max.to_owned(),
        period: DeductionPeriod::Monthly,
    });
    if let Demand::Payment(terms) = &mut requirement.demand {
        let (unit, per_turn) = ("coins".to_owned(), per_turn.to_owned());
        terms.credit = Some(Box::new(CreditTerms { unit, per_turn, decimals: None, caps }));
    }
    requirement
}

/// A host at which 20 coins were paid at 5 a message, with the conversation that they are for.
pub(super) async fn paid_host(store: &Arc<dyn Store>) -> (Arc<Host>, Arc<ScriptedAgent>, Arc<Till>, Option<ThreadId>) {
    let (rule, till) = (Wants::this(by_credit("5", None)), Arc::<Till>::default());
    let agent = ScriptedAgent::saying(["Soup."]);
    let host = setup(store, &rule, &till).host(agent.clone()).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("20", "a"), &Default::default()).await.unwrap();
    (host, agent, till, refused.thread)
}

#[tokio::test]
async fn policy_f7_what_was_paid_over_the_price_pays_for_the_next_messages() {
    for (store, _folder) in stores() {
        let (host, agent, till, thread) = paid_host(&store).await;
        for _ in 0..4 {
            assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer());
        }
        // 20 = 4 times 5, and not a coin more.
        assert!(!ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer());
        assert_eq!((agent.heard().len(), till.settled.load(Ordering::SeqCst)), (4, 1));
        assert!(!ask(&host, message("Dinner?")).await.is_answer(), "it is nobody else's");
    }
}

#[tokio::test]
async fn policy_f7_credit_is_not_spent_by_what_its_caller_may_not_have_sent() {
    for (store, _folder) in stores() {
        let (host, _, _, thread) = paid_host(&store).await;
        assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer());
        let mut linked = in_thread("Dinner?", thread.clone());
        linked.sender.allowance = Allowance::WithoutCredit;
        assert!(!ask(&host, linked).await.is_answer());
        for _ in 0..3 {
            assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer(), "nothing was taken");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policy_f7_of_many_at_once_as_many_pass_as_there_is_credit_for() {
    for (store, _folder) in stores() {
        let (host, _, _, thread) = paid_host(&store).await;
        assert!(ask(&host, in_thread("Dinner?", thread.clone())).await.is_answer());
        let asking = (0..6).map(|_| ask(&host, in_thread("Dinner?", thread.clone())));
        let answered = futures::future::join_all(asking).await;
        assert_eq!(answered.iter().filter(|answered| answered.is_answer()).count(), 3);
    }
}

#[tokio::test]
async fn policy_f7_deductions_want_a_consent_and_keep_to_its_caps() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(by_credit("5", Some(("5", "10"))));
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let paid = ask(&host, message("Dinner?")).await;
    let again = || in_thread("Dinner?", paid.thread.clone());
    *till.pays.lock() = Some("100".to_owned());
    host.pay(&paid.state(), &coins("20", "a"), &Default::default()).await.unwrap();
    assert!(ask(&host, again()).await.is_answer(), "paid by itself");
    let asked = ask(&host, again()).await;
    assert_eq!(asked.refusal().kind(), "consent_required");
    host.accept_consent(&asked.state(), &Default::default()).await.unwrap();
    for _ in 0..2 {
        assert!(ask(&host, again()).await.is_answer());
    }
    // The period's cap is used up: it has to be paid, until another month begins.
    assert_eq!(ask(&host, again()).await.refusal().kind(), "payment_required");
    setup.clock.advance(Duration::from_secs(31 * 24 * 60 * 60 - 60));
    assert_eq!(ask(&host, again()).await.refusal().kind(), "payment_required");
    // A message that costs more than the cap on one never passes by credit.
    *rule.0.lock() = Some(by_credit("6", Some(("5", "10"))));
    assert_eq!(ask(&host, again()).await.refusal().kind(), "payment_required");
}

#[tokio::test]
async fn policy_f7_a_deduction_without_an_answer_is_given_back() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(by_credit("20", None));
    *till.pays.lock() = Some("40".to_owned());
    let first = setup(&store, &rule, &till);
    let host = first.host(ScriptedAgent::new(vec![forecourt_testkit::Step::Hang])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("20", "a"), &Default::default()).await.unwrap();
    let again = || in_thread("Dinner?", refused.thread.clone());
    let run = forecourt_host::Run::without_task;
    // By what was paid, then by credit; and the host dies over both.
    for _ in 0..2 {
        std::mem::forget(host.receive(again(), run()).await.unwrap());
    }
    let entropy = Arc::new(forecourt_testkit::CountedEntropy::default());
    for _ in 0..10_000 {
        forecourt_core::Entropy::fill(&*entropy, &mut [0; 1]);
    }
    let next = Setup { entropy, ..setup(&store, &rule, &till) };
    next.clock.advance(Duration::from_secs(1));
    let host = next.host(ScriptedAgent::saying(["Soup."])).await;
    for is_answer in [true, true, false] {
        assert_eq!(ask(&host, again()).await.is_answer(), is_answer);
    }
}
