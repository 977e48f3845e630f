//! The certificates of one domain while it is served: read again, ordered and renewed, and from elsewhere once its
//! settings say so.

mod plan;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_acme::limits::LOOK_EVERY;
use forecourt_acme::{Acme, AcmeMetrics, AcmeParts, AcmeStorage, Challenges, Folder, Ledger};
use forecourt_core::{Clock, Store, SystemClock, Timestamp};
use forecourt_server::tls::{CertificateEntry, ExpiryMetrics, HttpChallenges};
use forecourt_server::{AllowedHosts, Certificates, local_ca};
use futures::future::BoxFuture;
use prometheus_client::registry::Registry;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use self::plan::{CertificatePlan, WantedCertificates};
use crate::deployment::Deployment;
use crate::error::Error;

/// How often certificate files are looked at.
const RELOAD_EVERY: Duration = Duration::from_secs(30);
/// The folder, in that of data, of what an authority gave.
const ACME: &str = "acme";
/// How long is waited between two looks at what is to be ordered, at least.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps the certificates that listeners show for one domain.
pub(super) struct CertificateKeeper {
    certificates: Arc<Certificates>,
    /// The data folder.
    data: PathBuf,
    /// Where they come from now.
    source: ArcSwap<CertificateOrigin>,
    /// Wakes the task that orders when the source changes.
    changed: Notify,
    /// Where orders are kept that nodes share, from when there is a store.
    shared: OnceLock<Option<Arc<dyn Store>>>,
    metrics: AcmeMetrics,
}

/// Where certificates come from.
struct CertificateOrigin {
    plan: CertificatePlan,
    /// What orders them, from when there is a store.
    acme: Option<(Arc<Acme>, Arc<Challenges>)>,
    /// What is shown for a name until there is one that was ordered: its certificate from before.
    before: HashMap<String, CertificateEntry>,
}

/// Where certificates are to come from, with everything read and nothing changed yet.
pub(super) struct CertificateChange(CertificateOrigin);

impl CertificateKeeper {
    /// Reads, or makes, what a deployment wants. What has to be ordered is stood in for, until [`Self::begin`].
    pub(super) fn new(deployment: &Deployment, data: &Path) -> Result<Self, Error> {
        let plan = CertificatePlan::of(deployment)?;
        let keeper = Self {
            certificates: Certificates::empty(),
            data: data.to_path_buf(),
            source: ArcSwap::from_pointee(CertificateOrigin { plan, acme: None, before: HashMap::new() }),
            changed: Notify::new(),
            shared: OnceLock::new(),
            metrics: AcmeMetrics::default(),
        };
        keeper.install(&keeper.source.load())?;
        Ok(keeper)
    }

    /// Takes what is kept of earlier orders: in the data folder, or in the store that nodes share.
    pub(super) async fn begin(&self, shared: Option<Arc<dyn Store>>) -> Result<(), Error> {
        // Nobody else sets it.
        let _ = self.shared.set(shared);
        let plan = self.source.load().plan.clone();
        let CertificatePlan::Ordered(_) = plan else { return Ok(()) };
        let acme = self.acme(&plan).await?;
        self.take(CertificateChange(CertificateOrigin { plan, acme, before: HashMap::new() }))
    }

    /// What orders the certificates of a plan, with what is kept of earlier orders.
    async fn acme(&self, plan: &CertificatePlan) -> Result<Option<(Arc<Acme>, Arc<Challenges>)>, Error> {
        let CertificatePlan::Ordered(wanted) = plan else { return Ok(None) };
        let storage: Arc<dyn AcmeStorage> = match self.shared.get().cloned().flatten() {
            Some(store) => Arc::new(Ledger::new(store)),
            None => Arc::new(Folder::open(self.data.join(ACME)).map_err(yours)?),
        };
        let challenges = Challenges::new(storage.clone(), self.certificates.clone(), Arc::new(SystemClock));
        let acme = Acme::new(AcmeParts {
            settings: wanted.settings.clone(),
            names: wanted.names.clone(),
            has_port_80: wanted.has_port_80,
            egress: wanted.egress()?,
            storage,
            challenges: challenges.clone(),
            metrics: self.metrics.clone(),
        });
        acme.load(SystemClock.now()).await.map_err(yours)?;
        Ok(Some((acme, challenges)))
    }

    /// Reads what another deployment of the same domain wants; `None` where that is what is there. Files that are
    /// named as before are read again in any case.
    ///
    /// # Errors
    /// They can't be used. Then nothing has changed.
    pub(super) async fn prepare(&self, deployment: &Deployment) -> Result<Option<CertificateChange>, Error> {
        let plan = CertificatePlan::of(deployment)?;
        let now = self.source.load_full();
        // Files may have new content under the same names, as after a renewal.
        if plan == now.plan {
            self.certificates.reload().map_err(yours)?;
            return Ok(None);
        }
        let acme = self.acme(&plan).await?;
        let change = CertificateOrigin { plan, acme, before: self.before(&now) };
        // Whatever can't be read is said before anything changes.
        self.entries(&change)?;
        Ok(Some(CertificateChange(change)))
    }

    /// Shows and renews them from here on as a change says, and nothing of before: orders under way are given up.
    pub(super) fn take(&self, change: CertificateChange) -> Result<(), Error> {
        let origin = Arc::new(change.0);
        self.source.store(origin.clone());
        self.changed.notify_one();
        self.install(&origin)
    }

