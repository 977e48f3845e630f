//! The house as it stands now: one place that is swapped whole, and that every request, connection and agent
//! asks anew.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use arc_swap::ArcSwapOption;
use axum::Router;
use axum::body::Body;
use axum::routing::future::RouteFuture;
use forecourt_contract::{Dispatcher, HostApi, HostServices};
use forecourt_core::{Error, Message, Reply};
use forecourt_host::{Host, Run};
use forecourt_server::{Connection, RouteClasses, Speak};
use forecourt_surface::Surface;
use futures::future::BoxFuture;
use http::Request;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower_service::Service;

use crate::compression::compressed;
use crate::house::Content;

/// A house with a host at work in it, and everything that its protocols have set up.
pub(crate) struct OpenHouse {
    pub host: Arc<Host>,
    pub services: Arc<HostServices>,
    pub contents: Vec<Content>,
    /// What is mounted where, for metrics and the log.
    pub classes: RouteClasses,
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
    /// Opens a house to what its surfaces answer. `ended` is cancelled once another house has its place.
    pub(crate) fn new(
        host: Arc<Host>,
        services: Arc<HostServices>,
        contents: Vec<Content>,
        (surfaces, classes): (Vec<Surface>, RouteClasses),
        ended: CancellationToken,
    ) -> Self {
        let (mut shared, mut own, mut streams) = (Router::new(), HashMap::new(), HashMap::new());
        for surface in surfaces {
            match surface {
                Surface::Http(routes) => shared = shared.merge(routes.router),
                Surface::OwnHttp { listen, router, .. } => drop(own.insert(listen, router)),
                Surface::Stream { listen, speak, .. } => drop(streams.insert(listen, speak)),
            }
        }
        let shared = compressed(shared);
        Self { host, services, contents, classes, shared, own, streams, _ended: ended.drop_guard() }
    }
}

/// The one swap. Whoever takes a house out of it keeps that one for a request and no longer.
#[derive(Default)]
pub(crate) struct LiveHouse(ArcSwapOption<OpenHouse>);

impl LiveHouse {
    /// The house as it stands now. `None` before the first one is open.
    pub(crate) fn now(&self) -> Option<Arc<OpenHouse>> {
        self.0.load_full()
    }

    /// Puts a house in the place of the one before it.
    pub(crate) fn open(&self, house: OpenHouse) {
        self.0.store(Some(Arc::new(house)));
    }

    /// Lets go of the house, so that everything in it can end.
    pub(crate) fn close(&self) {
        self.0.store(None);
    }

    /// What answers on shared listeners, whichever house it is by then.
    pub(crate) fn shared(self: &Arc<Self>) -> LiveRouter {
        LiveRouter { live: self.clone(), listen: None }
    }

    /// What answers HTTP on the listener of a protocol's own.
    pub(crate) fn own(self: &Arc<Self>, listen: &'static str) -> LiveRouter {
        LiveRouter { live: self.clone(), listen: Some(listen) }
    }

    /// What is spoken on the listener of a protocol's own: each connection begins with the house of its moment.
    pub(crate) fn stream(self: &Arc<Self>, listen: &'static str) -> Speak {
        let live = self.clone();
        Arc::new(move |connection: Connection| {
            let speak = live.now().and_then(|house| house.streams.get(listen).cloned());
            match speak {
                Some(speak) => speak(connection),
                // The house has no use for this listener any more.
                None => Box::pin(async {}),
            }
        })
    }
}

/// Agents, compositions and connections reach the host of the house as it stands when they ask.
impl HostApi for LiveHouse {
    fn receive(self: Arc<Self>, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
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

/// A router that each request looks up, so that it meets the newest house and keeps it to its end.
#[derive(Clone)]
pub(crate) struct LiveRouter {
    live: Arc<LiveHouse>,
    listen: Option<&'static str>,
}

impl Service<Request<Body>> for LiveRouter {
    type Response = axum::response::Response;
    type Error = Infallible;
    type Future = RouteFuture<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let house = self.live.now();
        let router = house.as_ref().and_then(|house| match self.listen {
            None => Some(house.shared.clone()),
            Some(listen) => house.own.get(listen).cloned(),
        });
        // Without a router for it there is nothing at any path.
        router.unwrap_or_default().call(request)
    }
}
