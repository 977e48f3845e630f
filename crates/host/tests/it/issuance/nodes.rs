//! What one node is answering by a payment, no other one answers; what a node that died left is used again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{Charge, PaidFor};
use forecourt_core::{Event, Store};
use forecourt_host::{LEASE, Run};
use forecourt_issuance::IssuanceStatus;
use forecourt_store::Memory;
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;

use super::support::{Till, Wants, ask, coins, fee, payment, setup, with_state};
use crate::faulty::FaultyStore;
use crate::support::{Setup, message};

#[tokio::test(start_paused = true)]
async fn a_payment_is_used_on_one_node_and_again_only_when_that_one_is_dead() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (dying, rule) = (Arc::new(FaultyStore::of(store.clone())), Wants::this(payment("5", PaidFor::Turn)));
    let node = async |store: Arc<dyn Store>, agent| {
        let setup =
            Setup { store: store.clone(), alone: false, remembers: true, ..setup(&store, &rule, &Arc::default()) };
        setup.host_with(agent, setup.clock.clone(), Arc::new(forecourt_host::SystemEntropy)).await
    };
    let hangs = ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Hang]);
    let one = node(dying.clone(), hangs).await;
    let answers = ScriptedAgent::saying(["Soup."]);
    // It begins later, which must not make the first one dead.
    tokio::time::advance(Duration::from_secs(2)).await;
    let two = node(store.clone(), answers.clone()).await;
    let refused = ask(&one, message("Dinner?")).await;
    two.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    let again = || with_state("", refused.thread.clone(), &refused.state());
    let mut reply = one.receive(again(), Run::without_task()).await.unwrap();
    assert_eq!(reply.events.next().await, Some(Event::Text("So".to_owned())));
    for _ in 0..3 {
        assert_eq!(two.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Consumed);
        assert!(!ask(&two, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
        tokio::time::sleep(LEASE).await;
    }
    dying.set_away(true);
    tokio::time::sleep(LEASE * 2).await;
    assert_eq!(two.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Verified);
    assert!(ask(&two, again()).await.is_answer());
    assert_eq!(answers.heard()[0].text(), "Dinner?");
    drop(reply);
}

#[tokio::test(start_paused = true)]
async fn what_is_reserved_on_one_node_is_charged_on_another_and_once() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (rule, till) = (Wants::this(fee("5", Charge::After)), Arc::<Till>::default());
    let node = async |till: &Arc<Till>, agent| {
        let setup = Setup { alone: false, ..setup(&store, &rule, till) };
        setup.host_with(agent, setup.clock.clone(), Arc::new(forecourt_host::SystemEntropy)).await
    };
    // The first one is asked for the money, and never hears whether it was taken.
    let hung = Arc::new(Till { hangs: true, ..Till::default() });
    let one = node(&hung, ScriptedAgent::saying(["Soup."])).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    let two = node(&till, ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&one, message("Dinner?")).await;
    two.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    let again = with_state("", refused.thread.clone(), &refused.state());
    let asked = again.clone();
    let answer = tokio::spawn(async move { ask(&one, asked).await.is_answer() });
    tokio::time::sleep(Duration::from_secs(5)).await;
    // Whoever looks meanwhile leaves it to the node that is at it.
    assert!(!ask(&two, again.clone()).await.is_answer());
    assert!(answer.await.unwrap());
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(!ask(&two, again.clone()).await.is_answer());
    assert_eq!(hung.settled.load(Ordering::SeqCst) + till.settled.load(Ordering::SeqCst), 1);
}
