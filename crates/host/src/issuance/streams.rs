//! The streams of the ledger in which issuances are kept, and the steps that are written into them.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, Clock, Entropy, Error, Handle, StateToken, Store, ThreadId, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::limits::HOLDER_MARKS_READ_MAX;
use super::record::IssuanceRecord;
use super::{Holder, IssuanceStatus};
use crate::audit::Audit;
use crate::digest::sha256_hex;
use crate::limits::LimitSettings;
use crate::tasks::Tasks;
use forecourt_core::Site;

/// A settlement of which nobody knows, and when it is asked about again.
pub(super) struct WatchedSettlement {
    pub(super) hash: StateHash,
    pub(super) due: Instant,
    pub(super) wait: Duration,
}

/// Issuances, and what came of them.
pub(crate) struct Issuances {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) site: Site,
    pub(super) limits: LimitSettings,
    pub(super) schemes: Arc<Vec<Arc<dyn PaymentScheme>>>,
    pub(super) tasks: Arc<Tasks>,
    pub(super) desk: Arc<Desk>,
}

/// What all hosts after one another have in common: what is being asked about, and what is written down.
pub(crate) struct Desk {
    pub(super) watched: Mutex<Vec<WatchedSettlement>>,
    /// Tells that something was put there.
    pub(super) news: Notify,
    /// By what settlements are asked about.
    pub(super) schemes: ArcSwap<Vec<Arc<dyn PaymentScheme>>>,
    pub(crate) audit: Audit,
}

impl Desk {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { watched: Mutex::default(), news: Notify::new(), schemes: ArcSwap::default(), audit }
    }
}

/// What [`Issuances`] are made of.
pub(crate) struct IssuanceParts {
    pub(crate) site: Site,
    pub(crate) limits: LimitSettings,
    pub(crate) schemes: Vec<Arc<dyn PaymentScheme>>,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) desk: Arc<Desk>,
}

/// The hash by which a state is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct StateHash(String);

impl StateHash {
    pub(super) fn of(state: &StateToken) -> Self {
        Self(sha256_hex(state.expose().as_bytes()))
    }

