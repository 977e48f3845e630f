//! [`PaymentScheme`] for x402: what a payment means, whether it is good, and how the money is taken.

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_core::clock::Clock;
use forecourt_core::policy::{
    AcceptedPayment, PaymentAuthorization, PaymentConfirmation, PaymentError, PaymentScheme, PaymentSubmission,
    Receipt, Settlement,
};
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::chain::{Chain, ChainFinding};
use crate::facilitator::{Facilitator, FacilitatorError, FacilitatorQuestion, FacilitatorReply};
use crate::matching::{Mismatch, StoredRequirements, chain_of, matching};
use crate::reason::{MoneyState, fault_of, money_after};
use crate::settings::PaymentsSettings;
use crate::settings_error::SettingsError;
use crate::wallet_request::PaymentNetworks;
use crate::x402::{FAMILY, PaymentCode, SignedPayment, Version, fault};

/// x402 with one facilitator.
pub struct X402 {
    facilitator: Facilitator,
    networks: PaymentNetworks,
    egress: Egress,
    clock: Arc<dyn Clock>,
}

/// A payment with what it pays for, ready to be asked about.
struct Claim {
    signed: SignedPayment,
    stored: StoredRequirements,
    /// The payment as the facilitator sees it: with the host's own copy of what was asked for.
    payload: Map<String, Value>,
}

impl X402 {
    /// The scheme as `settings` say.
    ///
    /// # Errors
    /// When no facilitator is named, or the section can't work.
    pub fn new(settings: &PaymentsSettings, egress: Egress, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        let missing = || SettingsError::new("payments need a facilitator", "set `facilitator` in [payments]");
        let url = settings.facilitator.as_deref().ok_or_else(missing)?;
        // Once more, though the deployment was checked: programs build these settings without a file.
        settings.check()?;
        let facilitator = Facilitator::new(egress.clone(), url);
        Ok(Self { facilitator, networks: PaymentNetworks::new(settings)?, egress, clock })
    }

