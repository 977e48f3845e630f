//! What the provider sends by itself, and how it is signed.

use aws_lc_rs::hmac;

/// Something that it would send, not signed yet.
#[derive(Debug, Clone)]
pub struct CardNotice {
    /// What happened, such as `checkout.session.completed`.
    pub kind: String,
    /// The bytes.
    pub body: String,
}

/// The field `Stripe-Signature` of a notice that was signed at `time`.
pub fn sign_notice(secret: &str, time: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{time}.{body}").as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={hex}")
}
