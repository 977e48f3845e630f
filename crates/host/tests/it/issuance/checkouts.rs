//! A state is paid at a checkout: taken for an answer, given back without one, and by one way alone.

mod chance;
mod desk;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::{AcceptedPayment, Charge, Demand, PaidFor, PaymentScheme, Requirement};
use forecourt_core::{Clock, Ending, Event, StateToken, Store};
use forecourt_host::{Host, Run};
use forecourt_issuance::{
    CHECKOUTS_MAX, CheckoutOutcome, HoldingFilter, HoldingStatus, IssuanceOutcome, IssuanceStatus, NoticeOutcome,
};
use forecourt_store::Memory;
use forecourt_testkit::{ScriptedAgent, Step};
use futures::StreamExt;
use serde_json::{Map, json};

use super::support::{Answered, Till, Wants, ask, coins, fee, payment, with_state};
use crate::support::{Setup, message};
use desk::{Desk, Money};

/// What may be paid by a wallet or at a checkout.
fn two_ways(charge: Charge) -> Requirement {
    with_checkout(fee("5", charge))
}

fn with_checkout(mut wanted: Requirement) -> Requirement {
    if let Demand::Payment(terms) = &mut wanted.demand {
        let payload = Map::from_iter([("amount".to_owned(), json!("5"))]);
        terms.accepted.push(AcceptedPayment { scheme: "desk.checkout".to_owned(), payload });
    }
    wanted
}

/// A host with two ways to be paid, and somebody who was asked.
struct Shop {
    setup: Setup,
    desk: Arc<Desk>,
    till: Arc<Till>,
    host: Arc<Host>,
    refused: Answered,
}

impl Shop {
    async fn new(charge: Charge, agent: Arc<ScriptedAgent>) -> Self {
        Self::wanting(two_ways(charge), agent).await
    }

    async fn wanting(wanted: Requirement, agent: Arc<ScriptedAgent>) -> Self {
        let (desk, till) = (Arc::<Desk>::default(), Arc::<Till>::default());
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let schemes = vec![till.clone() as Arc<dyn PaymentScheme>, desk.clone()];
        let setup = Setup { store, rules: vec![Wants::this(wanted)], schemes, remembers: true, ..Setup::default() };
        let host = setup.host(agent).await;
        let refused = ask(&host, message("Dinner?")).await;
        Self { setup, desk, till, host, refused }
    }

    fn state(&self) -> StateToken {
        self.refused.state()
    }

    /// Opens a checkout; its name.
    async fn begin(&self) -> String {
        match self.host.check_out(&self.state(), 1, &Default::default()).await.unwrap() {
            CheckoutOutcome::Open(url) => url.rsplit('/').next().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    async fn paid(&self) -> String {
        let id = self.begin().await;
        assert!(self.desk.pay(&id));
        assert!(self.host.look_again(&self.state()).await.unwrap());
        id
    }

    async fn status(&self) -> IssuanceStatus {
        self.host.issuance(&self.state()).await.unwrap().unwrap().status
    }

    async fn again(&self) -> Answered {
        ask(&self.host, with_state("", self.refused.thread.clone(), &self.state())).await
    }

    async fn by_wallet(&self, nonce: &str) -> IssuanceOutcome {
        self.host.pay(&self.state(), &coins("5", nonce), &Default::default()).await.unwrap()
    }

    fn taken_by_wallet(&self) -> usize {
        self.till.settled.load(std::sync::atomic::Ordering::SeqCst)
    }

    async fn listed(&self) -> Vec<HoldingStatus> {
        let filter = HoldingFilter { payments: true, ..HoldingFilter::default() };
        let listed = self.host.listed_holdings(filter, u64::MAX, 10).await.unwrap().listed;
        listed.into_iter().map(|one| one.holding.status).collect()
    }
}

fn soup() -> Arc<ScriptedAgent> {
    ScriptedAgent::saying(["Soup."])
}

fn failing() -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![
        Step::Do(Event::Text("So".to_owned())),
        Step::Do(Event::Ending(Ending::failed("No salt."))),
    ])
}