    /// Asks the facilitator what it can settle, and tells what it can't of `offers`, for the operator. To be
    /// called at the start; nobody is refused because of it.
    pub fn unsupported<'a>(
        &'a self,
        offers: &'a [AcceptedPayment],
    ) -> BoxFuture<'a, Result<Vec<String>, FacilitatorError>> {
        Box::pin(async move {
            let kinds = self.facilitator.supported().await?;
            let mut missing = Vec::new();
            for envelope in offers.iter().filter_map(|offer| crate::x402::PaymentRequired::read(&offer.payload)) {
                for (_, way) in envelope.accepts {
                    let wanted = (u64::from(way.version()), way.scheme().to_owned(), way.network().to_owned());
                    if !kinds.contains(&wanted) {
                        missing.push(format!("x402 version {}: {} on {}", wanted.0, wanted.1, wanted.2));
                    }
                }
            }
            missing.sort();
            missing.dedup();
            Ok(missing)
        })
    }

    /// Reads a payment, and finds what it pays for in the host's own offer.
    fn claim(&self, offer: &AcceptedPayment, payment: &PaymentSubmission) -> Result<Claim, PaymentError> {
        let signed = SignedPayment::read(&payment.payload)?;
        let mut stored = matching(offer, &signed).map_err(|mismatch| mismatch.fault)?;
        let mut payload = payment.payload.clone();
        // Version 1 pays at least the price, and facilitators take its amount for exact: what was signed is more than
        // the price where credit is bought, and that is what they are asked to move.
        if signed.version == Version::V1 {
            stored.0["maxAmountRequired"] = signed.exact.authorization.value.to_string().into();
        }
        // Version 2 carries the payer's copy of the requirement; the facilitator must judge by ours (PolicyPart 5.6).
        if signed.version == Version::V2 {
            payload.insert("accepted".to_owned(), stored.0.clone());
        }
        Ok(Claim { signed, stored, payload })
    }

    async fn verify_claim(&self, claim: &Claim) -> Result<(), PaymentError> {
        // Before the facilitator is asked: an expired signature costs it a call and us a wait.
        claim.signed.check_time(self.clock.now())?;
        match self.facilitator.verify(claim.question()).await {
            Ok(reply) if reply.is_positive => Ok(()),
            Ok(reply) => Err(fault_of(&reply, PaymentCode::VerifyFailed)),
            Err(error) => Err(unreachable(PaymentCode::VerifyFailed, &error)),
        }
    }

    async fn settle_claim(&self, offer: &AcceptedPayment, claim: &Claim) -> Settlement {
        match self.facilitator.settle(claim.question()).await {
            Ok(reply) if reply.is_positive => claim.settled(offer, reply),
            Ok(reply) => match money_after(&reply) {
                // By somebody else, before us: this payment pays for nothing here.
                MoneyState::NotTaken | MoneyState::UsedBefore => {
                    Settlement::Refused(fault_of(&reply, PaymentCode::SettlementFailed))
                }
                MoneyState::Unknown => Settlement::Unknown(unclear(&reply)),
            },
            // Nothing was sent, so nothing was taken: a definite refusal. After `NoAnswer` the money may be gone, so
            // that is unknown.
            Err(error @ FacilitatorError::NotAsked(_)) => {
                Settlement::Refused(unreachable(PaymentCode::SettlementFailed, &error))
            }
            Err(error @ FacilitatorError::NoAnswer(_)) => Settlement::Unknown(error.to_string()),
        }
    }

    /// What became of a settlement that nobody answered for.
    ///
    /// The chain knows, where the operator named a way to ask it. Otherwise the facilitator is asked to settle the
    /// same payment again. That can't take the money twice: the token itself lets an authorization be used once
    /// (EIP-3009). If it is told that the authorization was used, it was this host's first request that used it,
    /// since nobody else was given it and its fingerprint was claimed before. Any other refusal leaves it open: a
    /// payer whose last money was taken has too little for a second time, and an authorization that expired
    /// meanwhile may have been used in time.
    async fn reconcile_claim(&self, offer: &AcceptedPayment, claim: &Claim) -> Settlement {
        if let Some(settlement) = self.look_up(offer, claim).await {
            return settlement;
        }
        match self.facilitator.settle(claim.question()).await {
            Ok(reply) if reply.is_positive => claim.settled(offer, reply),
            Ok(reply)
                // Some facilitators say only `invalid_transaction_state` when the simulated transfer reverts on a used
                // authorization.
                if money_after(&reply) == MoneyState::UsedBefore || reply.reason == "invalid_transaction_state" =>
            {
                claim.settled(offer, reply)
            }
            Ok(reply) => Settlement::Unknown(unclear(&reply)),
            Err(error) => Settlement::Unknown(error.to_string()),
        }
    }

    /// Asks the chain. `None` when it can't be asked, or the authorization can still be used: then asking for the
    /// settlement again is right.
    async fn look_up(&self, offer: &AcceptedPayment, claim: &Claim) -> Option<Settlement> {
        let networks = self.networks.all();
        let chain = chain_of(networks, &claim.signed.network)?;
        let url = networks.iter().find(|network| network.chain == chain)?.rpc.as_deref()?;
        let (asset, signed) = (claim.stored.1.asset(), &claim.signed.exact.authorization);
        match Chain::new(self.egress.clone(), url).look_up(asset, signed).await {
            Ok(ChainFinding::Paid { transaction }) => Some(claim.settled(offer, claim.found_on_chain(transaction))),
            Ok(ChainFinding::UsedElsewhere) => {
                let message = "the authorization was used for something else or cancelled";
                Some(Settlement::Refused(fault(PaymentCode::DuplicateNonce, message)))
            }
            Ok(ChainFinding::Expired) => {
                let message = "the authorization expired before it was settled, and nothing was taken";
                Some(Settlement::Refused(fault(PaymentCode::ExpiredPayment, message)))
            }
            Ok(ChainFinding::Unused) => None,
            Err(reason) => {
                tracing::warn!(
                    network = claim.signed.network,
                    reason,
                    "a settlement can't be looked up on its network"
                );
                None
            }
        }
    }
}

impl Claim {
    fn question(&self) -> FacilitatorQuestion<'_> {
        FacilitatorQuestion { version: self.signed.version, payload: &self.payload, requirements: &self.stored.0 }
    }

    fn settled(&self, offer: &AcceptedPayment, reply: FacilitatorReply) -> Settlement {
        let signed = &self.signed.exact.authorization;
        let confirmation = PaymentConfirmation {
            scheme: offer.scheme.clone(),
            original_payload: offer.payload.clone(),
            transaction: reply.transaction,
            payer: Some(signed.from.to_string()),
            network: Some(self.stored.1.network().to_owned()),
        };
        let mut details = reply.details;
        // A repeated settlement that was refused because the first one succeeded is a success to the payer.
        details.insert("success".to_owned(), true.into());
        details.remove("errorReason");
        details.remove("errorMessage");
        details.entry("transaction").or_insert_with(|| "".into());
        details.entry("network").or_insert_with(|| self.stored.1.network().into());
        details.entry("payer").or_insert_with(|| signed.from.to_string().into());
        Settlement::Settled(Box::new(Receipt { confirmation, amount: signed.value.to_string(), details }))
    }

    fn found_on_chain(&self, transaction: Option<String>) -> FacilitatorReply {
        let details = transaction.iter().map(|name| ("transaction".to_owned(), name.clone().into())).collect();
        FacilitatorReply {
            is_positive: true,
            reason: String::new(),
            explanation: None,
            transaction,
            payer: None,
            details,
        }
    }
}

