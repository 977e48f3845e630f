//! This module keeps grants: consents and paid periods, which hold for more than one message until they expire.

use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::policy::{Demand, PaidFor, Requirement};
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, Error, Handle, Timestamp};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::claimant::Claimant;
use crate::decide::consent_end;
use crate::digest::canonical_hash;
use crate::holder::HolderKey;
use crate::limits::CONVERSATION_GRANT_MAX;
use crate::record::IssuanceRecord;
use crate::streams::Issuances;

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
        Box::pin(self.is_granted(requirement, &claimant.keys, claimant.card.handle()))
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
            Demand::Payment(terms) if matches!(terms.covers, PaidFor::Period { .. }) => {
                canonical_hash(&requirement.terms())?
            }
            Demand::Payment(_) => return Ok(false),
        };
        for holder in holders {
            let now = self.clock.now();
            // The last one counts: agreeing again may have made it hold for longer.
            let newest = self.store.entries(&stream(holder, agent, &name), Span::Before(u64::MAX), 1, now).await?;
            let grant = newest.into_iter().next().map(|(_, entry)| serde_json::from_value::<Grant>(entry.body));
            if let Some(grant) = grant
                && grant.map_err(Error::internal)?.until.is_none_or(|until| until > now)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets a consent that was given hold for as long as its terms say.
    pub(crate) async fn grant_consent(&self, record: &IssuanceRecord) -> Result<(), Error> {
        let Demand::Consent(terms) = &record.requirement.demand else { return Ok(()) };
        if terms.lifetime_seconds == Some(0) {
            return Ok(());
        }
        let name = canonical_hash(&terms.scope)?;
        self.grant(record, &name, consent_end(terms, self.clock.now()), record.account.clone()).await
    }

    /// Lets a period that was paid for hold, from now on.
    pub(crate) async fn grant_period(&self, record: &IssuanceRecord) -> Result<(), Error> {
        let Demand::Payment(terms) = &record.requirement.demand else { return Ok(()) };
        let PaidFor::Period { seconds } = terms.covers else { return Ok(()) };
        let until = after(self.clock.now(), Duration::from_secs(seconds));
        self.grant(record, &record.terms, Some(until), Account::HOST).await
    }

    async fn grant(
        &self,
        record: &IssuanceRecord,
        name: &str,
        until: Option<Timestamp>,
        account: Account,
    ) -> Result<(), Error> {
        let Some(holder) = record.holder().key() else { return Ok(()) };
        let now = self.clock.now();
        // A conversation of nobody in particular is left behind some day, and nothing tells when.
        let kept = match record.subject {
            Some(_) => until,
            None => Some(until.unwrap_or(Timestamp::MAX).min(after(now, CONVERSATION_GRANT_MAX))),
        };
        let body = serde_json::to_value(Grant { until }).map_err(Error::internal)?;
        let entry = LedgerEntry { expires_at: kept, ..LedgerEntry::new(body, now).on(account) };
        self.store.append_entry(&stream(&holder, &record.agent, name), entry, None).await?;
        Ok(())
    }
}

fn stream(holder: &HolderKey, agent: &Handle, name: &str) -> String {
    format!("granted:{agent}:{name}:{}", holder.as_str())
}
