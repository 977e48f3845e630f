//! What the provider knows: checkouts, payments, refunds, and what it has answered.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use serde_json::{Value, json};

use super::{Answer, CardFault, CardNotice};

/// The books of the provider.
#[derive(Debug, Default)]
pub struct CardBooks {
    /// Where it listens.
    pub origin: String,
    /// Its time in seconds; that of the machine where it is not set.
    pub time: Option<i64>,
    /// What is to happen to requests whose path holds a text, once each.
    pub faults: Vec<(String, CardFault)>,
    /// Method and path of each request with the right key.
    pub asked: Vec<String>,
    /// Checkout Sessions in the order in which they were opened.
    pub sessions: Vec<Value>,
    /// PaymentIntents.
    pub intents: Vec<Value>,
    /// Refunds.
    pub refunds: Vec<Value>,
    /// What it would send by itself.
    pub notices: Vec<CardNotice>,
    pub(super) answered: HashMap<String, ((String, Bytes), Answer)>,
    pub(super) named: usize,
}

impl CardBooks {
    pub(super) fn now(&self) -> i64 {
        let machine = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        self.time.unwrap_or_else(|| i64::try_from(machine()).unwrap())
    }

    pub(super) fn name(&mut self, kind: &str) -> String {
        self.named += 1;
        format!("{kind}_test_{}", self.named)
    }

    pub(super) fn next_fault(&mut self, path: &str) -> Option<CardFault> {
        let at = self.faults.iter().position(|(part, _)| path.contains(part.as_str()))?;
        Some(self.faults.remove(at).1)
    }

    /// What cards have paid and was not given back, in the smallest unit.
    pub fn taken(&self) -> i64 {
        let sum = |list: &[Value], key: &str| list.iter().map(|one| one[key].as_i64().unwrap_or_default()).sum::<i64>();
        sum(&self.intents, "amount_received") - sum(&self.refunds, "amount")
    }

    /// What cards hold, in the smallest unit.
    pub fn held(&self) -> i64 {
        self.intents.iter().map(|one| one["amount_capturable"].as_i64().unwrap_or_default()).sum()
    }

    /// How often something was asked for, by the beginning of method and path and its end.
    pub fn count(&self, begin: &str, end: &str) -> usize {
        self.asked.iter().filter(|asked| asked.starts_with(begin) && asked.ends_with(end)).count()
    }

    /// Somebody pays: the card authorises, and nothing is captured.
    pub(super) fn complete(&mut self, id: &str) {
        let now = self.now();
        let intent = self.name("pi");
        let session = self.sessions.iter_mut().find(|session| session["id"] == id).unwrap();
        let is_over = session["expires_at"].as_i64().unwrap() <= now;
        if session["status"] != "open" || is_over {
            return;
        }
        (session["status"], session["payment_intent"]) = (json!("complete"), json!(intent));
        let paid = json!({
            "id": intent, "object": "payment_intent", "status": "requires_capture", "capture_method": "manual",
            "amount": session["amount_total"], "amount_capturable": session["amount_total"], "amount_received": 0,
            "currency": session["currency"], "metadata": session["intent_metadata"], "created": now,
        });
        let told = session.clone();
        self.intents.push(paid.clone());
        self.tell("payment_intent.amount_capturable_updated", &paid);
        self.tell("checkout.session.completed", &told);
    }

    /// Notes that something happened, which is sent when a test wants it.
    pub(super) fn tell(&mut self, kind: &str, object: &Value) {
        let (id, created) = (self.name("evt"), self.now());
        let event = json!({"id": id, "object": "event", "type": kind, "created": created, "data": {"object": object}});
        self.notices.push(CardNotice { kind: kind.to_owned(), body: event.to_string() });
    }

    /// Closes what has expired by itself.
    pub(super) fn expire(&mut self) {
        let now = self.now();
        for session in &mut self.sessions {
            if session["status"] == "open" && session["expires_at"].as_i64().unwrap() <= now {
                session["status"] = json!("expired");
            }
        }
    }
}
