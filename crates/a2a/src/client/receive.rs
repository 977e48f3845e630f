//! What a receiver must check of refusals before it believes them. PolicyPart 3.5, 3.6, 4.1, 4.2.

use std::borrow::Cow;

use forecourt_core::policy::{AcceptedPayment, RefusalKind};
use forecourt_core::{PolicyPart, TaskState};
use serde_json::{Map, Value};
use url::Url;

use crate::mandates::{Mandate, is_same};
use crate::model::{Metadata, Status};
use crate::payment;
use crate::policy::{OWN, POLICY, VERSION};

/// Behind a host that links may lead to at whatever port.
pub(super) const ANY_PORT: &str = ":*";

/// What a status says about a refusal.
#[derive(Debug, Clone, PartialEq)]
pub enum RefusalStatus {
    /// There is no refusal in it, whatever the state: none is made up. PolicyPart 4.2.
    None,
    /// A refusal that can be believed.
    Refused(Box<PolicyPart>),
    /// An envelope of another version, as it came. Never success. PolicyPart 4.1.
    Unknown(Value),
    /// A frame that must be rejected, and why.
    Malformed(&'static str),
}

/// Judges a status. `data` are the data parts of the task's artifacts so far, in order; links must
/// lead to `canonical_host`.
pub fn judge(status: &Status, data: &[&Value], canonical_host: &str) -> RefusalStatus {
    let Some(metadata) = status.message.as_ref().map(|message| &message.metadata) else { return RefusalStatus::None };
    let Some(envelope) = envelope(metadata) else { return RefusalStatus::None };
    let fields = match envelope {
        Value::Object(fields) => fields,
        _ => return RefusalStatus::Malformed("the envelope is no object"),
    };
    match fields.get("v").and_then(Value::as_str) {
        Some(VERSION) => {}
        Some(_) => return RefusalStatus::Unknown(envelope.clone()),
        None => return RefusalStatus::Malformed("the envelope has no version"),
    }
    let Some(Value::Object(raw)) = fields.get("part") else {
        return RefusalStatus::Malformed("the envelope holds no part");
    };
    match part(raw, status.state, metadata, data, canonical_host) {
        Ok(part) => RefusalStatus::Refused(Box::new(part)),
        Err(reason) => RefusalStatus::Malformed(reason),
    }
}

/// The envelope among a message's metadata, whatever it holds.
fn envelope(metadata: &Metadata) -> Option<&Value> {
    metadata.get(OWN)?.get(POLICY).filter(|envelope| !envelope.is_null())
}

/// The host that the links of `part` must lead to, where any port will do with that of its own link.
fn at_port_of<'a>(part: &PolicyPart, canonical_host: &'a str) -> Cow<'a, str> {
    let Some(name) = canonical_host.strip_suffix(ANY_PORT) else { return Cow::Borrowed(canonical_host) };
    let link = part.url.as_deref().and_then(|link| Url::parse(link).ok());
    match link.and_then(|link| link.port()) {
        Some(port) => Cow::Owned(format!("{name}:{port}")),
        None => Cow::Borrowed(name),
    }
}

fn part(
    raw: &Map<String, Value>,
    state: TaskState,
    metadata: &Metadata,
    data: &[&Value],
    canonical_host: &str,
) -> Result<PolicyPart, &'static str> {
    let part = PolicyPart::from_json(raw.clone()).map_err(|_| "the part lacks what its kind demands")?;
    part.validate(&at_port_of(&part, canonical_host)).map_err(|_| "the part leads to another host than the agent's")?;
    let is_aligned = match part.kind {
        // A kind of a later version has no row in the table: any end but success will do.
        RefusalKind::Other(_) => state.is_settled() && state != TaskState::Completed,
        _ => state == part.task_state(),
    };
    if !is_aligned {
        return Err("the state does not go with the kind");
    }
    if matches!(part.kind, RefusalKind::PaymentRequired { .. }) {
        // As they came: what was taken out of the part for safety is in the mirrors still.
        let offers = raw.get("accepted_payments").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let offers: Vec<AcceptedPayment> = offers.iter().filter_map(offer).collect();
        check_x402(&offers, metadata)?;
        check_ap2(&offers, data)?;
    }
    Ok(part)
}

fn offer(raw: &Value) -> Option<AcceptedPayment> {
    let (scheme, payload) = (raw["scheme"].as_str()?.to_owned(), raw["payload"].as_object()?.clone());
    Some(AcceptedPayment { scheme, payload })
}

/// The first x402 offer is mirrored beside the envelope, by flat keys. A mirror that is not there contradicts
/// nothing; one of no offer of the part does. PolicyPart 4.2.
fn check_x402(offers: &[AcceptedPayment], metadata: &Metadata) -> Result<(), &'static str> {
    let (mirror, asks) = payment::required(metadata);
    let first = offers.iter().find(|offer| payment::is_x402(offer));
    let is_fine = match (mirror, first) {
        (Some(mirror), Some(offer)) => is_same(mirror, &Value::Object(offer.payload.clone())),
        (Some(_), None) => false,
        (None, _) => true,
    };
    match is_fine && asks {
        true => Ok(()),
        false => Err("the x402 carrier says something else than the part"),
    }
}

/// The first ap2 offer of each type of mandate is mirrored by the first data part that is keyed by that type.
fn check_ap2(offers: &[AcceptedPayment], data: &[&Value]) -> Result<(), &'static str> {
    let mut seen: Vec<&str> = Vec::new();
    for mandate in offers.iter().filter_map(Mandate::of) {
        if seen.contains(&mandate.key) {
            continue;
        }
        seen.push(mandate.key);
        let mirror = data.iter().find(|data| data.get(mandate.key).is_some());
        if mirror.is_some_and(|mirror| !mandate.is_said_by(mirror)) {
            return Err("an ap2 carrier says something else than the part");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_2_in_development_links_may_lead_to_another_port_of_the_host_and_nowhere_else() {
        let part = |url: &str| {
            let fields = serde_json::json!({"kind": "forbidden", "message": "No.", "url": url});
            PolicyPart::from_json(fields.as_object().unwrap().clone()).unwrap()
        };
        let fits = |url: &str| {
            let part = part(url);
            part.validate(&at_port_of(&part, "demo.localhost:*")).is_ok()
        };
        assert!(fits("https://demo.localhost:8443/pay") && fits("https://demo.localhost/pay"));
        assert!(!fits("https://evil.example:8443/pay") && !fits("https://demo.localhost.evil.example/"));
        assert_eq!(at_port_of(&part("https://demo.localhost:8443/"), "demo.localhost"), "demo.localhost");
    }
}
