//! A server: the listeners, the data folder and the store around a house, which can be replaced while it
//! serves.

mod content_metrics;
mod listeners;
mod own;
mod push;
mod queue;

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forecourt_host::Host;
use forecourt_identity::agents::IdentityNotice;
use forecourt_server::{AdminToken, Metrics, ReadinessCheck, admin, behind_token};
use prometheus_client::registry::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::data_folder;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::house::{Content, House};
use crate::inspect;
use crate::live::LiveHouse;
use crate::manual;
use crate::questions;
use crate::running::Running;
use crate::serving::{self, Serving};
use crate::settings::Listen;
use crate::storage::Storage;
use crate::watch;
use content_metrics::ContentMetrics;
use listeners::Listeners;

/// How long a request that is half sent at the end may take to be whole.
const ARRIVING: Duration = Duration::from_secs(5);
/// How long a request that is whole takes to reach the host, at most.
const HANDED_OVER: Duration = Duration::from_millis(100);
/// How long running work may go on after [`Server::shutdown`] was called.
pub const DRAIN: Duration = Duration::from_secs(30);

/// A server with its listeners open and its data folder taken, before there is a house: nobody is answered.
pub struct BoundServer {
    listeners: Listeners,
    data: PathBuf,
    admin_token: Option<AdminToken>,
    lock: File,
}

/// A server at work.
///
/// ```
/// use forecourt::settings::{AgentSettings, ListenOverrides};
/// use forecourt::{BuiltAgent, Deployment, Handle, Server};
/// # use forecourt_testkit::ScriptedAgent;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("forecourt.toml"), "domain = \"demo.localhost\"")?;
/// let read = |handle: &str| -> Result<Deployment, Box<dyn std::error::Error>> {
///     let deployment = Deployment::read_with(folder, &|_: &str| None, &ListenOverrides::free_ports())?;
///     # let agent = ScriptedAgent::saying(["Hello."]);
///     # struct Shared(std::sync::Arc<ScriptedAgent>);
///     # impl forecourt::Agent for Shared {
///     #     fn handle(&self, message: forecourt::Admitted) -> forecourt::EventStream { forecourt::Agent::handle(&*self.0, message) }
///     # }
///     # let agent = Shared(agent);
///     let settings = AgentSettings::new(Handle::parse(handle)?, "An agent");
///     Ok(deployment.with_agent(settings, BuiltAgent::new(agent)))
/// };
/// let mut first = read("greeter")?.with_data_folder(folder.join("data"));
/// let bound = Server::bind(&mut first).await?;
/// let server = bound.start(first.build()?).await?;
///
/// // Later: another house takes the place of this one. Requests under way go on in the old one.
/// let house = server.build(read("porter")?)?;
/// server.replace(house).await?;
///
/// server.shutdown().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    running: Running,
    addresses: Addresses,
    data: PathBuf,
    metrics: Arc<Metrics>,
    served: JoinHandle<()>,
    stop: CancellationToken,
    _lock: File,
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// The listeners that are always there.
    pub shared: Listen,
    /// The sockets that protocols have for themselves: name and address.
    pub own: Vec<(&'static str, SocketAddr)>,
    /// Whether this is somebody's own machine, with a certificate of a local authority.
    pub is_local: bool,
}

impl Addresses {
    /// Where the socket of this name is, when it is open.
    pub fn own(&self, name: &str) -> Option<SocketAddr> {
        self.own.iter().find(|(known, _)| *known == name).map(|(_, address)| *address)
    }

    /// Tells a deployment where it is reached.
    fn tell(&self, deployment: &mut Deployment) {
        deployment.bound(self.shared, |name| self.own(name));
        let Listen { http, https, admin } = self.shared;
        let own = self.own.iter().map(|(_, address)| *address);
        deployment.own_addresses = [http, https, admin].into_iter().chain(own).collect();
    }
}

impl Server {
    /// Takes the data folder of a deployment and opens its listeners, so that it knows its own addresses before
    /// it is built. Nobody is answered until [`BoundServer::start`].
    ///
    /// # Errors
    /// What stands in the way: settings of listeners, a damaged store, a folder that another process has, a
    /// taken port.
    pub async fn bind(deployment: &mut Deployment) -> Result<BoundServer, Error> {
        let data = data_folder::make(&deployment.data)?;
        deployment.data.clone_from(&data);
        let lock = serving::hold(&data)?;
        inspect::inspect(deployment).into_result(())?;
        manual::unpack(&data)?;
        let listeners = Listeners::bind(deployment, &data).await?;
        listeners.addresses().tell(deployment);
        Ok(BoundServer { listeners, data, admin_token: deployment.admin_token.clone(), lock })
    }

