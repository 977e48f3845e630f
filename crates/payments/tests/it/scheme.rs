//! x402 as a scheme: what is refused before anybody is asked, and that nobody is charged twice.

mod faults;
mod refusals;

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_core::policy::{AcceptedPayment, PaymentSubmission};
use forecourt_payments::{PaymentsSettings, Price, X402, offers};
use forecourt_testkit::HandClock;
use serde_json::{Value, json};

use crate::facilitator::{Scripted, opened};

/// Whom the tests' payments come from and go to.
pub(crate) const PAYER: &str = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
pub(crate) const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
/// 2026-01-01T00:00:00Z, where the clock stands.
const NOW: u64 = 1_767_225_600;

pub(crate) struct Shop {
    pub(crate) scripted: Scripted,
    pub(crate) scheme: X402,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) offers: Vec<AcceptedPayment>,
}

pub(crate) fn settings(more: &str) -> PaymentsSettings {
    toml::from_str(&format!("pay_to = \"{PAYEE}\"\n{more}")).unwrap()
}

impl Shop {
    pub(crate) async fn open() -> Self {
        Self::with("").await
    }

    /// A shop whose network can be asked itself.
    pub(crate) async fn with_chain() -> Self {
        Self::with("[networks.base-sepolia]\nrpc = \"http://{address}/rpc\"").await
    }

    async fn with(more: &str) -> Self {
        let scripted = Scripted::default();
        let address = scripted.start().await.to_string();
        let more = more.replace("{address}", &address);
        let settings = settings(&format!("facilitator = \"http://{address}/\"\n{more}"));
        let price = Price { price: "0.01 USDC", network: Some("base-sepolia"), pay_to: None };
        let offers = offers(&settings, price, "https://shop.example/~chef", "A recipe").unwrap();
        let clock = Arc::new(HandClock::new());
        scripted.books.lock().chain_time = NOW;
        let scheme = X402::new(&settings, opened(), clock.clone()).unwrap();
        Self { scripted, scheme, clock, offers }
    }

    pub(crate) fn transfers(&self) -> usize {
        self.scripted.books.lock().transfers.len()
    }

    pub(crate) fn verified(&self) -> usize {
        self.scripted.books.lock().verified.len()
    }

    pub(crate) fn settled(&self) -> usize {
        self.scripted.books.lock().settled.len()
    }
}

/// A payment of 0.01 USDC, good from now on for five minutes.
pub(crate) fn payment(version: u64, nonce: u8) -> Value {
    let authorization = json!({
        "from": PAYER, "to": PAYEE, "value": "10000", "validAfter": "0",
        "validBefore": (NOW + 300).to_string(), "nonce": format!("0x{}", format!("{nonce:02x}").repeat(32)),
    });
    let exact = json!({"signature": "0x2d6a75", "authorization": authorization});
    match version {
        1 => json!({"x402Version": 1, "scheme": "exact", "network": "base-sepolia", "payload": exact}),
        _ => {
            let accepted = json!({
                "scheme": "exact", "network": "eip155:84532", "amount": "10000", "maxTimeoutSeconds": 300,
                "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "payTo": PAYEE,
                "extra": {"name": "USDC", "version": "2"},
            });
            json!({"x402Version": 2, "accepted": accepted, "payload": exact})
        }
    }
}

pub(crate) fn submitted(payload: Value) -> PaymentSubmission {
    forecourt_payments::x402::submission(payload).unwrap().1
}

/// The time of the tests, so many seconds later.
pub(crate) fn later(seconds: i64) -> Timestamp {
    Timestamp::from_second(NOW as i64 + seconds).unwrap()
}
