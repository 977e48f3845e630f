//! Rules that want something, and a till that says what it is told to.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{
    AcceptedPayment, Charge, ConsentTerms, Demand, GivenBack, PaidFor, PaymentAuthorization, PaymentConfirmation,
    PaymentError, PaymentScheme, PaymentSubmission, PaymentTerms, PresentedTerms, Receipt, RefusalKind, Requirement,
    Settlement, Submission,
};
use forecourt_core::{
    AgentCard, Ending, Event, Message, MessageId, Part, PolicyPart, Reply, StateToken, Store, ThreadId,
};
use forecourt_host::{Host, Run, ServerGate, ServerRule, Target};
use forecourt_store::{Memory, Sqlite, SqliteOptions};
use forecourt_testkit::{ScriptedAgent, card};
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::support::{Setup, message};

/// Both stores; the folder of the second one goes with it.
pub(super) fn stores() -> Vec<(Arc<dyn Store>, Option<TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = sqlite(&folder);
    vec![(Arc::new(Memory::new()), None), (sqlite, Some(folder))]
}

pub(super) fn sqlite(folder: &TempDir) -> Arc<dyn Store> {
    Sqlite::open(&folder.path().join("forecourt.db"), SqliteOptions::default()).unwrap()
}

/// A server behind a host that wants to be paid, and a state that was paid for a call of it.
pub(super) struct PaidServer {
    pub(super) host: Arc<Host>,
    pub(super) till: Arc<Till>,
    pub(super) gate: ServerGate,
    pub(super) state: StateToken,
    pub(super) thread: Option<ThreadId>,
}

pub(super) async fn paid_server(store: &Arc<dyn Store>, wanted: Requirement) -> PaidServer {
    let (rule, till) = (Wants::this(wanted), Arc::<Till>::default());
    let host = setup(store, &rule, &till).host(ScriptedAgent::saying(["Soup."])).await;
    let gate = ServerGate::new(Arc::new(card("far")), vec![ServerRule { tools: Vec::new(), rule }]);
    let refused = host.forward(&gate, Target::Other, message("x")).await.unwrap().err().unwrap();
    let state = state_in(&refused.part);
    host.pay(&state, &coins("5", "a"), &Default::default()).await.unwrap();
    PaidServer { host, till, gate, state, thread: refused.thread }
}

/// A rule that wants one thing, which can be exchanged as by an edited configuration.
pub(super) struct Wants(pub(super) Mutex<Option<Requirement>>);

impl Wants {
    pub(super) fn this(requirement: Requirement) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(requirement))))
    }
}

