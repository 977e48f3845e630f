//! Crawlers: who came, what they took, and what the verified ones owe.

use std::collections::HashMap;

use forecourt_core::Timestamp;
use forecourt_pages::clean;
use forecourt_payments::crawl::{DebtError, DebtLedger, Dollars, dollars};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ActionOutcome;
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::crawlers::{CrawlerLog, LEDGER};
use crate::desk::{Ask, reason};

/// The crawlers that came within 30 days, on every node.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bots {
    /// Who came last comes first. At most 1,000, those beyond as one, and those who owe and came no more.
    pub bots: Vec<BotSeen>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BotSeen {
    /// The host of its signature agent where it is verified, else what it calls itself.
    pub name: String,
    /// Whether it proved who it is.
    pub is_verified: bool,
    /// What it reads for, as far as that is known.
    pub purpose: Option<String>,
    /// Requests.
    pub requests: u64,
    /// Requests that were answered with a page or an answer.
    pub taken: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that were told a price.
    pub prices_told: u64,
    /// Pages and answers that were paid for.
    pub paid: u64,
    /// What it owes, in US dollars.
    pub owed: String,
    /// What it was billed so far, in US dollars.
    pub billed: String,
    /// When it came first.
    #[schemars(with = "Option<String>")]
    pub first_at: Option<Timestamp>,
    /// When it came last.
    #[schemars(with = "Option<String>")]
    pub last_at: Option<Timestamp>,
}

/// What is billed, and why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bill {
    /// How much, in US dollars; everything when absent.
    #[serde(default)]
    pub amount: Option<String>,
    /// The reason, such as the number of the bill, which is kept with the action.
    #[serde(default)]
    pub reason: Option<String>,
}

pub(crate) async fn list(ask: Ask) -> Result<Bots, ApiError> {
    let services = &ask.house.services;
    let seen = match services.get::<CrawlerLog>() {
        Some(log) => log.all(&ask.house.host.ledger(LEDGER)).await?,
        None => Vec::new(),
    };
    let mut debts: HashMap<_, _> = match services.get::<DebtLedger>() {
        Some(debts) => debts.all().await.map_err(refused)?.into_iter().collect(),
        None => HashMap::new(),
    };
    let mut bots: Vec<BotSeen> = Vec::with_capacity(seen.len());
    for one in seen {
        let debt = if one.is_verified { debts.remove(&one.name).unwrap_or_default() } else { Default::default() };
        bots.push(BotSeen {
            // Strangers choose their names: hidden characters are taken out.
            name: clean::line(&one.name),
            is_verified: one.is_verified,
            purpose: one.purpose,
            requests: one.requests,
            taken: one.taken,
            refused: one.refused,
            prices_told: one.prices_told,
            paid: one.paid,
            owed: dollars(debt.owed),
            billed: dollars(debt.billed),
            first_at: Some(one.first_at),
            last_at: Some(one.last_at),
        });
    }
    // Who owes is listed, however long it has not come.
    let mut others: Vec<_> = debts.into_iter().filter(|(_, debt)| debt.owed > 0).collect();
    others.sort_by(|one, other| one.0.cmp(&other.0));
    bots.extend(others.into_iter().map(|(name, debt)| BotSeen {
        name,
        is_verified: true,
        purpose: None,
        requests: 0,
        taken: 0,
        refused: 0,
        prices_told: 0,
        paid: 0,
        owed: dollars(debt.owed),
        billed: dollars(debt.billed),
        first_at: None,
        last_at: None,
    }));
    Ok(Bots { bots })
}

pub(crate) async fn bill(ask: Command) -> Result<ActionOutcome, ApiError> {
    let Bill { amount, reason: why } = ask.body::<Bill>()?;
    let why = reason(why.as_deref())?;
    let wrong = || ApiError::invalid("`amount` is an amount of US dollars above 0, such as 12.50");
    let amount = amount.map(|text| Dollars::parse(&text).ok_or_else(wrong)).transpose()?;
    let name = ask.named("id").to_owned();
    let debts = ask.house.services.get::<DebtLedger>().ok_or_else(|| ApiError::not_found("nobody owes anything"))?;
    let before = debts.of(&name).await.map_err(refused)?;
    let after = debts.bill(&name, amount).await.map_err(refused)?;
    let billed = dollars(before.owed.saturating_sub(after.owed));
    let came = if before.owed == after.owed { Came::Already } else { Came::Done };
    let target = format!("crawler {}: {billed} USD", super::shortened(&name, 80));
    account::note(&ask.house.host, &ask.actor.name, "bill", target, why.as_deref(), came).await;
    Ok(ActionOutcome::new(came, format!("{billed} USD are billed, and {} USD are owed", dollars(after.owed))))
}

fn refused(error: DebtError) -> ApiError {
    match error {
        DebtError::Unknown(_) => ApiError::not_found(error.to_string()),
        DebtError::TooMuch(..) => ApiError::conflict(error.to_string()),
        DebtError::Store(_) => ApiError::unavailable("what crawlers owe can't be read or written at the moment"),
    }
}
