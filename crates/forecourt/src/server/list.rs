//! The domains of a server, and what they share. The first one is the one that answers where no name is said; what was
//! the first one may go, and the next one takes its place.

use std::sync::Arc;

use forecourt_core::Domain;
use forecourt_server::{AllowedHosts, Metrics};
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;

use super::ServerCore;
use super::sockets::Sockets;
use crate::deployment::Deployment;
use crate::domains::{LiveDomain, LiveDomains};

/// What the domains of a server share: the sockets, and who is led to whom.
pub(super) struct SharedParts {
    pub(super) sockets: Sockets,
    /// Which house a request is for.
    pub(super) live: Arc<LiveDomains>,
    pub(super) list: Arc<DomainList>,
    /// The metrics of the sockets.
    pub(super) metrics: Arc<Metrics>,
    /// Ends all of it.
    pub(super) stop: CancellationToken,
    /// One change of the list after another.
    pub(super) changing: tokio::sync::Mutex<()>,
}

/// The domains of a server, in the order in which they came.
#[derive(Default)]
pub(super) struct DomainList(RwLock<Vec<Arc<ServerCore>>>);

impl DomainList {
    /// All domains that are served now, in their order.
    pub(super) fn all(&self) -> Vec<Arc<ServerCore>> {
        self.0.read().clone()
    }

    /// The first of them; `None` while the server begins or ends.
    pub(super) fn first(&self) -> Option<Arc<ServerCore>> {
        self.0.read().first().cloned()
    }

    /// Whether this domain is the first one.
    pub(super) fn is_first(&self, name: &Domain) -> bool {
        self.0.read().first().is_none_or(|first| first.name == *name)
    }

    /// The domain of this name.
    pub(super) fn named(&self, name: &str) -> Option<Arc<ServerCore>> {
        self.0.read().iter().find(|core| core.name.as_str() == name).cloned()
    }

    /// All but the first one, if this is the first one: what answers for it answers for them, too.
    pub(super) fn others_of(&self, name: &Domain) -> Vec<Arc<ServerCore>> {
        if !self.is_first(name) {
            return Vec::new();
        }
        self.0.read().iter().skip(1).cloned().collect()
    }

    pub(super) fn push(&self, core: Arc<ServerCore>) {
        self.0.write().push(core);
    }

    /// Takes a domain off the list.
    pub(super) fn take(&self, name: &Domain) -> Option<Arc<ServerCore>> {
        let mut list = self.0.write();
        let at = list.iter().position(|core| core.name == *name)?;
        Some(list.remove(at))
    }

    /// Takes all of them off the list.
    pub(super) fn clear(&self) -> Vec<Arc<ServerCore>> {
        std::mem::take(&mut self.0.write())
    }
}

impl SharedParts {
    /// Makes a domain one of those that requests are led to, and keeps its certificates good.
    pub(super) fn admit(&self, core: Arc<ServerCore>) {
        self.list.push(core.clone());
        self.follow_list();
        // Authorities that are asked for a certificate ask back at once.
        tokio::spawn(core.keeper.clone().run(core.stop.clone()));
    }

    /// Has requests led to the domains that there are, and the first of them shown with what all share.
    pub(super) fn follow_list(&self) {
        let all = self.list.all();
        let is_local = self.sockets.addresses().is_local;
        let names = |core: &Arc<ServerCore>| {
            let names = core.running.deployment().host_names();
            names.into_iter().map(|name| (name, core.name.clone())).collect::<Vec<_>>()
        };
        // Certificates first, then routes, then names: a name is let in only once its domain can answer for it.
        self.sockets.certify(all.iter().map(|core| core.keeper.clone()).collect());
        self.live.replace(all.iter().map(|core| live_domain(core, is_local)).collect());
        self.sockets.let_in(all.iter().flat_map(names).collect());
        if let Some(first) = all.first() {
            first.count(true);
        }
    }
}

fn live_domain(core: &Arc<ServerCore>, is_local: bool) -> LiveDomain {
    let hosts = hosts_of(&core.running.deployment(), is_local);
    LiveDomain { name: core.name.clone(), hosts, live: core.running.live().clone() }
}

/// The names of a domain; on a machine of somebody's own, those of the machine too.
pub(super) fn hosts_of(deployment: &Deployment, is_local: bool) -> AllowedHosts {
    AllowedHosts::new(deployment.host_names(), is_local)
}
