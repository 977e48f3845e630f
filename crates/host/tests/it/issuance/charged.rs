//! A payment is taken for an answer, and not for an attempt: each way in which an answer ends, charged after and before.

mod chance;
mod held;
mod killed;
mod late;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{Charge, PolicyPart, RefusalKind, Settlement};
use forecourt_core::{Ending, Event, Question, Store};
use forecourt_host::{Host, Run, Target};
use forecourt_issuance::{Issuance, IssuanceStatus};
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use super::support::{
    Answered, PaidServer, Till, Wants, ask, coins, fee, paid_server, refused_payment, setup, stores, submitting,
    with_state,
};
use crate::support::{Setup, message};

/// A host with one way to charge, and somebody who has paid for the state of a refusal.
pub(super) struct Paid {
    pub(super) setup: Setup,
    pub(super) till: Arc<Till>,
    pub(super) rule: Arc<Wants>,
    pub(super) host: Arc<Host>,
    pub(super) refused: Answered,
}

impl Paid {
    pub(super) async fn at(store: &Arc<dyn Store>, charge: Charge, agent: Arc<ScriptedAgent>) -> Self {
        Self::of(store, charge, agent, Arc::default()).await
    }

    async fn of(store: &Arc<dyn Store>, charge: Charge, agent: Arc<ScriptedAgent>, till: Arc<Till>) -> Self {
        let rule = Wants::this(fee("5", charge));
        let setup = setup(store, &rule, &till);
        let host = setup.host(agent).await;
        let refused = ask(&host, message("Dinner?")).await;
        host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
        Self { setup, till, rule, host, refused }
    }

    /// The same message with the state that was paid for.
    pub(super) fn again(&self) -> forecourt_core::Message {
        with_state("", self.refused.thread.clone(), &self.refused.state())
    }

    pub(super) async fn issuance(&self) -> Issuance {
        self.host.issuance(&self.refused.state()).await.unwrap().unwrap()
    }

    /// Where it stands, how often it was settled, and whether there is a receipt.
    pub(super) async fn stands(&self) -> (IssuanceStatus, usize, bool) {
        let issuance = self.issuance().await;
        (issuance.status, self.settled(), issuance.receipt.is_some())
    }

    pub(super) fn settled(&self) -> usize {
        self.till.settled.load(Ordering::SeqCst)
    }

    /// Another agent on the same store, that answers.
    async fn answering(&self) -> Arc<Host> {
        self.setup.host(ScriptedAgent::saying(["Soup."])).await
    }
}

fn ends(ending: Ending) -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Do(Event::Ending(ending))])
}

/// Each ending that is an answer, and each that is none.
fn endings() -> Vec<(Ending, bool)> {
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "Not today.");
    vec![
        (Ending::Complete, true),
        (Ending::Message("Soup.".to_owned()), true),
        (Ending::Question(Question::new("Hot?".to_owned())), true),
        (Ending::SignIn(Box::default()), false),
        (Ending::Refused(Box::new(refusal)), false),
        (Ending::declined("No soup."), false),
        (Ending::failed("No salt."), false),
        (Ending::Canceled, false),
    ]
}

#[tokio::test]
async fn an_answer_is_charged_for_and_what_is_none_is_not() {
    for (ending, is_answer) in endings() {
        for charge in [Charge::After, Charge::Before] {
            for (store, _folder) in stores() {
                let paid = Paid::at(&store, charge, ends(ending.clone())).await;
                let is_before = charge == Charge::Before;
                assert_eq!(paid.stands().await, (IssuanceStatus::Verified, usize::from(is_before), is_before));
                let answered = ask(&paid.host, paid.again()).await;
                assert_eq!(answered.ending.code(), ending.code(), "{charge:?}");
                let is_taken = is_answer || is_before;
                assert_eq!(answered.receipt.is_some(), is_taken, "{ending:?} {charge:?}");
                let stands = if is_answer { IssuanceStatus::Consumed } else { IssuanceStatus::Verified };
                assert_eq!(paid.stands().await, (stands, usize::from(is_taken), is_taken), "{ending:?} {charge:?}");
                // It is owed, or still reserved: the same state is answered, and once.
                let host = paid.answering().await;
                for may_pass in [!is_answer, false] {
                    assert_eq!(ask(&host, paid.again()).await.is_answer(), may_pass, "{ending:?} {charge:?}");
                }
                assert_eq!(paid.settled(), 1);
            }
        }
    }
}

#[tokio::test]
async fn a_failure_says_what_became_of_the_money() {
    for (charge, words) in [(Charge::After, "Nothing was charged."), (Charge::Before, "What you paid is kept")] {
        let paid = Paid::at(&stores().remove(0).0, charge, ends(Ending::failed("No salt."))).await;
        let Ending::Failed { reason, .. } = ask(&paid.host, paid.again()).await.ending else { panic!() };
        assert!(reason.starts_with("No salt. ") && reason.contains(words), "{reason}");
    }
}

