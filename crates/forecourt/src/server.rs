//! A server: the listeners, the data folder and the store around a house, which can be replaced while it
//! serves.
//!
//! | module | holds |
//! |---|---|
//! | `start` | from listeners that are open to a server at work |
//! | `domain` | one domain: a host at work in a data folder |
//! | `list` | the domains of a server, and what they share |
//! | `following` | domains that come and go while it serves |
//! | `reloader` | one attempt after another to read a deployment again, and the watch over the files |
//! | `hubs` | hubs elsewhere are looked at again and again, and what changed there is served |
//! | `apply` | one deployment takes the place of another |
//! | `sockets` | the listeners, and on which terms they are served |
//! | `certificates` | what they show |
//! | `trends` | what is counted, kept over time |
//! | `operator` | what answers on the operator's listener; its routes are in `console`, `push`, `questions`, `queue` and `reload` |

mod admin_router;
mod alerts;
mod apply;
mod certificates;
mod console;
mod content_metrics;
mod domain;
mod following;
mod hub_metrics;
mod hubs;
mod list;
mod operator;
mod push;
mod questions;
mod queue;
mod queued_deliveries;
mod readiness;
mod reload;
mod reloader;
mod sockets;
mod start;
mod store_metrics;
mod trends;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_host::Host;
use forecourt_identity::agents::IdentityNotice;
use forecourt_server::limits::ARRIVING_MAX;
use futures::future::{BoxFuture, join_all};
use prometheus_client::registry::Registry;
use tokio::time::{Instant, timeout_at};

use crate::deployment::Deployment;
use crate::error::Error;
use crate::house::House;
use crate::reload::{Attempt, ReloadSource, ReloadTrigger};
use crate::settings::Listen;
use domain::index_new;
use list::{DomainList, SharedParts};

pub(crate) use domain::ServerCore;
pub use sockets::disagreements;
pub use start::{BoundServer, take_snapshots};

/// How long a request that is whole takes to reach the host, at most.
const HANDED_OVER: Duration = Duration::from_millis(100);
/// How long running work may go on once the sockets are closed.
pub const DRAIN: Duration = Duration::from_secs(30);
/// How long posts that are under way may go on after that.
const POSTS_LAST: Duration = Duration::from_secs(10);
/// How long a process takes at most from the closing of its sockets to its end, unless `drain_seconds` of `[http]` is
/// more than it comes with: whoever ends it must wait for that, and for `seconds` of `[drain]` before it.
pub const GOING: Duration = Duration::from_secs(50);

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
    shared: Arc<SharedParts>,
    /// The domain that was the first one last: the one that is asked where no name is said.
    begun: Arc<ServerCore>,
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(crate) fn tell(&self, deployment: &mut Deployment) {
        deployment.bound(self.shared, |name| self.own(name));
        let Listen { http, https, admin } = self.shared;
        let own = self.own.iter().map(|(_, address)| *address);
        deployment.own_addresses = [http, https, admin].into_iter().chain(own).collect();
    }
}

impl Server {
    /// The domain that answers where no name is said.
    fn core(&self) -> Arc<ServerCore> {
        self.shared.list.first().unwrap_or_else(|| self.begun.clone())
    }

