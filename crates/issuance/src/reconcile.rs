//! Settlements of which nobody knows what came of them: asked about again until somebody does.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Error;
use forecourt_core::clock::after;
use forecourt_core::policy::Settlement;
use forecourt_core::store::{LedgerEntry, Span};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::IssuanceStatus;
use crate::limits::{INDETERMINATE_KEPT, INDETERMINATE_READ_MAX, SETTLE_TIME_MAX};
use crate::record::IssuanceRecord;
use crate::streams::{Issuances, StateHash, WatchedSettlement};

/// The list of what was ever indeterminate.
const LIST: &str = "issuances-indeterminate";
/// How long the first wait is, and the longest.
const WAIT_MIN: Duration = Duration::from_secs(5);
const WAIT_MAX: Duration = Duration::from_secs(10 * 60);
/// Settlements that are followed.
const WATCHED_MAX: usize = 10_000;
/// Of them, how many are asked about at once.
const ASKED_AT_ONCE: usize = 16;

impl Issuances {
    /// Puts an issuance on the list, before it is indeterminate, so that whoever starts next finds it.
    pub(crate) async fn list_indeterminate(&self, hash: &StateHash) -> Result<(), Error> {
        let now = self.clock.now();
        let body = serde_json::to_value(hash).map_err(Error::internal)?;
        self.store.append_entry(LIST, LedgerEntry::new(body, now).until(after(now, INDETERMINATE_KEPT)), None).await?;
        Ok(())
    }

    /// Has [`Self::reconcile`] ask about it. `is_answered`: whether the answer that it pays for was given.
    pub(crate) fn watch(&self, hash: &StateHash, is_answered: bool) {
        let mut watched = self.desk.watched.lock();
        if let Some(known) = watched.iter_mut().find(|other| other.hash == *hash) {
            known.is_answered |= is_answered;
            return;
        }
        // What finds no room stays on the list in the store, and is found by the next run.
        if watched.len() < WATCHED_MAX {
            let (hash, due) = (hash.clone(), Instant::now() + WAIT_MIN);
            watched.push(WatchedSettlement { hash, is_answered, due, wait: WAIT_MIN });
            self.desk.news.notify_one();
        }
    }

    /// The same of a checkout, which anybody may open: they leave half of the room to payments that were made. One that
    /// finds none is looked up when its payer comes back or its provider says so.
    pub(crate) fn watch_checkout(&self, hash: &StateHash) {
        if self.desk.watched.lock().len() < WATCHED_MAX / 2 {
            self.watch(hash, false);
        }
    }