impl Rule for Wants {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let verdict = self.0.lock().clone().map_or(Ok(()), |requirement| Err(requirement.into()));
        Box::pin(std::future::ready(verdict))
    }

    fn fixed_payment(&self) -> Option<String> {
        let wanted = self.0.lock();
        wanted.as_ref().filter(|wanted| wanted.kind() == "payment_required").map(|wanted| wanted.rule.clone())
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub(super) fn consent(version: &str, lifetime_seconds: Option<u64>) -> Requirement {
    let scope = object(json!({"text": "We keep what you say for a week.", "version": version}));
    required("terms", Demand::Consent(ConsentTerms { scope, lifetime_seconds }))
}

/// A payment that is taken before the agent is asked.
pub(super) fn payment(price: &str, covers: PaidFor) -> Requirement {
    charged(price, covers, Charge::Before)
}

/// A payment for one message, taken then.
pub(super) fn fee(price: &str, charge: Charge) -> Requirement {
    charged(price, PaidFor::Turn, charge)
}

fn charged(price: &str, covers: PaidFor, charge: Charge) -> Requirement {
    let offer = AcceptedPayment { scheme: "till.exact".to_owned(), payload: object(json!({"amount": price})) };
    let price = format!("{price} coins");
    let terms = PaymentTerms { accepted: vec![offer], price, covers, credit: None, charge };
    required("fee", Demand::Payment(terms))
}

fn required(rule: &str, demand: Demand) -> Requirement {
    Requirement {
        rule: rule.to_owned(),
        title: None,
        message: "First this.".to_owned(),
        message_translations: Default::default(),
        demand,
    }
}

/// A way to pay that answers as a test says. Counts what it was asked.
#[derive(Default)]
pub(super) struct Till {
    /// What settling and reconciling say, one after the other; then that it is settled.
    pub(super) says: Mutex<Vec<Settlement>>,
    pub(super) settled: AtomicUsize,
    pub(super) verified: AtomicUsize,
    pub(super) reconciled: AtomicUsize,
    /// Whether settling never comes to its end.
    pub(super) hangs: bool,
    /// How long settling takes, and to find out what came of it once that is asked.
    pub(super) settling_takes: Duration,
    pub(super) reconciling_takes: Duration,
    /// The payments that were taken, where several tills are of one chain: each is taken once.
    pub(super) chain: Option<Chain>,
    /// Whether a payment is held until its answer, and what holding it says, one after the other; then that it is held.
    pub(super) holds: bool,
    pub(super) hold_says: Mutex<Vec<PaymentError>>,
    pub(super) held: AtomicUsize,
    pub(super) released: AtomicUsize,
    /// How long holding takes.
    pub(super) hold_hangs: bool,
    /// What is done while it is held.
    pub(super) while_held: Mutex<Option<Box<dyn Fn() + Send + Sync>>>,
    /// Whether an offer is bound to the state that it is made for.
    pub(super) presents: bool,
    /// What is paid, where it is another amount than was asked for.
    pub(super) pays: Mutex<Option<String>>,
}

/// What was taken of everybody.
pub(super) type Chain = Arc<Mutex<HashSet<String>>>;

pub(super) fn refused_payment(code: &str) -> PaymentError {
    PaymentError { code: code.to_owned(), message: "No.".to_owned(), is_passing: false }
}

impl Till {
    /// Takes a payment; whether it was still to be taken.
    fn take(&self, payment: &PaymentSubmission) -> bool {
        let nonce = payment.payload["nonce"].as_str().unwrap().to_owned();
        self.chain.as_ref().is_none_or(|chain| chain.lock().insert(nonce))
    }

    fn next(&self, offer: &AcceptedPayment, payment: &PaymentSubmission) -> Settlement {
        let mut says = self.says.lock();
        if !says.is_empty() {
            return says.remove(0);
        }
        let amount = self.pays.lock().clone();
        let amount = amount.unwrap_or_else(|| offer.payload["amount"].as_str().unwrap().to_owned());
        let confirmation = PaymentConfirmation {
            scheme: "till.exact".to_owned(),
            original_payload: object(json!({"amount": "whatever the payer says"})),
            transaction: Some(format!("tx-{}", payment.payload["nonce"].as_str().unwrap())),
            payer: Some("0xada".to_owned()),
            network: None,
        };
        Settlement::Settled(Box::new(Receipt { confirmation, amount, details: object(json!({"success": true})) }))
    }
}

impl PaymentScheme for Till {
    fn family(&self) -> &'static str {
        "till"
    }

    fn present(&self, offer: &AcceptedPayment, terms: &PresentedTerms<'_>) -> AcceptedPayment {
        let mut offer = offer.clone();
        if self.presents {
            offer.payload.insert("for".to_owned(), terms.reference.into());
            offer.payload.insert("until".to_owned(), terms.until.to_string().into());
        }
        offer
    }

    fn holds(&self) -> bool {
        self.holds
    }

    fn hold<'a>(&'a self, _: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move {
            self.held.fetch_add(1, Ordering::SeqCst);
            if self.hold_hangs {
                std::future::pending::<()>().await;
            }
            if let Some(meanwhile) = &*self.while_held.lock() {
                meanwhile();
            }
            let refused = self.hold_says.lock().pop();
            refused.map_or(Ok(()), Err)
        })
    }

    fn gives_back(&self, _: &AcceptedPayment) -> bool {
        self.holds
    }

    fn give_back<'a>(&'a self, _: &'a AcceptedPayment, _: &'a PaymentSubmission) -> BoxFuture<'a, GivenBack> {
        self.released.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(GivenBack::NotTaken))
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let means = |offer: &AcceptedPayment| offer.payload["amount"] == payment.payload["amount"];
        offers.iter().position(means).ok_or_else(|| refused_payment("invalid_payment_requirements"))
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        Ok(payment.payload["nonce"].as_str().unwrap().to_owned())
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let end = payment.payload.get("until").and_then(Value::as_i64);
        let good_until = end.map(|second| forecourt_core::Timestamp::from_second(second).unwrap());
        Ok(PaymentAuthorization { payer: Some("0xada".to_owned()), network: None, good_until, reference: None })
    }

    fn verify<'a>(
        &'a self,
        _: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        self.verified.fetch_add(1, Ordering::SeqCst);
        let verdict = match payment.payload.get("forged") {
            Some(_) => Err(refused_payment("invalid_signature")),
            None => Ok(()),
        };
        Box::pin(std::future::ready(verdict))
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            self.settled.fetch_add(1, Ordering::SeqCst);
            if self.hangs {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(self.settling_takes).await;
            match self.take(payment) {
                true => self.next(offer, payment),
                false => Settlement::Refused(refused_payment("duplicate_nonce")),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            self.reconciled.fetch_add(1, Ordering::SeqCst);
            self.take(payment);
            tokio::time::sleep(self.reconciling_takes).await;
            self.next(offer, payment)
        })
    }
}

