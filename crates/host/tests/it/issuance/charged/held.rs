//! Payments that a provider holds until their answer, and offers that are made for one state.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{AcceptedPayment, Charge, RefusalKind};
use forecourt_core::{Ending, Event, PolicyPart, Store};
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, VERIFIED_KEPT};
use forecourt_store::Memory;
use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::json;

use super::super::support::{Till, Wants, ask, coins, fee, refused_payment, setup, submitting, with_state};
use crate::faulty::FaultyStore;
use crate::support::{Setup, message};

fn counted(till: &Till) -> [usize; 3] {
    [&till.held, &till.settled, &till.released].map(|count| count.load(Ordering::SeqCst))
}

async fn host_of(till: &Arc<Till>) -> Arc<forecourt_host::Host> {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    setup(&store, &Wants::this(fee("5", Charge::After)), till).host(ScriptedAgent::saying(["Soup."])).await
}

#[tokio::test]
async fn what_is_held_is_taken_with_the_answer() {
    let till = Arc::new(Till { holds: true, ..Till::default() });
    let host = host_of(&till).await;
    let refused = ask(&host, message("Dinner?")).await;
    let paid = host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert!(matches!(paid, IssuanceOutcome::Verified(None)), "{paid:?}");
    assert_eq!(counted(&till), [1, 0, 0]);
    assert!(ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
    assert_eq!(counted(&till), [1, 1, 0]);
}

#[tokio::test]
async fn what_is_not_held_is_let_go_of_and_the_state_stays_open() {
    let till = Arc::new(Till { holds: true, ..Till::default() });
    till.hold_says.lock().push(refused_payment("processor_declined"));
    let host = host_of(&till).await;
    let refused = ask(&host, message("Dinner?")).await;
    let paid = host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert!(matches!(&paid, IssuanceOutcome::Refused(fault) if fault.code == "processor_declined"), "{paid:?}");
    let status = host.issuance(&refused.state()).await.unwrap().unwrap().status;
    assert_eq!((counted(&till), status), ([1, 0, 1], IssuanceStatus::Issued));
    host.pay(&refused.state(), &coins("5", "b"), &Default::default()).await.unwrap();
    assert!(ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
    assert_eq!(counted(&till), [2, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_who_pay_one_state_one_is_held_and_taken() {
    let till = Arc::new(Till { holds: true, ..Till::default() });
    let host = host_of(&till).await;
    let refused = ask(&host, message("Dinner?")).await;
    let state = refused.state();
    let pay = |number: usize| {
        // The same payment again and again, and others for the same state.
        let (host, state, paid) =
            (host.clone(), state.clone(), coins("5", if number.is_multiple_of(2) { "a" } else { "b" }));
        tokio::spawn(async move { host.pay(&state, &paid, &Default::default()).await.unwrap() })
    };
    let paid = futures::future::join_all((0..200).map(pay)).await;
    let taken = paid.iter().filter(|one| matches!(one, Ok(IssuanceOutcome::Verified(_)))).count();
    assert_eq!((taken, counted(&till)), (1, [1, 0, 0]));
    let again = |_| {
        let (host, message) = (host.clone(), with_state("Dinner?", refused.thread.clone(), &state));
        tokio::spawn(async move { ask(&host, message).await.is_answer() })
    };
    let answers = futures::future::join_all((0..12).map(again)).await;
    assert_eq!(answers.into_iter().filter(|answer| matches!(answer, Ok(true))).count(), 1);
    assert_eq!(counted(&till), [1, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn while_a_payment_is_being_held_nobody_else_lets_go_of_it() {
    let (store, rule): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Wants::this(fee("5", Charge::After)));
    let node = async |till: &Arc<Till>| {
        let setup = Setup { alone: false, ..setup(&store, &rule, till) };
        let agent = ScriptedAgent::saying(["Soup."]);
        setup.host_with(agent, setup.clock.clone(), Arc::new(forecourt_host::SystemEntropy)).await
    };
    let slow = Arc::new(Till { holds: true, hold_hangs: true, ..Till::default() });
    let one = node(&slow).await;
    let state = ask(&one, message("Dinner?")).await.state();
    let (host, paid) = (one.clone(), state.clone());
    let paying = tokio::spawn(async move { host.pay(&paid, &coins("5", "a"), &Default::default()).await.unwrap() });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = Arc::new(Till { holds: true, ..Till::default() });
    let two = node(&other).await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert_eq!((counted(&slow), counted(&other)), ([1, 0, 0], [0, 0, 0]), "it is under way");
    let IssuanceOutcome::Refused(fault) = paying.await.unwrap() else { panic!() };
    assert_eq!((fault.code.as_str(), counted(&slow)), ("hold_timed_out", [1, 0, 1]), "by whoever asked");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let status = two.issuance(&state).await.unwrap().unwrap().status;
    assert_eq!((counted(&other), status), ([0, 0, 0], IssuanceStatus::Issued));
}

#[tokio::test(start_paused = true)]
async fn what_is_held_while_the_store_fails_is_let_go_of() {
    // It is lost that it is held, or that this was written.
    for fails in [FaultyStore::set_away, FaultyStore::set_mute] {
        let store = Arc::new(FaultyStore::of(Arc::new(Memory::new())));
        let till = Arc::new(Till { holds: true, ..Till::default() });
        let failing = store.clone();
        *till.while_held.lock() = Some(Box::new(move || fails(&failing, true)));
        let kept: Arc<dyn Store> = store.clone();
        let setup = setup(&kept, &Wants::this(fee("5", Charge::After)), &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let state = ask(&host, message("Dinner?")).await.state();
        assert!(host.pay(&state, &coins("5", "a"), &Default::default()).await.is_err());
        fails(&store, false);
        // Nobody comes for the answer.
        setup.clock.advance(VERIFIED_KEPT + Duration::from_secs(1));
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(counted(&till), [1, 0, 1]);
    }
}

#[tokio::test]
async fn an_offer_is_made_for_its_state() {
    let till = Arc::new(Till { presents: true, ..Till::default() });
    let host = host_of(&till).await;
    let offered = |part: &PolicyPart| match &part.kind {
        RefusalKind::PaymentRequired { accepted_payments } => json!(accepted_payments[0].payload),
        other => panic!("{other:?}"),
    };
    let (one, two) = (ask(&host, message("Dinner?")).await, ask(&host, message("Lunch?")).await);
    let (first, second) = (offered(one.refusal()), offered(two.refusal()));
    assert_eq!((first["amount"].as_str(), first["for"].as_str().map(str::len)), (Some("5"), Some(64)));
    assert_ne!(first["for"], second["for"]);
    let kept = host.issuance(&one.state()).await.unwrap().unwrap().requirement;
    assert_eq!(json!(kept)["demand"]["accepted"][0]["payload"], first, "as it was made");
    host.pay(&one.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert!(
        ask(&host, with_state("Dinner?", one.thread.clone(), &one.state())).await.is_answer(),
        "the terms are the same"
    );
}

#[tokio::test]
async fn why_a_payment_was_refused_is_told_in_each_language() {
    let till = Arc::new(Till { holds: true, ..Till::default() });
    till.hold_says.lock().push(refused_payment("processor_declined"));
    let host = host_of(&till).await;
    let refused = ask(&host, message("Dinner?")).await;
    let paying = submitting("Dinner?", refused.thread.clone(), Some(refused.state()), Some(coins("5", "a")));
    let told = ask(&host, paying).await;
    let part = told.refusal();
    assert_eq!(part.code.as_deref(), Some("payment:processor_declined"));
    for (language, words) in [("de", "Die Zahlung wurde abgelehnt"), ("fr", "Le paiement"), ("es", "El pago")] {
        let message = &part.message_translations[language].message;
        assert!(message.starts_with(words) && message.ends_with("First this."), "{message}");
    }
}

#[tokio::test]
async fn what_an_agent_offers_is_not_signed_for_it() {
    let till = Arc::new(Till { presents: true, ..Till::default() });
    let offer = AcceptedPayment { scheme: "till.exact".to_owned(), payload: Default::default() };
    let part = PolicyPart::new(RefusalKind::PaymentRequired { accepted_payments: vec![offer] }, "Pay me.");
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Refused(Box::new(part))))]);
    let host = Setup { schemes: vec![till], ..Setup::default() }.host(agent).await;
    let refused = ask(&host, message("Dinner?")).await;
    let RefusalKind::PaymentRequired { accepted_payments } = &refused.refusal().kind else { panic!() };
    assert!(accepted_payments[0].payload.is_empty(), "{accepted_payments:?}");
}
