//! A browser as far as these pages need one, agents that want something first, and a till.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{
    AcceptedPayment, Charge, ConsentTerms, Demand, PaidFor, PaymentAuthorization, PaymentConfirmation, PaymentError,
    PaymentScheme, PaymentSubmission, PaymentTerms, PresentedTerms, Receipt, Requirement, Settlement,
};
use forecourt_core::{AgentCard, Message};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use http::Method;
use http::request::Builder;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::support::{Answer, Place, Setup, get, request};

/// A rule that wants one thing.
struct Wants(Requirement);

impl Rule for Wants {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(super) fn consent() -> Requirement {
    let scope = object(json!({"text": "We keep what you say.", "kept_days": 7}));
    wants("Please agree.", Demand::Consent(ConsentTerms { scope, lifetime_seconds: None }))
}

pub(super) fn offer() -> Map<String, Value> {
    object(json!({"x402Version": 1, "error": "pay", "accepts": [{"payTo": "0x1", "maxAmountRequired": "5"}]}))
}

/// A payment that is taken when the answer is complete.
pub(super) fn payment() -> Requirement {
    charged(Charge::After)
}

/// A payment that is taken before the agent is asked.
pub(super) fn payment_before() -> Requirement {
    charged(Charge::Before)
}

fn charged(charge: Charge) -> Requirement {
    let accepted = vec![AcceptedPayment { scheme: "x402.exact".to_owned(), payload: offer() }];
    let price = "0.05 USDC".to_owned();
    let terms = PaymentTerms { accepted, price, covers: PaidFor::Turn, credit: None, charge };
    wants("Please pay.", Demand::Payment(terms))
}

fn wants(message: &str, demand: Demand) -> Requirement {
    Requirement {
        rule: "first".to_owned(),
        title: None,
        message: message.to_owned(),
        message_translations: Default::default(),
        demand,
    }
}

/// A way to pay that takes what does not say otherwise.
#[derive(Default)]
pub(super) struct Till {
    pub(super) settled: AtomicUsize,
    /// What settling says once instead.
    pub(super) says: Mutex<Option<Settlement>>,
    /// Whether offers are made for their state, anew each time, and a payment is to be held, which always fails.
    pub(super) holds: AtomicBool,
    presented: AtomicUsize,
}

impl PaymentScheme for Till {
    fn family(&self) -> &'static str {
        "x402"
    }

    fn present(&self, offer: &AcceptedPayment, _: &PresentedTerms<'_>) -> AcceptedPayment {
        let mut offer = offer.clone();
        if self.holds() {
            offer.payload.insert("cart".to_owned(), self.presented.fetch_add(1, Ordering::SeqCst).into());
        }
        offer
    }

    fn holds(&self) -> bool {
        self.holds.load(Ordering::SeqCst)
    }

    fn hold<'a>(&'a self, _: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Result<(), PaymentError>> {
        let message = "It was declined.".to_owned();
        let declined = PaymentError { code: "processor_declined".to_owned(), message, is_passing: false };
        Box::pin(std::future::ready(Err(declined)))
    }

    fn gives_back(&self, _: &AcceptedPayment) -> bool {
        self.holds()
    }

    fn select(&self, _: &[AcceptedPayment], _: &PaymentSubmission) -> Result<usize, PaymentError> {
        Ok(0)
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        Ok(payment.payload["payload"].to_string())
    }

    fn authorization(&self, _: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        Ok(PaymentAuthorization::default())
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        let message = "The wallet holds less than the price.".to_owned();
        let poor = PaymentError { code: "INSUFFICIENT_FUNDS".to_owned(), message, is_passing: false };
        let verdict = if payment.payload["payload"] == "poor" { Err(poor) } else { Ok(()) };
        Box::pin(std::future::ready(verdict))
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        self.settled.fetch_add(1, Ordering::SeqCst);
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: Some("0xabc".to_owned()),
            payer: None,
            network: None,
        };
        let details = object(json!({"success": true, "transaction": "0xabc"}));
        let settled = Settlement::Settled(Box::new(Receipt { confirmation, amount: "5".to_owned(), details }));
        Box::pin(std::future::ready(self.says.lock().take().unwrap_or(settled)))
    }

    fn reconcile<'a>(&'a self, _: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(std::future::ready(Settlement::Unknown("nobody knows".to_owned())))
    }
}

/// `bot`, which says that it is done and wants something first; what it heard, and the till.
pub(super) struct Shop {
    pub(super) place: Place,
    pub(super) agent: Arc<ScriptedAgent>,
    pub(super) till: Arc<Till>,
}

pub(super) async fn wanting(requirement: Requirement) -> Shop {
    of(requirement, card("bot")).await
}

pub(super) async fn of(requirement: Requirement, card: AgentCard) -> Shop {
    let (agent, till) = (ScriptedAgent::saying(["Done."]), Arc::new(Till::default()));
    let setup = Setup { schemes: vec![till.clone()], ..Setup::default() };
    let setup = setup.guarded(card, agent.clone(), vec![Arc::new(Wants(requirement))]);
    Shop { place: setup.start().await, agent, till }
}

/// One browser: what it is told to keep it sends along.
#[derive(Default)]
pub(super) struct Browser {
    pub(super) cookies: Mutex<BTreeMap<String, String>>,
}

impl Browser {
    fn dressed(&self, request: Builder) -> Builder {
        let request = request.header("accept", "text/html").header("sec-fetch-site", "same-origin");
        let pairs: Vec<String> = self.cookies.lock().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { request } else { request.header("cookie", pairs.join("; ")) }
    }

    fn kept(&self, answer: &Answer) {
        for field in answer.headers.get_all("set-cookie") {
            let pair = field.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.lock().insert(name.to_owned(), value.to_owned());
        }
    }

    pub(super) async fn open(&self, place: &Place, path: &str) -> Answer {
        let answer = place.send(self.dressed(get(path))).await;
        self.kept(&answer);
        answer
    }

    pub(super) async fn submit(&self, place: &Place, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = "application/x-www-form-urlencoded";
        let request = self.dressed(request(Method::POST, path)).header("content-type", form);
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let answer = place.send_with(request, body).await;
        self.kept(&answer);
        answer
    }

    /// Asks, is refused, and is given the path of the page to decide on.
    pub(super) async fn refused(&self, place: &Place) -> String {
        let answer = self.open(place, "/~bot?user=chickpea+soup").await;
        assert!([401, 402].contains(&answer.status.as_u16()), "{}", answer.text());
        page_of(answer.text())
    }

    /// Opens the page and presses one of its buttons.
    pub(super) async fn decides(&self, place: &Place, path: &str, decision: &str) -> Answer {
        let token = token_of(self.open(place, path).await.is(200).text());
        self.submit(place, path, &[("token", &token), ("decision", decision)]).await
    }
}

/// The path to decide on, in the page of a refusal.
pub(super) fn page_of(html: &str) -> String {
    let begin = ["https://demo.localhost/consent/", "https://demo.localhost/pay/"];
    let at = begin.iter().find_map(|begin| html.find(begin)).unwrap_or_else(|| panic!("no page in {html}"));
    let url: String = html[at..].chars().take_while(|c| *c != '"').collect();
    url.trim_start_matches("https://demo.localhost").to_owned()
}

/// The token of the form on a page.
pub(super) fn token_of(html: &str) -> String {
    let after = html.split("name=\"token\" value=\"").nth(1).unwrap_or_else(|| panic!("no form in {html}"));
    after.split('"').next().unwrap().to_owned()
}

/// The state in a path to decide on.
pub(super) fn state_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}
