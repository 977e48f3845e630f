//! An intent mandate: what a payer wished for, and within which limits. Each limit is held against the cart; one that
//! nobody here can judge is a refusal.

use forecourt_core::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::cart::Cart;
use super::code::MandateCode;

/// `IntentMandate` of AP2 v0.1. Members that are not known may be limits, so there are none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentMandate {
    // Whether its payer wants to see the cart. They did: their signature covers it, whatever this says.
    #[serde(default, rename = "user_cart_confirmation_required")]
    _confirmation: Option<bool>,
    // Prose for people, in which no program looks for limits.
    #[serde(rename = "natural_language_description")]
    _description: String,
    #[serde(default)]
    merchants: Option<Vec<String>>,
    #[serde(default)]
    skus: Option<Vec<String>>,
    // Both spellings are in use: the type's and that of the extension's example.
    #[serde(default, alias = "required_refundability")]
    requires_refundability: Option<bool>,
    intent_expiry: String,
    // Signals for whoever judges risks.
    #[serde(default, rename = "risk_payload")]
    _risk: Option<Value>,
}

/// When an intent ends; `None` where it can't be read, which [`check`] refuses.
pub(super) fn until(intent: &Value) -> Option<Timestamp> {
    IntentMandate::deserialize(intent).ok()?.intent_expiry.parse().ok()
}

/// Whether a cart is within what its payer wished for, at `now`.
pub(super) fn check(intent: &Value, cart: &Cart, now: Timestamp) -> Result<(), MandateCode> {
    let intent = IntentMandate::deserialize(intent).map_err(|_| MandateCode::IntentLimit)?;
    let until: Timestamp = intent.intent_expiry.parse().map_err(|_| MandateCode::IntentExpired)?;
    if now >= until {
        return Err(MandateCode::IntentExpired);
    }
    let is_allowed = |named: &Option<Vec<String>>, is_ours: &dyn Fn(&str) -> bool| {
        named.as_ref().is_none_or(|named| named.iter().any(|name| is_ours(name)))
    };
    if !is_allowed(&intent.merchants, &|name| cart.is_merchant(name)) {
        return Err(MandateCode::IntentMerchant);
    }
    if !is_allowed(&intent.skus, &|name| cart.sells(name)) {
        return Err(MandateCode::IntentItem);
    }
    match intent.requires_refundability {
        // An answer that was given is not given back.
        Some(true) if !cart.is_refundable() => Err(MandateCode::IntentRefund),
        _ => Ok(()),
    }
}
