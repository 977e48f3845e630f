//! The streams of the ledger in which issuances are kept, and the steps that are written into them.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_audit::Audit;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Account, Clock, Entropy, Error, Handle, Site, StateToken, Store, ThreadId, Timestamp};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::digest::sha256_hex;
use crate::holder::HolderKey;
use crate::limits::HOLDER_MARKS_READ_MAX;
use crate::metrics::PaymentMetrics;
use crate::record::IssuanceRecord;
use crate::{Issuance, IssuanceStatus};

/// A settlement of which nobody knows, and when it is asked about again.
pub(crate) struct WatchedSettlement {
    pub(crate) hash: StateHash,
    /// Whether the answer was given, though that may not be written.
    pub(crate) is_answered: bool,
    pub(crate) due: Instant,
    pub(crate) wait: Duration,
}

/// Issues, verifies, settles and uses up what callers are asked for: consents and payments.
pub struct Issuances {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) site: Site,
    pub(crate) limits: IssuanceLimits,
    pub(crate) schemes: Arc<Vec<Arc<dyn PaymentScheme>>>,
    pub(crate) people: Option<String>,
    pub(crate) run: Arc<dyn HostRun>,
    pub(crate) desk: Arc<Desk>,
}

/// The run of the host in whose name things are used up. What a run that is gone left unanswered may be used again.
pub trait HostRun: Send + Sync + 'static {
    /// Its name, as the store knows it.
    fn name(&self) -> Arc<str>;

    /// Whether it takes nothing new, since it ends.
    fn is_draining(&self) -> bool;

    /// Waits until this node has ended another run, which had fallen silent.
    fn has_ended_another(&self) -> BoxFuture<'_, ()>;
}

/// How long what is asked for waits, and how much of it may.
#[derive(Debug, Clone, Copy)]
pub struct IssuanceLimits {
    /// Consents of one caller that may be open at once, and as many payments.
    pub open_per_caller_max: NonZeroU64,
    /// How long after it was asked for a consent may be given.
    pub consent_wait: Duration,
    /// How long after it was asked for a payment may be made.
    pub payment_wait: Duration,
}

/// What lasts when the deployment is replaced: the settlements that are asked about, and the audit.
pub(crate) struct Desk {
    pub(crate) watched: Mutex<Vec<WatchedSettlement>>,
    /// Charges and settlements on their way in this process.
    pub(crate) charging: Mutex<Vec<StateHash>>,
    /// Tells that something was put there.
    pub(crate) news: Notify,
    /// By what settlements are asked about.
    pub(crate) schemes: ArcSwap<Vec<Arc<dyn PaymentScheme>>>,
    pub(crate) audit: Audit,
    /// What payments come to.
    pub(crate) metrics: PaymentMetrics,
}

/// What [`Issuances`] are made of.
pub struct IssuanceParts {
    /// What the outside calls this place: where the pages of refusals are.
    pub site: Site,
    /// The bounds.
    pub limits: IssuanceLimits,
    /// Ways to pay that can be checked and settled.
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
    /// What the subjects of people begin with who can sign in on this host's pages; `None` where nobody can.
    pub people: Option<String>,
    /// The run of the host.
    pub run: Arc<dyn HostRun>,
    /// Where they are kept.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The randomness of states.
    pub entropy: Arc<dyn Entropy>,
    /// What is told of each step.
    pub audit: Audit,
}

/// The hash by which a state is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct StateHash(String);

impl StateHash {
    pub(crate) fn of(state: &StateToken) -> Self {
        Self(sha256_hex(state.expose().as_bytes()))
    }