/// A facilitator that could not be asked, as the payer is told of it; the reason is for our log alone.
fn unreachable(code: PaymentCode, error: &FacilitatorError) -> PaymentError {
    tracing::warn!(reason = error.to_string(), "payments can't be checked or settled");
    let message = "payments can't be checked at the moment, nothing was taken";
    PaymentError { is_passing: true, ..fault(code, message) }
}

/// For the operator. Without the explanation, in which libraries repeat the payment that they were asked about.
fn unclear(reply: &FacilitatorReply) -> String {
    format!("the facilitator says `{}`", reply.reason)
}

impl PaymentScheme for X402 {
    fn family(&self) -> &'static str {
        FAMILY
    }

    fn networks(&self, offers: &[AcceptedPayment]) -> Vec<String> {
        self.networks.titles(offers)
    }

    fn select(&self, offers: &[AcceptedPayment], payment: &PaymentSubmission) -> Result<usize, PaymentError> {
        let signed = SignedPayment::read(&payment.payload)?;
        let mut nearest: Option<Mismatch> = None;
        for (at, offer) in offers.iter().enumerate() {
            match matching(offer, &signed) {
                Ok(_) => return Ok(at),
                Err(mismatch) if nearest.as_ref().is_none_or(|best| mismatch.step > best.step) => {
                    nearest = Some(mismatch);
                }
                Err(_) => {}
            }
        }
        let nothing = || fault(PaymentCode::InvalidPayload, "nothing is to be paid for");
        Err(nearest.map_or_else(nothing, |mismatch| mismatch.fault))
    }

    /// The network, the payer and the nonce: that is what a token lets be used once. The token is left out on
    /// purpose: version 1 does not say it, and the same signature must not be two payments in two versions.
    fn fingerprint(&self, payment: &PaymentSubmission) -> Result<String, PaymentError> {
        let signed = SignedPayment::read(&payment.payload)?;
        // By the chain's number: version 1 names the network, version 2 numbers it, and both spell the same
        // authorization.
        let chain = chain_of(self.networks.all(), &signed.network);
        let unknown = || fault(PaymentCode::NetworkMismatch, "the payment is for a network that is not known here");
        let authorization = &signed.exact.authorization;
        Ok(format!("eip155:{}/{}/{}", chain.ok_or_else(unknown)?, authorization.from, authorization.nonce))
    }

    fn authorization(&self, payment: &PaymentSubmission) -> Result<PaymentAuthorization, PaymentError> {
        let signed = SignedPayment::read(&payment.payload)?;
        let authorization = &signed.exact.authorization;
        // Later than any clock counts is no end.
        let end = i64::try_from(authorization.valid_before.0).ok();
        Ok(PaymentAuthorization {
            payer: Some(authorization.from.to_string()),
            good_until: end.and_then(|second| Timestamp::from_second(second).ok()),
            network: Some(signed.network),
            reference: None,
        })
    }

    fn verify<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Result<(), PaymentError>> {
        Box::pin(async move { self.verify_claim(&self.claim(offer, payment)?).await })
    }

    fn settle<'a>(&'a self, offer: &'a AcceptedPayment, payment: &'a PaymentSubmission) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match self.claim(offer, payment).and_then(|claim| claim.signed.check_time(self.clock.now()).map(|()| claim))
            {
                Ok(claim) => self.settle_claim(offer, &claim).await,
                Err(fault) => Settlement::Refused(fault),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        offer: &'a AcceptedPayment,
        payment: &'a PaymentSubmission,
    ) -> BoxFuture<'a, Settlement> {
        Box::pin(async move {
            match self.claim(offer, payment) {
                Ok(claim) => self.reconcile_claim(offer, &claim).await,
                Err(fault) => Settlement::Refused(fault),
            }
        })
    }
}