    /// Builds a deployment that is to replace the one that is served: at the same addresses, in the same data
    /// folder.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn build(&self, mut deployment: Deployment) -> Result<House, Error> {
        deployment.data.clone_from(&self.data);
        self.addresses.tell(&mut deployment);
        Ok(deployment.build()?)
    }

    /// Puts `house`, out of [`Server::build`], in the place of the one that is served, whole. Requests, streams
    /// and tasks under way go on in the old one until they end; whatever comes from now on meets the new one.
    /// What is kept stays: the store, tasks, deliveries, counters of limits, keys of calls that are made once,
    /// sessions, connections and listeners. `[listen]`, `[tls]`, `[http]`, `[store]`, the token of `[admin]` and
    /// `trusted_proxies` are read at the start only.
    ///
    /// # Errors
    /// Why the new house can't be opened. Then nothing has changed.
    pub async fn replace(&self, house: House) -> Result<(), Error> {
        index_new(&house).await?;
        self.running.replace(house).await
    }

    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// The folder in which its state is kept.
    pub fn data_folder(&self) -> &Path {
        &self.data
    }

    /// The host as it stands now. Hold it for a request and no longer.
    pub fn host(&self) -> Arc<Host> {
        self.running.host()
    }

    /// How many houses are not gone yet: one, and each that was replaced and still has requests under way.
    pub fn houses(&self) -> usize {
        self.running.houses()
    }

    /// What there is to say about the files of agents' identities.
    pub fn identity_notices(&self) -> Arc<[IdentityNotice]> {
        self.running.identity_notices()
    }

    /// Stops in order: what is half sent gets its answer, running work has [`DRAIN`] to end, then connections
    /// and posts end.
    pub async fn shutdown(self) {
        let host = self.running.host();
        self.metrics.arrived(ARRIVING).await;
        tokio::time::sleep(HANDED_OVER).await;
        host.drain(DRAIN).await;
        self.stop.cancel();
        host.stopped().await;
        if let Err(error) = self.served.await {
            tracing::error!(%error, "a listener ended too early");
        }
        self.running.live().close();
    }
}

impl BoundServer {
    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.listeners.addresses()
    }

    /// Puts a host to work in `house` and answers from here on.
    ///
    /// # Errors
    /// What of the house does not fit, at once; or its content can't be indexed, or the store not be opened.
    pub async fn start(self, house: House) -> Result<Server, Error> {
        let Self { listeners, data, admin_token, lock } = self;
        index_new(&house).await?;
        let (domain, addresses) = (house.site.domain.clone(), listeners.addresses());
        let stop = CancellationToken::new();
        let running = Running::start(house, Storage::Kept(data.clone()), stop.clone()).await?;
        let https_port = addresses.shared.https.port();
        let sockets = addresses.own.iter().map(|(name, address)| ((*name).to_owned(), address.port())).collect();
        Serving { domain, https_port, sockets, data: data.clone() }.write()?;
        let place = Arc::new(data_folder::Place::of(&data)?);
        let (live, metrics) = (running.live().clone(), listeners.shared_metrics());
        let guarded = push::routes(live.clone(), place.clone())
            .merge(queue::routes(live.clone()))
            .merge(questions::operator_routes(live.clone()));
        let registry = registry(&running.host(), &metrics, &live);
        let admin = admin(registry, ready(live.clone(), place)).merge(behind_token(guarded, admin_token));
        tokio::spawn(watch::keys(data.clone(), running.keys().clone(), stop.clone()));
        // Protocols claim the same paths in every house.
        let house = live.now().ok_or_else(|| Error::new("the host has stopped"))?;
        let served = tokio::spawn(listeners.serve(live, house.classes.clone(), admin, stop.clone()));
        Ok(Server { running, addresses, data, metrics, served, stop, _lock: lock })
    }

    /// Serves `house` until `until` ends, then stops in order.
    ///
    /// # Errors
    /// As [`BoundServer::start`].
    pub async fn run(self, house: House, until: impl Future<Output = ()>) -> Result<(), Error> {
        let server = self.start(house).await?;
        until.await;
        server.shutdown().await;
        Ok(())
    }
}

/// Indexes what has no index yet. Whatever has one answers from it at once, and is brought up to date while
/// it does.
async fn index_new(house: &House) -> Result<(), Error> {
    house.missing_content().into_result(())?;
    for content in house.contents.iter().filter(|content| content.indexing.items() == 0) {
        let wrong = |error| Error::new(format!("@{}: {error}", content.handle));
        watch::index_one(content).await.map_err(wrong)?;
    }
    Ok(())
}

fn registry(host: &Host, http: &Metrics, live: &Arc<LiveHouse>) -> Arc<Registry> {
    let mut registry = Registry::with_prefix("forecourt");
    host.metrics().register(&mut registry);
    http.register(&mut registry);
    registry.register_collector(Box::new(ContentMetrics { live: live.clone() }));
    Arc::new(registry)
}

fn ready(live: Arc<LiveHouse>, place: Arc<data_folder::Place>) -> ReadinessCheck {
    Arc::new(move || {
        let (live, place) = (live.clone(), place.clone());
        Box::pin(async move {
            place.is_there()?;
            let house = live.now().ok_or_else(|| "the host is stopping".to_owned())?;
            house.host.ready().await.map_err(|error| error.to_string())?;
            searchable(house.contents.clone()).await
        })
    })
}

/// Whether everything can be found that was pushed and acknowledged.
async fn searchable(content: Vec<Content>) -> Result<(), String> {
    let look = move || {
        content.iter().try_for_each(|Content { handle, indexing }| match indexing.has_what_was_pushed() {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("items that were pushed to @{handle} are kept and not searchable yet")),
            Err(error) => Err(format!("what was pushed to @{handle} can't be read: {error}")),
        })
    };
    tokio::task::spawn_blocking(look).await.map_err(|_| "the search index can't be looked at".to_owned())?
}
