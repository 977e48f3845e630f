//! [`PaymentScheme`] for mandates: a cart is signed, a mandate is verified, and what settles it takes the money.

use std::sync::{Arc, OnceLock};

use forecourt_core::clock::Clock;
use forecourt_core::policy::{
    AcceptedPayment, GivenBack, PaymentAuthorization, PaymentError, PaymentScheme, PaymentSubmission, PresentedTerms,
    Settlement,
};
use forecourt_egress::Egress;
use forecourt_jose::{Algorithm, SigningKey};
use futures::future::BoxFuture;

use super::cart::{Cart, CartTerms, x402_offers};
use super::claim::{Claim, fingerprint, inner, payer, read, unavailable};
use super::code::MandateCode;
use super::keys::TrustedIssuers;
use super::processor::{Processor, ProcessorRequest, ProcessorStatus};
use super::{FAMILY, PROCESSOR_METHOD, X402_METHOD, chain, intent};
use crate::ap2_settings::SettledBy;
use crate::scheme::X402;
use crate::settings::PaymentsSettings;
use crate::settings_error::SettingsError;

/// Gives the key with which this host signs at the moment.
pub type CartSigner = Arc<dyn Fn() -> SigningKey + Send + Sync>;

/// Mandates of AP2 v0.1, and what settles them.
pub struct Ap2 {
    issuers: TrustedIssuers,
    algorithms: Vec<Algorithm>,
    settler: Settler,
    // Set once the keys are there: files are checked before.
    signer: OnceLock<CartSigner>,
    clock: Arc<dyn Clock>,
}

/// What moves the money.
enum Settler {
    X402(Arc<X402>),
    Processor(Processor),
}

impl Ap2 {
    /// The scheme as `settings` say. `x402` is what settles payments of that family here.
    ///
    /// # Errors
    /// When it is off, a file of keys can't be read, or the section can't work.
    pub fn new(
        settings: &PaymentsSettings,
        x402: Option<Arc<X402>>,
        egress: &Egress,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SettingsError> {
        // Once more, though the deployment was checked: programs build these settings without a file.
        settings.check()?;
        let ap2 = &settings.ap2;
        let off = || SettingsError::new("mandates need what settles them", "set `settle` in [payments.ap2]");
        let settler = match (ap2.settle.ok_or_else(off)?, &ap2.processor) {
            (SettledBy::X402, _) => Settler::X402(x402.ok_or_else(off)?),
            (SettledBy::Processor, url) => {
                Settler::Processor(Processor::new(ap2, url.as_deref().unwrap_or_default(), egress.clone())?)
            }
        };
        let (issuers, algorithms) = (TrustedIssuers::new(ap2, egress)?, ap2.algorithms()?);
        Ok(Self { issuers, algorithms, settler, signer: OnceLock::new(), clock })
    }

    /// Has carts be signed with the keys that `signer` gives. Before, offers stay as their rules have them; only the
    /// first signer counts.
    pub fn sign_with(&self, signer: CartSigner) {
        // Whoever was first signs with the same keys.
        let _ = self.signer.set(signer);
    }

    async fn verify_claim(&self, claim: &Claim) -> Result<(), PaymentError> {
        let Claim { cart, mandates, authorization } = claim;
        let now = self.clock.now();
        // By our own records first: a mandate that is for something else costs nobody a fetch.
        chain::check(mandates, cart, now)?;
        self.check_settler(cart)?;
        let keys = self.issuers.keys(authorization.issuer(), authorization.key(), now).await?;
        let signed = authorization.verify(&keys, &self.algorithms, now)?;
        chain::check_signed(&signed, mandates, cart, now)?;
        match &self.settler {
            Settler::X402(x402) => {
                let (offer, payment) = claim.x402(x402)?;
                x402.verify(&offer, &payment).await
            }
            Settler::Processor(_) => Ok(()),
        }
    }

    /// Whether a cart is settled by what settles now. Another one knows nothing of it, and would take the money again.
    fn check_settler(&self, cart: &Cart) -> Result<(), MandateCode> {
        let is_ours = match &self.settler {
            Settler::X402(_) => cart.takes(X402_METHOD),
            Settler::Processor(processor) => cart.processor().is_some_and(|url| processor.is_at(url)),
        };
        if is_ours { Ok(()) } else { Err(MandateCode::CartOutdated) }
    }

    async fn settle_claim(&self, offer: &AcceptedPayment, claim: &Claim, is_repeated: bool) -> Settlement {
        if self.check_settler(&claim.cart).is_err() {
            return Settlement::Unknown(claim.settled_elsewhere());
        }
        match &self.settler {
            Settler::X402(x402) => {
                let (inner, payment) = match claim.x402(x402) {
                    Ok(found) => found,
                    Err(fault) => return Settlement::Refused(fault),
                };
                let settled = match is_repeated {
                    true => x402.reconcile(&inner, &payment).await,
                    false => x402.settle(&inner, &payment).await,
                };
                claim.with_evidence(offer, settled)
            }
            Settler::Processor(processor) => claim.capture(offer, processor, is_repeated).await,
        }
    }

    async fn hold_claim(&self, claim: &Claim) -> Result<(), PaymentError> {
        self.check_settler(&claim.cart)?;
        let Settler::Processor(processor) = &self.settler else { return Ok(()) };
        match processor.ask(&claim.order(), ProcessorRequest::Authorize(&claim.bundle())).await {
            Ok(ProcessorStatus::Authorized | ProcessorStatus::Captured) => Ok(()),
            // What is not held is let go of for good, so that this mandate is of no use a minute later.
            Ok(ProcessorStatus::Pending) => Err(MandateCode::ProcessorUnavailable.lasting()),
            Ok(ProcessorStatus::Declined | ProcessorStatus::Released | ProcessorStatus::Refunded) => {
                Err(MandateCode::Declined.fault())
            }
            Err(error) => Err(PaymentError { is_passing: false, ..unavailable(error) }),
        }
    }

    async fn release_claim(&self, claim: &Claim) -> GivenBack {
        if self.check_settler(&claim.cart).is_err() {
            return GivenBack::Unknown(claim.settled_elsewhere());
        }
        let Settler::Processor(processor) = &self.settler else { return GivenBack::NotTaken };
        match processor.ask(&claim.order(), ProcessorRequest::Release).await {
            Ok(ProcessorStatus::Released) => GivenBack::NotTaken,
            Ok(ProcessorStatus::Refunded) => GivenBack::Refunded(claim.receipt("refunded")),
            Ok(status) => GivenBack::Unknown(format!("the processor says {status:?} to a release")),
            Err(error) => GivenBack::Unknown(error.into_reason()),
        }
    }
}

impl PaymentScheme for Ap2 {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn networks(&self, offers: &[AcceptedPayment]) -> Vec<String> {
        let Settler::X402(x402) = &self.settler else { return Vec::new() };
        // As a rule has them, and as a payer was shown them.
        let asked = |offer: &AcceptedPayment| match CartTerms::read(offer) {
            Some(terms) => x402_offers(&terms.method_data),
            None => Cart::read(offer).map(|cart| cart.x402_offers()).unwrap_or_default(),
        };
        x402.networks(&offers.iter().flat_map(asked).collect::<Vec<_>>())
    }

