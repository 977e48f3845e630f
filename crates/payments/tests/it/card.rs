//! Cards against a strict double of the provider: what is opened, found, taken and given back, and each fault between.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Handle;
use forecourt_core::clock::Clock;
use forecourt_core::policy::{
    AcceptedPayment, Checkout, CheckoutFinding, CheckoutOrder, GivenBack, OfferBuilder, OfferContext, PaymentError,
    PaymentScheme, PaymentSubmission, Settlement,
};
use forecourt_payments::card::{Card, CardOffers, CardSettings, SIGNATURE};
use forecourt_testkit::{CARD_KEY, CardFault, CardProvider, HandClock, sign_notice};
use serde_json::{Map, Value, json};

use crate::facilitator::opened;

const SECRET: &str = "whsec_double";

/// A host's side of a provider.
struct World {
    provider: CardProvider,
    card: Card,
    clock: Arc<HandClock>,
}

async fn world() -> World {
    with_key(CARD_KEY).await
}

async fn with_key(key: &str) -> World {
    let (provider, clock) = (CardProvider::default(), Arc::new(HandClock::new()));
    let origin = format!("http://{}", provider.start().await);
    provider.books.lock().time = Some(clock.now().as_second());
    let settings = CardSettings {
        secret_key: Some(key.to_owned()),
        webhook_secrets: vec![SECRET.to_owned()],
        api: origin.clone(),
        checkout_origin: origin,
    };
    let card = Card::new(&settings, opened(), clock.clone()).unwrap();
    World { provider, card, clock }
}

fn offer() -> AcceptedPayment {
    let settings = CardSettings { secret_key: Some(CARD_KEY.to_owned()), ..CardSettings::default() };
    let agent = Handle::parse("shop").unwrap();
    let context = OfferContext { agent: &agent, base: "https://demo.example", price: "0.50 EUR", credit: None };
    CardOffers::new(settings).offers(&Map::new(), &context).unwrap().remove(0)
}

fn reference(letter: char) -> String {
    letter.to_string().repeat(64)
}

impl World {
    fn order(&self, letter: char, attempt: u32) -> CheckoutOrder {
        CheckoutOrder {
            offer: offer(),
            amount: "50".to_owned(),
            reference: reference(letter),
            attempt,
            title: "An answer".to_owned(),
            return_to: "https://demo.example/pay/S".to_owned(),
            cancel_to: "https://demo.example/pay/S".to_owned(),
            language: None,
            until: self.clock.now() + Duration::from_secs(35 * 60),
        }
    }

    async fn open(&self, letter: char) -> Checkout {
        self.card.open_checkout(&self.order(letter, 1)).await.unwrap()
    }

    /// A checkout that was paid.
    async fn paid(&self, letter: char) -> PaymentSubmission {
        let checkout = self.open(letter).await;
        self.provider.pay(&checkout.id);
        match self.card.look_up_checkout(&checkout).await {
            CheckoutFinding::Paid(payload) => PaymentSubmission { family: "card", payload },
            other => panic!("{other:?}"),
        }
    }

    fn money(&self) -> (i64, i64) {
        let books = self.provider.books.lock();
        (books.held(), books.taken())
    }
}

fn code(refused: Result<(), PaymentError>) -> (String, bool) {
    refused.map_err(|error| (error.code, error.is_passing)).unwrap_err()
}

#[tokio::test]
async fn what_is_authorised_is_captured_once() {
    let world = world().await;
    let payment = world.paid('a').await;
    assert_eq!(world.card.select(&[offer()], &payment).unwrap(), 0);
    assert_eq!(world.card.verify(&offer(), &payment).await, Ok(()));
    assert_eq!(world.money(), (50, 0), "nothing is taken yet");
    let stands = world.card.authorization(&payment).unwrap();
    assert_eq!(stands.reference, Some(reference('a')));
    assert!(stands.good_until.unwrap() > world.clock.now() + Duration::from_secs(86_400));
    for _ in 0..3 {
        let Settlement::Settled(receipt) = world.card.settle(&offer(), &payment).await else { panic!() };
        assert_eq!((receipt.amount.as_str(), &receipt.details["status"]), ("50", &json!("succeeded")));
        assert_eq!(receipt.confirmation.transaction, world.card.fingerprint(&payment).ok());
    }
    assert!(matches!(world.card.reconcile(&offer(), &payment).await, Settlement::Settled(_)));
    assert_eq!(world.money(), (0, 50));
    assert_eq!(world.provider.books.lock().count("POST", "/capture"), 1);
}

