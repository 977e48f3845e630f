//! This module lists everybody's consents and payments, for operators.

use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::store::{LedgerEntry, Span, number_at};
use forecourt_core::{Account, Error, Timestamp};
use futures::future::BoxFuture;

use crate::account::shown;
use crate::holding::{HoldingEntry, HoldingFilter, ListedHolding, ListedHoldings};
use crate::limits::HOLDINGS_LOOKED_AT_MAX;
use crate::streams::Issuances;
use forecourt_audit::RequestOrigin;

/// The list, to which each consent and payment adds an entry.
const ALL: &str = "holdings-of-all";
/// Entries that are read in one go.
const READ_MAX: usize = 100;
/// How far entries of several nodes may lie out of their order.
const ENTRIES_APART_MAX: Duration = Duration::from_secs(60);

impl HoldingFilter<'_> {
    fn wants(&self, entry: &HoldingEntry) -> bool {
        entry.is_payment() == self.payments
            && self.agent.is_none_or(|agent| entry.agent.as_str() == agent)
            && self.who.is_none_or(|who| entry.who.to_lowercase().contains(&who.to_lowercase()))
    }
}

impl Issuances {
    /// Consents or payments of everybody before the number `before`, at most `limit`. A filter that fits little ends
    /// after [`HOLDINGS_LOOKED_AT_MAX`] entries.
    pub fn listed_holdings<'a>(
        &'a self,
        filter: HoldingFilter<'a>,
        before: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<ListedHoldings, Error>> {
        Box::pin(async move {
            let (mut before, mut looked_at, mut looked_back_to, mut listed) = (before, 0, None, Vec::new());
            if let Some(until) = filter.until {
                let now = self.clock.now();
                before = before.min(number_at(&*self.store, ALL, after(until, ENTRIES_APART_MAX), now).await?);
            }
            while looked_at < HOLDINGS_LOOKED_AT_MAX {
                let entries = self.store.entries(ALL, Span::Before(before), READ_MAX, self.clock.now()).await?;
                let is_last = entries.len() < READ_MAX;
                for (number, entry) in entries {
                    if filter.since.is_some_and(|since| entry.at < since) {
                        return Ok(ListedHoldings { listed, next: None, looked_back_to });
                    }
                    if listed.len() == limit {
                        return Ok(ListedHoldings { listed, next: Some(before), looked_back_to });
                    }
                    (before, looked_at, looked_back_to) = (number, looked_at + 1, Some(entry.at));
                    if filter.until.is_some_and(|until| entry.at >= until) {
                        continue;
                    }
                    listed.extend(self.listed(filter, number, entry).await?);
                }
                if is_last {
                    return Ok(ListedHoldings { listed, next: None, looked_back_to });
                }
            }
            Ok(ListedHoldings { listed, next: Some(before), looked_back_to })
        })
    }

    /// An operator takes back the consent of a number, with the request `origin`; whether it held. `None` when there is
    /// no such consent.
    pub fn withdraw_listed<'a>(
        &'a self,
        number: u64,
        origin: &'a RequestOrigin,
    ) -> BoxFuture<'a, Result<Option<bool>, Error>> {
        Box::pin(async move {
            let span = Span::After(number.saturating_sub(1));
            let found = self.store.entries(ALL, span, 1, self.clock.now()).await?.into_iter().next();
            let Some((_, entry)) = found.filter(|(found, _)| *found == number) else { return Ok(None) };
            let entry: HoldingEntry = serde_json::from_value(entry.body).map_err(Error::internal)?;
            if entry.is_payment() {
                return Ok(None);
            }
            Ok(Some(self.end_consent(&entry, origin).await?))
        })
    }

    async fn listed(
        &self,
        filter: HoldingFilter<'_>,
        number: u64,
        entry: LedgerEntry,
    ) -> Result<Option<ListedHolding>, Error> {
        let at = entry.at;
        let entry: HoldingEntry = serde_json::from_value(entry.body).map_err(Error::internal)?;
        if !filter.wants(&entry) {
            return Ok(None);
        }
        let Some(status) = self.holding_status(&entry).await? else { return Ok(None) };
        // A payment that nobody knew of at first has a second entry once somebody does.
        if entry.status == crate::IssuanceStatus::Indeterminate && status != crate::HoldingStatus::Pending {
            return Ok(None);
        }
        let (who, networks) = (entry.who.clone(), self.networks_of(&entry));
        let state = shown(&entry.state);
        Ok(Some(ListedHolding { number, who, state, holding: entry.into_holding(at, status, networks) }))
    }

    pub(crate) async fn list_for_operator(
        &self,
        entry: &HoldingEntry,
        kept: Option<Timestamp>,
        account: Account,
    ) -> Result<(), Error> {
        self.add_holding(ALL, entry, kept, account).await
    }
}
