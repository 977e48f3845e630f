//! A host that dies before, while and after it charges for an answer. It lives in a runtime of its own, which is dropped
//! as a process that is killed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{Charge, PaymentScheme};
use forecourt_core::{Event, Message, StateToken, Store, ThreadId};
use forecourt_host::Run;
use forecourt_issuance::{IssuanceStatus, SETTLE_TIME_MAX};
use forecourt_store::Memory;
use forecourt_testkit::{CountedEntropy, HandClock, ScriptedAgent, Step};
use futures::StreamExt;

use super::super::support::{Till, Wants, ask, coins, fee, with_state};
use crate::support::{Setup, message};

/// How far the first run comes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reached {
    /// The payment is checked.
    Reserved,
    /// The agent is at work.
    Working,
    /// The facilitator was asked to take the money, and has not said whether it did.
    Settling,
    /// It was taken, and the answer is told.
    Answered,
}

/// The setup of one of several runs after one another.
fn run(number: u64, store: &Arc<dyn Store>, till: &Arc<Till>) -> Setup {
    let (clock, entropy) = (Arc::new(HandClock::new()), Arc::new(CountedEntropy::default()));
    clock.advance(Duration::from_secs(number));
    for _ in 0..number * 10_000 {
        forecourt_core::Entropy::fill(&*entropy, &mut [0; 1]);
    }
    let (rule, schemes) = (Wants::this(fee("5", Charge::After)), vec![till.clone() as Arc<dyn PaymentScheme>]);
    Setup { store: store.clone(), rules: vec![rule], schemes, clock, entropy, remembers: true, ..Setup::default() }
}

/// Runs something whose end is the end of its process. The clock goes on by itself when nothing else happens.
fn process<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

fn first_run(store: &Arc<dyn Store>, reached: Reached) -> (Option<ThreadId>, StateToken, usize) {
    process(async {
        let till = Arc::new(Till { hangs: reached == Reached::Settling, ..Till::default() });
        let agent = match reached {
            Reached::Working => ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Hang]),
            _ => ScriptedAgent::saying(["Soup."]),
        };
        let host = run(0, store, &till).host(agent).await;
        let refused = ask(&host, message("Dinner?")).await;
        host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
        let (thread, state) = (refused.thread.clone(), refused.state());
        if reached != Reached::Reserved {
            let reply = host.receive(with_state("", thread.clone(), &state), Run::without_task()).await.unwrap();
            // Long enough for what is not stuck, and too short for the deadlines of what is.
            let all = tokio::time::timeout(Duration::from_secs(1), reply.events.collect::<Vec<_>>()).await;
            assert_eq!(all.is_ok(), reached == Reached::Answered);
        }
        (thread, state, till.settled.load(Ordering::SeqCst))
    })
}

#[test]
fn whenever_a_host_dies_there_is_one_charge_and_one_answer() {
    for reached in [Reached::Reserved, Reached::Working, Reached::Settling, Reached::Answered] {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let (thread, state, settled) = first_run(&store, reached);
        assert_eq!(settled, usize::from(matches!(reached, Reached::Settling | Reached::Answered)));
        let again = |text: &str| -> Message { with_state(text, thread.clone(), &state) };
        process(async {
            let till = Arc::<Till>::default();
            let agent = ScriptedAgent::saying(["Soup."]);
            let host = run(1, &store, &till).host(agent.clone()).await;
            let status = async || host.issuance(&state).await.unwrap().unwrap().status;
            if reached == Reached::Settling {
                assert_eq!(status().await, IssuanceStatus::Indeterminate);
                assert!(!ask(&host, again("Dinner?")).await.is_answer());
                tokio::time::sleep(Duration::from_secs(10)).await;
                assert_eq!(till.reconciled.load(Ordering::SeqCst), 1, "it was taken, so the answer is owed");
            }
            let is_open = reached != Reached::Answered;
            for may_pass in [is_open, false] {
                assert_eq!(ask(&host, again("Dinner?")).await.is_answer(), may_pass, "{reached:?}");
            }
            let settles = usize::from(matches!(reached, Reached::Reserved | Reached::Working));
            assert_eq!((agent.heard().len(), till.settled.load(Ordering::SeqCst)), (usize::from(is_open), settles));
            let found = host.issuance(&state).await.unwrap().unwrap();
            assert!(found.status == IssuanceStatus::Consumed && found.receipt.is_some(), "{reached:?}");
        });
    }
}

#[test]
fn a_host_that_dies_while_a_payment_is_held_lets_go_of_it() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let (thread, state) = process(async {
        let till = Arc::new(Till { holds: true, hold_hangs: true, ..Till::default() });
        let host = run(0, &store, &till).host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        let (state, paid) = (refused.state(), coins("5", "a"));
        let origin = Default::default();
        let held = tokio::time::timeout(Duration::from_secs(1), host.pay(&state, &paid, &origin)).await;
        assert!(held.is_err() && till.held.load(Ordering::SeqCst) == 1, "it is under way");
        (refused.thread.clone(), state)
    });
    process(async {
        let till = Arc::new(Till { holds: true, ..Till::default() });
        let setup = run(1, &store, &till);
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let status = async || host.issuance(&state).await.unwrap().unwrap().status;
        assert_eq!(status().await, IssuanceStatus::Indeterminate);
        assert!(!ask(&host, with_state("Dinner?", thread.clone(), &state)).await.is_answer());
        // As long as it may still be under way at its provider nobody gets in between.
        setup.clock.advance(SETTLE_TIME_MAX - Duration::from_secs(2));
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!((till.released.load(Ordering::SeqCst), status().await), (0, IssuanceStatus::Indeterminate));
        setup.clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!((till.released.load(Ordering::SeqCst), status().await), (1, IssuanceStatus::Issued));
        host.pay(&state, &coins("5", "b"), &Default::default()).await.unwrap();
        assert!(ask(&host, with_state("Dinner?", thread.clone(), &state)).await.is_answer());
        let counted = [&till.held, &till.settled, &till.released].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counted, [1, 1, 1], "held and taken once, and let go of once");
    });
}
