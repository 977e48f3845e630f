//! What a page has the wallets of a browser sign, as its script reads it, and the words that this script says.

use forecourt_sentences::Sentences;
use serde_json::{Value, json};

use crate::{clean, escape, qr};

/// What stands for values that the script puts in.
const VALUES: [&str; 4] = ["{0}", "{1}", "{2}", "{3}"];

/// The ways to pay with a wallet of the browser, made from the stored offer alone.
pub struct WalletPanel<'a> {
    /// A list of ways, in the words of their scheme. The page's script reads it.
    pub ways: Value,
    /// Who is paid, as a wallet shows it, each once.
    pub payees: &'a [String],
    /// What may be paid, where that is to be chosen: how many times the price, and what that comes to.
    pub amounts: &'a [(u32, String)],
    /// The second of the Unix clock in which the page was made: clocks of browsers are often wrong.
    pub now: i64,
}

/// A [`WalletPanel`] in a template.
pub(crate) struct WalletView {
    pub(crate) payees: Vec<String>,
    pub(crate) amounts: Vec<AmountView>,
    /// What the script reads, ready to stand in a block that no browser runs.
    pub(crate) data: String,
    /// The QR code of the page.
    pub(crate) code: Option<String>,
}

pub(crate) struct AmountView {
    pub(crate) times: u32,
    pub(crate) words: String,
}

/// What the script is told beside the ways to pay.
pub(crate) struct WalletPage<'a> {
    pub(crate) url: &'a str,
    /// Where its payment is sent.
    pub(crate) path: &'a str,
    /// Where it goes on from there.
    pub(crate) return_to: Option<&'a str>,
    /// Where the same is asked again.
    pub(crate) ask_again: &'a str,
    /// Whether a payment is reserved first.
    pub(crate) is_charged_after: bool,
    pub(crate) receipt_callback: Option<&'a str>,
}

impl WalletView {
    pub(crate) fn new(panel: &WalletPanel<'_>, page: &WalletPage<'_>, price: &str, say: Sentences) -> Self {
        let amount = |(times, price): &(u32, String)| AmountView {
            times: *times,
            words: amount(*times, &clean::line(price), say),
        };
        let data = json!({
            "ways": panel.ways, "now": panel.now, "path": page.path, "returnTo": page.return_to,
            "askAgain": page.ask_again, "after": page.is_charged_after, "callback": page.receipt_callback,
            "price": price, "words": words(say),
        });
        Self {
            payees: panel.payees.iter().map(|payee| clean::line(payee)).collect(),
            amounts: panel.amounts.iter().map(amount).collect(),
            data: escape::json(&data.to_string()),
            code: qr::svg(page.url, &say.pay_qr()),
        }
    }
}

/// So many times the price, and what that pays for.
pub(super) fn amount(times: u32, price: &str, say: Sentences) -> String {
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    say.pay_amount(times, price, times.saturating_sub(1))
}

/// What the script says, in the language of its page.
fn words(say: Sentences) -> Value {
    let [a, b, c, d] = VALUES;
    let codes = ["INSUFFICIENT_FUNDS", "INVALID_SIGNATURE", "EXPIRED_PAYMENT", "DUPLICATE_NONCE", "other"];
    let refused: serde_json::Map<String, Value> =
        codes.into_iter().map(|code| (code.to_owned(), say.pay_refused(code).into())).collect();
    json!({
        "price_on": say.pay_price_on(a, b),
        "pay": say.decision_pay(a),
        "none": say.pay_no_wallet(),
        "browser_wallet": say.pay_browser_wallet(),
        "connecting": say.pay_connecting(a),
        "switching": say.pay_switching(a, b),
        "adding": say.pay_adding(a, b),
        "checking": say.pay_checking(),
        "signing": say.pay_signing(a, b, c, d),
        "sending": say.pay_sending(),
        "silent": say.pay_silent(a),
        "again": say.pay_try_again(),
        "send_again": say.pay_send_again(),
        "declined": say.pay_declined(),
        "cancelled": say.pay_cancelled(),
        "busy": say.pay_busy(),
        "locked": say.pay_locked(),
        "wrong_network": say.pay_wrong_network(a),
        "unknown_network": say.pay_unknown_network(a),
        "too_little": say.pay_too_little(a, b),
        "too_late": say.pay_too_late(),
        "failed": say.pay_wallet_failed(),
        "unsent": say.pay_unsent(),
        "unanswered": say.pay_unanswered(),
        "refused": refused,
        "paid": say.pay_paid_now(),
        "reserved": say.pay_reserved_now(),
        "elsewhere": say.pay_paid_elsewhere(),
        "pending": say.pay_pending_elsewhere(),
        "over": say.pay_over(),
        "ask_again": say.pay_ask_again(),
        "get_answer": say.decision_get_answer(),
        "look_again": say.decision_look_again(),
        "language": say.language().code(),
    })
}