    /// The certificates in use, by name; what only stands in for one is not among them.
    fn before(&self, now: &CertificateOrigin) -> HashMap<String, CertificateEntry> {
        let is_good = |name: &str| match (&now.plan, &now.acme) {
            (CertificatePlan::Ordered(_), Some((acme, _))) => {
                acme.held(name).is_some() || now.before.contains_key(name)
            }
            (CertificatePlan::Ordered(_), None) => false,
            (CertificatePlan::Files { .. }, _) => true,
            // Strangers do not trust the local authority, so its certificate is no stand-in worth keeping.
            (CertificatePlan::Local { .. } | CertificatePlan::Unused, _) => false,
        };
        let entries = self.certificates.entries();
        let named =
            entries.iter().flat_map(|entry| entry.hosts().names().iter().map(move |name| (name.clone(), entry)));
        named.filter(|(name, _)| is_good(name)).map(|(name, entry)| (name, entry.clone())).collect()
    }

    /// What listeners show.
    pub(super) fn certificates(&self) -> &Arc<Certificates> {
        &self.certificates
    }

    /// What answers authorities over plain HTTP; `None` where nothing is ordered.
    fn challenges(&self) -> Option<Arc<Challenges>> {
        self.source.load().acme.as_ref().map(|(_, challenges)| challenges.clone())
    }

    /// Notes for the operator, such as an order that failed.
    pub(super) fn notes(&self) -> Vec<String> {
        self.source.load().acme.as_ref().map(|(acme, _)| acme.notes()).unwrap_or_default()
    }

    /// Makes visible until when certificates are good, and what became of orders.
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(ExpiryMetrics(self.certificates.clone())));
        self.metrics.register(registry);
    }

    /// Orders, renews and reads the files again until `stop`.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let renewed = self.certificates.watch(RELOAD_EVERY, || {
            if let CertificatePlan::Local { domain, .. } = &self.source.load().plan
                && let Err(error) = local_ca::ensure(&self.data, domain, Timestamp::now())
            {
                tracing::error!(%error, "the local certificate could not be renewed");
            }
        });
        stop.run_until_cancelled(async { tokio::join!(renewed, self.order()) }).await;
    }

    /// Orders what is due, for ever.
    async fn order(&self) {
        loop {
            let changed = self.changed.notified();
            let origin = self.source.load_full();
            match &origin.acme {
                None => changed.await,
                Some((acme, _)) => {
                    tokio::select! {
                        // A change ends an order that is under way: it would be for names that nobody wants any more.
                        biased;
                        () = changed => {}
                        () = self.order_once(&origin, acme) => {}
                    }
                }
            }
        }
    }

    /// Orders what is due now, and waits until there may be more.
    async fn order_once(&self, origin: &CertificateOrigin, acme: &Acme) {
        let outlook = acme.tick(SystemClock.now()).await;
        if outlook.has_changed
            && let Err(error) = self.install(origin)
        {
            tracing::error!(?error, "a new certificate can't be used");
        }
        let wait = outlook.next.duration_since(SystemClock.now());
        // A moment that has passed gives no wait; `PAUSE` keeps a fault from turning into a busy loop of orders.
        let wait = Duration::try_from(wait).unwrap_or_default().clamp(PAUSE, LOOK_EVERY);
        tokio::time::sleep(wait).await;
    }

    /// Shows what there is of an origin.
    fn install(&self, origin: &CertificateOrigin) -> Result<(), Error> {
        self.certificates.replace(self.entries(origin)?);
        Ok(())
    }

    /// What is to be shown: what was ordered, what was there before, and stand-ins for the rest.
    fn entries(&self, origin: &CertificateOrigin) -> Result<Vec<CertificateEntry>, Error> {
        let wanted = match &origin.plan {
            CertificatePlan::Files { files, hosts } => {
                return Ok(vec![CertificateEntry::from_files(files.clone(), hosts.clone()).map_err(yours)?]);
            }
            CertificatePlan::Local { domain, hosts } => {
                let files = local_ca::ensure(&self.data, domain, Timestamp::now()).map_err(yours)?;
                return Ok(vec![CertificateEntry::from_files(files, hosts.clone()).map_err(yours)?]);
            }
            CertificatePlan::Ordered(wanted) => wanted,
            CertificatePlan::Unused => return Ok(Vec::new()),
        };
        wanted.names.iter().enumerate().map(|(n, name)| self.entry(origin, wanted, n, name)).collect()
    }

    fn entry(
        &self,
        origin: &CertificateOrigin,
        wanted: &WantedCertificates,
        n: usize,
        name: &str,
    ) -> Result<CertificateEntry, Error> {
        let hosts = AllowedHosts::new([name], wanted.is_local && n == 0);
        if let Some(held) = origin.acme.as_ref().and_then(|(acme, _)| acme.held(name)) {
            return CertificateEntry::from_pem(&held.chain, &held.key, name, hosts).map_err(yours);
        }
        if let Some(before) = origin.before.get(name) {
            return Ok(before.clone());
        }
        let files = local_ca::ensure_beside(&self.data, name, Timestamp::now()).map_err(yours)?;
        Ok(CertificateEntry::from_files(files, hosts).map_err(yours)?.provisional())
    }
}

/// What authorities are answered over plain HTTP, for every domain on the same listeners.
#[derive(Default)]
pub(super) struct HttpAnswers(ArcSwap<Vec<Arc<CertificateKeeper>>>);

impl HttpAnswers {
    /// Answers for these keepers from here on, and for no others.
    pub(super) fn answer_for(&self, keepers: Vec<Arc<CertificateKeeper>>) {
        self.0.store(Arc::new(keepers));
    }
}

impl HttpChallenges for HttpAnswers {
    fn answer<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            for challenges in self.0.load_full().iter().filter_map(|keeper| keeper.challenges()) {
                if let Some(answer) = challenges.answer(token).await {
                    return Some(answer);
                }
            }
            None
        })
    }
}

fn yours(error: impl std::fmt::Display) -> Error {
    Error::new(error.to_string())
}