pub(super) fn coins(amount: &str, nonce: &str) -> PaymentSubmission {
    PaymentSubmission { family: "till", payload: object(json!({"amount": amount, "nonce": nonce})) }
}

/// How a message was answered.
pub(super) struct Answered {
    pub(super) thread: Option<ThreadId>,
    pub(super) receipt: Option<Map<String, Value>>,
    pub(super) ending: Ending,
}

impl Answered {
    pub(super) fn refusal(&self) -> &PolicyPart {
        match &self.ending {
            Ending::Refused(part) => part,
            other => panic!("it was not refused, but {other:?}"),
        }
    }

    pub(super) fn is_answer(&self) -> bool {
        matches!(self.ending, Ending::Complete)
    }

    /// The state that the refusal gives.
    pub(super) fn state(&self) -> StateToken {
        state_in(self.refusal())
    }
}

pub(super) fn state_in(part: &PolicyPart) -> StateToken {
    let text = match &part.kind {
        RefusalKind::ConsentRequired { state, .. } => state.as_str(),
        RefusalKind::PaymentRequired { .. } => part.data["mentionable.state"].as_str().unwrap(),
        other => panic!("{other:?} has no state"),
    };
    StateToken::parse(text).unwrap()
}

pub(super) async fn finish(reply: Reply) -> Answered {
    let (thread, receipt) = (reply.thread.clone(), reply.receipt.clone());
    let last = reply.events.collect::<Vec<_>>().await.pop();
    let receipt = receipt.get().cloned();
    let Some(Event::Ending(ending)) = last else { panic!("no ending") };
    Answered { thread, receipt, ending }
}

pub(super) async fn ask(host: &Host, message: Message) -> Answered {
    finish(host.receive(message, Run::without_task()).await.unwrap()).await
}

/// A message that goes on in a conversation, with a state.
pub(super) fn with_state(text: &str, thread: Option<ThreadId>, state: &StateToken) -> Message {
    submitting(text, thread, Some(state.clone()), None)
}

pub(super) fn submitting(
    text: &str,
    thread: Option<ThreadId>,
    state: Option<StateToken>,
    payment: Option<PaymentSubmission>,
) -> Message {
    let submission = Some(Box::new(Submission { state, payment }));
    let parts = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
    Message { id: MessageId::parse("m2").unwrap(), thread, submission, parts, ..message("") }
}

/// A host behind one rule, on this store.
pub(super) fn setup(store: &Arc<dyn Store>, rule: &Arc<Wants>, till: &Arc<Till>) -> Setup {
    Setup {
        store: store.clone(),
        rules: vec![rule.clone()],
        schemes: vec![till.clone()],
        remembers: true,
        ..Setup::default()
    }
}