#[tokio::test]
async fn a_card_is_held_before_and_taken_for_a_complete_answer() {
    let shop = Shop::new(Charge::After, soup()).await;
    shop.paid().await;
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Verified, vec![Money::Held]));
    let answered = shop.again().await;
    assert!(answered.is_answer() && answered.receipt.is_some());
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Consumed, vec![Money::Taken]));
    assert!(!shop.again().await.is_answer(), "one charge, one answer");
    assert_eq!((shop.desk.captures(), shop.listed().await), (1, vec![HoldingStatus::Ended]));
}

#[tokio::test]
async fn what_is_charged_before_is_taken_at_once() {
    let shop = Shop::new(Charge::Before, soup()).await;
    shop.paid().await;
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Verified, vec![Money::Taken]));
    assert!(shop.again().await.is_answer());
    assert_eq!((shop.desk.captures(), shop.desk.money()), (1, vec![Money::Taken]));
}

#[tokio::test]
async fn an_answer_that_fails_lets_go_of_the_card_and_may_be_paid_anew() {
    let shop = Shop::new(Charge::After, failing()).await;
    let first = shop.paid().await;
    let Ending::Failed { reason, .. } = shop.again().await.ending else { panic!() };
    assert!(reason.contains("Nothing was charged."), "{reason}");
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Issued, vec![Money::Nowhere]));
    let second = shop.paid().await;
    assert_ne!(first, second);
    assert_eq!(shop.desk.money(), [Money::Nowhere, Money::Held]);
    let host = shop.setup.host(soup()).await;
    let again = with_state("", shop.refused.thread.clone(), &shop.state());
    assert!(ask(&host, again).await.is_answer());
    assert_eq!((shop.desk.money(), shop.desk.captures()), (vec![Money::Nowhere, Money::Taken], 1));
}