    /// Builds a deployment that is to replace the one that is served: at the same addresses, in the same data
    /// folder.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn build(&self, mut deployment: Deployment) -> Result<House, Error> {
        let core = self.core();
        deployment.data.clone_from(&core.data);
        deployment.meters = core.meters.clone();
        deployment.hub_lists = core.hub_lists.clone();
        self.addresses().tell(&mut deployment);
        Ok(deployment.build()?)
    }

    /// Puts `house`, out of [`Server::build`], in the place of the one that is served, whole. Requests, streams
    /// and tasks under way go on in the old one until they end; whatever comes from now on meets the new one.
    /// What is kept stays: the store, tasks, deliveries, counters of limits, keys of calls that are made once,
    /// sessions, connections and listeners. `[listen]`, `[tls]`, `[http]`, `[store]`, what opens `[admin]` and
    /// `trusted_proxies` are not looked at: [`Server::reload_from`] takes up most of them.
    ///
    /// # Errors
    /// Why the new house can't be opened. Then nothing has changed.
    pub fn replace(&self, house: House) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            index_new(&house).await?;
            self.core().running.replace(house).await
        })
    }

    /// Reads the deployment again from here on: whenever [`Server::reload`] is called or the operator asks for it, and
    /// by itself when its files change, unless `watch` in `[reload]` is off. Only the first source counts.
    ///
    /// What [`Server::replace`] reads at the start only is read again too, and listeners are opened and closed as the
    /// deployment wants them.
    pub fn reload_from(&self, source: ReloadSource) {
        let core = self.core();
        tokio::spawn(core.reloader.clone().run(core.clone(), source));
    }

    /// Reads the deployment again, and says what came of it. `None` without [`Server::reload_from`].
    pub fn reload(&self, by: ReloadTrigger) -> BoxFuture<'_, Option<Attempt>> {
        Box::pin(async move { self.core().reloader.reload(by).await })
    }

    /// Reads the deployments of all its domains again, and says what came of each. The first one goes before the others:
    /// the sockets go by it.
    pub fn reload_all(&self, by: ReloadTrigger) -> BoxFuture<'_, Vec<Attempt>> {
        Box::pin(async move {
            let mut attempts = Vec::new();
            for core in self.shared.list.all() {
                attempts.extend(core.reloader.reload(by).await);
            }
            attempts
        })
    }

    /// Where it listens now.
    pub fn addresses(&self) -> Addresses {
        self.shared.sockets.addresses()
    }

    /// The folder in which its state is kept.
    pub fn data_folder(&self) -> PathBuf {
        self.core().data.clone()
    }

    /// Everything that is counted.
    pub fn registry(&self) -> Arc<Registry> {
        self.core().registry()
    }

    /// The host as it stands now. Hold it for a request and no longer.
    pub fn host(&self) -> Arc<Host> {
        self.core().running.host()
    }

    /// How many houses are not gone yet: one, and each that was replaced and still has requests under way.
    pub fn houses(&self) -> usize {
        self.core().running.houses()
    }

    /// Where its certificates come from, where the operator should be told.
    pub fn certificate_notice(&self) -> Option<String> {
        self.core().running.deployment().certificate_notice()
    }

    /// What there is to say about the files of agents' identities.
    pub fn identity_notices(&self) -> Arc<[IdentityNotice]> {
        self.core().running.identity_notices()
    }

    /// For how long [`Server::shutdown`] goes on serving, as the deployments say it now: all domains go together, so that
    /// the one that wants longest has its time.
    pub fn leaves_within(&self) -> Duration {
        let serves_for = |core: &Arc<ServerCore>| {
            let deployment = core.running.deployment();
            deployment.drain.serves_for(&deployment.store)
        };
        self.shared.list.all().iter().map(serves_for).max().unwrap_or_default()
    }

    /// Stops in order. It is unready first, and goes on serving for as long as `[drain]` says. Then its sockets are
    /// closed, idle connections end, what is half sent gets its answer, running work has [`DRAIN`] to end, and at
    /// last the other connections and posts end.
    pub fn shutdown(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let serving = self.leaves_within();
            self.shared.sockets.leaving().begin();
            tokio::time::sleep(serving).await;
            let all = self.shared.list.all();
            let hosts: Vec<Arc<Host>> = all.iter().map(|core| core.running.host()).collect();
            // The order matters: nobody new comes, requests that are half sent become whole and reach the host, the host
            // finishes them, then connections are closed, and the store and data folder are let go of last.
            let until = Instant::now() + DRAIN;
            self.shared.sockets.close();
            self.shared.metrics.arrived(ARRIVING_MAX).await;
            tokio::time::sleep(HANDED_OVER).await;
            let left = until.saturating_duration_since(Instant::now());
            join_all(hosts.iter().map(|host| host.finish(left))).await;
            join_all(all.iter().map(|core| core.keep_last_trends())).await;
            self.shared.stop.cancel();
            let posts = join_all(hosts.iter().map(|host| host.stopped()));
            if timeout_at(until + POSTS_LAST, posts).await.is_err() {
                tracing::warn!("posts under way were cut off: each counts as made, and is made again where it may be");
            }
            let background = join_all(all.iter().map(|core| core.running.background_ended()));
            if timeout_at(until + POSTS_LAST, background).await.is_err() {
                tracing::warn!("a connection to a platform was cut off: another node goes on with it a little later");
            }
            self.shared.sockets.ended().await;
            self.shared.sockets.end_operator().await;
            all.iter().for_each(|core| core.close());
            let metrics = self.shared.metrics.clone();
            let _ = tokio::task::spawn_blocking(move || metrics.flush_access_log()).await;
        })
    }
}

/// The data folders are free again, and the domains go, with whoever still works for them.
impl Drop for Server {
    fn drop(&mut self) {
        self.shared.list.clear().iter().for_each(|core| core.unlock());
    }
}

#[cfg(test)]
mod tests {
    use forecourt_server::HttpLimits;

    use super::*;
    use crate::telemetry::FINISH_TIME_MAX;

    #[test]
    fn a_process_is_gone_before_whoever_ends_it_loses_patience() {
        let last = sockets::OPERATOR_LAST + FINISH_TIME_MAX;
        for before in [DRAIN + POSTS_LAST, HttpLimits::default().drain_time] {
            assert!(before + last < GOING, "{before:?}");
        }
    }
}
