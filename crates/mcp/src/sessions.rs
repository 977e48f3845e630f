//! Sessions of older clients: how many there may be, and whose each is. A session's id opens nothing by
//! itself, so it is bound to the caller that began it. Security sheet, section 11.

mod register;
mod shared;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Clock, Error, PolicyPart, Sender};
use forecourt_host::Host;
use futures::stream::poll_fn;
use futures::{Stream, StreamExt, future};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{
    EventStore, RestoreOutcome, SessionId, SessionManager, SessionStore,
};
use serde_json::Value;
use tokio::sync::mpsc::Receiver;

use crate::limits::{RESTORES_MAX, SESSION_IDLE, SESSION_RETRY, STREAM_RETRY};
use crate::streams::{Log, Streams};
use register::{Full, Register};
use shared::SharedSessions;

/// Sessions that are open, by the SDK and by us.
pub(crate) struct Sessions {
    open: Mutex<HashMap<SessionId, Arc<OpenSession>>>,
    register: Arc<Mutex<Register>>,
    clock: Arc<dyn Clock>,
    log: Arc<Log>,
    /// Those of all nodes, where there are several.
    shared: Option<SharedSessions>,
    /// Held while sessions are made anew, by their ids: the SDK can't make one twice.
    turns: Vec<tokio::sync::Mutex<()>>,
}

/// Why a request of a session is turned away.
pub(crate) enum SessionRefusal {
    /// There is no such session, or it is somebody else's: the two look alike.
    Unknown,
    /// There is no place for it.
    Full(Box<PolicyPart>),
    /// The store is away.
    Unavailable,
}

/// A session, with a manager of the SDK for it alone: one for all would give them one store of events.
struct OpenSession {
    manager: LocalSessionManager,
    streams: Arc<Streams>,
    /// Whether its clients know streams that begin with an event without data: from 2025-11-25 on. Older
    /// ones may take that event for the answer.
    is_primed: OnceLock<bool>,
    /// Whether its handshake is done. Until then, requests of a session that is made anew wait for that: before it,
    /// they would be taken for a part of it.
    is_ready: AtomicBool,
}

/// The place of a session that is about to begin. Given back when none does.
pub(crate) struct SessionReservation<'a> {
    sessions: &'a Sessions,
    number: u64,
}

impl SessionReservation<'_> {
    /// Binds the session that has begun to whoever the place was for.
    pub(crate) fn take(self, id: &str) {
        let now = self.sessions.clock.now();
        // One that is over by now would never be forgotten.
        let open = self.sessions.open.lock();
        if open.contains_key(id) {
            self.sessions.register.lock().open(self.number, id, now);
        }
    }
}

impl Drop for SessionReservation<'_> {
    fn drop(&mut self) {
        self.sessions.register.lock().release(self.number);
    }
}

impl Sessions {
    /// None yet. Those of a host that is not alone are all nodes'.
    pub(crate) fn new(host: &Host) -> Self {
        let shared = (!host.is_alone()).then(|| SharedSessions::new(host.ledger(shared::PROTOCOL)));
        Self {
            open: Mutex::default(),
            register: Arc::default(),
            clock: host.clock().clone(),
            log: Arc::default(),
            shared,
            turns: (0..RESTORES_MAX).map(|_| tokio::sync::Mutex::default()).collect(),
        }
    }

