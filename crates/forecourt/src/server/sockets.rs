//! The sockets of the daemon: bound before anything else is built, so that a taken port is said at once; served
//! when the host is ready; and opened, closed or served on other terms when another deployment takes over.
//!
//! A socket that stays keeps its connections, whatever changes: they go on with the terms that they began with. One
//! that goes takes no more, and what is in flight on it may finish.

mod alike;
mod terms;
mod wanted;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Domain;
use forecourt_server::{Certificates, ClientCertificates, Leaving, Listener, Metrics, RouteClasses, StreamListener};
use forecourt_settings::Problems;
use parking_lot::Mutex;
use rustls::ServerConfig;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::alike::different;
pub use self::alike::disagreements;
use self::terms::{Fronts, Terms};
use self::wanted::{ADMIN, BoundSocket, HTTP, HTTPS, SocketKind, WantedSocket, wanted};
use super::Addresses;
use super::certificates::{CertificateKeeper, HttpAnswers};
use super::operator::{AdminDispatch, MonitoringDispatch};
use crate::deployment::Deployment;
use crate::domains::LiveDomains;
use crate::error::Error;
use crate::settings::Listen;

/// How long what the operator is being told may take when everything else has ended.
pub(super) const OPERATOR_LAST: Duration = Duration::from_secs(1);

/// How long a change waits for the sockets that the one before closes: they take what waits in the system's queue
/// first, and until then their addresses can't be had.
const CLOSING_LAST: Duration = Duration::from_secs(1);

/// Sockets that are bound and not served yet.
pub(super) struct BoundSockets {
    open: Vec<(WantedSocket, BoundSocket)>,
    terms: Terms,
    metrics: Arc<Metrics>,
    certificates: Arc<Certificates>,
}

impl BoundSockets {
    /// Binds every address that is asked for.
    ///
    /// # Errors
    /// An address can't be had, or there is no certificate for it.
    pub(super) async fn bind(deployment: &Deployment, keeper: &CertificateKeeper) -> Result<Self, Error> {
        let wanted = wanted(deployment);
        let terms = Terms::of(deployment, &wanted);
        suits(deployment, &wanted)?;
        // It has none itself: those of all domains stand beside each other.
        let certificates = Certificates::empty();
        certificates.stand_beside(vec![keeper.certificates().clone()]);
        let mut open = Vec::with_capacity(wanted.len());
        for socket in wanted {
            let opened = socket.open(&certificates).await?;
            open.push((socket, opened));
        }
        let mut bound = Self { open, terms, metrics: Arc::default(), certificates };
        bound.terms.https_is_at(&bound.addresses());
        Ok(bound)
    }

    /// Where they are.
    pub(super) fn addresses(&self) -> Addresses {
        addresses(self.open.iter().map(|(wanted, opened)| (wanted, opened.address())), self.terms.is_local)
    }

    pub(super) fn shared_metrics(&self) -> Arc<Metrics> {
        self.metrics.clone()
    }

    /// Serves on all of them until `stop`.
    pub(super) fn serve(
        self,
        domains: Arc<LiveDomains>,
        classes: RouteClasses,
        admin: AdminDispatch,
        stop: CancellationToken,
    ) -> Sockets {
        let Self { open, terms, metrics, certificates } = self;
        let leaving = Leaving::default();
        let fronts = Fronts::new(&terms, (&metrics, &leaving), &classes, None);
        let answers = Arc::<HttpAnswers>::default();
        let serving = Serving {
            domains,
            metrics,
            classes,
            leaving,
            admin,
            answers,
            stop,
            tracker: TaskTracker::new(),
            last: CancellationToken::new(),
            operator: TaskTracker::new(),
        };
        let mut sockets = HashMap::with_capacity(open.len());
        for (wanted, opened) in open {
            sockets.insert(wanted.name, serving.begin(wanted, opened, &terms, &fronts));
        }
        Sockets {
            serving,
            certificates,
            state: Mutex::new(State { open: sockets, closing: Vec::new(), terms, fronts, closed: None }),
        }
    }
}

/// The sockets of a server at work.
pub(super) struct Sockets {
    serving: Serving,
    /// What listeners show: the certificates of all domains.
    certificates: Arc<Certificates>,
    state: Mutex<State>,
}

/// The sockets that are open, and the terms on which they are served.
struct State {
    open: HashMap<&'static str, OpenSocket>,
    /// The ends of those that the last change told to close.
    closing: Vec<CancellationToken>,
    terms: Terms,
    fronts: Fronts,
    /// Where they were, once all but the operator's are closed for good.
    closed: Option<Addresses>,
}

