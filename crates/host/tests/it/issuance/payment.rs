//! A payment, from the offer to its use.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::Ending;
use forecourt_core::policy::{Confirmation, PaidFor, RefusalKind, Settlement};
use forecourt_host::Target;
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, PAYMENT_WAIT_SECONDS};
use forecourt_testkit::ScriptedAgent;

use super::support::{
    PaidServer, Till, Wants, ask, coins, paid_server, payment, refused_payment, setup, stores, submitting, with_state,
};
use crate::support::{in_thread, message};

#[tokio::test]
async fn policy5_6_the_agent_is_told_of_the_offer_that_was_made_and_not_of_the_payers() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup(&store, &rule, &till).host(agent.clone()).await;
        let refused = ask(&host, message("Dinner?")).await;
        let (part, state) = (refused.refusal(), refused.state());
        part.validate("demo.localhost").unwrap();
        assert_eq!(part.url.as_deref(), Some(format!("https://demo.localhost/pay/{}", state.expose()).as_str()));
        let IssuanceOutcome::Verified(Some(_)) = host.pay(&state, &coins("5", "a"), &Default::default()).await.unwrap()
        else {
            panic!()
        };
        let answered = ask(&host, with_state("", refused.thread.clone(), &state)).await;
        assert!(answered.is_answer() && answered.receipt.is_some());
        let resolution = agent.heard()[0].policy_resolution.clone().unwrap();
        let Confirmation::PaymentRequired(paid) = &resolution.confirmation else { panic!("{resolution:?}") };
        assert_eq!(paid.original_payload["amount"], "5");
        assert_eq!((paid.transaction.as_deref(), paid.payer.as_deref()), (Some("tx-a"), Some("0xada")));
        // Paid once, answered once.
        assert!(!ask(&host, with_state("Dinner?", refused.thread.clone(), &state)).await.is_answer());
        assert_eq!(
            host.pay(&state, &coins("5", "b"), &Default::default()).await.unwrap(),
            IssuanceOutcome::Late(IssuanceStatus::Consumed)
        );
        assert_eq!((agent.heard().len(), till.settled.load(Ordering::SeqCst)), (1, 1));
    }
}

#[tokio::test]
async fn policy5_3_a_payment_in_band_is_settled_and_answered_at_once() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup(&store, &rule, &till).host(agent.clone()).await;
        let paying = |nonce| submitting("Dinner?", None, None, Some(coins("5", nonce)));
        let answered = ask(&host, paying("a")).await;
        assert!(answered.is_answer() && answered.receipt.is_some());
        // The same payment again pays for nothing.
        let again = ask(&host, paying("a")).await;
        assert_eq!(again.refusal().code.as_deref(), Some("payment:payment_already_used"));
        assert_eq!((agent.heard().len(), till.settled.load(Ordering::SeqCst)), (1, 1));
        assert!(ask(&host, paying("b")).await.is_answer());
    }
}

#[tokio::test]
async fn a_payment_that_is_refused_takes_nothing_and_another_one_works() {
    let (store, rule) = (stores().remove(0).0, Wants::this(payment("5", PaidFor::Turn)));
    let till = Arc::new(Till::default());
    *till.says.lock() = vec![Settlement::Refused(refused_payment("insufficient_funds"))];
    let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let mut forged = coins("5", "a");
    forged.payload.insert("forged".to_owned(), true.into());
    for (payment, code) in [
        (forged, "invalid_signature"),
        (coins("4", "a"), "invalid_payment_requirements"),
        (coins("5", "a"), "insufficient_funds"),
    ] {
        let outcome = host.pay(&refused.state(), &payment, &Default::default()).await.unwrap();
        let IssuanceOutcome::Refused(fault) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fault.code, code);
        assert_eq!(host.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Issued);
    }
    // What was definitely not taken may be tried again.
    let IssuanceOutcome::Verified(_) = host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap()
    else {
        panic!()
    };
    assert!(ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
}

