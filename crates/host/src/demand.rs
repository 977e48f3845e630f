//! This module turns an agent's own demand for a consent or a payment into an issuance, so that no agent keeps states.
//!
//! An agent that brings a state of its own keeps its own books, and its refusal passes as it is.

use forecourt_core::policy::{Charge, ConsentTerms, Demand, PaidFor, PaymentTerms, RefusalKind, Requirement};
use forecourt_core::{Ending, Error, PolicyPart};
use serde_json::{Map, Value};

use crate::request::Request;
use forecourt_audit::RequestOrigin;
use forecourt_issuance::{Holder, RefusedMessage};

/// The keys of `data` by which an agent says what is agreed to, and for how many seconds.
const SCOPE_KEY: &str = "mentionable.scope";
const LIFETIME_KEY: &str = "mentionable.lifetime_seconds";
/// The same for payments: what it costs, as a person reads it.
const PRICE_KEY: &str = "mentionable.price";

/// The ending in which the host asks for what its agent asks for.
pub(crate) async fn issued(request: &Request, part: PolicyPart) -> Ending {
    let (subject, thread) = (request.owner.clone(), request.thread.clone());
    let holder = Holder { subject, thread, account: request.account() };
    let parts = request.turn.as_ref().map(|turn| turn.parts.as_slice()).unwrap_or_default();
    let refused = RefusedMessage {
        holder,
        task: request.earlier.as_ref().map(|task| task.id.clone()),
        parts,
        language: request.language.as_ref(),
        origin: RequestOrigin::new(request.via, &request.id),
        lasting: &[],
    };
    let asked_for = requirement(&part);
    match request.records.issuances.issue(&asked_for, &request.resident.card, refused).await {
        Ok(issued) => Ending::Refused(Box::new(in_its_words(issued, part))),
        Err(Error::Full { bound }) => Ending::Refused(Box::new(bound.refusal())),
        Err(error) => {
            tracing::error!(%error, "what an agent asked for was not kept");
            Ending::failed("The agent asks for something first, and that could not be kept.")
        }
    }
}

fn requirement(part: &PolicyPart) -> Requirement {
    let demand = match &part.kind {
        RefusalKind::PaymentRequired { accepted_payments } => Demand::Payment(PaymentTerms {
            accepted: accepted_payments.clone(),
            price: part.data.get(PRICE_KEY).and_then(Value::as_str).unwrap_or_default().to_owned(),
            covers: PaidFor::Turn,
            credit: None,
            charge: Charge::After,
        }),
        _ => Demand::Consent(ConsentTerms {
            scope: part.data.get(SCOPE_KEY).and_then(Value::as_object).cloned().unwrap_or_else(|| said(part)),
            lifetime_seconds: part.data.get(LIFETIME_KEY).and_then(Value::as_u64),
        }),
    };
    Requirement {
        rule: Requirement::AGENT.to_owned(),
        title: part.title.clone(),
        message: part.message.clone(),
        message_translations: part.message_translations.clone(),
        demand,
    }
}

/// What is agreed to where an agent names no scope: its words.
fn said(part: &PolicyPart) -> Map<String, Value> {
    Map::from_iter([("message".to_owned(), Value::from(part.message.as_str()))])
}

/// The host's refusal, with what the agent said beside it.
fn in_its_words(mut issued: PolicyPart, part: PolicyPart) -> PolicyPart {
    // It may be too many requests instead (too many are open): that keeps the host's own words.
    if matches!(issued.kind, RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. }) {
        // The host's keys go in last: an agent can't put a state of its own in the place of the one that was issued.
        let state = std::mem::take(&mut issued.data);
        issued.data = part.data;
        issued.data.extend(state);
        (issued.code, issued.action_label, issued.more) = (part.code, part.action_label, part.more);
    }
    issued
}
