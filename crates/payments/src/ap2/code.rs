//! Why a mandate is refused, each with a sentence of its own.

use forecourt_core::policy::PaymentError;
use forecourt_jose::ProofError;
use forecourt_sentences::{Sentences, SpokenLanguage};

/// Why a mandate is refused. On the wire a short code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MandateCode {
    /// It can't be read as a payment mandate.
    Unreadable,
    /// Nobody signed it.
    AuthorizationMissing,
    /// What signs it can't be read.
    AuthorizationUnreadable,
    /// It is signed by or on behalf of somebody who is not trusted here.
    IssuerUnknown,
    /// By a key that its issuer does not have.
    KeyUnknown,
    /// The keys of its issuer can't be had.
    KeysUnavailable,
    /// With an algorithm that is not taken.
    AlgorithmRefused,
    /// The signature of the issuer does not match.
    IssuerSignature,
    /// The credential of the payer has ended.
    CredentialExpired,
    /// It does not hold yet.
    CredentialEarly,
    /// It may have been revoked, which can't be found out here.
    CredentialStatus,
    /// It names no key of the payer, or it was not shown with that key.
    HolderMissing,
    /// The signature of the payer does not match.
    HolderSignature,
    /// The payer signed for another credential.
    CredentialSwapped,
    /// It was made for somebody else.
    Audience,
    /// It was made for another cart.
    Nonce,
    /// It was signed at another time than the cart was open.
    SignedAt,
    /// The signature leaves out the cart.
    CartUnsigned,
    /// The signature leaves out the payment mandate.
    PaymentUnsigned,
    /// The signature covers what did not come along.
    SignedUnknown,
    /// It pays for another cart.
    OtherCart,
    /// The copy of the cart is not the cart.
    CartAltered,
    /// The time of the cart is over.
    CartExpired,
    /// Something else settled it than settles now.
    CartOutdated,
    /// Another amount.
    Amount,
    /// Another currency.
    Currency,
    /// A total that may still change.
    AmountPending,
    /// Somebody else is paid.
    Payee,
    /// With a longer time for refunds.
    RefundPeriod,
    /// By a method that is not offered.
    Method,
    /// The intent is not covered by the signature.
    IntentUnsigned,
    /// Its time is over.
    IntentExpired,
    /// It allows other merchants.
    IntentMerchant,
    /// It allows other things.
    IntentItem,
    /// It wants what was bought to be refundable.
    IntentRefund,
    /// It has a limit that is not known here.
    IntentLimit,
    /// No payment of x402 is in it.
    X402Missing,
    /// The processor declined it.
    Declined,
    /// The processor can't be reached.
    ProcessorUnavailable,
}

impl MandateCode {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 39] = [
        Self::Unreadable,
        Self::AuthorizationMissing,
        Self::AuthorizationUnreadable,
        Self::IssuerUnknown,
        Self::KeyUnknown,
        Self::KeysUnavailable,
        Self::AlgorithmRefused,
        Self::IssuerSignature,
        Self::CredentialExpired,
        Self::CredentialEarly,
        Self::CredentialStatus,
        Self::HolderMissing,
        Self::HolderSignature,
        Self::CredentialSwapped,
        Self::Audience,
        Self::Nonce,
        Self::SignedAt,
        Self::CartUnsigned,
        Self::PaymentUnsigned,
        Self::SignedUnknown,
        Self::OtherCart,
        Self::CartAltered,
        Self::CartExpired,
        Self::CartOutdated,
        Self::Amount,
        Self::Currency,
        Self::AmountPending,
        Self::Payee,
        Self::RefundPeriod,
        Self::Method,
        Self::IntentUnsigned,
        Self::IntentExpired,
        Self::IntentMerchant,
        Self::IntentItem,
        Self::IntentRefund,
        Self::IntentLimit,
        Self::X402Missing,
        Self::Declined,
        Self::ProcessorUnavailable,
    ];

    /// The code on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "mandate_unreadable",
            Self::AuthorizationMissing => "authorization_missing",
            Self::AuthorizationUnreadable => "authorization_unreadable",
            Self::IssuerUnknown => "issuer_unknown",
            Self::KeyUnknown => "key_unknown",
            Self::KeysUnavailable => "keys_unavailable",
            Self::AlgorithmRefused => "algorithm_refused",
            Self::IssuerSignature => "issuer_signature",
            Self::CredentialExpired => "credential_expired",
            Self::CredentialEarly => "credential_early",
            Self::CredentialStatus => "credential_status",
            Self::HolderMissing => "holder_missing",
            Self::HolderSignature => "holder_signature",
            Self::CredentialSwapped => "credential_swapped",
            Self::Audience => "mandate_audience",
            Self::Nonce => "mandate_nonce",
            Self::SignedAt => "mandate_time",
            Self::CartUnsigned => "cart_unsigned",
            Self::PaymentUnsigned => "payment_unsigned",
            Self::SignedUnknown => "signed_unknown",
            Self::OtherCart => "other_cart",
            Self::CartAltered => "cart_altered",
            Self::CartExpired => "cart_expired",
            Self::CartOutdated => "cart_outdated",
            Self::Amount => "mandate_amount",
            Self::Currency => "mandate_currency",
            Self::AmountPending => "amount_pending",
            Self::Payee => "mandate_payee",
            Self::RefundPeriod => "mandate_refund",
            Self::Method => "mandate_method",
            Self::IntentUnsigned => "intent_unsigned",
            Self::IntentExpired => "intent_expired",
            Self::IntentMerchant => "intent_merchant",
            Self::IntentItem => "intent_item",
            Self::IntentRefund => "intent_refund",
            Self::IntentLimit => "intent_limit",
            Self::X402Missing => "x402_missing",
            Self::Declined => "processor_declined",
            Self::ProcessorUnavailable => "processor_unavailable",
        }
    }

    /// The refusal: passing where the same mandate may be taken a minute later.
    pub(crate) fn fault(self) -> PaymentError {
        let code = self.as_str();
        let message = Sentences::in_language(SpokenLanguage::English).payment_fault(code);
        let is_passing = matches!(self, Self::KeysUnavailable | Self::ProcessorUnavailable | Self::CredentialEarly);
        PaymentError { code: code.to_owned(), message: message.unwrap_or_else(|| code.to_owned()), is_passing }
    }

    /// The same where this mandate is of no use later either.
    pub(crate) fn lasting(self) -> PaymentError {
        PaymentError { is_passing: false, ..self.fault() }
    }
}

impl From<MandateCode> for PaymentError {
    fn from(code: MandateCode) -> Self {
        code.fault()
    }
}

/// Why a signature does not hold; `mismatch` where it does not match.
pub(crate) fn code_of(error: ProofError, mismatch: MandateCode) -> MandateCode {
    match error {
        ProofError::BadSignature => mismatch,
        ProofError::UnknownKey => MandateCode::KeyUnknown,
        ProofError::WrongAlgorithm => MandateCode::AlgorithmRefused,
        ProofError::KeysUnavailable => MandateCode::KeysUnavailable,
        _ => MandateCode::AuthorizationUnreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_own_sentence_in_each_language() {
        for language in SpokenLanguage::ALL {
            let mut said: Vec<String> = Vec::new();
            for code in MandateCode::ALL {
                let words = Sentences::in_language(language).payment_fault(code.as_str());
                let words = words.unwrap_or_else(|| panic!("{language:?} has no sentence for {}", code.as_str()));
                assert!(!said.contains(&words), "{language:?}: {words}");
                said.push(words);
            }
        }
    }
}
