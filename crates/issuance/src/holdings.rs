//! This module lists what a holder agreed to and paid for, so that a person can see it and take consents back.
//!
//! Grants and issuances are found by what they are for, not by whose they are. So a holder has a stream of its own
//! beside them, to which each consent and payment adds an entry as it is given or made.

use forecourt_core::clock::after;
use forecourt_core::policy::Demand;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, ConsentToken, Error, Handle, Timestamp};
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};

use crate::IssuanceStatus;
use crate::credit::credit_terms;
use crate::digest::canonical_hash;
use crate::holder::HolderKey;
use crate::holding::{CreditLeft, HoldingEntry, HoldingStatus, Holdings, HoldingsOf};
use crate::limits::{HOLDINGS_LISTED_MAX, PAYMENT_CLAIM_KEPT, STATUSES_READ_AT_ONCE, TRIES_MAX};
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash};
use forecourt_audit::RequestOrigin;

impl Issuances {
    /// What a holder agreed to and paid for.
    pub fn holdings<'a>(&'a self, of: HoldingsOf<'a>) -> BoxFuture<'a, Result<Holdings, Error>> {
        Box::pin(async move { self.list_holdings(&of.key()).await })
    }

    /// Whether a browser keeps consents by this: one that it made up, or whose consents are all forgotten, it does not.
    pub fn knows_browser<'a>(&'a self, token: &'a ConsentToken) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let stream = HoldingKind::Consents.stream(&HolderKey::of_browser(token));
            Ok(!self.store.entries(&stream, Span::Before(u64::MAX), 1, self.clock.now()).await?.is_empty())
        })
    }

    /// Takes a consent back, with the request `origin`: whoever asks for it next asks anew. `false` where the holder
    /// has no such consent that holds.
    pub fn withdraw<'a>(
        &'a self,
        of: HoldingsOf<'a>,
        agent: &'a Handle,
        name: &'a str,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let mut is_withdrawn = false;
            for (_, entry) in self.read_holdings(&of.key(), HoldingKind::Consents).await? {
                if entry.agent == *agent && entry.name == name {
                    is_withdrawn |= self.end_consent(&entry, origin).await?;
                }
            }
            Ok(is_withdrawn)
        })
    }

    /// Takes back all consents of a holder; how many held.
    pub fn withdraw_all<'a>(
        &'a self,
        of: HoldingsOf<'a>,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<usize, Error>> {
        Box::pin(async move {
            let mut count = 0;
            for (_, entry) in self.read_holdings(&of.key(), HoldingKind::Consents).await? {
                count += usize::from(self.end_consent(&entry, origin).await?);
            }
            Ok(count)
        })
    }

    /// Adds a consent to the lists of those for whom it holds.
    pub(crate) async fn hold_consent(
        &self,
        state: &StateHash,
        record: &IssuanceRecord,
        holders: Vec<(HolderKey, Option<Timestamp>)>,
    ) -> Result<(), Error> {
        let Demand::Consent(terms) = &record.requirement.demand else { return Ok(()) };
        let keys = holders.iter().map(|(key, _)| key.clone()).collect();
        let name = canonical_hash(&terms.scope)?;
        let entry = HoldingEntry { name, holders: keys, ..HoldingEntry::of(state, record) };
        let longest = holders.iter().map(|(_, kept)| kept.unwrap_or(Timestamp::MAX)).max();
        let until = longest.filter(|kept| *kept != Timestamp::MAX);
        let for_all = HoldingEntry { until, ..entry.clone() };
        self.list_for_operator(&for_all, until, record.account.clone()).await?;
        // A conversation has no page on which anybody could look.
        for (key, kept) in holders.iter().filter(|(key, _)| !key.is_thread()) {
            let own = HoldingEntry { until: *kept, ..entry.clone() };
            self.add_holding(&HoldingKind::Consents.stream(key), &own, *kept, record.account.clone()).await?;
        }
        Ok(())
    }

    /// Adds a payment to its payer's list: one that is settled, or of which nobody knows. What is merely reserved may
    /// never be taken. A list that can't be written keeps nobody from an answer that was paid for.
    pub(crate) async fn hold_payment(&self, state: &StateHash, record: &IssuanceRecord) {
        let is_payment = matches!(record.requirement.demand, Demand::Payment(_));
        if is_payment
            && (record.receipt.is_some() || record.status == IssuanceStatus::Indeterminate)
            && let Err(error) = self.list_payment(state, record).await
        {
            tracing::error!(%error, "a payment is not in the list of its payer");
        }
    }

    async fn list_payment(&self, state: &StateHash, record: &IssuanceRecord) -> Result<(), Error> {
        let (entry, kept) = (HoldingEntry::of(state, record), Some(after(self.clock.now(), PAYMENT_CLAIM_KEPT)));
        self.list_for_operator(&entry, kept, Account::HOST).await?;
        let Some(subject) = record.subject.as_deref() else { return Ok(()) };
        let stream = HoldingKind::Payments.stream(&HolderKey::of_subject(subject));
        self.add_holding(&stream, &entry, kept, Account::HOST).await
    }

    /// Adds an entry to a list.
    pub(crate) async fn add_holding(
        &self,
        stream: &str,
        entry: &HoldingEntry,
        kept: Option<Timestamp>,
        account: Account,
    ) -> Result<(), Error> {
        let body = serde_json::to_value(entry).map_err(Error::internal)?;
        let entry = LedgerEntry { expires_at: kept, ..LedgerEntry::new(body, self.clock.now()).on(account) };
        self.store.append_entry(stream, entry, None).await?;
        Ok(())
    }

    async fn read_holdings(&self, key: &HolderKey, kind: HoldingKind) -> Result<Vec<(Timestamp, HoldingEntry)>, Error> {
        let (span, now) = (Span::Before(u64::MAX), self.clock.now());
        let entries = self.store.entries(&kind.stream(key), span, kind.entries_max(), now).await?;
        let read = |entry: LedgerEntry| Ok((entry.at, serde_json::from_value(entry.body).map_err(Error::internal)?));
        entries.into_iter().map(|(_, entry)| read(entry)).collect()
    }

    async fn list_holdings(&self, key: &HolderKey) -> Result<Holdings, Error> {
        let mut entries = newest_of_each(self.read_holdings(key, HoldingKind::Consents).await?);
        entries.extend(newest_of_each(self.read_holdings(key, HoldingKind::Payments).await?));
        entries.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        // Each takes a look at the ledger: several at once, so that a long list is not as many waits.
        let looks: Vec<_> = entries.iter().map(|(_, entry)| self.holding_status(entry)).collect();
        let statuses: Vec<_> = stream::iter(looks).buffered(STATUSES_READ_AT_ONCE).try_collect().await?;
        let mut held = Holdings::default();
        for ((at, entry), status) in entries.into_iter().zip(statuses) {
            let terms = credit_terms(&entry.requirement).cloned();
            if let Some(terms) = terms
                && !held.credit.iter().any(|known| known.agent == entry.agent && known.unit == terms.unit)
            {
                let amount = self.credit_left(key, &entry.agent, &terms).await?;
                let words = terms.in_words(&amount);
                held.credit.push(CreditLeft { agent: entry.agent.clone(), unit: terms.unit, amount, words });
            }
            let networks = self.networks_of(&entry);
            held.entries.extend(status.map(|status| entry.into_holding(at, status, networks)));
        }
        Ok(held)
    }

    /// Where it stands now; `None` for a payment that was refused in the end.
    pub(crate) async fn holding_status(&self, entry: &HoldingEntry) -> Result<Option<HoldingStatus>, Error> {
        match entry.is_payment() {
            true => self.payment_status(entry).await,
            false => self.consent_status(entry).await,
        }
    }

    async fn consent_status(&self, entry: &HoldingEntry) -> Result<Option<HoldingStatus>, Error> {
        for holder in &entry.holders {
            if self.holds(holder, &entry.agent, &entry.name).await? {
                return Ok(Some(HoldingStatus::Holds));
            }
        }
        Ok(Some(HoldingStatus::Ended))
    }

    /// `None` for one that was refused in the end: nothing was paid.
    async fn payment_status(&self, entry: &HoldingEntry) -> Result<Option<HoldingStatus>, Error> {
        if entry.is_refunded {
            return Ok(Some(HoldingStatus::GivenBack));
        }
        let status = match self.last(&entry.state).await? {
            Some((_, record)) => self.status(&record),
            // Forgotten once it was used or too old: it was paid, unless nobody ever found that out.
            None if entry.status == IssuanceStatus::Indeterminate => IssuanceStatus::Indeterminate,
            None => IssuanceStatus::Consumed,
        };
        Ok(match status {
            IssuanceStatus::Verified => Some(HoldingStatus::Holds),
            IssuanceStatus::Indeterminate => Some(HoldingStatus::Pending),
            IssuanceStatus::Consumed => Some(HoldingStatus::Ended),
            _ if entry.receipt.is_some() => Some(HoldingStatus::Ended),
            _ => None,
        })
    }

    /// Ends the grants of a consent, and what of it is still to be used; whether anything held.
    pub(crate) async fn end_consent(&self, entry: &HoldingEntry, origin: &RequestOrigin) -> Result<bool, Error> {
        let mut has_held = false;
        for holder in &entry.holders {
            has_held |= self.end_grant(holder, &entry.agent, &entry.name).await?;
        }
        has_held |= self.decline_unused(&entry.state).await?;
        if has_held {
            self.note_withdrawn(&entry.agent, &entry.requirement, &entry.who, origin);
        }
        Ok(has_held)
    }

    /// A consent that was given is good for one answer by itself, too; whether that was still to come.
    async fn decline_unused(&self, state: &StateHash) -> Result<bool, Error> {
        for _ in 0..TRIES_MAX {
            let Some((number, record)) = self.last(state).await? else { return Ok(false) };
            if self.status(&record) != IssuanceStatus::Verified {
                return Ok(false);
            }
            let step = record.step(IssuanceStatus::Declined, self.clock.now(), std::time::Duration::ZERO);
            if self.write(state, &IssuanceRecord { resolution: None, ..step }, number).await?.is_some() {
                return Ok(true);
            }
        }
        Err(Error::unavailable())
    }
}

/// The two lists of a holder: many payments must not push a consent out of sight.
#[derive(Clone, Copy)]
enum HoldingKind {
    Consents,
    Payments,
}

impl HoldingKind {
    fn stream(self, key: &HolderKey) -> String {
        let name = match self {
            Self::Consents => "consents",
            Self::Payments => "payments",
        };
        format!("holdings-{name}:{}", key.as_str())
    }

    /// Entries in which there are [`HOLDINGS_LISTED_MAX`] of the kind: a payment has one when it is on its way, and one
    /// when it has arrived.
    fn entries_max(self) -> usize {
        match self {
            Self::Consents => HOLDINGS_LISTED_MAX,
            Self::Payments => 2 * HOLDINGS_LISTED_MAX,
        }
    }
}

/// Of each the last that was written, at most [`HOLDINGS_LISTED_MAX`]: agreed to again, or a payment that has arrived
/// since.
fn newest_of_each(mut entries: Vec<(Timestamp, HoldingEntry)>) -> Vec<(Timestamp, HoldingEntry)> {
    let mut seen = std::collections::HashSet::new();
    entries.retain(|(_, entry)| seen.insert(entry.identity()));
    entries.truncate(HOLDINGS_LISTED_MAX);
    entries
}
