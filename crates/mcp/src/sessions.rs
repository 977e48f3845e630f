//! Sessions of older clients: how many there may be, and whose each is. A session's id opens nothing by
//! itself, so it is bound to the caller that began it. Security sheet, section 11.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use futures::Stream;
use futures::stream::poll_fn;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, SessionConfig, SessionError, SessionTransport,
};
use rmcp::transport::streamable_http_server::session::{EventStore, SessionId, SessionManager};
use tokio::sync::mpsc::Receiver;

use crate::limits::{SESSION_IDLE, SESSIONS_MAX, SESSIONS_PER_ADDRESS_MAX};
use crate::streams::{Log, Streams};

/// Sessions that are open, by the SDK and by us.
#[derive(Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<SessionId, Arc<Open>>>,
    bound: Mutex<HashMap<String, Bound>>,
    log: Arc<Log>,
}

/// A session, with a manager of the SDK for it alone: one for all would give them one store of events.
struct Open {
    manager: LocalSessionManager,
    streams: Arc<Streams>,
}

/// Whose a session is.
struct Bound {
    owner: Option<String>,
    address: Option<IpAddr>,
}

impl Sessions {
    /// Whether one more session may begin for `address`.
    pub(crate) fn has_room(&self, address: Option<IpAddr>) -> bool {
        let open = self.open.lock();
        let mut bound = self.bound.lock();
        bound.retain(|id, _| open.contains_key(id.as_str()));
        let of_address = bound.values().filter(|bound| address.is_some() && bound.address == address).count();
        open.len() < SESSIONS_MAX && of_address < SESSIONS_PER_ADDRESS_MAX
    }

    fn find(&self, id: &SessionId) -> Result<Arc<Open>, LocalSessionManagerError> {
        let found = self.open.lock().get(id).cloned();
        found.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// The SDK's end of a session.
    async fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle, LocalSessionManagerError> {
        let found = self.find(id)?.manager.sessions.read().await.get(id).cloned();
        found.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))
    }

    /// Remembers who began a session.
    pub(crate) fn bind(&self, id: &str, owner: Option<&str>, address: Option<IpAddr>) {
        let bound = Bound { owner: owner.map(str::to_owned), address };
        self.bound.lock().insert(id.to_owned(), bound);
    }

    /// Whether a session is this owner's. One that was begun by nobody in particular may be gone on
    /// with by whoever has its id, and belongs to the first who shows who it is.
    pub(crate) fn is_of(&self, id: &str, owner: Option<&str>) -> bool {
        let mut bound = self.bound.lock();
        let Some(found) = bound.get_mut(id) else { return true };
        match (&found.owner, owner) {
            (None, Some(owner)) => {
                found.owner = Some(owner.to_owned());
                true
            }
            (known, owner) => known.as_deref() == owner,
        }
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
        let streams = Arc::new(Streams::new(self.log.clone()));
        let mut manager = LocalSessionManager::default().with_event_store(streams.clone());
        manager.session_config = config;
        let (id, transport) = manager.create_session().await?;
        self.open.lock().insert(id.clone(), Arc::new(Open { manager, streams }));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.handle(id).await?.initialize(message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.open.lock().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let closed = self.open.lock().remove(id);
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
        let receiver = handle.establish_request_wise_channel().await?;
        handle.push_message(message, receiver.http_request_id).await?;
        Ok(received(receiver.inner))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.handle(id).await?.push_message(message, None).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(received(self.handle(id).await?.establish_common_channel().await?.inner))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.find(id)?.streams.replay_events_after(&last_event_id).await.map_err(SessionError::EventStore)?)
    }
}

fn received<T>(mut receiver: Receiver<T>) -> impl Stream<Item = T> {
    poll_fn(move |context| receiver.poll_recv(context))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_its_owners_alone() {
        let sessions = Sessions::default();
        sessions.bind("a", Some("oauth:ann"), None);
        assert!(sessions.is_of("a", Some("oauth:ann")));
        assert!(!sessions.is_of("a", Some("oauth:bob")) && !sessions.is_of("a", None));
    }

    #[test]
    fn nobodys_session_goes_to_the_first_who_signs_in() {
        let sessions = Sessions::default();
        sessions.bind("a", None, None);
        assert!(sessions.is_of("a", None));
        assert!(sessions.is_of("a", Some("oauth:ann")));
        assert!(!sessions.is_of("a", None) && !sessions.is_of("a", Some("oauth:bob")));
    }
}