#[tokio::test]
async fn what_was_taken_for_an_answer_that_fails_is_refunded_and_told() {
    let shop = Shop::new(Charge::Before, failing()).await;
    shop.paid().await;
    let Ending::Failed { reason, .. } = shop.again().await.ending else { panic!() };
    assert!(reason.contains("What you paid is given back."), "{reason}");
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Expired, vec![Money::Refunded]));
    assert_eq!(shop.listed().await, [HoldingStatus::GivenBack, HoldingStatus::Ended]);
    assert!(!shop.again().await.is_answer());
    assert_eq!((shop.desk.captures(), shop.desk.ids().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_refund_that_nobody_answers_for_is_asked_for_until_it_is_made() {
    for charge in [Charge::After, Charge::Before] {
        let shop = Shop::new(charge, failing()).await;
        shop.paid().await;
        let host = shop.host.clone();
        let message = with_state("", shop.refused.thread.clone(), &shop.state());
        let mut reply = host.receive(message, Run::without_task()).await.unwrap();
        reply.events.next().await;
        *shop.desk.is_away.lock() = true;
        while reply.events.next().await.is_some() {}
        assert_eq!(shop.status().await, IssuanceStatus::Indeterminate);
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!(shop.status().await, IssuanceStatus::Indeterminate);
        *shop.desk.is_away.lock() = false;
        tokio::time::sleep(Duration::from_secs(600)).await;
        let (status, money) = match charge {
            Charge::After => (IssuanceStatus::Issued, Money::Nowhere),
            Charge::Before => (IssuanceStatus::Expired, Money::Refunded),
        };
        assert_eq!((shop.status().await, shop.desk.money()), (status, vec![money]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hold_that_is_refused_after_the_answer_was_given_is_let_go_of() {
    let shop = Shop::new(Charge::After, soup()).await;
    shop.paid().await;
    let message = with_state("", shop.refused.thread.clone(), &shop.state());
    let mut reply = shop.host.receive(message, Run::without_task()).await.unwrap();
    reply.events.next().await;
    *shop.desk.is_away.lock() = true;
    while reply.events.next().await.is_some() {}
    assert_eq!(shop.desk.money(), [Money::Held]);
    (*shop.desk.is_away.lock(), *shop.desk.refuses.lock()) = (false, true);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Consumed, vec![Money::Nowhere]));
    assert_eq!(shop.desk.captures(), 0);
}

#[tokio::test(start_paused = true)]
async fn who_never_comes_for_the_answer_is_not_charged() {
    for charge in [Charge::After, Charge::Before] {
        let shop = Shop::new(charge, soup()).await;
        shop.paid().await;
        shop.setup.clock.advance(Duration::from_secs(24 * 3600 + 1));
        tokio::time::sleep(Duration::from_secs(1_200)).await;
        let money = if charge == Charge::After { Money::Nowhere } else { Money::Refunded };
        assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Expired, vec![money]));
    }
}

#[tokio::test(start_paused = true)]
async fn without_any_notice_and_without_its_payer_a_payment_is_found() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    shop.desk.pay(&id);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(shop.status().await, IssuanceStatus::Verified);
    // Also by the next run, of a host that died meanwhile.
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    shop.setup.stop.cancel();
    shop.desk.pay(&id);
    let next = Setup {
        store: shop.setup.store.clone(),
        rules: shop.setup.rules.clone(),
        schemes: shop.setup.schemes.clone(),
        remembers: true,
        ..Setup::default()
    };
    next.clock.advance(Duration::from_secs(1));
    let host = next.host(soup()).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(host.issuance(&shop.state()).await.unwrap().unwrap().status, IssuanceStatus::Verified);
}

#[tokio::test]
async fn two_tabs_have_one_checkout_and_another_amount_has_another() {
    let shop = Shop::new(Charge::After, soup()).await;
    let (first, second) = (shop.begin().await, shop.begin().await);
    assert_eq!((&first, shop.desk.ids().len()), (&second, 1));
    let other = shop.host.check_out(&shop.state(), 2, &Default::default()).await.unwrap();
    assert!(matches!(other, CheckoutOutcome::Open(url) if !url.ends_with(&first)));
    assert!(!shop.desk.pay(&first), "the first one is closed before the second one is opened");
    let wrong = shop.host.check_out(&shop.state(), 3, &Default::default()).await.unwrap();
    assert!(matches!(wrong, CheckoutOutcome::Refused(fault) if fault.code == "unsupported_amount"));
    let nobody = StateToken::mint(&*shop.setup.entropy);
    let closed = shop.host.check_out(&nobody, 1, &Default::default()).await.unwrap();
    assert_eq!(closed, CheckoutOutcome::Closed(IssuanceOutcome::Late(IssuanceStatus::Expired)));
}

#[tokio::test]
async fn checkouts_of_one_state_are_bounded() {
    let shop = Shop::new(Charge::After, soup()).await;
    for times in 1..=CHECKOUTS_MAX {
        let opened = shop.host.check_out(&shop.state(), 1 + times % 2, &Default::default()).await.unwrap();
        assert!(matches!(opened, CheckoutOutcome::Open(_)), "{times}: {opened:?}");
    }
    let over = shop.host.check_out(&shop.state(), 2, &Default::default()).await.unwrap();
    assert!(matches!(over, CheckoutOutcome::Refused(fault) if fault.message.contains("16 times")));
}

#[tokio::test]
async fn twelve_at_once_pay_once() {
    for charge in [Charge::After, Charge::Before] {
        let shop = Shop::new(charge, soup()).await;
        let opened: Vec<String> = futures::future::join_all((0..12).map(|_| shop.begin())).await;
        assert!(opened.iter().all(|id| *id == opened[0]) && shop.desk.ids().len() == 1);
        shop.desk.pay(&opened[0]);
        let state = shop.state();
        let looks = futures::future::join_all((0..12).map(|_| shop.host.look_again(&state))).await;
        assert!(looks.into_iter().all(|look| look.unwrap()));
        let answers = futures::future::join_all((0..12).map(|_| shop.again())).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_answer()).count(), 1);
        assert_eq!((shop.desk.captures(), shop.desk.money()), (1, vec![Money::Taken]));
    }
}