#[tokio::test]
async fn what_is_given_back_is_what_was_held_or_taken_and_no_more() {
    let world = world().await;
    let held = world.paid('a').await;
    for _ in 0..2 {
        assert_eq!(world.card.give_back(&offer(), &held).await, GivenBack::NotTaken);
    }
    assert_eq!(world.money(), (0, 0));
    assert!(matches!(world.card.settle(&offer(), &held).await, Settlement::Refused(fault) if fault.code == "canceled"));
    let taken = world.paid('b').await;
    world.card.settle(&offer(), &taken).await;
    for _ in 0..2 {
        let GivenBack::Refunded(receipt) = world.card.give_back(&offer(), &taken).await else { panic!() };
        assert_eq!((&receipt["amount"], &receipt["status"]), (&json!(50), &json!("refunded")));
    }
    assert_eq!((world.money(), world.provider.books.lock().refunds.len()), ((0, 0), 1));
    // The operator has given a part back by hand: the rest can't be known here, and nothing is given twice.
    let partly = world.paid('c').await;
    world.card.settle(&offer(), &partly).await;
    let intent = partly.payload["intent"].clone();
    world.provider.books.lock().refunds.push(json!({"payment_intent": intent, "amount": 20}));
    assert!(matches!(world.card.give_back(&offer(), &partly).await, GivenBack::Unknown(_)));
    assert_eq!(world.money(), (0, 30));
}

#[tokio::test]
async fn one_order_opens_one_checkout_and_another_attempt_another() {
    let world = world().await;
    let first = world.open('a').await;
    assert_eq!(world.open('a').await, first);
    let second = world.card.open_checkout(&world.order('a', 2)).await.unwrap();
    assert!(second.id != first.id && world.provider.books.lock().sessions.len() == 2);
    // The same key for something else is refused by the provider, and opens nothing.
    let other = CheckoutOrder { title: "Another".to_owned(), ..world.order('a', 1) };
    let refused = world.card.open_checkout(&other).await.unwrap_err();
    assert_eq!((refused.code.as_str(), refused.is_passing), ("idempotency_error", false));
    let foreign = CheckoutOrder { amount: "51".to_owned(), ..world.order('b', 1) };
    assert!(world.card.open_checkout(&foreign).await.is_err(), "an amount that was not offered");
    assert_eq!(world.provider.books.lock().sessions.len(), 2);
}

#[tokio::test]
async fn a_checkout_is_open_paid_or_over() {
    let world = world().await;
    let open = world.open('a').await;
    assert_eq!(world.card.look_up_checkout(&open).await, CheckoutFinding::Open);
    assert_eq!(world.card.close_checkout(&open).await, CheckoutFinding::Ended);
    assert_eq!(world.card.close_checkout(&open).await, CheckoutFinding::Ended);
    world.provider.pay(&open.id);
    assert_eq!(world.card.look_up_checkout(&open).await, CheckoutFinding::Ended, "what is closed is not paid");
    let paid = world.open('b').await;
    world.provider.pay(&paid.id);
    assert!(matches!(world.card.close_checkout(&paid).await, CheckoutFinding::Paid(_)), "what is paid stays paid");
    let late = world.open('c').await;
    world.provider.books.lock().time = Some(world.clock.now().as_second() + 36 * 60);
    assert_eq!(world.card.look_up_checkout(&late).await, CheckoutFinding::Ended);
    let foreign = Checkout { reference: reference('x'), ..paid };
    assert!(matches!(world.card.look_up_checkout(&foreign).await, CheckoutFinding::Unknown(_)));
}

#[tokio::test]
async fn a_payment_is_what_was_asked_for_or_none() {
    let world = world().await;
    let payment = world.paid('a').await;
    let changed = |key: &str, value: Value| {
        let mut payload = payment.payload.clone();
        payload.insert(key.to_owned(), value);
        PaymentSubmission { family: "card", payload }
    };
    for (key, value) in [("reference", json!(reference('b'))), ("amount", json!(49)), ("currency", json!("usd"))] {
        let other = changed(key, value);
        assert_eq!(code(world.card.verify(&offer(), &other).await), ("other_payment".to_owned(), false), "{key}");
        assert!(matches!(world.card.settle(&offer(), &other).await, Settlement::Refused(_)), "{key}");
    }
    for (key, value) in [("amount", json!(49)), ("currency", json!("usd"))] {
        assert!(world.card.select(&[offer()], &changed(key, value)).is_err());
    }
    // Of another checkout, and what is no name at all.
    let other = world.paid('b').await;
    let mixed = changed("intent", other.payload["intent"].clone());
    assert_eq!(code(world.card.verify(&offer(), &mixed).await).0, "other_payment");
    for wrong in [json!("../refunds"), json!(""), json!(7), Value::Null] {
        assert!(world.card.fingerprint(&changed("intent", wrong)).is_err());
    }
    assert!(world.card.select(&[offer()], &changed("card", json!("4242"))).is_err(), "no data of a card has a place");
    // What somebody else changed at the provider is no payment either, and the money of another state stays.
    world.provider.books.lock().intents[0]["metadata"] = json!({"reference": reference('z')});
    assert_eq!(code(world.card.verify(&offer(), &payment).await).0, "other_payment");
    assert!(matches!(world.card.give_back(&offer(), &payment).await, GivenBack::Unknown(_)));
    assert_eq!(world.money(), (100, 0));
}