    /// A payment of x402 in a mandate could be taken out of it, and handed in by itself.
    fn claimed_as(&self) -> &'static str {
        match &self.settler {
            Settler::X402(x402) => x402.family(),
            Settler::Processor(_) => FAMILY,
        }
    }

    fn present(&self, offer: &AcceptedPayment, terms: &PresentedTerms<'_>) -> AcceptedPayment {
        let key = self.signer.get().map(|signer| signer());
        let signed = key.and_then(|key| CartTerms::read(offer)?.sign(terms, &key));
        signed.unwrap_or_else(|| offer.clone())
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let (mandates, _) = read(payment)?;
        let carts: Vec<_> = offers.iter().map(Cart::read).collect();
        let at = |is_meant: &dyn Fn(&Cart) -> bool| carts.iter().position(|cart| cart.as_ref().is_some_and(is_meant));
        let now = self.clock.now();
        // Carts of one state have one name: of several the one that the payment is for in all else.
        let whole = at(&|cart| chain::check(&mandates, cart, now).is_ok());
        let named = || at(&|cart| cart.id() == mandates.contents.payment_details_id);
        whole.or_else(named).ok_or_else(|| MandateCode::OtherCart.fault())
    }

    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        let (mandates, authorization) = read(payment)?;
        match &self.settler {
            Settler::X402(x402) => x402.fingerprint(&inner(&mandates)?),
            Settler::Processor(_) => Ok(fingerprint(&mandates, &authorization)),
        }
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let (mandates, authorization) = read(payment)?;
        // A cart has the name of its state, so that it pays for no other, whoever offers it.
        let reference = Some(mandates.contents.payment_details_id.clone());
        let paid = match &self.settler {
            Settler::X402(x402) => x402.authorization(&inner(&mandates)?)?,
            // One that something else settles says nothing that holds here.
            Settler::Processor(_) if mandates.contents.payment_response.method_name != PROCESSOR_METHOD => {
                return Err(MandateCode::Method.fault());
            }
            Settler::Processor(_) => {
                PaymentAuthorization { payer: Some(payer(&authorization)), ..PaymentAuthorization::default() }
            }
        };
        // What its payer allowed ends with the intent, whatever the payment itself says.
        let ends = [paid.good_until, mandates.intent.as_ref().and_then(intent::until)];
        Ok(PaymentAuthorization { reference, good_until: ends.into_iter().flatten().min(), ..paid })
    }

    fn verify<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move { self.verify_claim(&Claim::read(offer, payment)?).await })
    }

    fn holds(&self) -> bool {
        matches!(self.settler, Settler::Processor(_))
    }

    fn hold<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move { self.hold_claim(&Claim::read(offer, payment)?).await })
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match Claim::read(offer, payment) {
                Ok(claim) => self.settle_claim(offer, &claim, false).await,
                Err(code) => Settlement::Refused(code.fault()),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match Claim::read(offer, payment) {
                Ok(claim) => self.settle_claim(offer, &claim, true).await,
                Err(code) => Settlement::Refused(code.fault()),
            }
        })
    }

    /// By its cart, and not by what settles now: what was held elsewhere is still to be given back there.
    fn gives_back(&self, offer: &AcceptedPayment) -> bool {
        Cart::read(offer).is_some_and(|cart| cart.processor().is_some())
    }

    fn give_back<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, GivenBack> {
        Box::pin(async move {
            match Claim::read(offer, payment) {
                Ok(claim) => self.release_claim(&claim).await,
                Err(code) => GivenBack::Unknown(code.fault().message),
            }
        })
    }
}
