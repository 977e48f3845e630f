//! A mandate with the cart that it is for: what is asked of whoever settles it, and what is told of it.

use forecourt_core::policy::{
    AcceptedPayment, PaymentConfirmation, PaymentError, PaymentScheme, PaymentSubmission, Receipt, Settlement,
};
use forecourt_jose::encoding::to_base64url;
use serde_json::{Map, Value, json};

use super::authorization::{PresentedAuthorization, read_authorization};
use super::cart::{Cart, digest};
use super::code::MandateCode;
use super::mandate::Mandates;
use super::processor::{Processor, ProcessorError, ProcessorOrder, ProcessorRequest, ProcessorStatus};
use super::{CART_KEY, FAMILY, INTENT_KEY, PAYMENT_KEY, X402_METHOD};
use crate::card::Currency;
use crate::matching::pays_exactly;
use crate::scheme::X402;
use crate::units::Units;
use crate::x402;

/// A mandate with the cart that it is for.
pub(super) struct Claim {
    pub(super) cart: Cart,
    pub(super) mandates: Mandates,
    pub(super) authorization: PresentedAuthorization,
}

impl Claim {
    /// Reads a mandate that pays for the cart of `offer`.
    pub(super) fn read(offer: &AcceptedPayment, payment: &PaymentSubmission) -> Result<Self, MandateCode> {
        let (mandates, authorization) = read(payment)?;
        let cart = Cart::read(offer).ok_or(MandateCode::OtherCart)?;
        Ok(Self { cart, mandates, authorization })
    }

    /// The payment of x402 in the mandate, and which of the cart's offers it is for. It pays exactly the cart: that is what
    /// its payer signed for.
    pub(super) fn x402(&self, x402: &X402) -> Result<(AcceptedPayment, PaymentSubmission), PaymentError> {
        let payment = inner(&self.mandates)?;
        let mut offers = self.cart.x402_offers();
        let at = x402.select(&offers, &payment)?;
        if at >= offers.len() {
            return Err(MandateCode::X402Missing.fault());
        }
        let offer = offers.swap_remove(at);
        match pays_exactly(&offer, &payment) {
            true => Ok((offer, payment)),
            false => Err(MandateCode::Amount.fault()),
        }
    }

    /// Why nobody is asked about it: for the operator, in the log.
    pub(super) fn settled_elsewhere(&self) -> String {
        let by = self.cart.processor().unwrap_or("x402");
        format!("the cart {} is settled by {by}, and [payments.ap2] names something else by now", self.cart.id())
    }

    /// What a processor is asked about.
    pub(super) fn order(&self) -> ProcessorOrder {
        let named = fingerprint(&self.mandates, &self.authorization);
        ProcessorOrder::new(self.cart.id(), &named, self.cart.total().clone())
    }

    /// The mandates as a processor gets them: the cart as this host made it, never its payer's copy.
    pub(super) fn bundle(&self) -> Value {
        let mut bundle = json!({
            CART_KEY: self.cart.mandate(),
            PAYMENT_KEY: {
                "payment_mandate_contents": self.mandates.signed,
                "user_authorization": self.mandates.authorization,
            },
        });
        if let Some(intent) = &self.mandates.intent {
            bundle[INTENT_KEY] = intent.clone();
        }
        bundle
    }

    /// Takes the money: holds it, where that was not done before, and takes what is held.
    pub(super) async fn capture(
        &self,
        offer: &AcceptedPayment,
        processor: &Processor,
        is_repeated: bool,
    ) -> Settlement {
        let order = self.order();
        let left = |error: ProcessorError| match error {
            ProcessorError::NotAsked(_) if !is_repeated => Settlement::Refused(unavailable(error)),
            error => Settlement::Unknown(error.into_reason()),
        };
        match processor.ask(&order, ProcessorRequest::Authorize(&self.bundle())).await {
            Ok(ProcessorStatus::Authorized) => {}
            Ok(ProcessorStatus::Captured) => return self.settled(offer),
            Ok(ProcessorStatus::Pending) => return Settlement::Unknown("the processor is at work on it".to_owned()),
            Ok(_) => return Settlement::Refused(MandateCode::Declined.fault()),
            Err(error) => return left(error),
        }
        match processor.ask(&order, ProcessorRequest::Capture).await {
            Ok(ProcessorStatus::Captured) => self.settled(offer),
            Ok(ProcessorStatus::Authorized | ProcessorStatus::Pending) => {
                Settlement::Unknown("the processor is at work on it".to_owned())
            }
            Ok(_) => Settlement::Refused(MandateCode::Declined.fault()),
            Err(error) => left(error),
        }
    }

