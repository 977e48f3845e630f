//! A price that is changed later changes no offer that was made, and takes nobody's answer who has paid. What was paid for
//! a cheap rule or agent opens no dear one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{Charge, PaidFor, RefusalKind, Requirement, Settlement};
use forecourt_core::{AgentCard, Ending, Event, Message, StateToken, ThreadId};
use forecourt_host::{Host, ServerGate, ServerRule, Target};
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, PAYMENT_WAIT_SECONDS};
use forecourt_testkit::{ScriptedAgent, Step, card};
use futures::future::BoxFuture;

use super::support::{
    Answered, Till, Wants, ask, coins, consent, fee, payment, setup, state_in, stores, submitting, with_state,
};
use crate::support::{Setup, handle, in_thread, message};

const BOTH: [Charge; 2] = [Charge::After, Charge::Before];

/// Somebody who was asked for 5 coins before the price became 7.
struct Raised {
    setup: Setup,
    rule: Arc<Wants>,
    till: Arc<Till>,
    host: Arc<Host>,
    refused: Answered,
}

impl Raised {
    async fn of(setup: Setup, rule: Arc<Wants>, till: Arc<Till>) -> Self {
        let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
        let refused = ask(&host, message("Dinner?")).await;
        Self { setup, rule, till, host, refused }
    }

    async fn at(charge: Charge, till: Till) -> Self {
        let (rule, till) = (Wants::this(fee("5", charge)), Arc::new(till));
        let setup = setup(&stores().remove(0).0, &rule, &till);
        Self::of(setup, rule, till).await
    }

    fn raise(&self, charge: Charge) {
        *self.rule.0.lock() = Some(fee("7", charge));
    }

    fn thread(&self) -> Option<ThreadId> {
        self.refused.thread.clone()
    }

    fn state(&self) -> StateToken {
        self.refused.state()
    }

    fn settled(&self) -> usize {
        self.till.settled.load(Ordering::SeqCst)
    }

    /// The ways in which a payer comes back.
    fn ways_back(&self) -> [Message; 4] {
        let (thread, state, paid) = (self.thread(), self.state(), coins("5", "a"));
        [
            with_state("", thread.clone(), &state),
            submitting("", thread.clone(), Some(state), Some(paid.clone())),
            submitting("Dinner?", None, None, Some(paid)),
            in_thread("Dinner?", thread),
        ]
    }
}

/// The price that a refusal asks for.
fn asked(answered: &Answered) -> &str {
    let RefusalKind::PaymentRequired { accepted_payments } = &answered.refusal().kind else {
        panic!("{:?}", answered.refusal())
    };
    accepted_payments[0].payload["amount"].as_str().unwrap()
}

