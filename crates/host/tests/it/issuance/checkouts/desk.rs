//! A provider with checkouts, in memory: it keeps whose money is where, and fails as chance wants.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::{
    AcceptedPayment, Checkout, CheckoutAmount, CheckoutFinding, CheckoutOptions, CheckoutOrder, GivenBack,
    PaymentAuthorization, PaymentConfirmation, PaymentError, PaymentNotice, PaymentScheme, PaymentSubmission, Receipt,
    Settlement,
};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, json};

use super::super::support::refused_payment;
use crate::dice::Dice;

/// Where the money of a checkout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Money {
    /// Nothing was paid.
    Nowhere,
    /// The card holds it for the host.
    Held,
    /// The host has it.
    Taken,
    /// It was taken, and the payer has it again.
    Refunded,
}

#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) reference: String,
    pub(super) is_open: bool,
    pub(super) is_paid: bool,
    pub(super) money: Money,
    pub(super) captures: usize,
}

/// The provider.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) sessions: Mutex<BTreeMap<String, Session>>,
    /// Whether nothing that it is asked is answered.
    pub(super) is_away: Mutex<bool>,
    /// Whether it refuses to charge what it holds.
    pub(super) refuses: Mutex<bool>,
    /// What decides what fails; nothing does without it.
    pub(super) dice: Mutex<Option<Arc<Dice>>>,
}

impl Desk {
    /// Somebody pays at a checkout, if that is open.
    pub(super) fn pay(&self, id: &str) -> bool {
        let mut sessions = self.sessions.lock();
        let Some(session) = sessions.get_mut(id).filter(|session| session.is_open) else { return false };
        (session.is_open, session.is_paid, session.money) = (false, true, Money::Held);
        true
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.sessions.lock().keys().cloned().collect()
    }

    /// Where the money of all checkouts is.
    pub(super) fn money(&self) -> Vec<Money> {
        self.sessions.lock().values().map(|session| session.money).collect()
    }

    pub(super) fn captures(&self) -> usize {
        self.sessions.lock().values().map(|session| session.captures).sum()
    }

    /// Does something, and says what came of it: `None` when nobody knows, whether it was done or not.
    async fn work<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Session>) -> T) -> Option<T> {
        if *self.is_away.lock() {
            return None;
        }
        let dice = self.dice.lock().clone();
        let Some(dice) = dice else { return Some(work(&mut self.sessions.lock())) };
        tokio::time::sleep(Duration::from_millis(dice.below(400))).await;
        match dice.below(100) {
            0..70 => {
                let done = work(&mut self.sessions.lock());
                tokio::time::sleep(Duration::from_millis(dice.below(400))).await;
                Some(done)
            }
            70..85 => {
                work(&mut self.sessions.lock());
                None
            }
            _ => None,
        }
    }
}

fn id_of(payment: &PaymentSubmission) -> String {
    payment.payload["id"].as_str().unwrap_or_default().to_owned()
}

fn found(id: &str, session: &Session) -> CheckoutFinding {
    match (session.is_open, session.is_paid) {
        (true, _) => CheckoutFinding::Open,
        (false, true) => {
            let payload = json!({"id": id, "reference": session.reference});
            CheckoutFinding::Paid(payload.as_object().unwrap().clone())
        }
        (false, false) => CheckoutFinding::Ended,
    }
}

fn away() -> PaymentError {
    PaymentError { is_passing: true, ..refused_payment("away") }
}