    fn stream(&self) -> String {
        format!("issuance:{}", self.0)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is written down for a holder, so that it is found without its state.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct HolderMark {
    pub(super) status: IssuanceStatus,
    pub(super) state: StateHash,
    pub(super) terms: String,
}

/// By what a holder is known: its proven subject, or its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HolderKey(String);

impl HolderKey {
    pub(crate) fn of_subject(subject: &str) -> Self {
        Self(format!("subject:{subject}"))
    }

    pub(crate) fn of_thread(thread: &ThreadId) -> Self {
        Self(format!("thread:{}", thread.key()))
    }

    pub(super) fn is_subject(&self) -> bool {
        self.0.starts_with("subject:")
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Holder {
    /// By what it is known; `None` for nobody in no conversation.
    pub(crate) fn key(&self) -> Option<HolderKey> {
        match (&self.subject, &self.thread) {
            (Some(subject), _) => Some(HolderKey::of_subject(subject)),
            (None, Some(thread)) => Some(HolderKey::of_thread(thread)),
            (None, None) => None,
        }
    }
}

impl Issuances {
    pub(crate) fn new(parts: IssuanceParts) -> Self {
        let IssuanceParts { site, limits, schemes, tasks, desk } = parts;
        let (store, clock, entropy) = (tasks.store.clone(), tasks.clock.clone(), tasks.entropy.clone());
        Self { store, clock, entropy, site, limits, schemes: Arc::new(schemes), tasks, desk }
    }

    /// The same, for another house.
    pub(crate) fn replaced_by(&self, site: Site, limits: LimitSettings, schemes: Vec<Arc<dyn PaymentScheme>>) -> Self {
        let (tasks, desk) = (self.tasks.clone(), self.desk.clone());
        Self::new(IssuanceParts { site, limits, schemes, tasks, desk })
    }

    /// Has settlements be asked about by the schemes of this house.
    pub(crate) fn take_over(&self) {
        self.desk.schemes.store(self.schemes.clone());
        self.desk.news.notify_one();
    }

    /// Whether anything was asked of a holder here: then it is known, and not made up.
    pub(crate) async fn knows(&self, key: &HolderKey, agent: &Handle) -> Result<bool, Error> {
        let (span, now) = (Span::Before(u64::MAX), self.clock.now());
        Ok(!self.store.entries(&holder_stream(key, agent), span, 1, now).await?.is_empty())
    }

    /// The last step of an issuance, with its number.
    pub(super) async fn last(&self, state: &StateHash) -> Result<Option<(u64, IssuanceRecord)>, Error> {
        let newest = self.store.entries(&state.stream(), Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok(None) };
        let mut record: IssuanceRecord = serde_json::from_value(entry.body).map_err(Error::internal)?;
        if let Some(run) = record.open_use() {
            record.is_cut_off = !self.dead_among(vec![run.to_owned()]).await?.is_empty();
        }
        Ok(Some((number, record)))
    }

    /// Which of these runs have lost their leases. Asked of the store after what names them was read: a run beats
    /// before it does anything, so that one which is not there is gone.
    pub(super) async fn dead_among(&self, mut runs: Vec<String>) -> Result<Vec<String>, Error> {
        let own = self.tasks.lease.run();
        runs.retain(|run| **run != *own);
        if !runs.is_empty() {
            let living = self.store.runs().await?;
            runs.retain(|run| living.iter().all(|alive| alive.run != *run));
        }
        Ok(runs)
    }

    /// Writes the next step, if `last` is still the one before. Gives its number.
    pub(super) async fn write(
        &self,
        state: &StateHash,
        record: &IssuanceRecord,
        last: u64,
    ) -> Result<Option<u64>, Error> {
        let entry = record.entry(self.clock.now())?;
        Ok(self.store.append_entry(&state.stream(), entry, Some(last)).await?)
    }

    /// Where a step leaves an issuance, seen from this run.
    pub(super) fn status(&self, record: &IssuanceRecord) -> IssuanceStatus {
        record.status(self.clock.now())
    }

    /// Writes down for the holder of an issuance where it stands now.
    pub(super) async fn mark(&self, state: &StateHash, record: &IssuanceRecord) -> Result<(), Error> {
        let Some(key) = record.holder().key() else { return Ok(()) };
        let mark = HolderMark { status: record.status, state: state.clone(), terms: record.terms.clone() };
        let body = serde_json::to_value(mark).map_err(Error::internal)?;
        let account = if record.status == IssuanceStatus::Issued { record.account.clone() } else { Account::HOST };
        let entry = LedgerEntry::new(body, self.clock.now()).until(record.kept_until).on(account);
        self.store.append_entry(&holder_stream(&key, &record.agent), entry, None).await?;
        Ok(())
    }

    /// What was written down for a holder, the newest first.
    pub(super) async fn marks(&self, key: &HolderKey, agent: &Handle) -> Result<Vec<HolderMark>, Error> {
        let (span, now) = (Span::Before(u64::MAX), self.clock.now());
        let entries = self.store.entries(&holder_stream(key, agent), span, HOLDER_MARKS_READ_MAX, now).await?;
        entries.into_iter().map(|(_, entry)| serde_json::from_value(entry.body).map_err(Error::internal)).collect()
    }

    /// Counts an issuance of a kind against its caller; `false` when it has as many open as it may. Those of a kind
    /// expire in the order in which they came, so that the first and the last number tell how many there are.
    pub(super) async fn count(&self, kind: &str, account: &Account, until: Timestamp) -> Result<bool, Error> {
        let Some(caller) = account.key() else { return Ok(true) };
        let (stream, now) = (format!("issuances-of:{kind}:{caller}"), self.clock.now());
        let first = self.store.entries(&stream, Span::After(0), 1, now).await?;
        let last = self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?;
        if let (Some((first, _)), Some((last, _))) = (first.first(), last.first())
            && last.saturating_sub(*first) + 1 >= self.limits.open_issuances_per_caller_max.get()
        {
            return Ok(false);
        }
        let entry = LedgerEntry::new(Value::Null, now).until(until).on(account.clone());
        self.store.append_entry(&stream, entry, None).await?;
        Ok(true)
    }
}

fn holder_stream(key: &HolderKey, agent: &Handle) -> String {
    format!("held:{agent}:{}", key.as_str())
}
