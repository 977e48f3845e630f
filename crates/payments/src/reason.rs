//! A facilitator's reason, into our code, and into what it says of the money. x402 section 9, facts sheet 9.3.

use forecourt_core::policy::PaymentError;

use crate::facilitator::FacilitatorReply;
use crate::x402::{PaymentCode, fault};

/// Parts of reasons and the codes that they mean, the more telling ones first: `..._payload_signature` is about
/// the signature, not about the payload. Facilitators share a vocabulary only roughly.
const CODES: [(&str, PaymentCode); 18] = [
    ("insufficient", PaymentCode::InsufficientFunds),
    ("signature", PaymentCode::InvalidSignature),
    ("valid_before", PaymentCode::ExpiredPayment),
    ("valid_after", PaymentCode::ExpiredPayment),
    ("expired", PaymentCode::ExpiredPayment),
    ("nonce", PaymentCode::DuplicateNonce),
    ("already_used", PaymentCode::DuplicateNonce),
    ("authorization_used", PaymentCode::DuplicateNonce),
    ("duplicate", PaymentCode::DuplicateNonce),
    ("network", PaymentCode::NetworkMismatch),
    ("value", PaymentCode::InvalidAmount),
    ("amount", PaymentCode::InvalidAmount),
    ("recipient", PaymentCode::InvalidPayTo),
    ("pay_to", PaymentCode::InvalidPayTo),
    ("x402_version", PaymentCode::InvalidVersion),
    ("scheme", PaymentCode::UnsupportedScheme),
    ("payload", PaymentCode::InvalidPayload),
    ("requirements", PaymentCode::InvalidPayload),
];

/// Parts of reasons that say that the authorization was used.
const USED: [&str; 5] = ["already_used", "nonce_used", "authorization_used", "already_settled", "duplicate"];
/// Parts of reasons, and beginnings of explanations, that say that a transaction is on its way.
const OPEN: [&str; 4] = ["settlement_pending", "timed_out", "timeout", "pending"];

/// What a negative answer to `/settle` says of the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MoneyState {
    /// This request did not take the money, and can no longer take it.
    NotTaken,
    /// The authorization was used before this request.
    UsedBefore,
    /// The answer leaves it open; the settlement is reconciled later.
    Unknown,
}

/// The code of a reason; `otherwise` when it says nothing that is known.
pub(crate) fn code_of(reason: &str, otherwise: PaymentCode) -> PaymentCode {
    CODES.iter().find(|(part, _)| reason.contains(part)).map_or(otherwise, |(_, code)| *code)
}

/// The error that the payer gets for a facilitator's negative answer: a sentence, whatever word the facilitator has. Passing when the facilitator failed by itself
/// (`unexpected_…`).
pub(crate) fn fault_of(reply: &FacilitatorReply, otherwise: PaymentCode) -> PaymentError {
    let code = code_of(&reply.reason, otherwise);
    let reason = if reply.reason.is_empty() { "none" } else { &reply.reason };
    // Its own word is for the operator: people read the sentence, and programs the code.
    tracing::info!(reason, "a facilitator declined a payment");
    PaymentError { is_passing: reply.reason.starts_with("unexpected_"), ..fault(code, code.sentence()) }
}

/// What a negative answer to `/settle` says of the money.
///
/// A transaction that is pending, or an error that the facilitator did not expect, may still take it. So may one
/// that `failed` and has no name: sending it timed out, perhaps after it was sent. One with a name was in a
/// block and did nothing. Everything that begins with `invalid_`, `insufficient_` or `unsupported_` was found
/// before a transaction was sent.
pub(crate) fn money_after(reply: &FacilitatorReply) -> MoneyState {
    let reason = reply.reason.as_str();
    let explanation = reply.explanation.as_deref().unwrap_or_default().to_lowercase();
    // Before everything else: tokens revert with "authorization is used or canceled", and facilitators hand that on as
    // a failed transaction.
    if USED.iter().any(|word| reason.contains(word)) || explanation.contains("authorization is used") {
        return MoneyState::UsedBefore;
    }
    // Of an explanation only the beginning counts: further on it quotes errors of nodes, in which "timeout" may be
    // anything.
    let is_open = OPEN.iter().any(|word| reason.contains(word) || explanation.starts_with(word));
    if is_open || (reason.contains("transaction_failed") && reply.transaction.is_none()) {
        return MoneyState::Unknown;
    }
    let was_checked = ["invalid_", "insufficient_", "unsupported_"].iter().any(|begin| reason.starts_with(begin));
    let was_reverted = reason.contains("transaction_failed") || reason == "transaction_reverted";
    // A reason that is not known leaves the money open: calling it refused would let the payer be charged twice.
    if was_checked || was_reverted { MoneyState::NotTaken } else { MoneyState::Unknown }
}