/// A socket that is served.
struct OpenSocket {
    wanted: WantedSocket,
    opened: BoundSocket,
    /// No more connections are taken on the terms of now.
    retire: CancellationToken,
    /// What is in flight may finish, and then all of its connections end.
    close: CancellationToken,
}

/// The parts that every socket of a server shares: routes, metrics, ACME answers.
struct Serving {
    domains: Arc<LiveDomains>,
    metrics: Arc<Metrics>,
    classes: RouteClasses,
    /// Whether the process is about to go.
    leaving: Leaving,
    admin: AdminDispatch,
    /// What answers certificate authorities over plain HTTP.
    answers: Arc<HttpAnswers>,
    stop: CancellationToken,
    tracker: TaskTracker,
    /// Ends the operator's socket, which is the last to go: until then it tells what is still waited for.
    last: CancellationToken,
    operator: TaskTracker,
}

/// Sockets as another deployment wants them: what is new is bound, and nothing has changed yet. Dropping it closes
/// what is new.
pub(super) struct SocketChange {
    terms: Terms,
    opened: Vec<(WantedSocket, BoundSocket)>,
    /// Those that stay, with a configuration of TLS where that is another one.
    kept: Vec<(WantedSocket, Option<Arc<ServerConfig>>)>,
    addresses: Addresses,
}

impl SocketChange {
    /// Where the sockets will be.
    pub(super) fn addresses(&self) -> &Addresses {
        &self.addresses
    }
}

impl Sockets {
    /// Where they are.
    pub(super) fn addresses(&self) -> Addresses {
        let state = self.state.lock();
        if let Some(before) = &state.closed {
            return before.clone();
        }
        let open = state.open.values().map(|socket| (&socket.wanted, socket.opened.address()));
        addresses(open, state.terms.is_local)
    }

