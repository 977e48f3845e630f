//! This module keeps grants: consents and paid periods, which hold for more than one message until they expire.

use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::policy::{Demand, PaidFor, Requirement};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, ConsentToken, Error, Handle, Timestamp};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::claimant::Claimant;
use crate::decide::consent_end;
use crate::digest::canonical_hash;
use crate::holder::HolderKey;
use crate::limits::{BROWSER_CONSENT_KEPT, CONVERSATION_GRANT_MAX};
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash};

/// A grant as it is stored. The last entry of its stream counts.
#[derive(Serialize, Deserialize)]
struct Grant {
    /// Until when; `None`: for good.
    until: Option<Timestamp>,
}

impl Issuances {
    /// Whether what is required holds for `claimant` already. Uses up nothing, and asks for nothing.
    pub fn is_granted_to<'a>(
        &'a self,
        claimant: &'a Claimant<'_>,
        requirement: &'a Requirement,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(self.is_granted_or_kept(claimant, requirement))
    }

    /// By what its browser keeps too, where a consent is wanted.
    async fn is_granted_or_kept(&self, claimant: &Claimant<'_>, requirement: &Requirement) -> Result<bool, Error> {
        let agent = claimant.card.handle();
        if self.is_granted(requirement, &claimant.keys, agent).await? {
            return Ok(true);
        }
        // A period that was paid for at another price lasts to its end.
        if claimant.has_lasting(requirement) && is_period(requirement) {
            let name = name_of_rule(&requirement.rule)?;
            for holder in &claimant.keys {
                if self.holds(holder, agent, &name).await? {
                    return Ok(true);
                }
            }
        }
        match (&claimant.browser, &requirement.demand) {
            (Some(browser), Demand::Consent(_)) => {
                self.is_granted(requirement, std::slice::from_ref(browser), agent).await
            }
            _ => Ok(false),
        }
    }

    /// Whether what is required holds for one of `holders` already: a consent that was given, a period that was
    /// paid for.
    pub(crate) async fn is_granted(
        &self,
        requirement: &Requirement,
        holders: &[HolderKey],
        agent: &Handle,
    ) -> Result<bool, Error> {
        let name = match &requirement.demand {
            // Zero seconds is a consent for one message: it is an issuance that is used up, and no grant.
            Demand::Consent(terms) if terms.lifetime_seconds == Some(0) => return Ok(false),
            // By what was agreed to and not by the rule: the same scope asked for by another rule is agreed to already.
            Demand::Consent(terms) => canonical_hash(&terms.scope)?,
            Demand::Payment(_) if is_period(requirement) => canonical_hash(&requirement.terms())?,
            Demand::Payment(_) => return Ok(false),
        };
        for holder in holders {
            if self.holds(holder, agent, &name).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a grant of this name holds for one holder.
    pub(crate) async fn holds(&self, holder: &HolderKey, agent: &Handle, name: &str) -> Result<bool, Error> {
        Ok(self.open_grant(holder, agent, name).await?.is_some())
    }

    /// The entry of a grant that holds.
    async fn open_grant(&self, holder: &HolderKey, agent: &Handle, name: &str) -> Result<Option<LedgerEntry>, Error> {
        let now = self.clock.now();
        // The last one counts: agreeing again may have made it hold for longer.
        let newest = self.store.entries(&stream(holder, agent, name), Span::Before(u64::MAX), 1, now).await?;
        let Some((_, entry)) = newest.into_iter().next() else { return Ok(None) };
        let grant: Grant = serde_json::from_value(entry.body.clone()).map_err(Error::internal)?;
        Ok(grant.until.is_none_or(|until| until > now).then_some(entry))
    }

    /// Has a grant hold no longer; whether it held.
    pub(crate) async fn end_grant(&self, holder: &HolderKey, agent: &Handle, name: &str) -> Result<bool, Error> {
        let Some(held) = self.open_grant(holder, agent, name).await? else { return Ok(false) };
        let now = self.clock.now();
        let body = serde_json::to_value(Grant { until: Some(now) }).map_err(Error::internal)?;
        // Kept as long as what it ends: forgotten earlier, that would be the last entry again.
        let entry = LedgerEntry { expires_at: held.expires_at, ..LedgerEntry::new(body, now).on(Account::HOST) };
        self.store.append_entry(&stream(holder, agent, name), entry, None).await?;
        Ok(true)
    }

    /// Lets a consent that was given hold for as long as its terms say, for who was asked, and where that is nobody in
    /// particular for the `browser` that it was given with.
    pub(crate) async fn grant_consent(
        &self,
        state: &StateHash,
        record: &IssuanceRecord,
        browser: Option<&ConsentToken>,
    ) -> Result<(), Error> {
        let Demand::Consent(terms) = &record.requirement.demand else { return Ok(()) };
        if terms.lifetime_seconds == Some(0) {
            return Ok(());
        }
        let name = canonical_hash(&terms.scope)?;
        let until = consent_end(terms, self.clock.now());
        let holders = self.consent_holders(record, until, browser);
        for (holder, kept) in &holders {
            self.grant(holder, &record.agent, &name, until, (*kept, record.account.clone())).await?;
        }
        // Behind the grants: what is listed can be taken back.
        self.hold_consent(state, record, holders).await
    }

    /// For whom a consent holds, each with how long that is kept.
    fn consent_holders(
        &self,
        record: &IssuanceRecord,
        until: Option<Timestamp>,
        browser: Option<&ConsentToken>,
    ) -> Vec<(HolderKey, Option<Timestamp>)> {
        let own = record.holder().key().map(|key| (key, self.grant_kept(record, until)));
        // A browser keeps its cookie for a time, and nothing tells when it was thrown away.
        let year = after(self.clock.now(), BROWSER_CONSENT_KEPT);
        let browser = browser.filter(|_| record.subject.is_none()).map(HolderKey::of_browser);
        let browser = browser.map(|key| (key, Some(until.unwrap_or(Timestamp::MAX).min(year))));
        own.into_iter().chain(browser).collect()
    }

    /// Lets a period that was paid for hold, from now on.
    pub(crate) async fn grant_period(&self, record: &IssuanceRecord) -> Result<(), Error> {
        let Demand::Payment(terms) = &record.requirement.demand else { return Ok(()) };
        let PaidFor::Period { seconds } = terms.covers else { return Ok(()) };
        let Some(holder) = record.holder().key() else { return Ok(()) };
        let until = Some(after(self.clock.now(), Duration::from_secs(seconds)));
        let kept = (self.grant_kept(record, until), Account::HOST);
        if record.is_lasting {
            let name = name_of_rule(&record.requirement.rule)?;
            self.grant(&holder, &record.agent, &name, until, kept.clone()).await?;
        }
        self.grant(&holder, &record.agent, &record.terms, until, kept).await
    }

    fn grant_kept(&self, record: &IssuanceRecord, until: Option<Timestamp>) -> Option<Timestamp> {
        // A conversation of nobody in particular is left behind some day, and nothing tells when.
        match record.subject {
            Some(_) => until,
            None => Some(until.unwrap_or(Timestamp::MAX).min(after(self.clock.now(), CONVERSATION_GRANT_MAX))),
        }
    }

    async fn grant(
        &self,
        holder: &HolderKey,
        agent: &Handle,
        name: &str,
        until: Option<Timestamp>,
        (kept, account): (Option<Timestamp>, Account),
    ) -> Result<(), Error> {
        let body = serde_json::to_value(Grant { until }).map_err(Error::internal)?;
        let entry = LedgerEntry { expires_at: kept, ..LedgerEntry::new(body, self.clock.now()).on(account) };
        self.store.append_entry(&stream(holder, agent, name), entry, None).await?;
        Ok(())
    }
}

fn is_period(requirement: &Requirement) -> bool {
    matches!(&requirement.demand, Demand::Payment(terms) if matches!(terms.covers, PaidFor::Period { .. }))
}

/// What a period is called that is paid to a rule, whatever its price.
fn name_of_rule(rule: &str) -> Result<String, Error> {
    canonical_hash(&json!({"kind": "payment_rule", "rule": rule}))
}

fn stream(holder: &HolderKey, agent: &Handle, name: &str) -> String {
    format!("granted:{agent}:{name}:{}", holder.as_str())
}
