//! Nodes that come upon a payment which another one is settling before its answer: nobody is told to pay again for money
//! that was taken.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::Store;
use forecourt_core::policy::{PaidFor, Settlement};
use forecourt_host::{Host, LEASE};
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, SETTLER_ALONE_MAX};
use forecourt_store::Memory;
use forecourt_testkit::{HandClock, ScriptedAgent};

use super::support::{Answered, Chain, Till, Wants, ask, coins, payment, setup, submitting, with_state};
use crate::faulty::FaultyStore;
use crate::support::{Setup, message};

/// How long the first node settles: longer than it takes until a node that fell silent is ended and what it left is asked
/// about, and shorter than it may.
const SETTLING: Duration = Duration::from_secs(50);

/// Nodes of one deployment.
struct Nodes {
    store: Arc<dyn Store>,
    rule: Arc<Wants>,
    chain: Chain,
    clock: Arc<HandClock>,
}

impl Nodes {
    fn new() -> Self {
        let rule = Wants::this(payment("5", PaidFor::Turn));
        Self { store: Arc::new(Memory::new()), rule, chain: Chain::default(), clock: Arc::default() }
    }

    /// A node with the way by which it reaches the store, begun later than those before.
    async fn begin(&self, till: Till) -> (Arc<Host>, Arc<Till>, Arc<FaultyStore>) {
        tokio::time::advance(Duration::from_secs(1)).await;
        let till = Arc::new(Till { chain: Some(self.chain.clone()), ..till });
        let way = Arc::new(FaultyStore::of(self.store.clone()));
        let reached: Arc<dyn Store> = way.clone();
        let setup = Setup { alone: false, clock: self.clock.clone(), ..setup(&reached, &self.rule, &till) };
        let agent = ScriptedAgent::saying(["Soup."]);
        let host = setup.host_with(agent, setup.clock.clone(), Arc::new(forecourt_host::SystemEntropy)).await;
        (host, till, way)
    }

    fn taken(&self) -> usize {
        self.chain.lock().len()
    }
}

/// Pays for a state on a node, in the background.
fn paying(host: &Arc<Host>, refused: &Answered) -> tokio::task::JoinHandle<IssuanceOutcome> {
    let (host, state) = (host.clone(), refused.state());
    tokio::spawn(async move { host.pay(&state, &coins("5", "a"), &Default::default()).await.unwrap() })
}

#[tokio::test(start_paused = true)]
async fn what_a_living_node_settles_nobody_takes_up_when_a_third_one_dies() {
    // The first of the two is the one that ends the third.
    for is_first in [true, false] {
        let nodes = Nodes::new();
        let slow = || Till { settling_takes: SETTLING, ..Till::default() };
        let (first, till, _) = nodes.begin(if is_first { slow() } else { Till::default() }).await;
        let (second, other, _) = nodes.begin(if is_first { Till::default() } else { slow() }).await;
        let (_third, _, dying) = nodes.begin(Till::default()).await;
        let one = if is_first { first } else { second };
        let refused = ask(&one, message("Dinner?")).await;
        dying.set_away(true);
        let paying = submitting("", refused.thread.clone(), Some(refused.state()), Some(coins("5", "a")));
        let answered = ask(&one, paying).await;
        assert!(answered.is_answer() && answered.receipt.is_some(), "{:?}", answered.ending);
        let reconciled = [&till, &other].map(|till| till.reconciled.load(Ordering::SeqCst));
        assert_eq!((reconciled, nodes.taken()), ([0, 0], 1));
    }
}

#[tokio::test(start_paused = true)]
async fn who_settled_and_was_taken_for_dead_answers_by_what_was_found_out_meanwhile() {
    let nodes = Nodes::new();
    let (one, _, silent) = nodes.begin(Till { settling_takes: SETTLING, ..Till::default() }).await;
    let (two, other, _) = nodes.begin(Till::default()).await;
    let refused = ask(&one, message("Dinner?")).await;
    let paid = paying(&one, &refused);
    tokio::time::sleep(Duration::from_secs(1)).await;
    silent.set_away(true);
    tokio::time::sleep(LEASE * 3).await;
    assert_eq!(other.reconciled.load(Ordering::SeqCst), 1, "the node is taken for dead, and its payment is taken up");
    silent.set_away(false);
    // Its own facilitator says that the payment was used before.
    assert_eq!(paid.await.unwrap(), IssuanceOutcome::Late(IssuanceStatus::Verified));
    let found = two.issuance(&refused.state()).await.unwrap().unwrap();
    assert!(found.status == IssuanceStatus::Verified && found.receipt.is_some());
    assert!(ask(&two, with_state("", refused.thread.clone(), &refused.state())).await.is_answer());
    assert_eq!(nodes.taken(), 1);
}

#[tokio::test(start_paused = true)]
async fn money_that_was_taken_is_written_over_a_refusal_of_it() {
    let nodes = Nodes::new();
    let (one, _, silent) = nodes.begin(Till { settling_takes: SETTLING, ..Till::default() }).await;
    let (two, other, _) = nodes.begin(Till { reconciling_takes: LEASE * 3, ..Till::default() }).await;
    let refused = ask(&one, message("Dinner?")).await;
    let paid = paying(&one, &refused);
    tokio::time::sleep(Duration::from_secs(1)).await;
    silent.set_away(true);
    tokio::time::sleep(LEASE * 3).await;
    assert_eq!(other.reconciled.load(Ordering::SeqCst), 1);
    silent.set_away(false);
    // The other one has taken it, and has not written so yet.
    assert!(matches!(paid.await.unwrap(), IssuanceOutcome::Refused(_)));
    assert_eq!(two.issuance(&refused.state()).await.unwrap().unwrap().status, IssuanceStatus::Issued);
    tokio::time::sleep(LEASE * 3).await;
    let found = two.issuance(&refused.state()).await.unwrap().unwrap();
    assert!(found.status == IssuanceStatus::Verified && found.receipt.is_some());
    // It pays for its own state, and for no other.
    let elsewhere = ask(&two, message("Lunch?")).await;
    let again = two.pay(&elsewhere.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    let IssuanceOutcome::Refused(fault) = again else { panic!("{again:?}") };
    assert_eq!(fault.code, "payment_already_used");
    assert!(ask(&two, submitting("Dinner?", None, None, Some(coins("5", "a")))).await.is_answer());
    assert_eq!(nodes.taken(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_living_node_does_not_know_another_one_asks_about_once_settling_must_be_over() {
    for is_over in [false, true] {
        let nodes = Nodes::new();
        let (two, other, _) = nodes.begin(Till::default()).await;
        let (one, till, _) = nodes.begin(Till::default()).await;
        let (_three, _, dying) = nodes.begin(Till::default()).await;
        *till.says.lock() = (0..20).map(|_| Settlement::Unknown("timed out".to_owned())).collect();
        let refused = ask(&one, message("Dinner?")).await;
        assert_eq!(paying(&one, &refused).await.unwrap(), IssuanceOutcome::Late(IssuanceStatus::Indeterminate));
        nodes.clock.advance(SETTLER_ALONE_MAX - Duration::from_secs(u64::from(!is_over)));
        dying.set_away(true);
        tokio::time::sleep(LEASE * 4).await;
        assert_eq!(other.reconciled.load(Ordering::SeqCst), usize::from(is_over));
        let found = two.issuance(&refused.state()).await.unwrap().unwrap();
        assert_eq!(found.status == IssuanceStatus::Verified, is_over);
    }
}