    /// Finds what an earlier run left indeterminate; gives how many there are.
    pub fn recover(&self) -> BoxFuture<'_, Result<usize, Error>> {
        Box::pin(self.watch_indeterminate())
    }

    async fn watch_indeterminate(&self) -> Result<usize, Error> {
        let (mut after, mut found) = (0, 0);
        loop {
            let page = self.store.entries(LIST, Span::After(after), INDETERMINATE_READ_MAX, self.clock.now()).await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = *last;
            for (_, entry) in page {
                let hash: StateHash = serde_json::from_value(entry.body).map_err(Error::internal)?;
                let last = self.last(&hash).await?;
                if last.is_some_and(|(_, record)| self.is_followed(&record)) {
                    self.watch(&hash, false);
                    found += 1;
                }
            }
        }
    }

    /// Asks what came of settlements, each with longer and longer waits, until `stop`.
    pub fn reconcile(self: Arc<Self>, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(self.ask_until(stop))
    }

    async fn ask_until(self: Arc<Self>, stop: CancellationToken) {
        loop {
            let next = self.desk.watched.lock().iter().map(|watched| watched.due).min();
            let due = async {
                match next {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.ask_due().await,
                () = self.desk.news.notified() => {}
                // What it left indeterminate is asked about from here on.
                () = self.run.has_ended_another() => {
                    if let Err(error) = self.watch_indeterminate().await {
                        tracing::warn!(%error, "payments of a node that is gone were not looked for");
                    }
                }
                () = stop.cancelled() => return,
            }
        }
    }

    async fn ask_due(&self) {
        let now = Instant::now();
        // Taken out while they are asked about: the lock must not be held over an await.
        let due: Vec<WatchedSettlement> = self.desk.watched.lock().extract_if(.., |one| one.due <= now).collect();
        // Several at once: a provider that is slow for one must not hold up what another one took.
        stream::iter(due).for_each_concurrent(ASKED_AT_ONCE, |one| self.ask_one(one)).await;
    }

    async fn ask_one(&self, mut one: WatchedSettlement) {
        match self.ask(&one.hash, one.is_answered).await {
            Ok(true) => return,
            Ok(false) => one.wait = (one.wait * 2).min(WAIT_MAX),
            Err(error) => tracing::warn!(%error, "what came of a settlement was not found out"),
        }
        one.due = Instant::now() + one.wait;
        self.desk.watched.lock().push(one);
    }

    /// Looks up what a notice of its provider's is about. An error where the provider could not be asked, so that the
    /// notice is worth sending again.
    pub(crate) async fn look_up_notified(&self, hash: &StateHash) -> Result<(), Error> {
        let Some((_, record)) = self.last(hash).await? else { return Ok(()) };
        if record.checkout.is_some() {
            return self.look_up_checkout(hash).await;
        }
        let is_answered = self.desk.watched.lock().iter().any(|one| one.hash == *hash && one.is_answered);
        self.ask(hash, is_answered).await.map(drop)
    }

    /// Whether something is open at a provider, so that it is to be asked about.
    fn is_followed(&self, record: &IssuanceRecord) -> bool {
        record.status == IssuanceStatus::Indeterminate || record.checkout.is_some() || self.is_held(record)
    }

    /// Asks once; whether there is nothing left to ask. `is_answered`: whether the answer that it pays for was given.
    pub(crate) async fn ask(&self, hash: &StateHash, is_answered: bool) -> Result<bool, Error> {
        let Some((number, mut record)) = self.last(hash).await? else { return Ok(true) };
        if record.checkout.is_some() {
            return self.follow_checkout(hash).await;
        }
        if record.status != IssuanceStatus::Indeterminate {
            return self.release_unused(hash, &record, number).await;
        }
        // To let go of it is final: not while its provider may be at work on holding it.
        if self.is_at_work(hash, &record) || record.is_being_held(self.clock.now()) {
            return Ok(false);
        }
        if record.is_returning {
            return self.return_payment(hash, &record, number).await;
        }
        if is_answered {
            record = record.answered();
        }
        let Some(settling) = &record.settling else { return Ok(true) };
        let scheme = self.scheme_now(&settling.family);
        // A scheme that the operator took out may come back: until it is forgotten, the settlement stays open.
        let (Some(scheme), Some(offer)) = (scheme, record.offers().get(settling.offer)) else { return Ok(false) };
        let payment = settling.payment(scheme.family());
        let settled = tokio::time::timeout(SETTLE_TIME_MAX, scheme.reconcile(offer, &payment)).await;
        match settled {
            Ok(settlement @ (Settlement::Settled(_) | Settlement::Refused(_))) => {
                self.conclude(hash, &record, number, settlement).await?;
                Ok(true)
            }
            Ok(Settlement::Unknown(reason)) => {
                tracing::warn!(reason, agent = %record.agent, "nobody knows yet what came of a settlement");
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }

    /// Whether it is being settled or charged for right now, by a run that finds out itself what comes of it: whoever
    /// settled it beside that one would have it told that the payment was used.
    fn is_at_work(&self, hash: &StateHash, record: &IssuanceRecord) -> bool {
        // First, since this run may have been taken for dead meanwhile, and have another name by now.
        if self.desk.charging.lock().contains(hash) {
            return true;
        }
        record.at_work(self.clock.now()).is_some_and(|run| !record.is_cut_off && *run != *self.run.name())
    }
}