#[tokio::test]
async fn a_wallet_pays_only_once_the_checkout_is_closed() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    // A payment that is none leaves the checkout as it is.
    let forged = forecourt_core::policy::PaymentSubmission {
        payload: Map::from_iter([
            ("amount".to_owned(), json!("5")),
            ("nonce".to_owned(), json!("x")),
            ("forged".to_owned(), json!(1)),
        ]),
        ..coins("5", "x")
    };
    let refused = shop.host.pay(&shop.state(), &forged, &Default::default()).await.unwrap();
    assert!(matches!(refused, IssuanceOutcome::Refused(_)));
    assert_eq!(shop.begin().await, id);
    // Nobody knows whether the checkout is paid: then no second way is taken.
    *shop.desk.is_away.lock() = true;
    let outcome = shop.by_wallet("a").await;
    assert!(
        matches!(&outcome, IssuanceOutcome::Refused(fault) if fault.code == "paid_at_checkout" && fault.is_passing)
    );
    *shop.desk.is_away.lock() = false;
    assert_eq!(shop.by_wallet("a").await, IssuanceOutcome::Verified(None));
    assert!(!shop.desk.pay(&id), "the checkout is closed");
    assert!(shop.again().await.is_answer());
    assert_eq!((shop.taken_by_wallet(), shop.desk.captures()), (1, 0));
}

#[tokio::test]
async fn who_paid_by_card_is_not_charged_by_a_wallet_too() {
    let shop = Shop::new(Charge::Before, soup()).await;
    let id = shop.begin().await;
    shop.desk.pay(&id);
    assert_eq!(shop.by_wallet("a").await, IssuanceOutcome::Late(IssuanceStatus::Verified));
    assert_eq!((shop.taken_by_wallet(), shop.desk.money()), (0, vec![Money::Taken]));
    // And the other way round.
    let shop = Shop::new(Charge::After, soup()).await;
    shop.by_wallet("a").await;
    let late = shop.host.check_out(&shop.state(), 1, &Default::default()).await.unwrap();
    assert_eq!(late, CheckoutOutcome::Closed(IssuanceOutcome::Late(IssuanceStatus::Verified)));
    assert!(shop.desk.ids().is_empty());
}

#[tokio::test]
async fn wallets_and_cards_at_once_pay_once() {
    for round in 0..8 {
        let shop = Shop::new(Charge::Before, soup()).await;
        let id = shop.begin().await;
        let state = shop.state();
        let by_card = async {
            if round % 2 == 0 {
                tokio::task::yield_now().await;
            }
            shop.desk.pay(&id);
            let _ = shop.host.look_again(&state).await;
        };
        let (_, _, _) = tokio::join!(by_card, shop.by_wallet("a"), shop.by_wallet("b"));
        let taken = shop.taken_by_wallet() + shop.desk.captures();
        assert_eq!(taken, 1, "{round}");
        assert!(!shop.desk.money().contains(&Money::Held), "{round}");
        assert!(shop.again().await.is_answer());
    }
}

#[tokio::test]
async fn a_card_payment_for_one_state_answers_no_other() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    shop.desk.pay(&id);
    let reference = shop.desk.sessions.lock()[&id].reference.clone();
    let other = ask(&shop.host, message("Lunch?")).await;
    let payload = Map::from_iter([("id".to_owned(), json!(id)), ("reference".to_owned(), json!(reference))]);
    let stolen = forecourt_core::policy::PaymentSubmission { family: "desk", payload };
    let outcome = shop.host.pay(&other.state(), &stolen, &Default::default()).await.unwrap();
    assert!(matches!(outcome, IssuanceOutcome::Refused(fault) if fault.code == "foreign_payment"));
    assert_eq!(shop.desk.money(), [Money::Held]);
    assert!(shop.host.look_again(&shop.state()).await.unwrap());
    assert_eq!(shop.status().await, IssuanceStatus::Verified);
}

#[tokio::test]
async fn no_is_said_to_what_can_not_be_paid_any_more() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    *shop.desk.is_away.lock() = true;
    let open = shop.host.decline(&shop.state(), &Default::default()).await.unwrap();
    assert!(matches!(open, IssuanceOutcome::Refused(fault) if fault.is_passing));
    *shop.desk.is_away.lock() = false;
    assert_eq!(shop.host.decline(&shop.state(), &Default::default()).await.unwrap(), IssuanceOutcome::Declined);
    assert!(!shop.desk.pay(&id));
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    shop.desk.pay(&id);
    let late = shop.host.decline(&shop.state(), &Default::default()).await.unwrap();
    assert_eq!(late, IssuanceOutcome::Late(IssuanceStatus::Verified));
}

