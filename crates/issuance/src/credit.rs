//! Prepaid credit: what was paid over the price of one message, and what is deducted from it. PolicyPart F-7.
//!
//! A ledger for each holder, agent and unit. Each entry has the running balance, so that the last one tells
//! everything, and is written only if the one before is still the last. Amounts are whole numbers of the smallest
//! unit, in decimal; nothing is ever rounded.

use forecourt_core::clock::after;
use forecourt_core::policy::{CreditTerms, DeductionPeriod, Demand, PaidFor, Receipt, Requirement};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Error, Handle, Timestamp, ids};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::Issuance;
use crate::claimant::Claimant;
use crate::deduction::{Amount, Deduction};
use crate::finding::{Finding, MetBy, RequirementUse, Unmet};
use crate::holder::HolderKey;
use crate::limits::{CONVERSATION_GRANT_MAX, PAYMENT_CLAIM_KEPT, TRIES_MAX};
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash};

/// Deductions of one holder whose answers are on their way at once.
const OPEN_DEDUCTIONS_MAX: usize = 64;
/// Entries that are looked through for a deposit that was made already.
const DEPOSITS_READ_MAX: usize = 64;

/// A credit after a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct CreditEntry {
    /// What is left.
    balance: Amount,
    /// The period in which `spent` was, such as `2026-11`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    period: String,
    /// What was deducted within it.
    #[serde(default)]
    spent: Amount,
    /// Deductions whose answers are not whole yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenDeduction>,
    /// What this step was.
    #[serde(default)]
    step: CreditStep,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CreditStep {
    #[default]
    Nothing,
    Deposited {
        amount: Amount,
        /// The state that was paid for.
        state: String,
        /// Who paid, in the scheme's words.
        payer: Option<String>,
    },
    Deducted(Amount),
    Answered(Amount),
    GivenBack(Amount),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenDeduction {
    id: String,
    amount: Amount,
    run: String,
    at: Timestamp,
}

impl CreditEntry {
    /// The entry as it stands in this period: deductions that `dead` runs left open are given back, and a new period
    /// begins with nothing spent.
    fn at(mut self, dead: &[String], period: &str) -> Self {
        // Whatever the last entry says, a new period begins with nothing spent: nobody writes one when it turns.
        if self.period != period {
            (self.period, self.spent) = (period.to_owned(), Amount::default());
        }
        let is_dead = |one: &OpenDeduction| dead.contains(&one.run);
        let (dead, open): (Vec<_>, Vec<_>) = self.open.drain(..).partition(is_dead);
        self.open = open;
        for one in dead {
            self.give_back(one.amount);
        }
        self
    }

    fn give_back(&mut self, amount: Amount) {
        self.balance = self.balance.plus(amount).unwrap_or(self.balance);
        // It may have been spent in an earlier period: then the count of this one falls to zero, and not below.
        self.spent = self.spent.minus(amount).unwrap_or_default();
    }

    /// Whether so much may be deducted: it is there, and within the caps.
    fn allows(&self, amount: Amount, terms: &CreditTerms) -> bool {
        let cap = |text: &str| Amount::parse(text).unwrap_or_default();
        let within = terms.caps.as_ref().is_none_or(|caps| {
            let spent = self.spent.plus(amount);
            amount <= cap(&caps.per_turn_max) && spent.is_some_and(|spent| spent <= cap(&caps.period_max))
        });
        within && amount <= self.balance && self.open.len() < OPEN_DEDUCTIONS_MAX
    }
}

impl Issuances {
    /// Whether a claimant's credit pays for what is required. Before the first deduction its caps must be agreed to,
    /// where they are wanted; over them it has to be paid. `None` where there is no credit to speak of.
    pub(crate) async fn meet_by_credit(
        &self,
        requirement: &Requirement,
        claimant: &Claimant<'_>,
    ) -> Result<Option<Finding>, Error> {
        let Some(terms) = credit_terms(requirement) else { return Ok(None) };
        let Some(amount) = Amount::parse(&terms.per_turn) else { return Ok(None) };
        for holder in &claimant.keys {
            let stream = stream(holder, claimant.card.handle(), &terms.unit);
            let (_, entry) = self.credit(&stream, terms).await?;
            if !entry.allows(amount, terms) {
                continue;
            }
            if let Some(consent) = requirement.deduction_consent()
                && !self.is_granted(consent, &claimant.keys, claimant.card.handle()).await?
            {
                return Ok(Some(Finding::Unmet(Unmet::Ask(Box::new(consent.clone()), None))));
            }
            let deduction = Deduction {
                requirement: requirement.clone(),
                agent: claimant.card.handle().clone(),
                who: claimant.holder.account.shown().to_owned(),
                origin: claimant.origin.clone(),
                kept: kept(holder),
                stream,
                terms: terms.clone(),
                amount,
                id: ids::uuid7(self.clock.now(), &*self.entropy),
            };
            return Ok(Some(Finding::Met(Box::new(RequirementUse(MetBy::Credit(Box::new(deduction)))))));
        }
        Ok(None)
    }

    /// Deducts, if it is still there: `None` when it is not.
    pub(crate) async fn deduct(&self, deduction: Deduction) -> Result<Option<Deduction>, Error> {
        for _ in 0..TRIES_MAX {
            let (number, mut entry) = self.credit(&deduction.stream, &deduction.terms).await?;
            let left =
                entry.balance.minus(deduction.amount).filter(|_| entry.allows(deduction.amount, &deduction.terms));
            let (Some(left), Some(spent)) = (left, entry.spent.plus(deduction.amount)) else { return Ok(None) };
            (entry.balance, entry.spent) = (left, spent);
            let (run, at) = (self.run.name().to_string(), self.clock.now());
            entry.open.push(OpenDeduction { id: deduction.id.clone(), amount: deduction.amount, run, at });
            entry.step = CreditStep::Deducted(deduction.amount);
            if self.write_credit(&deduction.stream, &entry, deduction.kept, number).await? {
                self.note_deducted(&deduction);
                return Ok(Some(deduction));
            }
        }
        Err(Error::unavailable())
    }

    /// Ends a deduction: its answer came to its end, or never began.
    pub(crate) async fn settle_deduction(&self, deduction: &Deduction, is_answered: bool) -> Result<(), Error> {
        for _ in 0..TRIES_MAX {
            let (number, mut entry) = self.credit(&deduction.stream, &deduction.terms).await?;
            // Gone already: the run was taken for dead meanwhile, and the deduction was given back.
            let Some(place) = entry.open.iter().position(|one| one.id == deduction.id) else { return Ok(()) };
            let one = entry.open.remove(place);
            entry.step = match is_answered {
                true => CreditStep::Answered(one.amount),
                false => {
                    entry.give_back(one.amount);
                    CreditStep::GivenBack(one.amount)
                }
            };
            if self.write_credit(&deduction.stream, &entry, deduction.kept, number).await? {
                if !is_answered {
                    self.desk.metrics.gave_back(deduction);
                }
                return Ok(());
            }
        }
        Err(Error::unavailable())
    }

    /// Adds what was paid over the price of one message, once for each state.
    pub(crate) async fn deposit(
        &self,
        hash: &StateHash,
        record: &IssuanceRecord,
        receipt: &Receipt,
    ) -> Result<(), Error> {
        let Some(terms) = credit_terms(&record.requirement) else { return Ok(()) };
        // Credit needs somebody who comes back: who is neither a subject nor in a conversation has none.
        let Some(holder) = record.holder().key() else { return Ok(()) };
        let (Some(paid), Some(price)) = (Amount::parse(&receipt.amount), Amount::parse(&terms.per_turn)) else {
            tracing::error!(agent = %record.agent, "a payment is in no whole units: nothing of it became credit");
            return Ok(());
        };
        // The message that was paid for takes its price: only what is over it is left for later ones.
        let Some(surplus) = paid.minus(price).filter(|surplus| *surplus > Amount::default()) else { return Ok(()) };
        let stream = stream(&holder, &record.agent, &terms.unit);
        let state = hash.as_str().to_owned();
        for _ in 0..TRIES_MAX {
            // Two may have found out at once that a payment was settled: it becomes credit once.
            if self.has_deposit(&stream, &state).await? {
                return Ok(());
            }
            let (number, mut entry) = self.credit(&stream, terms).await?;
            entry.balance = entry.balance.plus(surplus).ok_or_else(|| Error::internal("a credit beyond all bounds"))?;
            let payer = receipt.confirmation.payer.clone();
            entry.step = CreditStep::Deposited { amount: surplus, state: state.clone(), payer };
            if self.write_credit(&stream, &entry, kept(&holder), number).await? {
                return Ok(());
            }
        }
        Err(Error::unavailable())
    }

    async fn has_deposit(&self, stream: &str, state: &str) -> Result<bool, Error> {
        let now = self.clock.now();
        let newest = self.store.entries(stream, Span::Before(u64::MAX), DEPOSITS_READ_MAX, now).await?;
        for (_, entry) in newest {
            let entry: CreditEntry = serde_json::from_value(entry.body).map_err(Error::internal)?;
            if matches!(&entry.step, CreditStep::Deposited { state: paid, .. } if paid == state) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is left of the credit of whoever was asked, as a person reads it. `None` for what is not paid by credit.
    pub fn credit_of<'a>(&'a self, issuance: &'a Issuance) -> BoxFuture<'a, Result<Option<String>, Error>> {
        Box::pin(async move {
            let Some(terms) = credit_terms(&issuance.requirement) else { return Ok(None) };
            let Some(holder) = issuance.holder.key() else { return Ok(None) };
            Ok(Some(terms.in_words(&self.credit_left(&holder, &issuance.agent, terms).await?)))
        })
    }

    /// How much of a holder's credit is left, in whole units.
    pub(crate) async fn credit_left(
        &self,
        holder: &HolderKey,
        agent: &Handle,
        terms: &CreditTerms,
    ) -> Result<String, Error> {
        let (_, entry) = self.credit(&stream(holder, agent, &terms.unit), terms).await?;
        Ok(entry.balance.into())
    }

    async fn credit(&self, stream: &str, terms: &CreditTerms) -> Result<(u64, CreditEntry), Error> {
        let now = self.clock.now();
        let newest = self.store.entries(stream, Span::Before(u64::MAX), 1, now).await?.into_iter().next();
        let (number, entry) = match newest {
            Some((number, entry)) => {
                (number, serde_json::from_value::<CreditEntry>(entry.body).map_err(Error::internal)?)
            }
            None => (0, CreditEntry::default()),
        };
        let dead = self.dead_among(entry.open.iter().map(|one| one.run.clone()).collect()).await?;
        Ok((number, entry.at(&dead, &period(terms, now))))
    }

    async fn write_credit(
        &self,
        stream: &str,
        entry: &CreditEntry,
        kept: std::time::Duration,
        last: u64,
    ) -> Result<bool, Error> {
        let now = self.clock.now();
        let body = serde_json::to_value(entry).map_err(Error::internal)?;
        let entry = LedgerEntry::new(body, now).until(after(now, kept));
        Ok(self.store.append_entry(stream, entry, Some(last)).await?.is_some())
    }
}

/// How credit is counted for what is required, where it is paid by credit.
pub(crate) fn credit_terms(requirement: &Requirement) -> Option<&CreditTerms> {
    match &requirement.demand {
        Demand::Payment(terms) if terms.covers == PaidFor::Credit => terms.credit.as_deref(),
        Demand::Payment(_) | Demand::Consent(_) => None,
    }
}

/// The period of the caps that a moment is in.
fn period(terms: &CreditTerms, now: Timestamp) -> String {
    let Some(caps) = &terms.caps else { return String::new() };
    let day = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    match caps.period {
        DeductionPeriod::Daily => day.to_string(),
        DeductionPeriod::Weekly => {
            let week = day.iso_week_date();
            format!("{}-W{:02}", week.year(), week.week())
        }
        DeductionPeriod::Monthly => format!("{}-{:02}", day.year(), day.month()),
    }
}

/// How long a credit rests before it is forgotten.
fn kept(holder: &HolderKey) -> std::time::Duration {
    if holder.is_subject() { PAYMENT_CLAIM_KEPT } else { CONVERSATION_GRANT_MAX }
}

fn stream(holder: &HolderKey, agent: &Handle, unit: &str) -> String {
    format!("credit:{agent}:{}:{unit}:{}", unit.len(), holder.as_str())
}