#[tokio::test]
async fn a_wrong_key_does_nothing() {
    let world = with_key("sk_test_other").await;
    let refused = world.card.open_checkout(&world.order('a', 1)).await.unwrap_err();
    assert_eq!((refused.code.as_str(), refused.is_passing), ("provider_unavailable", true));
    assert!(world.provider.books.lock().asked.is_empty());
}

#[tokio::test]
async fn whatever_a_provider_does_with_a_capture_is_told_as_it_is() {
    for (status, is_passing) in [(429, true), (401, true), (500, false), (502, false)] {
        let world = world().await;
        let payment = world.paid('a').await;
        world.provider.fail("/capture", CardFault::Answer(status));
        match world.card.settle(&offer(), &payment).await {
            Settlement::Refused(error) => assert!(is_passing && error.is_passing, "{status}: nothing was done"),
            Settlement::Unknown(_) => assert!(!is_passing, "{status}: nobody knows"),
            other => panic!("{status}: {other:?}"),
        }
        assert_eq!(world.money(), (50, 0), "{status}");
        world.provider.fail("/capture", CardFault::Answer(status));
        let again = world.card.reconcile(&offer(), &payment).await;
        assert!(matches!(again, Settlement::Unknown(_)), "{status}: it may have been made before: {again:?}");
        assert!(matches!(world.card.reconcile(&offer(), &payment).await, Settlement::Settled(_)), "{status}");
        assert_eq!(world.money(), (0, 50), "{status}");
    }
}

#[tokio::test]
async fn a_provider_that_can_not_be_asked_leaves_everything_as_it_is() {
    let world = world().await;
    let checkout = world.open('a').await;
    for (part, fault) in [("sessions", 500), ("sessions", 429)] {
        world.provider.fail(part, CardFault::Answer(fault));
        assert!(matches!(world.card.look_up_checkout(&checkout).await, CheckoutFinding::Unknown(_)));
    }
    world.provider.fail("/expire", CardFault::Answer(500));
    assert_eq!(world.card.close_checkout(&checkout).await, CheckoutFinding::Open, "it was not closed");
    let payment = world.paid('b').await;
    for part in ["sessions", "payment_intents"] {
        world.provider.fail(part, CardFault::Answer(503));
        assert_eq!(code(world.card.verify(&offer(), &payment).await), ("provider_unavailable".to_owned(), true));
    }
    for part in ["payment_intents", "/cancel"] {
        world.provider.fail(part, CardFault::Answer(503));
        assert!(matches!(world.card.give_back(&offer(), &payment).await, GivenBack::Unknown(_)));
    }
    assert_eq!(world.card.give_back(&offer(), &payment).await, GivenBack::NotTaken);
    // Who asks at the same moment as somebody else waits for what comes of that.
    world.provider.fail("checkout/sessions", CardFault::Answer(409));
    assert!(world.card.open_checkout(&world.order('c', 1)).await.is_ok());
}

#[tokio::test]
async fn notices_say_where_to_look_and_nothing_else() {
    let world = world().await;
    world.paid('a').await;
    let notices = world.provider.notices();
    assert_eq!(notices.len(), 2);
    let now = world.clock.now().as_second();
    for notice in notices {
        let take = |secret: &str, time: i64| {
            let signed = sign_notice(secret, time, &notice.body);
            let field = |name: &str| (name == SIGNATURE).then(|| signed.clone());
            world.card.read_notice(&field, notice.body.as_bytes())
        };
        assert_eq!(take(SECRET, now).unwrap().reference, Some(reference('a')), "{}", notice.kind);
        assert!(take("whsec_other", now).is_err() && take(SECRET, now - 301).is_err());
        assert!(world.card.read_notice(&|_| None, notice.body.as_bytes()).is_err());
    }
}
