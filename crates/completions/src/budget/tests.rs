//! Budgets against a store in memory: bounds at n and n+1, several nodes at once, the end of a period, a crash.

use forecourt_contract::{HostApi, HostServices};
use forecourt_core::{MessageId, Sender};
use forecourt_store::Memory;
use forecourt_testkit::HandClock;

use super::*;

struct Hosted(Arc<HostServices>);

impl HostApi for Hosted {
    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.0.clone())
    }
}

/// A node on a store.
fn node(store: &Arc<dyn Store>) -> HostHandle {
    let handle = HostHandle::default();
    let services = Arc::new(HostServices::new(handle.clone()));
    services.publish(Arc::new(BudgetStore(store.clone())));
    let host = Arc::new(Hosted(services));
    handle.bind(&host);
    std::mem::forget(host);
    handle
}

fn store() -> Arc<dyn Store> {
    Arc::new(Memory::new())
}

fn budget(settings: &BudgetSettings, store: &Arc<dyn Store>, clock: &Arc<HandClock>) -> Arc<Budget> {
    let agent = Handle::parse("agent").unwrap();
    Arc::new(Budget::new(settings, agent, node(store), clock.clone()).unwrap())
}

fn message(peer: &str) -> Message {
    let sender = Sender { peer: Some(peer.parse().unwrap()), ..Sender::anonymous() };
    let (id, agent) = (MessageId::parse("m1").unwrap(), Handle::parse("agent").unwrap());
    Message { sender, ..Message::new(id, agent, Vec::new(), "test", Timestamp::UNIX_EPOCH) }
}

fn tokens(tokens: u64) -> Spending {
    Spending { tokens, micros: 0 }
}

fn daily(tokens_per_day: u64) -> BudgetSettings {
    BudgetSettings { tokens_per_day: Some(tokens_per_day), ..BudgetSettings::default() }
}

/// The tokens of the first bound of an agent that all callers together have used today.
async fn used_tokens(budget: &Budget, store: &Arc<dyn Store>, clock: &Arc<HandClock>) -> u64 {
    let line = budget.line(budget.limits[0], ALL_CALLERS);
    last(&**store, &line.stream, clock.now()).await.unwrap().1.tokens
}

fn refusal(error: BudgetError) -> PolicyPart {
    match error {
        BudgetError::Exceeded { refusal, .. } => *refusal,
        BudgetError::Unavailable => panic!("the store is there"),
    }
}

#[tokio::test]
async fn a_budget_is_used_to_its_last_token_and_not_one_more() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let budget = budget(&daily(100), &store, &clock);
    let one = budget.reserve(&message("192.0.2.1"), tokens(100)).await.unwrap();
    assert!(budget.reserve(&message("192.0.2.2"), tokens(1)).await.is_err());
    budget.settle(one, tokens(99)).await;
    let two = budget.reserve(&message("192.0.2.2"), tokens(1)).await.unwrap();
    budget.settle(two, tokens(1)).await;
    let error = refusal(budget.reserve(&message("192.0.2.2"), tokens(1)).await.unwrap_err());
    assert!(error.message.contains("tokens_per_day") && error.message.contains("2026-01-02 00:00 UTC"), "{error:?}");
    assert_eq!(error.kind.retry_after_seconds(), Some(86_400));
    error.validate("demo.localhost").unwrap();
    let told = used(&daily(100), &budget.agent, &*store, clock.now()).await.unwrap();
    let ends_at = "2026-01-02T00:00:00Z".parse().unwrap();
    let key = "budget.tokens_per_day";
    assert_eq!(told, [UsedBudget { key, is_money: false, used: Some(100), most: 100, ends_at }]);
}

#[tokio::test]
async fn a_budget_renews_with_its_period_and_outlives_a_restart() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let settings = BudgetSettings { tokens_per_month: Some(150), ..daily(100) };
    let used = budget(&settings, &store, &clock);
    let one = used.reserve(&message("192.0.2.1"), tokens(100)).await.unwrap();
    used.settle(one, tokens(100)).await;
    let again = budget(&settings, &store, &clock);
    assert!(again.reserve(&message("192.0.2.1"), tokens(1)).await.is_err(), "another process counts on");
    clock.advance(Duration::from_secs(24 * 60 * 60));
    let error = refusal(again.reserve(&message("192.0.2.1"), tokens(51)).await.unwrap_err());
    assert!(error.message.contains("tokens_per_month") && error.message.contains("2026-02-01"), "{error:?}");
    let two = again.reserve(&message("192.0.2.1"), tokens(50)).await.unwrap();
    again.settle(two, tokens(50)).await;
    clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert!(again.reserve(&message("192.0.2.1"), tokens(100)).await.is_ok());
}

