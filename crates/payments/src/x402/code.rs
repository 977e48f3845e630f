//! Why a payment is refused, in the short codes of x402 over A2A. Facts sheet 9.1; x402 section 9.

use forecourt_core::policy::PaymentError;

/// Why a payment is refused.
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
    /// It was checked, and the money could not be taken.
    SettlementFailed,
    /// It is not written as it must be.
    InvalidPayload,
    /// It is for somebody else.
    InvalidPayTo,
    /// It is of a scheme that nobody asked for.
    UnsupportedScheme,
    /// It could not be checked.
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
            Self::InvalidVersion => "invalid_x402_version",
        }
    }
}

/// A refusal that trying again with the same payment does not mend.
pub fn fault(code: PaymentCode, message: impl Into<String>) -> PaymentError {
    PaymentError { code: code.as_str().to_owned(), message: message.into(), is_passing: false }
}
