//! What an offer is wrapped in: the payload of an accepted payment whose scheme begins with `x402.`.
//! PolicyPart 3.3.3.

use forecourt_core::policy::AcceptedPayment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::requirements::Requirements;
use super::{FAMILY, Version};
use crate::limits::ACCEPTS_MAX;

/// The scheme of our offers among the accepted payments of a refusal.
pub const SCHEME: &str = "x402.exact";

/// What is paid for, as version 2 names it beside the ways to pay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its address.
    pub url: String,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The envelope of an offer, in either version: `PaymentRequiredResponse` and `PaymentRequired`.
#[derive(Debug, Clone, PartialEq)]
pub struct PaymentRequired {
    /// The version of x402, from `x402Version`.
    pub version: Version,
    /// What is paid for; version 1 says it within each way.
    pub resource: Option<Resource>,
    /// The ways to pay, each with the JSON that it was read from: that, and never what was made of it, is what
    /// a facilitator is shown.
    pub accepts: Vec<(Value, Requirements)>,
}

impl PaymentRequired {
    /// Reads an envelope. Ways to pay of schemes that are not known are passed over, as are those beyond
    /// [`ACCEPTS_MAX`]. `None` when it is none of ours, or no way is left.
    pub fn read(payload: &Map<String, Value>) -> Option<Self> {
        let version = Version::deserialize(payload.get("x402Version")?).ok()?;
        // Before reading: a stranger's offer may list thousands of ways, and each is decoded and cloned.
        let accepts = payload.get("accepts")?.as_array()?.iter().take(ACCEPTS_MAX);
        // A way of an unknown scheme is no error: payees list schemes that come after us beside `exact`.
        let read = |value: &Value| Some((value.clone(), Requirements::read(version, value).ok()?));
        let accepts: Vec<_> = accepts.filter_map(read).collect();
        let resource = payload.get("resource").and_then(|resource| Resource::deserialize(resource).ok());
        (!accepts.is_empty()).then_some(Self { version, resource, accepts })
    }
}

/// The envelopes of x402 among accepted payments, in their order.
pub fn envelopes(accepted: &[AcceptedPayment]) -> impl Iterator<Item = &Map<String, Value>> {
    let ours = |offer: &&AcceptedPayment| offer.scheme.split('.').next() == Some(FAMILY) && offer.scheme.contains('.');
    accepted.iter().filter(ours).map(|offer| &offer.payload)
}

/// The first of `accepted` that is an envelope of `version`.
pub(super) fn envelope_of(accepted: &[AcceptedPayment], version: Version) -> Option<&Map<String, Value>> {
    let is_wanted = |payload: &&Map<String, Value>| {
        payload.get("x402Version").and_then(|number| Version::deserialize(number).ok()) == Some(version)
    };
    envelopes(accepted).find(is_wanted)
}