#[tokio::test]
async fn each_caller_has_a_share_and_what_is_refused_costs_nobody_anything() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let settings = BudgetSettings { caller_tokens_per_day: Some(40), ..daily(60) };
    let budget = budget(&settings, &store, &clock);
    let one = budget.reserve(&message("192.0.2.1"), tokens(40)).await.unwrap();
    budget.settle(one, tokens(40)).await;
    let error = refusal(budget.reserve(&message("192.0.2.1"), tokens(1)).await.unwrap_err());
    assert!(error.message.contains("one caller") && error.message.contains("caller_tokens_per_day"), "{error:?}");
    assert_eq!(used_tokens(&budget, &store, &clock).await, 40, "the refused one is taken back");
    assert!(budget.reserve(&message("192.0.2.2"), tokens(20)).await.is_ok());
}

#[tokio::test]
async fn money_is_counted_in_millionths() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let settings = BudgetSettings { cost_per_day: Some(0.5), ..BudgetSettings::default() };
    let budget = budget(&settings, &store, &clock);
    let cost = |micros| Spending { tokens: 1, micros };
    let one = budget.reserve(&message("192.0.2.1"), cost(500_000)).await.unwrap();
    budget.settle(one, cost(499_999)).await;
    assert!(budget.reserve(&message("192.0.2.1"), cost(2)).await.is_err());
    assert!(budget.reserve(&message("192.0.2.1"), cost(1)).await.is_ok());
}

#[tokio::test]
async fn two_hundred_at_once_on_two_nodes_never_use_more_than_there_is() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let nodes = [budget(&daily(1_000), &store, &clock), budget(&daily(1_000), &store, &clock)];
    let asked = (0..200).map(|n| {
        let budget = nodes[n % 2].clone();
        tokio::spawn(async move {
            let reservation = budget.reserve(&message("192.0.2.1"), tokens(10)).await.ok()?;
            budget.settle(reservation, tokens(10)).await;
            Some(())
        })
    });
    let done = futures::future::join_all(asked).await.into_iter().filter(|done| matches!(done, Ok(Some(())))).count();
    assert_eq!((done, used_tokens(&nodes[0], &store, &clock).await), (100, 1_000));
}

#[tokio::test]
async fn what_is_used_in_between_is_counted_at_once_and_beyond_the_bound_too() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let budget = budget(&daily(10), &store, &clock);
    let message = message("192.0.2.1");
    let held = budget.reserve(&message, tokens(1)).await.unwrap();
    assert!(budget.count(&message, &held, tokens(9)).await.is_ok());
    assert_eq!(used_tokens(&budget, &store, &clock).await, 10, "with what is set aside");
    let error = refusal(budget.count(&message, &held, tokens(1)).await.unwrap_err());
    assert!(error.message.contains("tokens_per_day"), "{error:?}");
    budget.settle(held, tokens(3)).await;
    assert_eq!(used_tokens(&budget, &store, &clock).await, 13);
    clock.advance(RESERVED);
    assert_eq!(used_tokens(&budget, &store, &clock).await, 13, "what was used does not lapse");
}

#[tokio::test]
async fn what_a_dead_process_set_aside_lapses() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let dead = budget(&daily(100), &store, &clock);
    let reservation = dead.reserve(&message("192.0.2.1"), tokens(100)).await.unwrap();
    std::mem::forget(reservation);
    let other = budget(&daily(100), &store, &clock);
    assert!(other.reserve(&message("192.0.2.1"), tokens(1)).await.is_err());
    clock.advance(RESERVED);
    assert!(other.reserve(&message("192.0.2.1"), tokens(1)).await.is_ok());
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_settled_too() {
    let (store, clock) = (store(), Arc::new(HandClock::new()));
    let budget = budget(&daily(100), &store, &clock);
    let reservation = budget.reserve(&message("192.0.2.1"), tokens(100)).await.unwrap();
    let mut hold = Hold::new(budget.clone(), reservation);
    hold.spent = tokens(30);
    drop(hold);
    while used_tokens(&budget, &store, &clock).await != 30 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn without_a_store_nothing_is_spent() {
    let agent = Handle::parse("agent").unwrap();
    let clock = Arc::new(HandClock::new());
    let budget = Budget::new(&daily(100), agent, HostHandle::default(), clock).unwrap();
    assert!(matches!(budget.reserve(&message("192.0.2.1"), tokens(1)).await, Err(BudgetError::Unavailable)));
}