#[tokio::test]
async fn an_agent_that_panics_charges_nothing() {
    for (store, _folder) in stores() {
        let paid = Paid::at(&store, Charge::After, ScriptedAgent::new(vec![Step::Panic])).await;
        assert!(matches!(ask(&paid.host, paid.again()).await.ending, Ending::Failed { .. }));
        assert_eq!(paid.stands().await, (IssuanceStatus::Verified, 0, false));
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_takes_too_long_charges_nothing() {
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_secs(121))]);
    let paid = Paid::at(&stores().remove(0).0, Charge::After, agent).await;
    assert_eq!(ask(&paid.host, paid.again()).await.ending.code(), "timed-out");
    assert_eq!(paid.stands().await, (IssuanceStatus::Verified, 0, false));
}

#[tokio::test]
async fn who_leaves_in_the_middle_is_not_charged_and_may_come_back() {
    for (store, _folder) in stores() {
        let agent = ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Hang]);
        let paid = Paid::at(&store, Charge::After, agent).await;
        let mut reply = paid.host.receive(paid.again(), Run::without_task()).await.unwrap();
        reply.events.next().await.unwrap();
        drop(reply);
        // It is written behind.
        while paid.issuance().await.status != IssuanceStatus::Verified {
            tokio::task::yield_now().await;
        }
        assert_eq!(paid.settled(), 0);
        assert!(ask(&*paid.answering().await, paid.again()).await.is_answer());
        assert_eq!(paid.settled(), 1);
    }
}

#[tokio::test]
async fn the_agent_is_told_of_the_offer_and_the_payer_before_anything_is_taken() {
    let agent = ScriptedAgent::saying(["Soup."]);
    let paid = Paid::at(&stores().remove(0).0, Charge::After, agent.clone()).await;
    assert!(paid.issuance().await.is_reserved);
    assert!(ask(&paid.host, paid.again()).await.is_answer());
    let resolution = agent.heard()[0].policy_resolution.clone().unwrap();
    let forecourt_core::policy::Confirmation::PaymentRequired(told) = &resolution.confirmation else { panic!() };
    assert_eq!((told.payer.as_deref(), told.transaction.as_deref()), (Some("0xada"), None));
    assert_eq!(told.original_payload["amount"], "5");
}

#[tokio::test]
async fn a_payment_in_band_is_charged_for_its_answer_and_known_when_it_comes_again() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(fee("5", Charge::After)), Arc::<Till>::default());
        let setup = setup(&store, &rule, &till);
        let failing = setup.host(ends(Ending::failed("No salt."))).await;
        let paying = |text: &str| submitting(text, None, None, Some(coins("5", "a")));
        assert!(matches!(ask(&failing, paying("Dinner?")).await.ending, Ending::Failed { .. }));
        assert_eq!(till.settled.load(Ordering::SeqCst), 0);
        // From nowhere, with the payment alone: who has it is its payer. The words that were said stay with whoever
        // is known by more.
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup.host(agent.clone()).await;
        let answered = ask(&host, paying("Lunch?")).await;
        assert!(answered.is_answer() && answered.receipt.is_some());
        assert_eq!(agent.heard()[0].text(), "Lunch?");
        let again = ask(&host, paying("Lunch?")).await;
        assert_eq!(again.refusal().code.as_deref(), Some("payment:payment_already_used"));
        assert!(again.refusal().message.contains("UTC"), "{}", again.refusal().message);
        assert_eq!((agent.heard().len(), till.settled.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(till.verified.load(Ordering::SeqCst), 1, "a replay is known without asking");
    }
}

#[tokio::test]
async fn a_payment_that_is_only_named_is_not_taken_for_the_payment() {
    let store = stores().remove(0).0;
    let paid = Paid::at(&store, Charge::After, ScriptedAgent::saying(["Soup."])).await;
    // The same nonce, which a network shows to everybody, and another signature.
    let mut named = coins("5", "a");
    named.payload.insert("signature".to_owned(), "guessed".into());
    let refused = ask(&paid.host, submitting("Dinner?", None, None, Some(named))).await;
    assert_eq!(refused.refusal().code.as_deref(), Some("payment:payment_already_used"));
    assert_eq!(paid.stands().await, (IssuanceStatus::Verified, 0, false));
    assert!(ask(&paid.host, submitting("Dinner?", None, None, Some(coins("5", "a")))).await.is_answer());
}

