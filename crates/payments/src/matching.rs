//! Which of the host's own offers a payment means, and what is wrong with it when it means none. The payer's
//! copy of an offer selects and is never used for anything else. PolicyPart 5.6, facts sheet 9.5.

use forecourt_core::policy::{AcceptedPayment, PaymentError, PaymentSubmission};
use serde_json::Value;

use crate::networks::chain_by_caip2;
use crate::settings::Network;
use crate::x402::{PaymentCode, PaymentRequired, Requirements, SignedPayment, fault};

/// One way to pay out of an offer: as it is shown to a facilitator, and as it was read.
pub(crate) type StoredRequirements = (Value, Requirements);

/// The way of `offer` that `payment` means.
///
/// # Errors
/// What is wrong with the payment, by the way that it comes nearest to.
pub(crate) fn matching(offer: &AcceptedPayment, payment: &SignedPayment) -> Result<StoredRequirements, Mismatch> {
    // The payer is told about the way that got furthest through the checks: "another amount" helps, where the last
    // way's "another network" would not.
    let ways = PaymentRequired::read(&offer.payload).map(|envelope| envelope.accepts).unwrap_or_default();
    let mut nearest = Mismatch::of_version(payment);
    for way in ways {
        match check(&way.1, payment) {
            Ok(()) => return Ok(way),
            Err(mismatch) if mismatch.step > nearest.step => nearest = mismatch,
            Err(_) => {}
        }
    }
    Err(nearest)
}

/// Why a payment does not mean a way to pay.
#[derive(Debug, Clone)]
pub(crate) struct Mismatch {
    /// How far the two were compared before they differed.
    pub(crate) step: usize,
    pub(crate) fault: PaymentError,
}

impl Mismatch {
    fn of_version(payment: &SignedPayment) -> Self {
        let number = u64::from(payment.version);
        let message = format!("nothing was asked for in version {number} of x402");
        Self { step: 0, fault: fault(PaymentCode::InvalidVersion, message) }
    }
}

/// Whether `payment` is of the very amount that `offer` asks for.
pub(crate) fn pays_exactly(offer: &AcceptedPayment, payment: &PaymentSubmission) -> bool {
    let Ok(signed) = SignedPayment::read(&payment.payload) else { return false };
    matching(offer, &signed).is_ok_and(|(_, wanted)| wanted.amount() == signed.exact.authorization.value)
}

fn check(wanted: &Requirements, payment: &SignedPayment) -> Result<(), Mismatch> {
    let signed = &payment.exact.authorization;
    let copy = payment.accepted.as_deref();
    // The order is that of `Mismatch::step`: what selects a way comes first (version, scheme, network), what it asks
    // for last.
    let checks = [
        (wanted.version() == payment.version, PaymentCode::InvalidVersion, "the payment is of another version"),
        (wanted.scheme() == payment.scheme, PaymentCode::UnsupportedScheme, "the payment is of another scheme"),
        (wanted.network() == payment.network, PaymentCode::NetworkMismatch, "the payment is for another network"),
        (
            copy.is_none_or(|copy| copy.asset == wanted.asset()),
            PaymentCode::InvalidPayload,
            "the payment is in another token",
        ),
        (
            // Both are compared: the signature moves the money, and a copy that differs from it means that the payer
            // was misled.
            signed.to == wanted.pay_to() && copy.is_none_or(|copy| copy.pay_to == wanted.pay_to()),
            PaymentCode::InvalidPayTo,
            "the payment is for somebody else",
        ),
        (
            wanted.is_met_by(signed.value) && copy.is_none_or(|copy| copy.amount == wanted.amount()),
            PaymentCode::InvalidAmount,
            "the payment is not the amount that was asked for",
        ),
    ];
    match checks.into_iter().enumerate().find(|(_, (is_fine, ..))| !is_fine) {
        None => Ok(()),
        Some((at, (_, code, message))) => Err(Mismatch { step: at + 1, fault: fault(code, message) }),
    }
}

/// The number of a network, whichever version names it: both versions of one payment are one payment.
pub(crate) fn chain_of(networks: &[Network], name: &str) -> Option<u64> {
    let named = || networks.iter().find(|network| network.name == name).map(|network| network.chain);
    // CAIP-2 first: a network that the operator calls `eip155:1` must not stand for another chain.
    chain_by_caip2(name).or_else(named)
}