    /// Binds what a deployment wants and is not there yet.
    ///
    /// # Errors
    /// An address can't be had, or there is no certificate for it. Then nothing has changed.
    pub(super) async fn prepare(&self, deployment: &Deployment) -> Result<SocketChange, Error> {
        if self.state.lock().closed.is_some() {
            return Err(Error::new("the server is stopping"));
        }
        self.wait_for_closing().await;
        let wanted = wanted(deployment);
        suits(deployment, &wanted)?;
        let mut terms = Terms::of(deployment, &wanted);
        let certificates = &self.certificates;
        let (mut kept, mut opened, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for socket in wanted {
            match self.kept_at(&socket) {
                Some((address, is_changed)) => {
                    all.push((socket.clone(), address));
                    let config = stream_config(&socket, is_changed, certificates)?;
                    kept.push((socket, config));
                }
                None => {
                    let bound = socket.open(certificates).await?;
                    all.push((socket.clone(), bound.address()));
                    opened.push((socket, bound));
                }
            }
        }
        let addresses = addresses(all.iter().map(|(wanted, address)| (wanted, *address)), terms.is_local);
        terms.https_is_at(&addresses);
        Ok(SocketChange { terms, opened, kept, addresses })
    }

    /// Waits for what the change before closed, whose addresses may be wanted again.
    async fn wait_for_closing(&self) {
        let closing = std::mem::take(&mut self.state.lock().closing);
        let all = async {
            for closed in closing {
                closed.cancelled().await;
            }
        };
        // Who still holds one is said when its address is wanted.
        let _ = timeout(CLOSING_LAST, all).await;
    }

    /// Where a socket is that stays where it was asked for, and whether it is for something else from now on.
    fn kept_at(&self, wanted: &WantedSocket) -> Option<(SocketAddr, bool)> {
        let state = self.state.lock();
        let there = state.open.get(wanted.name).filter(|there| there.wanted.address == wanted.address)?;
        Some((there.opened.address(), there.wanted.kind != wanted.kind))
    }

    /// Serves what is new, on the terms that are new, and closes what nobody wants any more. What was moved or
    /// closed is said in a sentence each.
    pub(super) fn apply(&self, change: SocketChange) -> Vec<String> {
        let SocketChange { terms, opened, kept, .. } = change;
        let mut told = Vec::new();
        let mut state = self.state.lock();
        let State { open, closing, terms: before, fronts, closed } = &mut *state;
        // A change that was prepared before they were closed must not open them again.
        if closed.is_some() {
            return told;
        }
        // Names follow the list of domains (`let_in`) and not one deployment: a reload must not shut the others out.
        let terms = terms.naming(before.names().to_vec());
        let are_new_terms = terms != *before;
        if are_new_terms {
            *fronts = self.serving.fronts(&terms, fronts);
        }
        let stay = |name: &str| kept.iter().any(|(wanted, _)| wanted.name == name);
        let gone: Vec<&'static str> = open.keys().copied().filter(|name| !stay(name)).collect();
        for socket in gone.iter().filter_map(|name| open.remove(name)) {
            told.push(format!("{} on {} is closed", socket.wanted.name, socket.opened.address()));
            // `close` and not `retire`: its connections end too, after what is in flight.
            socket.close.cancel();
            closing.push(socket.opened.closed());
        }
        for (wanted, opened) in opened {
            told.push(format!("{} is on {}", wanted.name, opened.address()));
            open.insert(wanted.name, self.serving.begin(wanted, opened, &terms, fronts));
        }
        for (wanted, config) in kept {
            let Some(there) = open.get_mut(wanted.name) else { continue };
            if are_new_terms || config.is_some() || there.wanted.kind != wanted.kind {
                // The accept loop is replaced, and the socket stays bound: connections that are open go on with the old
                // terms.
                there.retire.cancel();
                there.opened = there.opened.again(config);
                (there.wanted, there.retire) = (wanted, self.serving.end_of(&there.wanted.kind));
                self.serving.serve(there, &terms, fronts);
            }
        }
        *before = terms;
        told
    }

    /// Lets requests in for these names, each with the domain that it is of, and for no more than these. The first ones
    /// are those of the domain that answers where no name is said.
    pub(super) fn let_in(&self, names: Vec<(String, Domain)>) {
        let state = &mut *self.state.lock();
        // Most reloads change no name, and new fronts would end every accept loop for nothing.
        if state.terms.names() == names {
            return;
        }
        state.terms = state.terms.clone().naming(names);
        let serving = &self.serving;
        state.fronts = serving.fronts(&state.terms, &state.fronts);
        for socket in state.open.values_mut() {
            if let BoundSocket::Http(_) = socket.opened {
                socket.retire.cancel();
                socket.retire = serving.end_of(&socket.wanted.kind);
                serving.serve(socket, &state.terms, &state.fronts);
            }
        }
    }

    /// Shows and proves what these keepers have, and nothing of others from here on. Who asks for no name is shown what
    /// the first one has.
    pub(super) fn certify(&self, keepers: Vec<Arc<CertificateKeeper>>) {
        self.certificates.stand_beside(keepers.iter().map(|keeper| keeper.certificates().clone()).collect());
        self.serving.answers.answer_for(keepers);
    }

    /// What of a deployment is not as the sockets are, which go by another one.
    pub(super) fn disagreement(&self, deployment: &Deployment) -> Problems {
        let state = self.state.lock();
        let open: Vec<WantedSocket> = state.open.values().map(|socket| socket.wanted.clone()).collect();
        let others = wanted(deployment);
        let terms = Terms::of(deployment, &others);
        different(deployment, &open, &others, state.terms.are_those_of(&terms))
    }

    /// Whether the process is about to go, for whoever says it or must know.
    pub(super) fn leaving(&self) -> &Leaving {
        &self.serving.leaving
    }

    /// Closes all but the operator's, for good: who connects from now on is refused, and connections end after what
    /// is in flight on them.
    pub(super) fn close(&self) {
        let addresses = self.addresses();
        let state = &mut *self.state.lock();
        state.closed.get_or_insert(addresses);
        // Taken off the list and not only told: a socket that anybody holds goes on taking connections, which nobody
        // would ever answer.
        for (_, socket) in state.open.extract_if(|_, socket| !socket.wanted.kind.is_operators()) {
            socket.close.cancel();
        }
    }

    /// Waits until everything that was served has ended, but for the operator's, after the end was begun.
    pub(super) async fn ended(&self) {
        self.serving.tracker.close();
        self.serving.tracker.wait().await;
    }

    /// Ends what is left: the operator's, whose open answers have [`OPERATOR_LAST`].
    pub(super) async fn end_operator(&self) {
        self.serving.last.cancel();
        self.serving.operator.close();
        let _ = timeout(OPERATOR_LAST, self.serving.operator.wait()).await;
    }
}

impl BoundSocket {
    /// The same socket, to be served on other terms.
    fn again(&self, config: Option<Arc<ServerConfig>>) -> Self {
        match self {
            Self::Http(listener) => Self::Http(listener.again(config)),
            Self::Stream(listener) => Self::Stream(listener.again(config)),
        }
    }
}

impl Serving {
    /// Fronts on these terms, in the place of those `before`.
    fn fronts(&self, terms: &Terms, before: &Fronts) -> Fronts {
        Fronts::new(terms, (&self.metrics, &self.leaving), &self.classes, Some(before))
    }