impl PaymentScheme for Desk {
    fn family(&self) -> &'static str {
        "desk"
    }

    fn select(&self, offers: &[AcceptedPayment], _: &PaymentSubmission) -> Result<usize, PaymentError> {
        let at = offers.iter().position(|offer| offer.scheme == "desk.checkout");
        at.ok_or_else(|| refused_payment("unsupported_scheme"))
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        Ok(id_of(payment))
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let reference = payment.payload["reference"].as_str().map(str::to_owned);
        Ok(PaymentAuthorization { reference, ..PaymentAuthorization::default() })
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move {
            let held = self.work(|sessions| sessions[&id_of(payment)].money == Money::Held).await;
            held.ok_or_else(away)?.then_some(()).ok_or_else(|| refused_payment("not_authorized"))
        })
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            let captured = self.work(|sessions| {
                let session = sessions.get_mut(&id_of(payment)).unwrap();
                if session.money == Money::Held && !*self.refuses.lock() {
                    (session.money, session.captures) = (Money::Taken, session.captures + 1);
                }
                session.money == Money::Taken
            });
            let confirmation = PaymentConfirmation {
                scheme: offer.scheme.clone(),
                original_payload: offer.payload.clone(),
                transaction: Some(id_of(payment)),
                payer: None,
                network: None,
            };
            let details = Map::from_iter([("payment_intent".to_owned(), json!(id_of(payment)))]);
            match captured.await {
                Some(true) => Settlement::Settled(Box::new(Receipt { confirmation, amount: "5".to_owned(), details })),
                Some(false) => Settlement::Refused(refused_payment("canceled")),
                None => Settlement::Unknown("no answer".to_owned()),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        self.settle(offer, payment)
    }

    fn gives_back(&self, _: &AcceptedPayment) -> bool {
        true
    }

    fn give_back<'a>(&'a self, _: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, GivenBack> {
        Box::pin(async move {
            let given_back = self.work(|sessions| {
                let session = sessions.get_mut(&id_of(payment)).unwrap();
                session.money = match session.money {
                    Money::Taken | Money::Refunded => Money::Refunded,
                    Money::Held | Money::Nowhere => Money::Nowhere,
                };
                session.money
            });
            match given_back.await {
                Some(Money::Refunded) => {
                    GivenBack::Refunded(Map::from_iter([("status".to_owned(), json!("refunded"))]))
                }
                Some(_) => GivenBack::NotTaken,
                None => GivenBack::Unknown("no answer".to_owned()),
            }
        })
    }

    fn checkout_options(&self, offers: &[AcceptedPayment]) -> Option<CheckoutOptions> {
        let offer = offers.iter().position(|offer| offer.scheme == "desk.checkout")?;
        let amount =
            |times: u32| CheckoutAmount { offer, amount: (5 * times).to_string(), times, words: "5".to_owned() };
        Some(CheckoutOptions { origin: "https://desk.example".to_owned(), amounts: vec![amount(1), amount(2)] })
    }

    fn open_checkout<'a>(&'a self, order: &'a CheckoutOrder) -> BoxFuture<'a, Result<Checkout, PaymentError>> {
        Box::pin(async move {
            let (id, reference) = (format!("{}-{}", &order.reference[..12], order.attempt), order.reference.clone());
            let opened = Session {
                reference: reference.clone(),
                is_open: true,
                is_paid: false,
                money: Money::Nowhere,
                captures: 0,
            };
            let done = self.work(|sessions| {
                sessions.entry(id.clone()).or_insert(opened);
            });
            done.await.ok_or_else(away)?;
            Ok(Checkout { url: format!("https://desk.example/{id}"), id, reference })
        })
    }

    fn look_up_checkout<'a>(&'a self, checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(async move {
            let looked = self.work(|sessions| found(&checkout.id, &sessions[&checkout.id])).await;
            looked.unwrap_or_else(|| CheckoutFinding::Unknown("no answer".to_owned()))
        })
    }

    fn close_checkout<'a>(&'a self, checkout: &'a Checkout) -> BoxFuture<'a, CheckoutFinding> {
        Box::pin(async move {
            let closed = self.work(|sessions| {
                let session = sessions.get_mut(&checkout.id).unwrap();
                session.is_open = false;
                found(&checkout.id, session)
            });
            closed.await.unwrap_or_else(|| CheckoutFinding::Unknown("no answer".to_owned()))
        })
    }

    fn read_notice(&self, field: &dyn Fn(&str) -> Option<String>, body: &[u8]) -> Result<PaymentNotice, PaymentError> {
        let id = field("notice").ok_or_else(|| refused_payment("forged"))?;
        Ok(PaymentNotice { id, reference: Some(String::from_utf8_lossy(body).into_owned()) })
    }
}
