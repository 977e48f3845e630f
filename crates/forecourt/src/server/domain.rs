//! One domain of a server: a host at work in a data folder, with everything that goes by it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_admin::Entrance;
use forecourt_core::Domain;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use super::alerts::AlertKeeper;
use super::certificates::CertificateKeeper;
use super::content_metrics::ContentMetrics;
use super::hub_metrics::HubMetrics;
use super::hubs::HubFollower;
use super::list::SharedParts;
use super::operator::OperatorView;
use super::reloader::Reloader;
use super::store_metrics::{StoreGauges, StoreLoadMetrics};
use super::trends::TrendSampler;
use super::{Addresses, DRAIN, console};
use crate::data_folder;
use crate::error::Error;
use crate::house::House;
use crate::hubs::HubLists;
use crate::meters::Meters;
use crate::running::Running;
use crate::serving::Serving;
use crate::storage::Storage;
use crate::watch;

/// One domain of a server, with what its own work goes by: reading the deployment again, for one.
pub(crate) struct ServerCore {
    pub(super) name: Domain,
    pub(crate) running: Running,
    pub(super) shared: Arc<SharedParts>,
    pub(super) keeper: Arc<CertificateKeeper>,
    pub(crate) data: PathBuf,
    pub(super) meters: Meters,
    pub(super) hub_lists: Arc<HubLists>,
    gauges: StoreGauges,
    pub(super) reloader: Arc<Reloader>,
    pub(super) operator: OperatorView,
    trends: TrendSampler,
    alerts: AlertKeeper,
    registry: Mutex<Arc<Registry>>,
    pub(crate) stop: CancellationToken,
    /// Keeps other processes out of the data folder.
    lock: Mutex<Option<File>>,
}

/// A domain whose host is at work, and that nobody is led to yet.
pub(super) struct OpenedDomain {
    pub(super) running: Running,
    keeper: Arc<CertificateKeeper>,
    data: PathBuf,
    entrance: Arc<Entrance>,
    stop: CancellationToken,
    lock: File,
}

impl OpenedDomain {
    /// Puts a host to work in a house, in a data folder that is held by `lock`.
    ///
    /// # Errors
    /// Its content can't be indexed, the store not be opened, or what was ordered not be read.
    pub(super) async fn open(
        house: House,
        (data, lock): (PathBuf, File),
        keeper: Arc<CertificateKeeper>,
        addresses: &Addresses,
        stop: CancellationToken,
    ) -> Result<Self, Error> {
        index_new(&house).await?;
        let entrance = console::entrance(&house, addresses.shared.admin);
        let running = Running::start(house, Storage::Kept(data.clone()), stop.clone()).await?;
        publish(&running, addresses, &data)?;
        keeper.begin(running.shared_store()).await?;
        Ok(Self { running, keeper, data, entrance, stop, lock })
    }

    /// Makes it one of the domains of a server, which does not lead anybody to it yet.
    ///
    /// # Errors
    /// The data folder is not there any more.
    pub(super) fn join(self, shared: Arc<SharedParts>) -> Result<Arc<ServerCore>, Error> {
        let Self { running, keeper, data, entrance, stop, lock } = self;
        let (name, reloader) = (running.host().site().domain.clone(), Arc::<Reloader>::default());
        let place = Arc::new(data_folder::Place::of(&data)?);
        let gauges = StoreGauges::default();
        let clock = running.host().clock().clone();
        tokio::spawn(gauges.clone().keep_counting(running.reads().clone(), clock, stop.clone()));
        // With a shared store, keys are followed through the store (`SharedKeys::follow`) and not through the folder.
        if running.content().is_none() {
            tokio::spawn(watch::keys(data.clone(), running.keys().clone(), stop.clone()));
        }
        let operator = OperatorView::new(&running, &reloader, &keeper, place, &shared, entrance, &data);
        let trends = TrendSampler::new(&running, &shared.metrics);
        let alerts = AlertKeeper::new(data.clone());
        let core = Arc::new(ServerCore {
            name,
            meters: running.deployment().meters.clone(),
            hub_lists: running.deployment().hub_lists.clone(),
            running,
            shared,
            keeper,
            data,
            gauges,
            reloader,
            operator,
            trends,
            alerts,
            registry: Mutex::default(),
            stop,
            lock: Mutex::new(Some(lock)),
        });
        core.count(false);
        tokio::spawn(HubFollower::new(core.clone()).run());
        tokio::spawn(core.clone().keep_trends());
        Ok(core)
    }
}

