//! `forecourt ask --pay`: an agent that wants to be paid is paid, once its user has agreed. x402 over REST.

use std::io::{IsTerminal, Write, stderr, stdin};

use forecourt_client::ask::{AskArguments, AskTarget, JSON};
use forecourt_client::network::is_here;
use forecourt_client::output::{Failure, stderrln};
use forecourt_client::printable::line;
use forecourt_client::refusal;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{PolicyPart, SystemClock, clock::Clock, json};
use forecourt_egress::{UpstreamRequest, UpstreamResponse};
use forecourt_host::SystemEntropy;
use forecourt_payments::x402::http::{PAYMENT_RESPONSE, X_PAYMENT_RESPONSE, decode, payment};
use forecourt_payments::{Quote, Wallet};
use http::header::ACCEPT;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::{SESSION, addressed};

/// The variable that holds the private key. Never an argument: those are seen by everybody on the machine.
const KEY: &str = "FORECOURT_WALLET_KEY";
/// Characters of a stranger's word.
const WORD_CHARS_MAX: usize = 200;

/// Who pays, and how much at most.
pub(super) struct Payer {
    wallet: Wallet,
    most: Option<String>,
    is_agreed: bool,
}

impl Payer {
    /// Fails without a key, and when the payment would be seen on its way.
    pub(super) fn new(ask: &AskArguments, to: &AskTarget) -> Result<Self, Failure> {
        if to.endpoint.scheme() == "http" && !is_here(&to.endpoint) {
            return Err(Failure::usage("nothing is paid over plain HTTP").hint("use the https URL"));
        }
        let key = std::env::var(KEY).map_err(|_| {
            Failure::usage("there is nothing to pay with").hint(format!("put the private key into {KEY}"))
        })?;
        let wallet = Wallet::from_hex(&key).map_err(|error| Failure::usage(format!("{KEY}: {error}")))?;
        Ok(Self { wallet, most: ask.pay_max.clone(), is_agreed: ask.yes })
    }

    /// Sends a request, and sends it again with a payment if the agent wants one and the user agrees. What is not
    /// to be paid for comes whole, not as a stream.
    pub(super) async fn send(&self, to: &AskTarget, request: UpstreamRequest) -> Result<PaidAnswer, Failure> {
        let first = request.clone().header(ACCEPT, JSON);
        let incoming = to.send(addressed(to, first)).await.map_err(|error| to.unreachable(&error))?;
        if incoming.status != StatusCode::PAYMENT_REQUIRED {
            return Ok(PaidAnswer::free(incoming));
        }
        let body = incoming.body.collect().await;
        let body =
            body.map_err(|error| Failure::unreachable(format!("the answer broke off: {}", error.log_reason())))?;
        let part = policy_part(&body)
            .ok_or_else(|| Failure::yours(format!("{} wants to be paid, in a form that can't be read", to.label)))?;
        let Some((quote, _)) = self.signed(&part)? else {
            stderrln!("No way to pay that it offers is known here.");
            return Err(refusal::show(&part, &to.label, &to.canonical_host));
        };
        self.agree(&quote, &part, to).await?;
        // Only now, since whoever was asked may have taken a while.
        let Some((_, payload)) = self.signed(&part)? else { return Err(Failure::yours("nothing was paid")) };
        let (name, value) = payment(quote.wanted.version(), &payload)
            .ok_or_else(|| Failure::yours("the payment can't be written into a header"))?;
        let answer = to.send(addressed(to, request.header(name, value))).await.map_err(|error| {
            to.unreachable(&error).hint("whether it was paid is not known; look at your account before you pay again")
        })?;
        show_receipt(&answer, &quote);
        let session = session_of(&answer).filter(|_| receipt_of(&answer).is_none());
        Ok(PaidAnswer { incoming: answer, session, is_paid: true })
    }

    /// The first way to pay that this wallet can sign for, and the payment, which goes nowhere by itself.
    fn signed(&self, part: &PolicyPart) -> Result<Option<SignedQuote>, Failure> {
        let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { return Ok(None) };
        let now = SystemClock.now();
        let mut last = None;
        for quote in Quote::all(accepted_payments) {
            match self.wallet.pay((&quote.raw, &quote.wanted), quote.resource.as_ref(), now, &SystemEntropy) {
                Ok(payload) => return Ok(Some((quote, payload))),
                Err(error) => last = Some(error),
            }
        }
        last.map_or(Ok(None), |error| Err(Failure::yours(line(&error.to_string(), WORD_CHARS_MAX))))
    }

