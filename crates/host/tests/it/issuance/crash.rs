//! A host that died: what was paid is answered once, and what was being settled is asked about.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::policy::{PaidFor, Settlement};
use forecourt_core::{Ending, Event, Store};
use forecourt_host::{Host, OnLost, Run, TaskAccess};
use forecourt_issuance::IssuanceStatus;
use forecourt_testkit::{CountedEntropy, HandClock, ScriptedAgent, Step};
use futures::StreamExt;

use super::support::{Till, Wants, ask, coins, finish, payment, setup, stores, with_state};
use crate::support::{Setup, message};

/// The host of another run, a second later.
async fn next(setup: &Setup, run: usize, agent: Arc<ScriptedAgent>) -> (Arc<Host>, Arc<HandClock>) {
    let entropy = Arc::new(CountedEntropy::default());
    for _ in 0..run * 10_000 {
        forecourt_core::Entropy::fill(&*entropy, &mut [0; 1]);
    }
    let clock = Arc::new(HandClock::new());
    clock.advance(Duration::from_secs(run as u64));
    let setup = Setup {
        store: setup.store.clone(),
        rules: setup.rules.clone(),
        schemes: setup.schemes.clone(),
        clock: clock.clone(),
        entropy,
        remembers: true,
        on_lost: setup.on_lost,
        ..Setup::default()
    };
    (setup.host(agent).await, clock)
}

async fn paid(store: &Arc<dyn Store>, till: &Arc<Till>) -> (Setup, super::support::Answered, Arc<Host>) {
    paid_of(store, till, OnLost::Fail).await
}

async fn paid_of(
    store: &Arc<dyn Store>,
    till: &Arc<Till>,
    on_lost: OnLost,
) -> (Setup, super::support::Answered, Arc<Host>) {
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let setup = Setup { on_lost, ..setup(store, &rule, till) };
    let host = setup.host(ScriptedAgent::new(vec![Step::Do(Event::Text("So".to_owned())), Step::Hang])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    (setup, refused, host)
}

#[tokio::test]
async fn policy5_5_what_was_cut_off_is_answered_by_the_next_run_and_once() {
    for (store, _folder) in stores() {
        let (setup, refused, host) = paid(&store, &Arc::default()).await;
        let cut_off = |text| with_state(text, refused.thread.clone(), &refused.state());
        let mut reply = host.receive(cut_off(""), Run::without_task()).await.unwrap();
        assert_eq!(reply.events.next().await, Some(Event::Text("So".to_owned())));
        // It ends without a word: neither the agent nor the answer comes to an end.
        std::mem::forget(reply);
        assert_eq!(host.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Consumed);
        let agent = ScriptedAgent::saying(["Soup."]);
        let (host, _) = next(&setup, 1, agent.clone()).await;
        assert_eq!(host.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Verified);
        assert!(ask(&host, cut_off("")).await.is_answer());
        assert_eq!(agent.heard()[0].text(), "Dinner?");
        for run in [2, 3] {
            let (host, _) = next(&setup, run, agent.clone()).await;
            assert!(!ask(&host, cut_off("Dinner?")).await.is_answer());
        }
        assert_eq!(agent.heard().len(), 1);
    }
}

#[tokio::test]
async fn a_task_that_was_cut_off_leaves_its_state_to_be_used_again() {
    // Also where the agent may be asked again: what was paid is used once, by whoever asks for it.
    let all =
        [OnLost::Fail, OnLost::Restart].into_iter().flat_map(|on_lost| stores().into_iter().map(move |s| (s, on_lost)));
    for ((store, _folder), on_lost) in all {
        let (setup, refused, host) = paid_of(&store, &Arc::default(), on_lost).await;
        let again = || with_state("", refused.thread.clone(), &refused.state());
        let task = host.receive(again(), Run::in_background(None)).await.unwrap().task.unwrap();
        let (host, _) = next(&setup, 1, ScriptedAgent::saying(["Soup."])).await;
        let ended = host.task(&task, TaskAccess::ById).await.unwrap();
        assert!(matches!(ended.outcome.as_ref().unwrap().ending, Ending::Failed { .. }));
        let answered = host.receive(again(), Run::in_background(None)).await.unwrap();
        assert!(finish(answered).await.is_answer());
        assert_eq!(host.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Consumed);
    }
}

#[tokio::test]
async fn who_leaves_an_answer_has_had_it() {
    let store = stores().remove(0).0;
    let (setup, refused, host) = paid(&store, &Arc::default()).await;
    let again = |text| with_state(text, refused.thread.clone(), &refused.state());
    let mut reply = host.receive(again(""), Run::without_task()).await.unwrap();
    reply.events.next().await;
    drop(reply);
    // What is written behind is written before the next look at it.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let (host, _) = next(&setup, 1, ScriptedAgent::saying(["Soup."])).await;
    assert!(!ask(&host, again("Dinner?")).await.is_answer());
}

#[tokio::test(start_paused = true)]
async fn s9_5_what_was_being_settled_when_the_host_died_is_asked_about_by_the_next_run() {
    let store = stores().remove(0).0;
    let till = Arc::new(Till::default());
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let setup = setup(&store, &rule, &till);
    *till.says.lock() = vec![Settlement::Unknown("timed out".to_owned())];
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    setup.stop.cancel();
    let agent = ScriptedAgent::saying(["Soup."]);
    let (host, _) = next(&setup, 1, agent.clone()).await;
    let again = |text| with_state(text, refused.thread.clone(), &refused.state());
    assert!(!ask(&host, again("Dinner?")).await.is_answer());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(ask(&host, again("")).await.is_answer());
    assert_eq!((till.settled.load(Ordering::SeqCst), till.reconciled.load(Ordering::SeqCst)), (1, 1));
}