#[tokio::test]
async fn an_answer_that_is_owed_or_reserved_comes_also_when_the_price_has_changed() {
    for charge in BOTH {
        for way in 0..4 {
            let raised = Raised::at(charge, Till::default()).await;
            let failing = vec![Step::Do(Event::Ending(Ending::failed("No salt.")))];
            let failing = raised.setup.host(ScriptedAgent::new(failing)).await;
            let paying = submitting("", raised.thread(), Some(raised.state()), Some(coins("5", "a")));
            assert!(matches!(ask(&failing, paying).await.ending, Ending::Failed { .. }));
            raised.raise(charge);
            let back = &raised.ways_back()[way];
            assert!(ask(&raised.host, back.clone()).await.is_answer(), "{charge:?} {way}");
            assert_eq!(raised.settled(), 1, "at the price that was offered, once");
            // One answer, and then the new price.
            let again = ask(&raised.host, in_thread("Dinner?", raised.thread())).await;
            assert_eq!(asked(&again), "7");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_settlement_that_was_open_when_the_price_changed_brings_its_answer_once_it_is_known() {
    for way in 0..4 {
        let raised = Raised::at(Charge::Before, Till::default()).await;
        *raised.till.says.lock() = vec![Settlement::Unknown("timed out".to_owned())];
        raised.host.pay(&raised.state(), &coins("5", "a"), &Default::default()).await.unwrap();
        raised.raise(Charge::Before);
        for back in raised.ways_back() {
            let RefusalKind::ServiceUnavailable { .. } = ask(&raised.host, back).await.refusal().kind else { panic!() };
        }
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert!(ask(&raised.host, raised.ways_back()[way].clone()).await.is_answer(), "{way}");
        assert_eq!(raised.settled(), 1);
    }
}

#[tokio::test]
async fn an_offer_that_was_made_is_paid_as_it_was_made_until_it_ends() {
    for charge in BOTH {
        for is_over in [false, true] {
            let raised = Raised::at(charge, Till::default()).await;
            raised.raise(charge);
            let seconds = if is_over { PAYMENT_WAIT_SECONDS } else { PAYMENT_WAIT_SECONDS - 1 };
            raised.setup.clock.advance(Duration::from_secs(seconds));
            let paying = submitting("", raised.thread(), Some(raised.state()), Some(coins("5", "a")));
            let answered = ask(&raised.host, paying).await;
            assert_eq!(answered.is_answer(), !is_over, "{charge:?}");
            assert_eq!(raised.settled(), usize::from(!is_over));
            if is_over {
                assert_eq!(asked(&answered), "7");
            }
        }
    }
}

#[tokio::test]
async fn a_payment_of_the_new_price_is_taken_for_that_whatever_state_it_comes_with() {
    let raised = Raised::at(Charge::After, Till::default()).await;
    raised.raise(Charge::After);
    let paying = submitting("Dinner?", raised.thread(), Some(raised.state()), Some(coins("7", "a")));
    assert!(ask(&raised.host, paying).await.is_answer());
    let old = raised.host.issuance(&raised.state()).await.unwrap().unwrap();
    assert_eq!((old.status, raised.settled()), (IssuanceStatus::Issued, 1));
    // What was never offered to anybody by that name pays for nothing.
    let paying = submitting("Dinner?", None, None, Some(coins("5", "b")));
    assert_eq!(asked(&ask(&raised.host, paying).await), "7");
    assert_eq!(raised.settled(), 1);
}

#[tokio::test]
async fn the_page_of_an_offer_takes_what_that_says_and_nothing_else() {
    let raised = Raised::at(Charge::Before, Till::default()).await;
    raised.raise(Charge::Before);
    let pay = async |amount: &str| {
        raised.host.pay(&raised.state(), &coins(amount, amount), &Default::default()).await.unwrap()
    };
    assert!(matches!(pay("7").await, IssuanceOutcome::Refused(_)));
    assert!(matches!(pay("5").await, IssuanceOutcome::Verified(Some(_))));
    assert!(ask(&raised.host, with_state("", raised.thread(), &raised.state())).await.is_answer());
}

#[tokio::test]
async fn a_period_that_is_paid_for_lasts_to_its_end_at_any_price() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let period = |price| payment(price, PaidFor::Period { seconds: 60 });
    let rule = Wants::this(period("5"));
    let raised = Raised::of(setup(&store, &rule, &till), rule, till).await;
    raised.host.pay(&raised.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    *raised.rule.0.lock() = Some(period("7"));
    for seconds in [0, 59] {
        raised.setup.clock.advance(Duration::from_secs(seconds));
        for _ in 0..2 {
            assert!(ask(&raised.host, in_thread("Dinner?", raised.thread())).await.is_answer());
        }
    }
    raised.setup.clock.advance(Duration::from_secs(1));
    assert_eq!(asked(&ask(&raised.host, in_thread("Dinner?", raised.thread())).await), "7");
}

#[tokio::test]
async fn a_consent_to_other_terms_is_asked_for_anew() {
    let (store, rule) = (stores().remove(0).0, Wants::this(consent("1", Some(0))));
    let host = setup(&store, &rule, &Arc::default()).host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.accept_consent(&refused.state(), &Default::default()).await.unwrap();
    *rule.0.lock() = Some(consent("2", Some(0)));
    assert!(!ask(&host, with_state("", refused.thread.clone(), &refused.state())).await.is_answer());
}

/// A rule whose price is another one for long messages.
struct ByLength;

impl Rule for ByLength {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let price = if message.text().len() > 10 { "500" } else { "5" };
        Box::pin(std::future::ready(Err(fee(price, Charge::Before).into())))
    }
}

#[tokio::test]
async fn a_price_that_depends_on_the_message_is_paid_for_that_message() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let unused = Wants::this(fee("5", Charge::Before));
    let setup = Setup { rules: vec![Arc::new(ByLength)], ..setup(&store, &unused, &till) };
    let host = setup.host(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    let paying =
        submitting("All the recipes of it", refused.thread.clone(), Some(refused.state()), Some(coins("5", "a")));
    assert_eq!(asked(&ask(&host, paying).await), "500");
    host.pay(&refused.state(), &coins("5", "b"), &Default::default()).await.unwrap();
    for message in [
        with_state("All the recipes of it", refused.thread.clone(), &refused.state()),
        submitting("All the recipes of it", refused.thread.clone(), None, Some(coins("5", "b"))),
        in_thread("All the recipes of it", refused.thread.clone()),
    ] {
        assert!(!ask(&host, message).await.is_answer());
    }
    assert!(ask(&host, with_state("Dinner?", refused.thread.clone(), &refused.state())).await.is_answer());
}

#[tokio::test]
async fn what_was_paid_to_one_agent_opens_no_other() {
    let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
    let rule = Wants::this(fee("5", Charge::Before));
    let host = setup(&store, &rule, &till).host_of_two(ScriptedAgent::saying(["Soup."])).await;
    let refused = ask(&host, message("Dinner?")).await;
    host.pay(&refused.state(), &coins("5", "a"), &Default::default()).await.unwrap();
    *rule.0.lock() = Some(fee("500", Charge::Before));
    let other = forecourt_core::Handle::parse("other").unwrap();
    for message in [
        with_state("Dinner?", refused.thread.clone(), &refused.state()),
        submitting("Dinner?", refused.thread.clone(), None, Some(coins("5", "a"))),
    ] {
        let answered = ask(&host, Message { recipient: other.clone(), ..message }).await;
        assert!(!answered.is_answer());
    }
    assert_ne!(handle(), other);
    assert_eq!(till.settled.load(Ordering::SeqCst), 1);
}

/// A server of a cheap and a dear tool, whose rules have these names.
fn tools(names: [&str; 2], prices: [&str; 2]) -> ServerGate {
    let tool = |tool: &str, name: &str, price: &str| {
        let rule = Wants::this(Requirement { rule: name.to_owned(), ..fee(price, Charge::Before) });
        ServerRule { tools: vec![tool.parse().unwrap()], rule }
    };
    let rules = vec![tool("cheap", names[0], prices[0]), tool("dear", names[1], prices[1])];
    ServerGate::new(Arc::new(card("far")), rules)
}

#[tokio::test]
async fn what_was_paid_for_a_cheap_rule_opens_no_dear_one() {
    // Each by a name of its own; both by the same; and by the same until the cheap one is taken out.
    for (names, alone, is_kept) in [(["a", "b"], false, true), (["a", "a"], false, false), (["a", "a"], true, false)] {
        let (store, till) = (stores().remove(0).0, Arc::<Till>::default());
        let host = setup(&store, &Wants::this(fee("1", Charge::Before)), &till).host(ScriptedAgent::saying([""])).await;
        let gate = tools(names, ["5", "500"]);
        let refused = host.forward(&gate, Target::Tool("cheap"), message("x")).await.unwrap().err().unwrap();
        let (state, thread) = (state_in(&refused.part), refused.thread);
        host.pay(&state, &coins("5", "a"), &Default::default()).await.unwrap();
        let dear = Wants::this(Requirement { rule: names[1].to_owned(), ..fee("700", Charge::Before) });
        let gate = match alone {
            true => ServerGate::new(Arc::new(card("far")), vec![ServerRule { tools: Vec::new(), rule: dear }]),
            false => tools(names, ["7", "700"]),
        };
        for message in [
            with_state("x", thread.clone(), &state),
            submitting("x", thread.clone(), None, Some(coins("5", "a"))),
            in_thread("x", thread.clone()),
        ] {
            assert!(host.forward(&gate, Target::Tool("dear"), message).await.unwrap().is_err(), "{names:?} {alone}");
        }
        if !alone {
            let cheap = host.forward(&gate, Target::Tool("cheap"), with_state("x", thread, &state)).await.unwrap();
            assert_eq!(cheap.is_ok(), is_kept, "{names:?}");
        }
    }
}
