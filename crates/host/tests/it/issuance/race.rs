//! Of many who use one thing at once, one does.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use forecourt_core::policy::{Charge, PaidFor};
use forecourt_core::{Message, Sender};
use forecourt_host::{Host, LimitSettings, Rate};
use forecourt_issuance::IssuanceOutcome;
use forecourt_testkit::ScriptedAgent;
use futures::StreamExt;

use super::support::{Answered, Till, Wants, ask, coins, fee, payment, setup, sqlite, stores, with_state};
use crate::dice::asked_for;
use crate::support::{Setup, message};

/// Four times as many as are under way at once: more of them race no harder. `FORECOURT_RACERS=10000` has so many.
const ATTEMPTS: usize = 2_000;
/// Attempts that are under way at the same time.
const AT_ONCE: usize = 500;

fn attempts() -> usize {
    asked_for("FORECOURT_RACERS").and_then(|count| usize::try_from(count).ok()).unwrap_or(ATTEMPTS)
}

/// Attempts from so many addresses, so that nobody is refused for asking too often.
fn attempt(refused: &Answered, number: usize) -> Message {
    let peer = format!("10.1.{}.{}", number / 250, number % 250);
    let sender = Sender { peer: Some(peer.parse().unwrap()), ..Sender::anonymous() };
    Message { sender, ..with_state("Dinner?", refused.thread.clone(), &refused.state()) }
}

fn unhurried() -> LimitSettings {
    let many = |n: u32| std::num::NonZeroU32::new(n).unwrap();
    let rate = Rate { per_second: many(1_000_000), burst: many(1_000_000) };
    LimitSettings {
        per_address: rate,
        per_session: rate,
        replies_per_caller_max: attempts(),
        replies_running_max: attempts(),
        strangers_percent: std::num::NonZeroU8::MAX,
        ..LimitSettings::default()
    }
}

async fn answers(hosts: &[Arc<Host>], refused: &Answered) -> usize {
    let attempts = (0..attempts()).map(|number| {
        let (host, message) = (hosts[number % hosts.len()].clone(), attempt(refused, number));
        async move { tokio::spawn(async move { ask(&host, message).await.is_answer() }).await.unwrap() }
    });
    let answered = futures::stream::iter(attempts).buffer_unordered(AT_ONCE).filter(|is_answer| {
        let is_answer = *is_answer;
        async move { is_answer }
    });
    answered.count().await
}

#[tokio::test(flavor = "multi_thread")]
async fn policy5_5_of_thousands_who_use_one_state_one_does() {
    for charge in [Charge::After, Charge::Before] {
        for (store, _folder) in stores() {
            let (rule, till) = (Wants::this(fee("5", charge)), Arc::<Till>::default());
            let setup = Setup { limits: unhurried(), ..setup(&store, &rule, &till) };
            let agent = ScriptedAgent::saying(["Soup."]);
            let host = setup.host(agent.clone()).await;
            let refused = ask(&host, message("Dinner?")).await;
            host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
            assert_eq!((answers(&[host], &refused).await, agent.heard().len()), (1, 1), "{charge:?}");
            assert_eq!(till.settled.load(Ordering::SeqCst), 1, "{charge:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policy5_5_two_hosts_on_one_file_use_one_state_once() {
    let folder = tempfile::tempdir().unwrap();
    let rule = Wants::this(payment("5", PaidFor::Turn));
    let agent = ScriptedAgent::saying(["Soup."]);
    let mut hosts = Vec::new();
    for _ in 0..2 {
        let entropy = Arc::new(forecourt_testkit::CountedEntropy::default());
        // The second one mints other tokens than the first.
        for _ in 0..hosts.len() * 1_000_000 {
            forecourt_core::Entropy::fill(&*entropy, &mut [0; 1]);
        }
        let setup = Setup { limits: unhurried(), entropy, ..setup(&sqlite(&folder), &rule, &Arc::default()) };
        hosts.push(setup.host(agent.clone()).await);
    }
    let refused = ask(&hosts[0], message("Dinner?")).await;
    hosts[1].pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    assert_eq!((answers(&hosts, &refused).await, agent.heard().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn s9_5_of_many_who_pay_for_one_state_one_is_charged() {
    for (store, _folder) in stores() {
        let (rule, till) = (Wants::this(payment("5", PaidFor::Turn)), Arc::<Till>::default());
        let host = setup(&store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        let paying = (0..50).map(|number| {
            let (host, state) = (host.clone(), refused.state());
            // Some send the same payment, some another one.
            async move { host.pay(&state, &coins("5", &(number % 5).to_string()), &Default::default()).await.unwrap() }
        });
        let outcomes = futures::future::join_all(paying).await;
        let paid = outcomes.iter().filter(|outcome| matches!(outcome, IssuanceOutcome::Verified(_))).count();
        assert_eq!((paid, till.settled.load(Ordering::SeqCst)), (1, 1));
    }
}