    /// The turn to make a session of another node anew. `None`: it is open here.
    pub(crate) async fn turn_to_restore(&self, id: &str) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        if self.shared.is_none() || self.is_ready(id) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        // The remainder is below a small number.
        let turn = self.turns[(hasher.finish() % RESTORES_MAX as u64) as usize].lock().await;
        (!self.is_ready(id)).then_some(turn)
    }

    /// Whether a session is open here, with its handshake behind it.
    fn is_ready(&self, id: &str) -> bool {
        self.open.lock().get(id).is_some_and(|session| session.is_ready.load(Ordering::Acquire))
    }

    /// What the SDK makes sessions of other nodes anew from.
    pub(crate) fn store(&self) -> Option<Arc<dyn SessionStore>> {
        self.shared.clone().map(|shared| Arc::new(shared) as Arc<dyn SessionStore>)
    }

    /// Keeps a session that has begun for all nodes, where there are several.
    pub(crate) async fn share(&self, id: &str, initialize: Value, sender: &Sender) -> Result<(), Error> {
        match &self.shared {
            Some(shared) => shared.begin(id, initialize, sender, self.clock.now()).await,
            None => Ok(()),
        }
    }

    /// Takes a place for a session of `sender`; one that nobody uses ends for it where there are enough.
    /// Refused when all that may end for it are in use.
    pub(crate) fn reserve(&self, sender: &Sender) -> Result<SessionReservation<'_>, Box<PolicyPart>> {
        let place =
            self.register.lock().reserve(sender.caller(None).into_owned(), self.clock.now()).map_err(refusal)?;
        let ended = place.ends.and_then(|id| self.open.lock().remove_entry(id.as_str()));
        if let Some((id, session)) = ended {
            // Its worker may be stuck with a client that does not read.
            tokio::spawn(async move { session.manager.close_session(&id).await });
        }
        Ok(SessionReservation { sessions: self, number: place.number })
    }

    /// How many are open in this process.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Lets a sender go on with a session. One of another node gets a place here.
    pub(crate) async fn enter(&self, id: &str, sender: &Sender) -> Result<(), SessionRefusal> {
        let Some(shared) = &self.shared else {
            let is_of = self.register.lock().is_of(id, sender);
            return if is_of { Ok(()) } else { Err(SessionRefusal::Unknown) };
        };
        // The ledger decides on every request: another node may have ended the session, or bound it to its owner.
        let is_of = shared.is_of(id, sender, self.clock.now()).await.map_err(|_| SessionRefusal::Unavailable)?;
        if !is_of {
            return Err(SessionRefusal::Unknown);
        }
        if !self.register.lock().is_of(id, sender) {
            let place = self.reserve(sender).map_err(SessionRefusal::Full)?;
            self.register.lock().open(place.number, id, self.clock.now());
        }
        Ok(())
    }

    /// Gives back the place of a session that is not open here after all.
    pub(crate) fn settle(&self, id: &str) {
        // `open` before `register`, as in `SessionReservation::take`: the other order could lock up.
        let open = self.open.lock();
        if !open.contains_key(id) {
            self.register.lock().close(id);
        }
    }

    /// A session's end of the SDK, to be put among those that are open.
    fn manager(&self) -> (LocalSessionManager, Arc<Streams>) {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(SESSION_IDLE);
        config.sse_retry = Some(STREAM_RETRY);
        let streams = Arc::new(Streams::new(self.log.clone()));
        let mut manager = LocalSessionManager::default().with_event_store(streams.clone());
        manager.session_config = config;
        (manager, streams)
    }

    fn find(&self, id: &SessionId) -> Result<Arc<OpenSession>, LocalSessionManagerError> {
        let found = self.open.lock().get(id).cloned();
        found.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// The SDK's end of a session.
    async fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle, LocalSessionManagerError> {
        let found = self.find(id)?.manager.sessions.read().await.get(id).cloned();
        found.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// Notes that a request of a session is under way until this is dropped.
    fn under_way(&self, id: &SessionId) -> UnderWay {
        let way = UnderWay { register: self.register.clone(), clock: self.clock.clone(), id: id.clone() };
        way.note(1);
        way
    }

    /// The events of a stream as the clients of a session want them.
    fn shown<S>(
        &self,
        id: &SessionId,
        stream: S,
    ) -> Result<impl Stream<Item = S::Item> + use<S>, LocalSessionManagerError>
    where
        S: Stream<Item = ServerSseMessage>,
    {
        let is_primed = self.find(id)?.is_primed.get().copied().unwrap_or_default();
        Ok(stream.filter(move |event| future::ready(is_primed || event.message.is_some())))
    }
}

fn refusal(full: Full) -> Box<PolicyPart> {
    let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(SESSION_RETRY.as_secs()) };
    Box::new(PolicyPart::new(kind, full.words()))
}

/// A request of a session that waits for its answer, as long as its stream is open.
struct UnderWay {
    register: Arc<Mutex<Register>>,
    clock: Arc<dyn Clock>,
    id: SessionId,
}

impl UnderWay {
    fn note(&self, calls: isize) {
        self.register.lock().used(&self.id, self.clock.now(), calls);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.note(-1);
    }
}

/// The SDK's manager of each session. That streams can be taken up again is said of sessions alone: a
/// request of 2026-07-28 ends with its connection.
impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = SessionTransport;

    async fn create_session(&self) -> Result<(SessionId, SessionTransport), Self::Error> {
        let (manager, streams) = self.manager();
        let (id, transport) = manager.create_session().await?;
        let open = OpenSession { manager, streams, is_primed: OnceLock::new(), is_ready: AtomicBool::new(true) };
        self.open.lock().insert(id.clone(), Arc::new(open));
        Ok((id, transport))
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        if self.shared.is_none() {
            return Ok(RestoreOutcome::NotSupported);
        }
        let (manager, streams) = self.manager();
        let restored = manager.restore_session(id.clone()).await?;
        let open = OpenSession { manager, streams, is_primed: OnceLock::new(), is_ready: AtomicBool::new(false) };
        self.open.lock().insert(id, Arc::new(open));
        Ok(restored)
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let answer = self.handle(id).await?.initialize(message).await?;
        if let JsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(begun) = &response.result
        {
            let is_primed = begun.protocol_version.as_str() >= ProtocolVersion::V_2025_11_25.as_str();
            let _ = self.find(id)?.is_primed.set(is_primed);
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.is_ready(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let closed = self.open.lock().remove(id);
        self.register.lock().close(id);
        match closed {
            Some(session) => session.manager.close_session(id).await,
            None => Ok(()),
        }
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let handle = self.handle(id).await?;
        let under_way = self.under_way(id);
        let receiver = handle.establish_request_wise_channel().await?;
        handle.push_message(message, receiver.http_request_id).await?;
        self.shown(id, while_open(received(receiver.inner), under_way))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.handle(id).await?.push_message(message, None).await?;
        // The one that ends the handshake comes first.
        self.find(id)?.is_ready.store(true, Ordering::Release);
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = received(self.handle(id).await?.establish_common_channel().await?.inner);
        self.register.lock().used(id, self.clock.now(), 0);
        let first = ServerSseMessage::retry(STREAM_RETRY);
        self.shown(id, futures::stream::once(future::ready(first)).chain(stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let under_way = self.under_way(id);
        let stream =
            self.find(id)?.streams.replay_events_after(&last_event_id).await.map_err(SessionError::EventStore)?;
        self.shown(id, while_open(stream, under_way))
    }
}

/// The same stream, which holds on to `way` as long as it is open.
fn while_open<S: Stream>(stream: S, way: UnderWay) -> impl Stream<Item = S::Item> {
    stream.map(move |event| {
        let _held = &way;
        event
    })
}

fn received<T>(mut receiver: Receiver<T>) -> impl Stream<Item = T> {
    poll_fn(move |context| receiver.poll_recv(context))
}
