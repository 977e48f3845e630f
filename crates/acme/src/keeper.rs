//! Which name needs a certificate when, and what becomes of an order.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use forecourt_egress::Egress;
use futures::future::BoxFuture;
use instant_acme::Account;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;

use crate::advice;
use crate::authority::{self, AskedToWait};
use crate::certificate::{IssuedCertificate, Life};
use crate::challenges::Challenges;
use crate::error::OrderError;
use crate::limits::{ADVICE_EVERY, LOOK_EVERY, NAMES_MAX, ORDER_TIME_MAX, RETRY_FULL};
use crate::metrics::AcmeMetrics;
use crate::order::order;
use crate::pace::{after, rest, take_turn};
use crate::settings::AcmeSettings;
use crate::storage::{AcmeStorage, StorageError, named};

/// What certificates are ordered with.
pub struct AcmeParts {
    /// From whom, and how.
    pub settings: AcmeSettings,
    /// For which names; at most [`NAMES_MAX`].
    pub names: Vec<String>,
    /// Whether authorities reach port 80 here.
    pub has_port_80: bool,
    /// The way out, trusting the authority's directory.
    pub egress: Egress,
    /// Where everything is kept.
    pub storage: Arc<dyn AcmeStorage>,
    /// What the authority is told when it asks.
    pub challenges: Arc<Challenges>,
    /// Where orders are counted.
    pub metrics: AcmeMetrics,
}

/// Keeps the certificates of some names good.
pub struct Acme {
    parts: AcmeParts,
    account: tokio::sync::Mutex<Option<Account>>,
    asked_to_wait: AskedToWait,
    names: Mutex<HashMap<String, NameState>>,
}

/// How it stands with a name.
#[derive(Default)]
struct NameState {
    held: Option<(IssuedCertificate, Life)>,
    /// Failures in a row.
    failures: u32,
    /// Before this nothing is ordered.
    not_before: Option<Timestamp>,
    /// Why there is no newer one.
    problem: Option<String>,
    /// When the authority wants it renewed, as it said last.
    advised: Option<Timestamp>,
    /// Before this it is not asked again.
    ask_at: Option<Timestamp>,
}

/// What a look at all names came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// Whether a certificate is another one than before.
    pub has_changed: bool,
    /// When to look again, at the latest.
    pub next: Timestamp,
}

impl Acme {
    /// Nothing is read or ordered until [`Acme::load`] and [`Acme::tick`].
    pub fn new(mut parts: AcmeParts) -> Arc<Self> {
        parts.names.truncate(NAMES_MAX);
        let names = parts.names.iter().map(|name| (name.clone(), NameState::default())).collect();
        Arc::new(Self {
            parts,
            account: Default::default(),
            asked_to_wait: Default::default(),
            names: Mutex::new(names),
        })
    }

    /// The names, in the order in which they were given.
    pub fn names(&self) -> &[String] {
        &self.parts.names
    }

    /// From whom certificates are.
    pub fn settings(&self) -> &AcmeSettings {
        &self.parts.settings
    }

    /// The certificate of a name, if there is one.
    pub fn held(&self, name: &str) -> Option<IssuedCertificate> {
        Some(self.names.lock().get(name)?.held.as_ref()?.0.clone())
    }

    /// What the operator should know, in a sentence for each name that has no good certificate or can't get a new
    /// one.
    pub fn notes(&self) -> Vec<String> {
        let names = self.names.lock();
        let note = |name: &String| {
            let state = names.get(name)?;
            match (&state.problem, &state.held) {
                (Some(problem), Some((_, life))) => {
                    Some(format!("the certificate of {name}, good until {}, can't be renewed: {problem}", life.to))
                }
                (Some(problem), None) => Some(format!("there is no certificate for {name} yet: {problem}")),
                (None, None) => Some(format!("there is no certificate for {name} yet: it is being ordered")),
                (None, Some(_)) => None,
            }
        };
        self.parts.names.iter().filter_map(note).collect()
    }