#[tokio::test(start_paused = true)]
async fn s9_5_a_settlement_that_nobody_knows_of_is_asked_about_and_never_offered_again() {
    let store = stores().remove(0).0;
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let till = Arc::new(Till::default());
    *till.says.lock() = vec![Settlement::Unknown("timed out".to_owned()), Settlement::Unknown("still".to_owned())];
    let agent = ScriptedAgent::saying(["Soup."]);
    let host = setup(&store, &rule, &till).host(agent.clone()).await;
    let refused = ask(&host, message("Dinner?")).await;
    let outcome = host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert_eq!(outcome, IssuanceOutcome::Late(IssuanceStatus::Indeterminate));
    // Neither by its state, nor by another payment, nor by beginning again in the same conversation.
    assert_eq!(host.pay(&refused.state(), &coins("5", "b"), &Default::default()).await.unwrap(), outcome);
    for message in [
        with_state("Dinner?", refused.thread.clone(), &refused.state()),
        in_thread("Dinner?", refused.thread.clone()),
        submitting("Dinner?", refused.thread.clone(), Some(refused.state()), Some(coins("5", "b"))),
    ] {
        let answered = ask(&host, message).await;
        let RefusalKind::ServiceUnavailable { retry_after_seconds: Some(_) } = answered.refusal().kind else {
            panic!("{:?}", answered.refusal())
        };
    }
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(till.reconciled.load(Ordering::SeqCst), 2, "asked again, and then it was known");
    assert!(ask(&host, in_thread("Dinner?", refused.thread.clone())).await.is_answer());
    assert_eq!((till.settled.load(Ordering::SeqCst), agent.heard().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn settling_has_a_deadline_after_which_nobody_knows() {
    let (store, rule) = (stores().remove(0).0, Wants::this(payment("5", PaidFor::Turn)));
    let till = Arc::new(Till { hangs: true, ..Till::default() });
    let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let outcome = host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert_eq!(outcome, IssuanceOutcome::Late(IssuanceStatus::Indeterminate));
}

#[tokio::test]
async fn a_period_that_is_paid_for_lets_pass_to_its_end() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(payment("5", PaidFor::Period { seconds: 60 }));
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    for _ in 0..3 {
        assert!(ask(&host, in_thread("Dinner?", refused.thread.clone())).await.is_answer());
    }
    setup.clock.advance(Duration::from_secs(59));
    assert!(ask(&host, in_thread("Dinner?", refused.thread.clone())).await.is_answer());
    setup.clock.advance(Duration::from_secs(1));
    assert!(!ask(&host, in_thread("Dinner?", refused.thread.clone())).await.is_answer());
}

#[tokio::test]
async fn an_offer_can_be_paid_to_the_last_second_and_not_after_it() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let setup = setup(&store, &rule, &till);
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let [in_time, late] = [ask(&host, message("Dinner?")).await, ask(&host, message("Dinner?")).await];
    setup.clock.advance(Duration::from_secs(PAYMENT_WAIT_SECONDS - 1));
    let IssuanceOutcome::Verified(_) = host.pay(&in_time.state(), &coins("5", "a"), &Default::default()).await.unwrap()
    else {
        panic!()
    };
    setup.clock.advance(Duration::from_secs(1));
    assert_eq!(
        host.pay(&late.state(), &coins("5", "b"), &Default::default()).await.unwrap(),
        IssuanceOutcome::Late(IssuanceStatus::Expired)
    );
    assert_eq!(till.settled.load(Ordering::SeqCst), 1);
    // What was paid may be used for longer than it could be paid.
    assert!(ask(&host, with_state("", in_time.thread.clone(), &in_time.state())).await.is_answer());
}

#[tokio::test]
async fn a_paid_call_of_which_its_server_never_heard_stays_paid() {
    for (store, _folder) in stores() {
        let wanted = payment("5", PaidFor::Turn);
        let PaidServer { host, till, gate, state, thread } = paid_server(&store, wanted).await;
        let forward = async |message| host.forward(&gate, Target::Other, message).await.unwrap();
        let again = || with_state("x", thread.clone(), &state);
        // The server is busy or left alone, or a sign-in is missing.
        forward(again()).await.ok().unwrap().end(Ending::failed("busy")).await;
        // It did not take a token, and did nothing.
        let mut turned_away = forward(again()).await.ok().unwrap();
        turned_away.begin();
        turned_away.take_back();
        turned_away.end(Ending::failed("not signed in")).await;
        let mut heard = forward(again()).await.ok().unwrap();
        heard.begin();
        assert!(heard.receipt().get().is_some());
        heard.end(Ending::Complete).await;
        assert!(forward(again()).await.is_err(), "it was paid once");
        assert_eq!(till.settled.load(Ordering::SeqCst), 1);
    }
}