    fn settled(&self, offer: &AcceptedPayment) -> Settlement {
        let details = self.receipt("captured");
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: Some(self.order().reference),
            payer: Some(payer(&self.authorization)),
            network: None,
        };
        let total = self.cart.total();
        let digits = total.digits().unwrap_or_default();
        let units = Currency::of(&total.currency).and_then(|known| Units::from_price(&digits, known.decimals).ok());
        let amount = units.map_or(digits, |units| units.to_string());
        Settlement::Settled(Box::new(Receipt { confirmation, amount, details }))
    }

    pub(super) fn receipt(&self, status: &str) -> Map<String, Value> {
        let total = self.cart.total();
        let receipt = json!({
            "provider": FAMILY, "status": status, "transaction": self.order().reference,
            "amount": total.value, "currency": total.currency, "mandates": self.evidence(),
        });
        receipt.as_object().cloned().unwrap_or_default()
    }

    /// What a dispute is settled by: names and hashes, and nothing of what the mandates say of a person.
    fn evidence(&self) -> Value {
        let hash = |value: &Value| digest(value).map(|hash| to_base64url(&hash));
        let mut evidence = json!({
            "cart_id": self.cart.id(), "cart_hash": self.cart.hash(),
            "payment_mandate_id": self.mandates.contents.payment_mandate_id,
            "payment_mandate_hash": hash(&self.mandates.signed),
            "issuer": self.authorization.issuer(), "payer_hash": self.authorization.payer(),
        });
        if let Some(intent) = &self.mandates.intent {
            evidence["intent_mandate_hash"] = hash(intent).into();
        }
        evidence
    }

    /// A settlement of x402, as one of this offer.
    pub(super) fn with_evidence(&self, offer: &AcceptedPayment, settlement: Settlement) -> Settlement {
        let Settlement::Settled(mut receipt) = settlement else { return settlement };
        receipt.confirmation.scheme.clone_from(&offer.scheme);
        receipt.confirmation.original_payload.clone_from(&offer.payload);
        receipt.details.insert("mandates".to_owned(), self.evidence());
        Settlement::Settled(receipt)
    }
}

/// What was sent, and the signature in it.
pub(super) fn read(payment: &PaymentSubmission) -> Result<(Mandates, PresentedAuthorization), MandateCode> {
    let mandates = Mandates::read(&payment.payload)?;
    let authorization = read_authorization(&mandates.authorization).ok_or(MandateCode::AuthorizationUnreadable)?;
    Ok((mandates, authorization))
}

/// The payment of x402 in a mandate.
pub(super) fn inner(mandates: &Mandates) -> Result<PaymentSubmission, PaymentError> {
    let response = &mandates.contents.payment_response;
    let details = response.details.clone().filter(|_| response.method_name == X402_METHOD);
    let details = details.ok_or(MandateCode::X402Missing)?;
    x402::submission(Value::Object(details)).map(|(_, payment)| payment)
}

/// Names a mandate: by its issuer, its payer, and the payer's own name for it. So another mandate of that name is the same
/// one, whatever it says.
pub(super) fn fingerprint(mandates: &Mandates, authorization: &PresentedAuthorization) -> String {
    let named = json!([authorization.issuer(), authorization.payer(), mandates.contents.payment_mandate_id]);
    digest(&named).map(|hash| to_base64url(&hash)).unwrap_or_default()
}

/// Whoever pays, as its issuer knows them, without their name.
pub(super) fn payer(authorization: &PresentedAuthorization) -> String {
    format!("{}#{}", authorization.issuer().unwrap_or_default(), authorization.payer())
}

/// A processor that could not be asked, as the payer is told of it; the reason is for our log alone.
pub(super) fn unavailable(error: ProcessorError) -> PaymentError {
    tracing::warn!(reason = error.into_reason(), "mandates can't be settled");
    MandateCode::ProcessorUnavailable.fault()
}