    /// Ends a socket of this kind, once it is cancelled.
    fn end_of(&self, kind: &SocketKind) -> CancellationToken {
        match kind.is_operators() {
            true => self.last.child_token(),
            false => self.stop.child_token(),
        }
    }

    /// Serves on a socket from here on.
    fn begin(&self, wanted: WantedSocket, opened: BoundSocket, terms: &Terms, fronts: &Fronts) -> OpenSocket {
        let (retire, close) = (self.end_of(&wanted.kind), self.end_of(&wanted.kind));
        let socket = OpenSocket { wanted, opened, retire, close };
        self.serve(&socket, terms, fronts);
        socket
    }

    fn serve(&self, socket: &OpenSocket, terms: &Terms, fronts: &Fronts) {
        let name = socket.wanted.name;
        match socket.opened.again(None) {
            BoundSocket::Http(listener) => self.serve_http(socket, listener, terms, fronts),
            BoundSocket::Stream(listener) => self.serve_stream(socket, listener, name, terms),
        }
    }

    fn serve_http(&self, socket: &OpenSocket, listener: Listener, terms: &Terms, fronts: &Fronts) {
        let (retire, close) = (socket.retire.clone(), socket.close.clone());
        match socket.wanted.kind {
            SocketKind::Operator => {
                let served = listener.serve_until(fronts.operator.clone(), self.admin.clone(), retire, close);
                self.operator.spawn(served);
            }
            SocketKind::Monitoring => {
                let is_open = !socket.wanted.address.ip().to_canonical().is_loopback();
                let routes = MonitoringDispatch { list: self.admin.list.clone(), is_open };
                self.operator.spawn(listener.serve_until(fronts.monitoring.clone(), routes, retire, close));
            }
            SocketKind::OwnHttp => {
                let router = self.domains.own(socket.wanted.name);
                self.tracker.spawn(listener.serve_until(fronts.own.clone(), router, retire, close));
            }
            _ => {
                let listener = listener.with_https_on(terms.https_port);
                let listener = listener.answering(self.answers.clone());
                let router = self.domains.shared();
                self.tracker.spawn(listener.serve_until(fronts.public.clone(), router, retire, close));
            }
        }
    }

    fn serve_stream(&self, socket: &OpenSocket, listener: StreamListener, name: &'static str, terms: &Terms) {
        let settings = terms.stream_settings(name, &self.metrics);
        let (retire, close) = (socket.retire.clone(), socket.close.clone());
        self.tracker.spawn(listener.serve_until(settings, self.domains.stream(name), retire, close));
    }
}

/// Another configuration of TLS for a socket that stays: where the settings changed, and where clients show
/// certificates, since whose are taken is read again.
fn stream_config(
    wanted: &WantedSocket,
    is_changed: bool,
    certificates: &Arc<Certificates>,
) -> Result<Option<Arc<ServerConfig>>, Error> {
    let SocketKind::TlsStream { alpn, clients } = &wanted.kind else { return Ok(None) };
    // With client certificates the configuration is always made anew: the files of trusted authorities may have
    // changed.
    if *clients == ClientCertificates::Ignored && !is_changed {
        return Ok(None);
    }
    let config = certificates.stream_config(alpn, clients).map_err(|error| Error::new(error.to_string()))?;
    Ok(Some(Arc::new(config)))
}

/// Fails when strangers could reach what is within TLS, and there is no certificate that they can trust.
fn suits(deployment: &Deployment, wanted: &[WantedSocket]) -> Result<(), Error> {
    for socket in wanted {
        match socket.kind {
            SocketKind::Https => deployment.suits("HTTPS", socket.address)?,
            SocketKind::TlsStream { .. } => deployment.suits(socket.name, socket.address)?,
            _ => {}
        }
    }
    Ok(())
}

fn addresses<'a>(open: impl Iterator<Item = (&'a WantedSocket, SocketAddr)>, is_local: bool) -> Addresses {
    let mut shared = Listen::default();
    let (mut own, mut has_https) = (Vec::new(), false);
    for (wanted, address) in open {
        match wanted.name {
            HTTP => shared.http = address,
            HTTPS => (shared.https, has_https) = (address, true),
            ADMIN => shared.admin = address,
            name => own.push((name, address)),
        }
    }
    if !has_https {
        shared.https = shared.http;
    }
    // The map has no order, and addresses are compared to see whether they changed.
    own.sort_unstable();
    Addresses { shared, own, is_local }
}
