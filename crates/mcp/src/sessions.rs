//! Sessions of older clients: how many there may be, and whose each is. A session's id opens nothing by
//! itself, so it is bound to the caller that began it. Security sheet, section 11.

mod register;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Clock, PolicyPart, Sender};
use futures::stream::poll_fn;
use futures::{Stream, StreamExt, future};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{EventStore, SessionId, SessionManager};
use tokio::sync::mpsc::Receiver;

use crate::limits::{SESSION_IDLE, SESSION_RETRY, STREAM_RETRY};
use crate::streams::{Log, Streams};
use register::{CallerKey, Full, Register};

/// Sessions that are open, by the SDK and by us.
pub(crate) struct Sessions {
    open: Mutex<HashMap<SessionId, Arc<OpenSession>>>,
    register: Arc<Mutex<Register>>,
    clock: Arc<dyn Clock>,
    log: Arc<Log>,
}

/// A session, with a manager of the SDK for it alone: one for all would give them one store of events.
struct OpenSession {
    manager: LocalSessionManager,
    streams: Arc<Streams>,
    /// Whether its clients know streams that begin with an event without data: from 2025-11-25 on. Older
    /// ones may take that event for the answer.
    is_primed: OnceLock<bool>,
}

/// The place of a session that is about to begin. Given back when none does.
pub(crate) struct Reserved<'a> {
    sessions: &'a Sessions,
    number: u64,
}

impl Reserved<'_> {
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

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.sessions.register.lock().release(self.number);
    }
}

impl Sessions {
    /// None yet.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { open: Mutex::default(), register: Arc::default(), clock, log: Arc::default() }
    }

    /// Takes a place for a session of `sender`; one that nobody uses ends for it where there are enough.
    /// Refused when all that may end for it are in use.
    pub(crate) fn reserve(&self, sender: &Sender) -> Result<Reserved<'_>, Box<PolicyPart>> {
        let place = self.register.lock().reserve(CallerKey::of(sender), self.clock.now()).map_err(refusal)?;
        let ended = place.ends.and_then(|id| self.open.lock().remove_entry(id.as_str()));
        if let Some((id, session)) = ended {
            // Its worker may be stuck with a client that does not read.
            tokio::spawn(async move { session.manager.close_session(&id).await });
        }
        Ok(Reserved { sessions: self, number: place.number })
    }

    /// Whether a session is this sender's, who may go on with it.
    pub(crate) fn is_of(&self, id: &str, sender: &Sender) -> bool {
        self.register.lock().is_of(id, sender)
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
        let mut config = SessionConfig::default();
        config.keep_alive = Some(SESSION_IDLE);
        config.sse_retry = Some(STREAM_RETRY);
        let streams = Arc::new(Streams::new(self.log.clone()));
        let mut manager = LocalSessionManager::default().with_event_store(streams.clone());
        manager.session_config = config;
        let (id, transport) = manager.create_session().await?;
        let open = OpenSession { manager, streams, is_primed: OnceLock::new() };
        self.open.lock().insert(id.clone(), Arc::new(open));
        Ok((id, transport))
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
        Ok(self.open.lock().contains_key(id))
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
        Ok(self.handle(id).await?.push_message(message, None).await?)
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
