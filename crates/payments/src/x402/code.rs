//! Why a payment is refused, in the short codes of x402 over A2A. Facts sheet 9.1; x402 section 9.

use forecourt_core::policy::PaymentError;

/// Why a payment is refused: the short code in `x402.payment.error` and in error bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentCode {
    /// The payer has less than it promised.
    InsufficientFunds,
    /// The signature is not the payer's.
    InvalidSignature,
    /// Its time is over, or has not come.
    ExpiredPayment,
    /// It was used before.
    DuplicateNonce,
    /// It is for a network on which nothing was asked for.
    NetworkMismatch,
    /// It is not the amount that was asked for.
    InvalidAmount,
    /// The facilitator found the payment good, and could not move the money.
    SettlementFailed,
    /// It is not written as it must be.
    InvalidPayload,
    /// It is for somebody else.
    InvalidPayTo,
    /// It is of a scheme that nobody asked for.
    UnsupportedScheme,
    /// The facilitator declined without a known reason, or could not be reached.
    VerifyFailed,
    /// It is of a version that is not known.
    InvalidVersion,
}

impl PaymentCode {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "INSUFFICIENT_FUNDS",
            Self::InvalidSignature => "INVALID_SIGNATURE",
            Self::ExpiredPayment => "EXPIRED_PAYMENT",
            Self::DuplicateNonce => "DUPLICATE_NONCE",
            Self::NetworkMismatch => "NETWORK_MISMATCH",
            Self::InvalidAmount => "INVALID_AMOUNT",
            Self::SettlementFailed => "SETTLEMENT_FAILED",
            Self::InvalidPayload => "INVALID_PAYLOAD",
            Self::InvalidPayTo => "INVALID_PAY_TO",
            Self::UnsupportedScheme => "UNSUPPORTED_SCHEME",
            Self::VerifyFailed => "VERIFY_FAILED",
            // In lower case: the A2A extension has no code for it, and clients of it know x402's own word (x402 section
            // 9).
            Self::InvalidVersion => "invalid_x402_version",
        }
    }
}

impl PaymentCode {
    /// Why a facilitator declined, in a sentence for the payer.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "The wallet that pays has too little of the token.",
            Self::InvalidSignature => "The signature of the payment is not its payer's.",
            Self::ExpiredPayment => "The time in which the payment is good is over, or has not come. Sign a new one.",
            Self::DuplicateNonce => "The payment was used before. Sign a new one.",
            Self::NetworkMismatch => "The payment is for another network than was asked for.",
            Self::InvalidAmount => "The payment is of another amount than was asked for.",
            Self::InvalidPayTo => "The payment goes to somebody else than was asked for.",
            Self::UnsupportedScheme => "The payment is of a scheme that its facilitator does not settle.",
            Self::InvalidVersion => "The payment is of a version of x402 that its facilitator does not settle.",
            Self::InvalidPayload => "The payment is not written as its facilitator reads it.",
            Self::VerifyFailed => "The payment could not be checked, and nothing was taken.",
            Self::SettlementFailed => "The payment could not be settled, and nothing was taken.",
        }
    }
}

/// A refusal that trying again with the same payment does not mend.
pub fn fault(code: PaymentCode, message: impl Into<String>) -> PaymentError {
    PaymentError { code: code.as_str().to_owned(), message: message.into(), is_passing: false }
}