#[tokio::test]
async fn twelve_at_once_get_one_answer_and_one_charge() {
    for (store, _folder) in stores() {
        let paid = Paid::at(&store, Charge::After, ScriptedAgent::saying(["Soup."])).await;
        let by_state = (0..6).map(|_| paid.again());
        let by_payment = (0..6).map(|_| submitting("Dinner?", None, None, Some(coins("5", "a"))));
        let asking = by_state.chain(by_payment).map(|message| {
            let host = paid.host.clone();
            tokio::spawn(async move { ask(&host, message).await.is_answer() })
        });
        let answered = futures::future::join_all(asking).await;
        assert_eq!(answered.into_iter().filter(|is_answer| *is_answer.as_ref().unwrap()).count(), 1);
        assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_twelve_payments_for_one_state_one_is_taken() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(fee("5", Charge::After)), Arc::<Till>::default());
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup(&store, &rule, &till).host(agent.clone()).await;
        let refused = ask(&host, message("Dinner?")).await;
        let asking = (0..12).map(|number| {
            let payment = coins("5", &number.to_string());
            let message = submitting("", refused.thread.clone(), Some(refused.state()), Some(payment));
            let host = host.clone();
            tokio::spawn(async move { ask(&host, message).await.is_answer() })
        });
        let answered = futures::future::join_all(asking).await;
        let answers = answered.into_iter().filter(|is_answer| *is_answer.as_ref().unwrap()).count();
        // Who comes when it is answered may pay for an answer of its own.
        assert_eq!((answers, till.settled.load(Ordering::SeqCst)), (agent.heard().len(), answers));
        let found = host.issuance(&refused.state()).await.unwrap().unwrap();
        assert!(found.status == IssuanceStatus::Consumed && found.receipt.is_some());
    }
}

#[tokio::test]
async fn a_rule_that_charges_otherwise_by_now_takes_what_was_reserved_as_it_was() {
    let store = stores().remove(0).0;
    let paid = Paid::at(&store, Charge::After, ScriptedAgent::saying(["Soup."])).await;
    *paid.rule.0.lock() = Some(fee("5", Charge::Before));
    assert!(ask(&paid.host, paid.again()).await.is_answer());
    assert_eq!(paid.stands().await, (IssuanceStatus::Consumed, 1, true));
}

#[tokio::test]
async fn a_task_keeps_the_receipt_of_what_was_paid_at_its_end() {
    for (store, _folder) in stores() {
        let paid = Paid::at(&store, Charge::After, ScriptedAgent::saying(["Soup."])).await;
        let reply = paid.host.receive(paid.again(), Run::in_background(None)).await.unwrap();
        let (task, receipt) = (reply.task.clone().unwrap(), reply.receipt.clone());
        assert!(super::support::finish(reply).await.is_answer());
        assert_eq!(receipt.get().unwrap()["success"], true);
        let kept = paid.host.task(&task, forecourt_host::TaskAccess::ById).await.unwrap();
        assert_eq!(kept.outcome.as_ref().unwrap().receipt.as_deref(), receipt.get());
    }
}

#[tokio::test]
async fn a_call_of_a_server_is_charged_for_when_it_is_answered() {
    for (store, _folder) in stores() {
        let PaidServer { host, till, gate, state, thread } = paid_server(&store, fee("5", Charge::After)).await;
        let forward = async |message| host.forward(&gate, Target::Other, message).await.unwrap();
        let again = || with_state("x", thread.clone(), &state);
        let mut failing = forward(again()).await.ok().unwrap();
        failing.begin();
        let Ending::Failed { reason, .. } = failing.end(Ending::failed("Busy.")).await else { panic!() };
        assert_eq!(reason, "Busy. Nothing was charged.");
        let mut dropped = forward(again()).await.ok().unwrap();
        dropped.begin();
        drop(dropped);
        while host.issuance(&state).await.unwrap().unwrap().status != IssuanceStatus::Verified {
            tokio::task::yield_now().await;
        }
        assert_eq!(till.settled.load(Ordering::SeqCst), 0);
        let mut heard = forward(again()).await.ok().unwrap();
        heard.begin();
        let receipt = heard.receipt().clone();
        assert_eq!((receipt.get(), heard.end(Ending::Complete).await), (None, Ending::Complete));
        assert!(receipt.get().is_some());
        assert!(forward(again()).await.is_err(), "it was paid once");
        // Where its payment is refused at the end, the server's answer is withheld.
        *till.says.lock() = vec![Settlement::Refused(refused_payment("insufficient_funds"))];
        let mut unpaid = forward(submitting("x", None, None, Some(coins("5", "b")))).await.ok().unwrap();
        unpaid.begin();
        let Ending::Refused(part) = unpaid.end(Ending::Complete).await else { panic!() };
        assert_eq!(part.code.as_deref(), Some("payment:insufficient_funds"));
    }
}