    /// The hash that a reference of a checkout names.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        is_hash.then(|| Self(text.to_owned()))
    }

    fn stream(&self) -> String {
        format!("issuance:{}", self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// An entry in the list of a holder's issuances, by which one is found without its state.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct HolderMark {
    pub(crate) status: IssuanceStatus,
    pub(crate) state: StateHash,
    pub(crate) terms: String,
    /// The name of its rule, of a payment that stays good when its price changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
}

impl Issuances {
    /// Issuances of these parts. Settlements are asked about by other schemes until [`Self::take_over`].
    pub fn new(parts: IssuanceParts) -> Self {
        let IssuanceParts { site, limits, schemes, people, run, store, clock, entropy, audit } = parts;
        let (watched, charging, news) = (Mutex::default(), Mutex::default(), Notify::new());
        let desk =
            Desk { watched, charging, news, schemes: ArcSwap::default(), audit, metrics: PaymentMetrics::default() };
        Self { store, clock, entropy, site, limits, schemes: Arc::new(schemes), people, run, desk: Arc::new(desk) }
    }

    /// The same, for another house with other [`IssuanceParts::people`].
    #[must_use]
    pub fn replaced_by(
        &self,
        site: Site,
        limits: IssuanceLimits,
        schemes: Vec<Arc<dyn PaymentScheme>>,
        people: Option<String>,
    ) -> Self {
        Self {
            store: self.store.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            site,
            limits,
            schemes: Arc::new(schemes),
            people,
            run: self.run.clone(),
            desk: self.desk.clone(),
        }
    }

    /// Names what payments come to in `registry`.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.desk.metrics.register(registry);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.run.is_draining()
    }

    /// Whether payments of a family of schemes, such as `x402`, can be taken.
    pub fn takes_payments(&self, family: &str) -> bool {
        self.schemes.iter().any(|scheme| scheme.family() == family)
    }

    /// What a state was issued for. `None` when it is none of ours, or forgotten.
    pub fn issuance<'a>(&'a self, state: &'a StateToken) -> BoxFuture<'a, Result<Option<Issuance>, Error>> {
        Box::pin(async move {
            let last = self.last(&StateHash::of(state)).await?;
            Ok(last.map(|(_, record)| record.into_issuance(self.clock.now())))
        })
    }

    /// Has settlements be asked about by the schemes of this house.
    pub fn take_over(&self) {
        self.desk.schemes.store(self.schemes.clone());
        self.desk.news.notify_one();
    }

    /// Whether anything was asked in a conversation: then its name is known, and not made up.
    pub fn knows<'a>(&'a self, thread: &'a ThreadId, agent: &'a Handle) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let (span, now) = (Span::Before(u64::MAX), self.clock.now());
            Ok(!self
                .store
                .entries(&holder_stream(&HolderKey::of_thread(thread), agent), span, 1, now)
                .await?
                .is_empty())
        })
    }

    /// The last step of an issuance, with its number.
    pub(crate) async fn last(&self, state: &StateHash) -> Result<Option<(u64, IssuanceRecord)>, Error> {
        let newest = self.store.entries(&state.stream(), Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let Some((number, entry)) = newest.into_iter().next() else { return Ok(None) };
        let mut record: IssuanceRecord = serde_json::from_value(entry.body).map_err(Error::internal)?;
        // Asked for only where something is under way: of most issuances the store of runs is not read.
        if let Some(run) = record.at_work(self.clock.now()) {
            record.is_cut_off = !self.dead_among(vec![run.to_owned()]).await?.is_empty();
        }
        Ok(Some((number, record)))
    }

    /// Which of these runs have lost their leases. Asked of the store after what names them was read: a run beats
    /// before it does anything, so that one which is not there is gone.
    pub(crate) async fn dead_among(&self, mut runs: Vec<String>) -> Result<Vec<String>, Error> {
        let own = self.run.name();
        runs.retain(|run| **run != *own);
        if !runs.is_empty() {
            let living = self.store.runs().await?;
            runs.retain(|run| living.iter().all(|alive| alive.run != *run));
        }
        Ok(runs)
    }

    /// Writes the next step, if `last` is still the one before. Gives its number.
    pub(crate) async fn write(
        &self,
        state: &StateHash,
        record: &IssuanceRecord,
        last: u64,
    ) -> Result<Option<u64>, Error> {
        let entry = record.entry(self.clock.now())?;
        Ok(self.store.append_entry(&state.stream(), entry, Some(last)).await?)
    }

    /// Where a step leaves an issuance, seen from this run.
    pub(crate) fn status(&self, record: &IssuanceRecord) -> IssuanceStatus {
        record.status(self.clock.now())
    }

    /// Writes down for the holder of an issuance where it stands now.
    pub(crate) async fn mark(&self, state: &StateHash, record: &IssuanceRecord) -> Result<(), Error> {
        let Some(key) = record.holder().key() else { return Ok(()) };
        let rule = record.is_lasting.then(|| record.requirement.rule.clone());
        let mark = HolderMark { status: record.status, state: state.clone(), terms: record.terms.clone(), rule };
        let body = serde_json::to_value(mark).map_err(Error::internal)?;
        // From then on the bytes are the host's: what was paid for must not fail for want of the payer's room.
        let account = if record.status == IssuanceStatus::Issued { record.account.clone() } else { Account::HOST };
        let entry = LedgerEntry::new(body, self.clock.now()).until(record.kept_until).on(account);
        self.store.append_entry(&holder_stream(&key, &record.agent), entry, None).await?;
        if record.status == IssuanceStatus::Indeterminate {
            self.hold_payment(state, record).await;
        }
        Ok(())
    }

    /// What was written down for a holder, the newest first.
    pub(crate) async fn marks(&self, key: &HolderKey, agent: &Handle) -> Result<Vec<HolderMark>, Error> {
        let (span, now) = (Span::Before(u64::MAX), self.clock.now());
        let entries = self.store.entries(&holder_stream(key, agent), span, HOLDER_MARKS_READ_MAX, now).await?;
        entries.into_iter().map(|(_, entry)| serde_json::from_value(entry.body).map_err(Error::internal)).collect()
    }

    /// Counts an issuance of a kind against its caller; `false` when it has as many open as it may. Those of a kind
    /// expire in the order in which they came, so that the first and the last number tell how many there are.
    pub(crate) async fn count(&self, kind: &str, account: &Account, until: Timestamp) -> Result<bool, Error> {
        // Callers on this machine have no account, and no bound.
        let Some(caller) = account.key() else { return Ok(true) };
        let (stream, now) = (format!("issuances-of:{kind}:{caller}"), self.clock.now());
        let first = self.store.entries(&stream, Span::After(0), 1, now).await?;
        let last = self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?;
        if let (Some((first, _)), Some((last, _))) = (first.first(), last.first())
            && last.saturating_sub(*first) + 1 >= self.limits.open_per_caller_max.get()
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
