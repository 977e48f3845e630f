//! Refusals on A2A: the envelope, and the carriers of payment protocols beside it. PolicyPart 4.1, 4.2.

use std::borrow::Cow;

use forecourt_core::PolicyPart;
use forecourt_core::part::{Part as CorePart, UnknownPart};
use forecourt_core::policy::{AcceptedPayment, RefusalKind};
use serde_json::{Map, Value, json};

use crate::card::names;
use crate::mandates::Mandate;
use crate::model::{Artifact, Metadata, Part};
use crate::payment;

/// The version of the envelope.
pub(crate) const VERSION: &str = "v0.1";
/// Our own object among metadata.
pub(crate) const OWN: &str = "mentionable";
/// The key of a refusal's envelope in that object. PolicyPart 4.1.
pub(crate) const POLICY: &str = "policy";
/// The kind of a part that holds an envelope of another version, on its way from one A2A agent to the next.
const FOREIGN: &str = "mentionable.policy";
/// The version of x402 that every payer of the extension reads. x402 over A2A v0.2, 6.
const X402_VERSION: u64 = 1;

/// In which order one reader is shown the ways to pay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OfferOrder {
    /// As whoever refused prefers it.
    #[default]
    AsMade,
    /// x402 of version 1 first: the reader activated an extension that knows no other.
    FirstVersionFirst,
}

impl OfferOrder {
    /// The order for who activated these extensions.
    pub(crate) fn of(extensions: &[String]) -> Self {
        let has = |uri: &str| extensions.iter().any(|named| named == uri);
        match has(names::X402) && !has(names::X402_TRANSPORT) {
            true => Self::FirstVersionFirst,
            false => Self::AsMade,
        }
    }
}

/// A refusal as it goes out: without what an agent may not offer here. PolicyPart 4.2.
pub(crate) fn outgoing(part: &PolicyPart, order: OfferOrder) -> Cow<'_, PolicyPart> {
    let RefusalKind::PaymentRequired { accepted_payments } = &part.kind else { return Cow::Borrowed(part) };
    let mandates = || accepted_payments.iter().filter_map(Mandate::of);
    let embeds = mandates().any(|mandate| mandate.embeds_x402());
    let has_intent = mandates().any(|mandate| !mandate.is_servers());
    if !embeds && !has_intent && order == OfferOrder::AsMade {
        return Cow::Borrowed(part);
    }
    // Where an offer of x402 lies within a mandate, a second one beside it would be taken instead.
    let goes = |offer: &&AcceptedPayment| match Mandate::of(offer) {
        Some(mandate) => mandate.is_servers(),
        None => !(embeds && payment::is_x402(offer)),
    };
    let mut offers: Vec<AcceptedPayment> = accepted_payments.iter().filter(goes).cloned().collect();
    if offers.is_empty() {
        tracing::warn!("a refusal offers nothing but mandates that are for buyers to send");
        return Cow::Borrowed(part);
    }
    if order == OfferOrder::FirstVersionFirst {
        offers.sort_by_key(|offer| payment::is_x402(offer) && offer.payload["x402Version"] != X402_VERSION);
    }
    Cow::Owned(PolicyPart { kind: RefusalKind::PaymentRequired { accepted_payments: offers }, ..part.clone() })
}

/// The metadata of the status message that carries a refusal.
pub(crate) fn metadata(part: &PolicyPart) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert(OWN.to_owned(), json!({POLICY: {"v": VERSION, "part": part}}));
    let offers = payments(part);
    let embeds = || offers.iter().filter_map(Mandate::of).any(|mandate| mandate.embeds_x402());
    match offers.iter().find(|offer| payment::is_x402(offer)) {
        Some(offer) => payment::require(&mut metadata, Some(&offer.payload)),
        None if embeds() => payment::require(&mut metadata, None),
        None => {}
    }
    payment::fault(&mut metadata, part);
    metadata
}

/// The mandates that go with a refusal, an artifact each.
pub(crate) fn mandates(part: &PolicyPart) -> Vec<Artifact> {
    let offered = payments(part).iter().filter_map(Mandate::of).filter(Mandate::is_servers);
    offered.enumerate().map(|(index, mandate)| artifact(index, &mandate)).collect()
}

fn payments(part: &PolicyPart) -> &[AcceptedPayment] {
    match &part.kind {
        RefusalKind::PaymentRequired { accepted_payments } => accepted_payments,
        _ => &[],
    }
}

fn artifact(index: usize, mandate: &Mandate<'_>) -> Artifact {
    Artifact {
        id: format!("mandate-{}", index + 1),
        name: Some(mandate.key.to_owned()),
        description: None,
        parts: vec![Part::data(Value::Object(mandate.data()))],
        extensions: Vec::new(),
        metadata: Metadata::new(),
    }
}

/// An envelope of a version that is not known here, as a part that is kept as it came. PolicyPart 4.1.
pub(crate) fn foreign(envelope: Value) -> CorePart {
    let fields = Map::from_iter([("kind".to_owned(), FOREIGN.into()), (POLICY.to_owned(), envelope)]);
    CorePart::Unknown(UnknownPart { kind: FOREIGN.to_owned(), fields })
}

/// The envelope in such a part. One of our own version never comes that way.
pub(crate) fn foreign_of(part: &CorePart) -> Option<&Value> {
    match part {
        CorePart::Unknown(UnknownPart { kind, fields }) if kind == FOREIGN => {
            fields.get(POLICY).filter(|envelope| envelope["v"] != VERSION)
        }
        _ => None,
    }
}

/// The metadata of a status that passes such an envelope on.
pub(crate) fn foreign_metadata(envelope: &Value) -> Metadata {
    Metadata::from_iter([(OWN.to_owned(), json!({POLICY: envelope}))])
}

#[cfg(test)]
mod tests;
