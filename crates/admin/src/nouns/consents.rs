//! What callers agreed to and paid for, everybody's, and taking a consent back.

use forecourt_audit::{Decider, RequestOrigin};
use forecourt_core::policy::{Demand, transaction};
use forecourt_core::{MessageId, Timestamp};
use forecourt_issuance::{HoldingFilter, HoldingStatus, ListedHolding, ListedHoldings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::search::moment;
use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// What operators are called in the audit, as a protocol is.
const OVER: &str = "admin";

/// A page of consents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Consents {
    /// The last one first.
    pub consents: Vec<Consent>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

/// A consent that was given for more than one message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Consent {
    /// Names it, to take it back.
    pub id: u64,
    /// When it was given.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// To which agent.
    pub agent: String,
    /// Of whom: the proven subject; empty for somebody who proved nothing.
    pub who: String,
    /// Which rule wanted it.
    pub rule: String,
    /// The words that were agreed to.
    pub message: String,
    /// All that was agreed to.
    #[schemars(with = "Value")]
    pub scope: Map<String, Value>,
    /// Until when it holds; none without an end.
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// `holds` or `ended`.
    pub status: String,
}

/// A page of payments.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Payments {
    /// The last one first.
    pub payments: Vec<Payment>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

/// A payment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Payment {
    /// Its number.
    pub id: u64,
    /// When it was made.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// To which agent.
    pub agent: String,
    /// Of whom: the proven subject; empty for somebody who proved nothing.
    pub who: String,
    /// Which rule wanted it.
    pub rule: String,
    /// What a person reads as its price.
    pub price: String,
    /// `unused`, `used` or `pending`: nobody knows yet whether it arrived.
    pub status: String,
    /// The transaction, where the receipt names one.
    pub transaction: Option<String>,
    /// The receipt, in the words of its scheme.
    #[schemars(with = "Option<Value>")]
    pub receipt: Option<Map<String, Value>>,
}

pub(crate) const QUERY: &[(&str, &str)] = &[
    ("agent", "Only those to this agent"),
    ("who", "Only those of whose name this is a part"),
    ("since", "Only those of this day or moment and later, such as 2026-11-30"),
    ("until", "Only those up to this day, its end included, or before this moment"),
    ("before", "What `next` of the page before was"),
    ("limit", "At most so many, up to 200"),
];

pub(crate) async fn list(ask: Ask) -> Result<Consents, ApiError> {
    let ListedHoldings { listed, next, .. } = read(&ask, false).await?;
    Ok(Consents { consents: listed.into_iter().filter_map(consent).collect(), next })
}

pub(crate) async fn payments(ask: Ask) -> Result<Payments, ApiError> {
    let ListedHoldings { listed, next, .. } = read(&ask, true).await?;
    Ok(Payments { payments: listed.into_iter().filter_map(payment).collect(), next })
}

async fn read(ask: &Ask, payments: bool) -> Result<ListedHoldings, ApiError> {
    let filter = HoldingFilter {
        payments,
        agent: ask.query("agent").map(|agent| agent.trim_start_matches('@')),
        who: ask.query("who"),
        since: ask.query("since").map(|text| moment("since", text, false)).transpose()?,
        until: ask.query("until").map(|text| moment("until", text, true)).transpose()?,
    };
    let (before, limit) = (ask.number("before")?.unwrap_or(u64::MAX), ask.limit()?);
    ask.house.host.listed_holdings(filter, before, limit).await.map_err(away)
}

fn away(error: forecourt_core::Error) -> ApiError {
    tracing::warn!(%error, "consents and payments can't be looked up");
    ApiError::unavailable("consents and payments can't be looked up at the moment")
}

fn consent(listed: ListedHolding) -> Option<Consent> {
    let ListedHolding { number, who, holding, .. } = listed;
    let Demand::Consent(terms) = holding.requirement.demand else { return None };
    Some(Consent {
        id: number,
        at: holding.at,
        agent: holding.agent.to_string(),
        who,
        rule: holding.requirement.rule,
        message: holding.requirement.message,
        scope: terms.scope,
        until: holding.until,
        status: if holding.status == HoldingStatus::Holds { "holds" } else { "ended" }.to_owned(),
    })
}

fn payment(listed: ListedHolding) -> Option<Payment> {
    let ListedHolding { number, who, holding, .. } = listed;
    let Demand::Payment(terms) = holding.requirement.demand else { return None };
    let transaction = holding.receipt.as_ref().and_then(transaction);
    Some(Payment {
        id: number,
        at: holding.at,
        agent: holding.agent.to_string(),
        who,
        rule: holding.requirement.rule,
        price: match holding.networks.is_empty() {
            true => terms.price,
            false => format!("{} on {}", terms.price, holding.networks.join(" or ")),
        },
        status: match holding.status {
            HoldingStatus::Holds => "unused",
            HoldingStatus::Ended => "used",
            HoldingStatus::Pending => "pending",
            HoldingStatus::GivenBack => "given_back",
        }
        .to_owned(),
        transaction: transaction.map(str::to_owned),
        receipt: holding.receipt,
    })
}

pub(crate) async fn withdraw(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let host = &ask.house.host;
    let unknown = || ApiError::not_found("nobody knows this consent").hint("GET /api/v1/consents lists them");
    let number: u64 = ask.named("id").parse().map_err(|_| unknown())?;
    let decider = Decider { subject: Some(ask.actor.name.clone()), proof: Decider::OPERATOR.to_owned() };
    let origin = RequestOrigin::new(OVER, &MessageId::mint(&**host.entropy())).by(decider);
    let (came, words) = match host.withdraw_listed(number, &origin).await.map_err(away)?.ok_or_else(unknown)? {
        true => (Came::Done, "the consent is taken back: whoever gave it is asked again"),
        false => (Came::Already, "the consent does not hold any more"),
    };
    account::note(host, &ask.actor.name, "withdraw", format!("consent {number}"), why.as_deref(), came).await;
    Ok(ActionOutcome::new(came, words))
}