impl ServerCore {
    /// Everything that is counted for it.
    pub(super) fn registry(&self) -> Arc<Registry> {
        self.registry.lock().clone()
    }

    /// Has the operator shown what is counted for it, and with what is counted on the sockets if it is the first one.
    pub(super) fn count(&self, is_first: bool) {
        let conventional = |registry: &mut Registry| {
            if is_first {
                self.shared.metrics.register_conventional(registry);
            }
        };
        let registry = Arc::new(self.meters.registry(conventional, |registry| {
            self.running.host().register_metrics(registry);
            if let Some(bus) = self.running.bus_metrics() {
                registry.register_collector(Box::new(bus));
            }
            registry.register_collector(Box::new(ContentMetrics { live: self.running.live().clone() }));
            registry.register_collector(Box::new(HubMetrics { live: self.running.live().clone() }));
            registry.register_collector(Box::new(self.gauges.clone()));
            registry.register_collector(Box::new(StoreLoadMetrics(self.running.reads().clone())));
            registry.register_collector(Box::new(self.alerts.metrics()));
            self.reloader.register(registry);
            self.keeper.register(registry);
            if is_first {
                self.shared.metrics.register(registry);
            }
        }));
        *self.registry.lock() = registry.clone();
        self.operator.show(registry);
    }

    /// Whether the sockets go by this domain's deployment.
    pub(super) fn owns_sockets(&self) -> bool {
        self.shared.list.is_first(&self.name)
    }

    /// Keeps what is counted over time, and looks whether any of it is worth an alert, a minute at a time, until this
    /// domain ends.
    async fn keep_trends(self: Arc<Self>) {
        // Beside each other: a store that does not take what is counted keeps nobody from hearing of it.
        let keep = async {
            while self.stop.run_until_cancelled(self.trends.next_minute()).await.is_some() {
                self.trends.keep(self.registry(), false).await;
            }
        };
        let look = async {
            while self.stop.run_until_cancelled(self.trends.next_minute()).await.is_some() {
                self.alerts.look(&self.running, self.registry()).await;
            }
        };
        tokio::join!(keep, look);
    }

    /// Keeps what was counted since the last minute, so that nothing is lost at an orderly end.
    pub(super) async fn keep_last_trends(&self) {
        self.trends.keep(self.registry(), true).await;
    }

    /// Ends what is under way, and then everything.
    pub(super) async fn end(&self) {
        let host = self.running.host();
        host.finish(DRAIN).await;
        self.keep_last_trends().await;
        self.stop.cancel();
        host.stopped().await;
        self.close();
    }

    /// Lets go of the house and of the data folder.
    pub(super) fn close(&self) {
        self.running.live().close();
        self.unlock();
    }

    /// Lets other processes have the data folder.
    pub(super) fn unlock(&self) {
        drop(self.lock.lock().take());
    }
}

/// Indexes what has no index yet. Whatever has one answers from it at once, and is brought up to date while
/// it does.
pub(crate) async fn index_new(house: &House) -> Result<(), Error> {
    house.missing_content().into_result(())?;
    // Before it answers: an agent without any index would say that nothing is there.
    for content in house.contents.iter().filter(|content| content.indexing.items() == 0) {
        let wrong = |error| Error::new(format!("@{}: {error}", content.handle));
        watch::index_one(content).await.map_err(wrong)?;
    }
    Ok(())
}

/// Tells clients on this machine where the deployment is.
pub(super) fn publish(running: &Running, addresses: &Addresses, data: &Path) -> Result<(), Error> {
    let domain = running.host().site().domain.clone();
    let (https_port, http_port) = (addresses.shared.https.port(), Some(addresses.shared.http.port()));
    let sockets = addresses.own.iter().map(|(name, address)| ((*name).to_owned(), address.port())).collect();
    let admin = Some(addresses.shared.admin);
    let serving = Serving { domain, https_port, http_port, sockets, admin, data: data.to_path_buf() };
    // Nobody's `ask` is to be led to a deployment that is only tested.
    match running.deployment().is_sandboxed {
        true => Ok(serving.write_into_data()?),
        false => Ok(serving.write()?),
    }
}
