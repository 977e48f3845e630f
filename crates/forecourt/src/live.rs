//! The house as it stands now: one place that is swapped whole, and that every request, connection and agent
//! asks anew.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwapOption;
use axum::Router;
use forecourt_contract::{Dispatcher, HostApi, HostServices};
use forecourt_core::{Error, Message, Reply};
use forecourt_host::{Host, Run};
use forecourt_server::{RouteClasses, Speak};
use forecourt_surface::{BackgroundWork, Surface};
use futures::future::BoxFuture;
use http::Uri;
use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::content::Content;
use crate::development::Development;
use crate::prefix::strip;

/// A house with a host at work in it, and everything that its protocols have set up.
pub(crate) struct OpenHouse {
    pub host: Arc<Host>,
    pub services: Arc<HostServices>,
    pub contents: Vec<Content>,
    /// What is mounted where, for metrics and the log.
    pub classes: RouteClasses,
    /// What the paths of the listeners that all protocols share are published below.
    prefix: String,
    /// What answers on the listeners that all protocols share.
    shared: Router,
    /// What answers HTTP on a protocol's own listener, by its name.
    own: HashMap<&'static str, Router>,
    /// What is spoken on a protocol's own listener, by its name.
    streams: HashMap<&'static str, Speak>,
    /// Ends what watches over this house's content, with the house.
    _ended: DropGuard,
}

impl OpenHouse {
    /// Opens a house to what its surfaces answer, and gives what is to go on by itself. `ended` is cancelled once another
    /// house has its place.
    pub(crate) fn new(
        host: Arc<Host>,
        services: Arc<HostServices>,
        contents: Vec<Content>,
        (surfaces, classes): (Vec<Surface>, RouteClasses),
        development: Option<&Development>,
        ended: CancellationToken,
    ) -> (Self, Vec<BackgroundWork>) {
        let (mut shared, mut own, mut streams) = (Router::new(), HashMap::new(), HashMap::new());
        let mut background = Vec::new();
        for surface in surfaces {
            match surface {
                Surface::Http(routes) => shared = shared.merge(routes.router),
                Surface::OwnHttp { listen, router, .. } => drop(own.insert(listen, router)),
                Surface::Stream { listen, speak, .. } => drop(streams.insert(listen, speak)),
                Surface::Background(work) => background.push(work),
            }
        }
        if let Some(development) = development {
            shared = development.keeping(shared);
        }
        let prefix = host.site().prefix().to_owned();
        let house =
            Self { host, services, contents, classes, prefix, shared, own, streams, _ended: ended.drop_guard() };
        (house, background)
    }
}

/// The house that is served now, swapped atomically. Hold what you take out of it for one request and no longer.
#[derive(Default)]
pub(crate) struct LiveHouse {
    house: ArcSwapOption<OpenHouse>,
    /// Every host that may still be at work.
    hosts: Mutex<Vec<Weak<Host>>>,
}

impl LiveHouse {
    /// The house as it stands now. `None` before the first one is open.
    pub(crate) fn now(&self) -> Option<Arc<OpenHouse>> {
        self.house.load_full()
    }

    /// Puts a house in the place of the one before it.
    pub(crate) fn open(&self, house: OpenHouse) {
        let mut hosts = self.hosts.lock();
        hosts.retain(|host| host.strong_count() > 0);
        // Weak: counting the houses that are left must not keep one of them alive.
        hosts.push(Arc::downgrade(&house.host));
        self.house.store(Some(Arc::new(house)));
    }

    /// How many houses are not gone yet: one, and each that was replaced and still has requests under way.
    pub(crate) fn houses(&self) -> usize {
        self.hosts.lock().iter().filter(|host| host.strong_count() > 0).count()
    }

    /// Lets go of the house, so that everything in it can end.
    pub(crate) fn close(&self) {
        self.house.store(None);
    }

    /// What answers a request for `uri` on the listeners that all protocols share, or on that of a protocol's own. The
    /// routes of the first know nothing of the path that the host is published below.
    pub(crate) fn router(&self, listen: Option<&'static str>, uri: &mut Uri) -> Option<Router> {
        let house = self.now()?;
        match listen {
            None => {
                strip(&house.prefix, uri);
                Some(house.shared.clone())
            }
            Some(listen) => house.own.get(listen).cloned(),
        }
    }

    /// What is spoken on the listener of a protocol's own.
    pub(crate) fn speak(&self, listen: &'static str) -> Option<Speak> {
        self.now()?.streams.get(listen).cloned()
    }
}

/// Agents, compositions and connections reach the host of the house as it stands when they ask.
impl HostApi for LiveHouse {
    fn receive(self: Arc<Self>, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        // Only the host is held: an agent that asks another one would else keep a replaced house until its answer ends.
        let host = self.now().map(|house| house.host.clone());
        Box::pin(async move { host.ok_or(Error::unavailable())?.receive(message, Run::without_task()).await })
    }

    fn dispatcher(self: Arc<Self>) -> Option<Arc<Dispatcher>> {
        Some(self.now()?.host.contract().clone())
    }

    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.now()?.services.clone())
    }
}
