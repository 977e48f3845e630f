//! From listeners that are open to a server at work.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_server::access_log::{AccessFormat, AccessLog, AccessTarget};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::certificates::CertificateKeeper;
use super::domain::OpenedDomain;
use super::list::{DomainList, SharedParts, hosts_of};
use super::operator::AdminDispatch;
use super::sockets::BoundSockets;
use super::{Addresses, Server};
use crate::data_folder;
use crate::deployment::Deployment;
use crate::domains::{LiveDomain, LiveDomains};
use crate::error::Error;
use crate::house::House;
use crate::inspect;
use crate::manual;
use crate::serving;
use crate::shared::snapshots::Snapshots;

/// A server with its listeners open and its data folder taken, before there is a house: nobody is answered.
pub struct BoundServer {
    sockets: BoundSockets,
    keeper: Arc<CertificateKeeper>,
    data: PathBuf,
    lock: File,
}

impl Server {
    /// Takes the data folder of a deployment and opens its listeners, so that it knows its own addresses before
    /// it is built. Nobody is answered until [`BoundServer::start`].
    ///
    /// # Errors
    /// What stands in the way: settings of listeners, a damaged store, a folder that another process has, a
    /// taken port.
    pub fn bind(deployment: &mut Deployment) -> BoxFuture<'_, Result<BoundServer, Error>> {
        Box::pin(async move {
            let data = data_folder::make(&deployment.data)?;
            deployment.data.clone_from(&data);
            // Before anything is read or bound: two processes with one data folder would both write it.
            let lock = serving::hold(&data)?;
            inspect::inspect(deployment).into_result(())?;
            manual::unpack(&data)?;
            let keeper = Arc::new(CertificateKeeper::new(deployment, &data)?);
            let sockets = BoundSockets::bind(deployment, &keeper).await?;
            sockets.addresses().tell(deployment);
            if let Some(log) = access_log(deployment)? {
                sockets.shared_metrics().write_to(log);
            }
            Ok(BoundServer { sockets, keeper, data, lock })
        })
    }
}

impl BoundServer {
    /// Where it listens.
    pub fn addresses(&self) -> Addresses {
        self.sockets.addresses()
    }

    /// Puts a host to work in `house` and answers from here on.
    ///
    /// # Errors
    /// What of the house does not fit, at once; or its content can't be indexed, or the store not be opened.
    pub fn start(self, house: House) -> BoxFuture<'static, Result<Server, Error>> {
        Box::pin(async move {
            let Self { sockets, keeper, data, lock } = self;
            // Before `open` indexes what has no index: a snapshot saves that work.
            take_snapshots(&house).await?;
            let snapshots = snapshots(&house)?;
            let (stop, addresses) = (CancellationToken::new(), sockets.addresses());
            let opened = OpenedDomain::open(house, (data, lock), keeper, &addresses, stop.child_token()).await?;
            let running = &opened.running;
            // Protocols claim the same paths in every house.
            let house = running.live().now().ok_or_else(|| Error::new("the host has stopped"))?;
            let (live, list) = (Arc::<LiveDomains>::default(), Arc::<DomainList>::default());
            // Before anybody is let in.
            live.replace(vec![LiveDomain {
                name: running.host().site().domain.clone(),
                hosts: hosts_of(&running.deployment(), addresses.is_local),
                live: running.live().clone(),
            }]);
            let metrics = sockets.shared_metrics();
            let operator = AdminDispatch { list: list.clone() };
            let sockets = sockets.serve(live.clone(), house.classes.clone(), operator, stop.clone());
            let changing = tokio::sync::Mutex::default();
            let shared = Arc::new(SharedParts { sockets, live, list, metrics, stop, changing });
            let begun = opened.join(shared.clone())?;
            if let Some(snapshots) = snapshots {
                tokio::spawn(snapshots.follow(begun.running.live().clone(), begun.stop.clone()));
            }
            shared.admit(begun.clone());
            Ok(Server { shared, begun })
        })
    }

    /// Serves `house` until `until` ends, then stops in order.
    ///
    /// # Errors
    /// As [`BoundServer::start`].
    pub fn run<'a>(
        self,
        house: House,
        until: impl Future<Output = ()> + Send + 'a,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let server = self.start(house).await?;
            until.await;
            server.shutdown().await;
            Ok(())
        })
    }
}

/// Gives content that has no index yet the one that another node has shared, where the operator wants that. For
/// whoever indexes before [`BoundServer::start`] does.
///
/// # Errors
/// The place of snapshots means nothing.
pub fn take_snapshots(house: &House) -> BoxFuture<'_, Result<(), Error>> {
    Box::pin(async move {
        if let Some(snapshots) = snapshots(house)? {
            snapshots.take_all(house.contents()).await;
        }
        Ok(())
    })
}

/// Where built indexes are shared, if the operator wants that.
fn snapshots(house: &House) -> Result<Option<Arc<Snapshots>>, Error> {
    let store = &house.deployment.store;
    let Some((place, shared)) = store.snapshots.as_ref().zip(store.shared.as_ref()) else { return Ok(None) };
    let key = shared.key.secret("index snapshots");
    Snapshots::new(place, &key, std::env::vars(), &house.egress).map(|snapshots| Some(Arc::new(snapshots)))
}

/// Where each request is written down, if it is.
fn access_log(deployment: &Deployment) -> Result<Option<AccessLog>, Error> {
    let log = &deployment.log;
    if log.access == AccessFormat::Off {
        return Ok(None);
    }
    let target = match &log.access_file {
        None => AccessTarget::StandardError,
        Some(file) => AccessTarget::File {
            path: deployment.dir.join(file),
            bytes_max: log.access_size_max.get(),
            kept: log.access_files_kept,
        },
    };
    let wrong = |error| {
        let file = log.access_file.as_deref().unwrap_or(Path::new("standard error"));
        Error::new(format!("the access log can't be written: {}: {error}", file.display()))
            .hint("`access_file` in [log] names a file whose folder is there")
    };
    AccessLog::start(log.access, target).map(Some).map_err(wrong)
}
