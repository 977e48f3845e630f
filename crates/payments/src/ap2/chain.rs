//! Whether mandates are of one piece: the payment is for this cart, of its amount, to its merchant, within what its payer
//! wished for, and all of it is what was signed.

use forecourt_core::Timestamp;
use forecourt_jose::claims;
use serde_json::{Map, Value};

use super::cart::{Cart, is_hash_of};
use super::code::MandateCode;
use super::intent;
use super::mandate::Mandates;
use crate::limits::{MANDATE_SKEW_SECONDS, TRANSACTION_DATA_MAX};

/// What of mandates is found out without any key.
pub(super) fn check(mandates: &Mandates, cart: &Cart, now: Timestamp) -> Result<(), MandateCode> {
    let paid = &mandates.contents;
    let total = &paid.payment_details_total;
    let signed_at: Option<Timestamp> = paid.timestamp.parse().ok();
    // What selects the cart comes first: whoever paid another one is told so, and not that its amount is another one.
    let checks = [
        (paid.payment_details_id == cart.id(), MandateCode::OtherCart),
        (paid.payment_response.request_id == cart.id(), MandateCode::OtherCart),
        (mandates.cart.as_ref().is_none_or(|copy| cart.is_said_by(copy)), MandateCode::CartAltered),
        (now < cart.until, MandateCode::CartExpired),
        (total.pending != Some(true), MandateCode::AmountPending),
        (total.amount.currency == cart.total().currency, MandateCode::Currency),
        (is_equal(total.amount.digits(), cart.total().digits()), MandateCode::Amount),
        (cart.is_merchant(&paid.merchant_agent), MandateCode::Payee),
        // Left out, it is the cart's.
        (total.refund_period.is_none_or(|days| days <= cart.refund_days().unwrap_or(0)), MandateCode::RefundPeriod),
        (cart.takes(&paid.payment_response.method_name), MandateCode::Method),
        (signed_at.is_some_and(|at| is_while_open(at, cart, now)), MandateCode::SignedAt),
    ];
    match checks.into_iter().find(|(is_fine, _)| !is_fine) {
        Some((_, code)) => Err(code),
        None => mandates.intent.as_ref().map_or(Ok(()), |intent| intent::check(intent, cart, now)),
    }
}

/// Whether what a payer signed is these mandates, for this host and this cart.
pub(super) fn check_signed(
    signed: &Map<String, Value>,
    mandates: &Mandates,
    cart: &Cart,
    now: Timestamp,
) -> Result<(), MandateCode> {
    let is_ours = |audience: &Value| audience.as_str() == Some(cart.merchant());
    let is_for_us = match signed.get("aud") {
        // Whoever else it is for could show it here.
        Some(Value::Array(all)) => !all.is_empty() && all.iter().all(is_ours),
        Some(one) => is_ours(one),
        None => false,
    };
    if !is_for_us {
        return Err(MandateCode::Audience);
    }
    if signed.get("nonce").and_then(Value::as_str) != Some(cart.id()) {
        return Err(MandateCode::Nonce);
    }
    let at = claims::moment(signed, "iat").ok().flatten();
    if !at.is_some_and(|at| is_while_open(at, cart, now)) {
        return Err(MandateCode::SignedAt);
    }
    let hashes = signed.get("transaction_data").and_then(Value::as_array);
    let hashes = hashes.map(|all| all.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
    let Some(Some(hashes)) = hashes else { return Err(MandateCode::CartUnsigned) };
    if hashes.len() > TRANSACTION_DATA_MAX {
        return Err(MandateCode::AuthorizationUnreadable);
    }
    let is_of_intent = |hash: &str| mandates.intent.as_ref().is_some_and(|intent| is_hash_of(hash, intent));
    let is_of_payment = |hash: &str| is_hash_of(hash, &mandates.signed);
    let checks = [
        (hashes.iter().any(|hash| cart.is_hashed_as(hash)), MandateCode::CartUnsigned),
        (hashes.iter().any(|hash| is_of_payment(hash)), MandateCode::PaymentUnsigned),
        (mandates.intent.is_none() || hashes.iter().any(|hash| is_of_intent(hash)), MandateCode::IntentUnsigned),
        (
            // What was signed and did not come along may limit what came.
            hashes.iter().all(|hash| cart.is_hashed_as(hash) || is_of_payment(hash) || is_of_intent(hash)),
            MandateCode::SignedUnknown,
        ),
    ];
    checks.into_iter().find(|(is_fine, _)| !is_fine).map_or(Ok(()), |(_, code)| Err(code))
}

/// Two values that can't be read are not the same.
fn is_equal(one: Option<String>, other: Option<String>) -> bool {
    one.is_some() && one == other
}

/// Whether something was signed after the cart was made and not after `now`, as clocks differ.
fn is_while_open(at: Timestamp, cart: &Cart, now: Timestamp) -> bool {
    let (from, to) = (cart.signed_at.as_second() - MANDATE_SKEW_SECONDS, now.as_second() + MANDATE_SKEW_SECONDS);
    (from..=to).contains(&at.as_second())
}
