//! The certificates in use, chosen by the name that a client asks for, and replaced while connections are open.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::time::{MissedTickBehavior, interval};

use super::challenge::{ACME_ALPN, AlpnChallenges};
use super::entry::CertificateEntry;
use super::files::CertificateFiles;
use crate::error::TlsError;
use crate::hosts::AllowedHosts;

/// How often the files are looked at.
pub const WATCH_INTERVAL: Duration = Duration::from_secs(60);

/// The certificates in use, by name, for any number of listeners.
#[derive(Debug, Default)]
pub struct Certificates {
    entries: ArcSwap<Vec<CertificateEntry>>,
    challenges: AlpnChallenges,
    /// Those of other domains on the same listeners.
    others: ArcSwap<Vec<Arc<Certificates>>>,
    /// Whoever changes entries looks at those that are there before.
    changing: Mutex<()>,
}

impl Certificates {
    /// None yet: every handshake fails until there are some.
    pub fn empty() -> Arc<Certificates> {
        Arc::default()
    }

    /// One certificate, from files. A client that asks for a name outside `hosts` gets none; one that
    /// names none, as when it connects to an address, gets this one.
    ///
    /// # Errors
    /// When a file can't be read, holds no certificate or key, or the two do not belong together.
    pub fn load(files: CertificateFiles, hosts: AllowedHosts) -> Result<Arc<Certificates>, TlsError> {
        let certificates = Self::empty();
        certificates.replace(vec![CertificateEntry::from_files(files, hosts)?]);
        Ok(certificates)
    }

    /// Puts all of `entries` in use for handshakes from now on, and nothing else; connections that are open stay
    /// as they are. A client that names nobody gets the first one.
    pub fn replace(&self, entries: Vec<CertificateEntry>) {
        let _one_at_a_time = self.changing.lock();
        self.entries.store(Arc::new(entries));
    }

    /// Has names that are not here looked for in `others` from now on: those of other domains on the same listeners.
    /// A client that names nobody gets one of these, if there are any, or else the first of the others that has one.
    pub fn stand_beside(&self, others: Vec<Arc<Certificates>>) {
        self.others.store(Arc::new(others));
    }

    /// Those in use.
    pub fn entries(&self) -> Arc<Vec<CertificateEntry>> {
        self.entries.load_full()
    }

    /// Reads the files again and takes what they hold for all handshakes from now on. Whether it
    /// was something new.
    ///
    /// # Errors
    /// The first of those that can't be used: its old certificate stays in use, and the others are taken.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let _one_at_a_time = self.changing.lock();
        let mut entries = self.entries.load().as_ref().clone();
        let (mut is_new, mut wrong) = (false, None);
        for entry in &mut entries {
            match entry.renewed() {
                Ok(Some(renewed)) => (*entry, is_new) = (renewed, true),
                Ok(None) => {}
                // One domain's broken file must not keep another's renewed certificate out of use.
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        if is_new {
            self.entries.store(Arc::new(entries));
        }
        wrong.map_or(Ok(is_new), Err)
    }

    /// Calls `before` (which may renew the files) and reloads, every `every`, until dropped.
    pub fn watch<'a>(&'a self, every: Duration, before: impl Fn() + Send + Sync + 'a) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut ticks = interval(every);
            // After a laptop's sleep one look is enough; the default would make up for every minute.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                before();
                match self.reload() {
                    Ok(true) => tracing::info!("a new certificate is in use"),
                    Ok(false) => {}
                    Err(error) => tracing::warn!(%error, "the old certificate stays in use"),
                }
            }
        })
    }

    /// What authorities are shown that ask over TLS whether a name is ours.
    pub fn challenges(&self) -> &AlpnChallenges {
        &self.challenges
    }

    /// The certificate for a name, or for nobody's.
    fn of(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let entries = self.entries.load();
        let entry = match name {
            None => entries.first(),
            Some(name) => {
                // The exact name before a pattern, so that a domain's own certificate goes before a wildcard's.
                let exact = entries.iter().find(|entry| entry.names(name));
                exact.or_else(|| entries.iter().find(|entry| entry.hosts().serves(name)))
            }
        };
        entry.map(|entry| Arc::clone(entry.certified()))
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let is_challenge = hello.alpn().is_some_and(|mut offered| offered.any(|name| name == ACME_ALPN));
        // A challenge is answered by its certificate or not at all: showing another one would fail the proof.
        let found = |certificates: &Certificates, name: Option<&str>| match is_challenge {
            true => certificates.challenges.of(name?),
            false => certificates.of(name),
        };
        let name = hello.server_name();
        found(self, name).or_else(|| self.others.load().iter().find_map(|other| found(other, name)))
    }
}