    /// Takes what is kept: from an earlier run, or from another node. Whether anything is another one than before.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn load(&self, now: Timestamp) -> BoxFuture<'_, Result<bool, StorageError>> {
        Box::pin(async move {
            let mut has_changed = false;
            for name in &self.parts.names {
                let Some(kept) = self.parts.storage.load(&named("certificate", name), now).await? else { continue };
                let Ok(issued) = serde_json::from_value::<IssuedCertificate>(kept) else { continue };
                has_changed |= issued.directory == self.parts.settings.directory() && self.hold(name, issued);
            }
            Ok(has_changed)
        })
    }

    /// Orders what is due, one after another.
    pub fn tick(&self, now: Timestamp) -> BoxFuture<'_, Outlook> {
        Box::pin(async move {
            let mut has_changed = false;
            if self.parts.storage.is_shared() {
                match self.load(now).await {
                    Ok(changed) => has_changed = changed,
                    Err(error) => tracing::warn!(%error, "certificates of other nodes can't be read"),
                }
            }
            for name in &self.parts.names {
                self.take_advice(name, now).await;
                if self.is_due(name, now) {
                    has_changed |= self.attempt(name, now).await;
                }
            }
            Outlook { has_changed, next: self.next(now) }
        })
    }

    /// Asks the authority when it wants the certificate of a name renewed, now and then.
    async fn take_advice(&self, name: &str, now: Timestamp) {
        let chain = {
            let mut names = self.names.lock();
            let Some(state) = names.get_mut(name).filter(|state| state.ask_at.is_none_or(|at| at <= now)) else {
                return;
            };
            let Some((issued, _)) = &state.held else { return };
            // Set before it is asked: an authority that does not answer is not asked at every look either.
            state.ask_at = Some(after(now, ADVICE_EVERY));
            issued.chain.clone()
        };
        let advised = advice::renew_at(&self.parts.egress, self.parts.settings.directory(), &chain).await;
        if let Some(state) = self.names.lock().get_mut(name) {
            state.advised = advised.or(state.advised);
        }
    }

    fn is_due(&self, name: &str, now: Timestamp) -> bool {
        self.names.lock().get(name).is_some_and(|state| state.due_at(now) <= now)
    }

    fn next(&self, now: Timestamp) -> Timestamp {
        let soonest = self.names.lock().values().map(|state| state.due_at(now)).min();
        // At most half a minute, since another node's certificate tells nobody that it is there.
        soonest.unwrap_or(Timestamp::MAX).clamp(now, after(now, LOOK_EVERY))
    }

    /// Orders a certificate if it is this node's turn. Whether there is a new one.
    async fn attempt(&self, name: &str, now: Timestamp) -> bool {
        let storage = &*self.parts.storage;
        let until = after(now, ORDER_TIME_MAX);
        // A claim that runs out by itself: a node that dies while it orders holds the name up for two minutes only.
        let turn = match storage.is_shared() {
            true => storage.claim(&named("turn", name), now, until).await,
            false => Ok(true),
        };
        let turn = match turn {
            // Another node is at it; what comes of it is found in the storage.
            Ok(false) => return self.wait(name, until, None),
            // Counted before the order and never given back: the authority counts failed ones as well, restarts or not.
            Ok(true) => take_turn(storage, name, now).await,
            Err(error) => Err(error),
        };
        match turn {
            Ok(true) => {}
            Ok(false) => {
                let why = "as many orders were made within an hour as may be".to_owned();
                tracing::warn!(name, "no certificate is ordered: {why}");
                return self.wait(name, after(now, RETRY_FULL), Some(why));
            }
            Err(error) => return self.wait(name, until, Some(error.to_string())),
        }
        let result = self.order(name, now).await;
        self.parts.metrics.ordered(result.as_ref().map(drop));
        match result {
            Ok(issued) => {
                self.hold(name, issued);
                tracing::info!(name, authority = self.parts.settings.authority(), "a new certificate is in use");
                true
            }
            Err(error) => self.failed(name, now, &error),
        }
    }

    async fn order(&self, name: &str, now: Timestamp) -> Result<IssuedCertificate, OrderError> {
        let AcmeParts { settings, has_port_80, storage, challenges, .. } = &self.parts;
        let attempt = self.names.lock().get(name).map_or(0, |state| state.failures);
        let kind = settings.challenge(attempt, storage.is_shared(), *has_port_80);
        // Held through the order, so that one at a time finds the account gone and makes a new one.
        let mut account = self.account.lock().await;
        let mut ordered = order(self.account(&mut account, now).await?, name, kind.clone(), challenges).await;
        if let Err(OrderError::Refused { no_account: true, .. }) = &ordered {
            // The account may be gone at the authority: one more try with a new one, and no further.
            authority::forget(settings, &**storage, now).await?;
            *account = None;
            ordered = order(self.account(&mut account, now).await?, name, kind, challenges).await;
        }
        if ordered.is_err() {
            // The directory may have changed: it is read again next time.
            *account = None;
        }
        let (chain, key) = ordered?;
        let issued = IssuedCertificate { chain, key, directory: settings.directory().to_owned() };
        if Life::of(&issued.chain).is_none() {
            return Err(OrderError::Failed("the authority's certificate can't be read".to_owned()));
        }
        // In use as soon as it is there; a disk that is full must not keep it from that.
        let kept = storage.save(&named("certificate", name), json!(issued), now, None).await;
        if let Err(error) = kept {
            tracing::error!(name, %error, "a new certificate could not be kept");
        }
        Ok(issued)
    }

    /// The account, looked up once.
    async fn account<'a>(&self, account: &'a mut Option<Account>, now: Timestamp) -> Result<&'a Account, OrderError> {
        if account.is_none() {
            let AcmeParts { settings, egress, storage, .. } = &self.parts;
            *account = Some(authority::account(settings, egress, &**storage, &self.asked_to_wait, now).await?);
        }
        account.as_ref().ok_or_else(|| OrderError::Failed("there is no account".to_owned()))
    }

    /// Puts a certificate in use for a name; `false` when it is the one in use, or can't be read.
    fn hold(&self, name: &str, issued: IssuedCertificate) -> bool {
        let Some(life) = Life::of(&issued.chain) else { return false };
        let mut names = self.names.lock();
        let Some(state) = names.get_mut(name) else { return false };
        if state.held.as_ref().is_some_and(|(held, _)| *held == issued) {
            return false;
        }
        // All of it anew: failures, pauses and advice were about the certificate before this one.
        *state = NameState { held: Some((issued, life)), ..NameState::default() };
        true
    }

    fn failed(&self, name: &str, now: Timestamp, error: &OrderError) -> bool {
        let asked = self.asked_to_wait.lock().take();
        let mut names = self.names.lock();
        let Some(state) = names.get_mut(name) else { return false };
        state.failures = state.failures.saturating_add(1);
        let wait = rest(state.failures).max(asked.unwrap_or_default());
        (state.not_before, state.problem) = (Some(after(now, wait)), Some(error.to_string()));
        let stays = match &state.held {
            Some((_, life)) if life.to > now => "the old certificate stays in use",
            _ => "a certificate of our own, which nobody trusts, stays in use",
        };
        tracing::warn!(name, again_in_seconds = wait.as_secs(), "no new certificate: {error}; {stays}");
        false
    }

    fn wait(&self, name: &str, until: Timestamp, problem: Option<String>) -> bool {
        if let Some(state) = self.names.lock().get_mut(name) {
            state.not_before = Some(until);
            state.problem = problem.or(state.problem.take());
        }
        false
    }
}

impl NameState {
    /// When an order is due: at once without a certificate, else before its end; never before a rest is over.
    fn due_at(&self, now: Timestamp) -> Timestamp {
        let due = self.held.as_ref().map_or(now, |(_, life)| life.renew_at());
        let due = self.advised.map_or(due, |advised| due.min(advised));
        self.not_before.map_or(due, |not_before| due.max(not_before))
    }
}

impl fmt::Debug for Acme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acme").field("settings", &self.parts.settings).field("names", &self.parts.names).finish()
    }
}