    /// Shows what would be paid, and asks. Fails when it is too much, or nobody agrees.
    async fn agree(&self, quote: &Quote, part: &PolicyPart, to: &AskTarget) -> Result<(), Failure> {
        let word = |text: &str| line(text, WORD_CHARS_MAX);
        stderrln!("{} wants to be paid: {}", word(&to.label), word(&part.message));
        stderrln!("  amount   {}", quote.in_words());
        stderrln!("  to       {}", quote.wanted.pay_to());
        stderrln!("  from     {}", self.wallet.address());
        stderrln!("  for      {}", word(quote.resource.as_ref().and_then(|r| r["url"].as_str()).unwrap_or(&to.label)));
        if let Some(most) = &self.most {
            match quote.is_within(most) {
                Some(true) => {}
                Some(false) => {
                    return Err(Failure::yours(format!(
                        "that is more than --pay-max {}, nothing was paid",
                        word(most)
                    )));
                }
                None => {
                    return Err(Failure::usage(format!(
                        "--pay-max {} says nothing of this token, nothing was paid",
                        word(most)
                    ))
                    .hint("write `0.10 USDC`, `$0.10` or `50000 units`"));
                }
            }
        }
        if self.is_agreed || confirmed().await {
            return Ok(());
        }
        Err(Failure::yours("nothing was paid").hint("--yes with --pay-max PRICE pays without being asked"))
    }
}

/// Whether somebody at a terminal agrees.
async fn confirmed() -> bool {
    if !stdin().is_terminal() {
        return false;
    }
    let asked = spawn_blocking(|| {
        let mut out = stderr().lock();
        let _ = write!(out, "Pay? [y/N] ").and_then(|()| out.flush());
        let mut answer = String::new();
        stdin().read_line(&mut answer).is_ok_and(|_| matches!(answer.trim(), "y" | "Y" | "yes"))
    });
    asked.await.unwrap_or(false)
}

/// What would be paid, and the payment.
type SignedQuote = (Quote, Map<String, Value>);

/// The refusal in the body of an answer.
fn policy_part(body: &[u8]) -> Option<PolicyPart> {
    let mut value = json::parse(body).ok()?;
    let Value::Object(policy) = value.get_mut("policy")?.take() else { return None };
    PolicyPart::from_json(policy).ok()
}

/// An answer to a request that may have been paid for.
pub(super) struct PaidAnswer {
    pub(super) incoming: UpstreamResponse,
    /// The conversation, where the head of a paid answer does not say that it was paid.
    pub(super) session: Option<String>,
    /// Whether a payment was sent along.
    pub(super) is_paid: bool,
}

impl PaidAnswer {
    /// An answer that nobody pays for.
    pub(super) fn free(incoming: UpstreamResponse) -> Self {
        Self { incoming, session: None, is_paid: false }
    }
}

/// Says how to go on without paying again where there was no answer: whether it was paid may be known later.
pub(super) fn show_session(session: &str) {
    let session = line(session, WORD_CHARS_MAX);
    stderrln!("if the payment was taken after all, this goes on without paying again: --session {session}");
}

fn session_of(answer: &UpstreamResponse) -> Option<String> {
    answer.headers.get(&SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn receipt_of(answer: &UpstreamResponse) -> Option<&HeaderValue> {
    answer.headers.get(PAYMENT_RESPONSE).or_else(|| answer.headers.get(X_PAYMENT_RESPONSE))
}

/// Says that it was paid, if a receipt in base64 says so, as the end of a stream brings it.
pub(super) fn show_paid(receipt: &str) {
    let receipt = HeaderValue::from_str(receipt).ok().and_then(|value| decode(&value).ok());
    if let Some(receipt) = receipt.filter(|receipt| receipt["success"] == true) {
        stderrln!("paid: {}", line(receipt["transaction"].as_str().unwrap_or_default(), WORD_CHARS_MAX));
    }
}

/// Says that it was paid, if the answer does.
fn show_receipt(answer: &UpstreamResponse, quote: &Quote) {
    let header = receipt_of(answer);
    let Some(receipt) = header.and_then(|value| decode(value).ok()) else { return };
    if receipt["success"] == true {
        let transaction = receipt["transaction"].as_str().unwrap_or_default();
        stderrln!("paid {}: {}", quote.in_words(), line(transaction, WORD_CHARS_MAX));
    }
}