#[tokio::test(start_paused = true)]
async fn what_is_paid_too_late_is_given_back() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    // The provider's clock is slow: its checkout is open though its time is over here.
    shop.setup.clock.advance(Duration::from_secs(50 * 60));
    shop.desk.pay(&id);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!((shop.status().await, shop.desk.money()), (IssuanceStatus::Expired, vec![Money::Nowhere]));
    // And nobody can pay any more once it was looked at.
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    shop.setup.clock.advance(Duration::from_secs(50 * 60));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(!shop.desk.pay(&id));
}

#[tokio::test]
async fn a_notice_says_look_and_counts_once() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    let reference = shop.desk.sessions.lock()[&id].reference.clone();
    let take = async |name: Option<&str>, body: &str| {
        let field = |asked: &str| name.filter(|_| asked == "notice").map(str::to_owned);
        shop.host.take_notice("desk", &field, body.as_bytes()).await.unwrap()
    };
    assert!(matches!(take(None, &reference).await, NoticeOutcome::Refused(_)));
    // It says that something was paid, and nothing was.
    assert_eq!(take(Some("n1"), &reference).await, NoticeOutcome::Taken);
    assert_eq!(shop.status().await, IssuanceStatus::Issued);
    shop.desk.pay(&id);
    assert_eq!(take(Some("n1"), &reference).await, NoticeOutcome::Taken);
    assert_eq!(shop.status().await, IssuanceStatus::Issued, "the same notice is looked at once");
    for strange in ["", "nobody", &"0".repeat(64), "../../x"] {
        assert_eq!(take(Some(&format!("s{}", strange.len())), strange).await, NoticeOutcome::Taken);
    }
    assert_eq!(take(Some("n2"), &reference).await, NoticeOutcome::Taken);
    assert_eq!(shop.status().await, IssuanceStatus::Verified);
    let nothing = shop.host.take_notice("other", &|_| None, b"").await.unwrap();
    assert_eq!(nothing, NoticeOutcome::NoScheme);
}

#[tokio::test]
async fn a_notice_that_could_not_be_looked_up_is_worth_sending_again() {
    let shop = Shop::new(Charge::After, soup()).await;
    let id = shop.begin().await;
    let reference = shop.desk.sessions.lock()[&id].reference.clone();
    let field = |asked: &str| (asked == "notice").then(|| "n1".to_owned());
    shop.desk.pay(&id);
    *shop.desk.is_away.lock() = true;
    assert!(shop.host.take_notice("desk", &field, reference.as_bytes()).await.is_err());
    *shop.desk.is_away.lock() = false;
    let taken = shop.host.take_notice("desk", &field, reference.as_bytes()).await.unwrap();
    assert_eq!((taken, shop.status().await), (NoticeOutcome::Taken, IssuanceStatus::Verified));
}

#[tokio::test]
async fn a_provider_that_is_away_leaves_a_state_open() {
    let shop = Shop::new(Charge::After, soup()).await;
    *shop.desk.is_away.lock() = true;
    let refused = shop.host.check_out(&shop.state(), 1, &Default::default()).await.unwrap();
    assert!(matches!(refused, CheckoutOutcome::Refused(fault) if fault.is_passing));
    assert!(!shop.host.look_again(&shop.state()).await.unwrap());
    *shop.desk.is_away.lock() = false;
    shop.paid().await;
    assert_eq!((shop.desk.ids().len(), shop.status().await), (1, IssuanceStatus::Verified));
}

#[tokio::test]
async fn a_period_that_was_bought_stays_when_an_answer_fails() {
    let wanted = with_checkout(payment("5", PaidFor::Period { seconds: 3_600 }));
    let shop = Shop::wanting(wanted, failing()).await;
    shop.paid().await;
    assert_eq!(shop.desk.money(), [Money::Taken]);
    assert!(matches!(shop.again().await.ending, Ending::Failed { .. }));
    assert_eq!(shop.desk.money(), [Money::Taken]);
    assert!(shop.setup.clock.now() > forecourt_core::Timestamp::UNIX_EPOCH);
}
