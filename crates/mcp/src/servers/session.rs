//! A session with a server behind this host: requests that were let through, and what the server says in between.

use std::sync::Arc;

use forecourt_egress::Egress;
use forecourt_host::ForwardPermit;
use forecourt_process::Process;
use parking_lot::Mutex;
use rmcp::model::{
    ClientRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ProgressNotificationParam, ProtocolVersion,
    RequestId, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, InboundStreamOrigin, Peer, RequestContext,
    RunningService,
};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, RoleClient};
use tokio::sync::{Notify, mpsc, oneshot};

use super::guest::{Guest, LoggedMessage};
use crate::client::{self, ConnectionNotes};
use crate::elicit::Modes;
use crate::upstream::call_error::CallError;
use crate::upstream::progress::ProgressListeners;
use crate::upstream::target::Target;
use crate::upstream::{program, request};

/// An open session. Dropped, it is closed, and its program killed with its children.
pub(super) struct Session {
    service: RunningService<RoleClient, Guest>,
    events: Arc<SessionEvents>,
    notes: Arc<ConnectionNotes>,
    _program: Option<Process>,
}

/// What is said in a session beside the answers, and to whom.
#[derive(Default)]
pub(super) struct SessionEvents {
    pub(super) told: ProgressListeners<ProgressNotificationParam>,
    calls: Mutex<Vec<LiveCall>>,
    /// Woken when the server says that its lists have changed.
    pub(super) lists_changed: Arc<Notify>,
    /// Who hears that a resource has changed, by its address.
    pub(super) updated: Arc<super::updates::Updates>,
}

/// A call that is under way.
struct LiveCall {
    number: u64,
    /// Known once it was sent.
    id: Option<RequestId>,
    links: CallLinks,
}

/// Where what is said during one call goes.
#[derive(Clone)]
pub(super) struct CallLinks {
    pub(super) told: mpsc::Sender<ProgressNotificationParam>,
    pub(super) asked: mpsc::Sender<ServerQuestion>,
    pub(super) logged: mpsc::Sender<LoggedMessage>,
}

/// A question of a server in the middle of a call, and where its answer goes. Dropped, it is declined.
pub(super) struct ServerQuestion {
    pub(super) request: ElicitRequestParams,
    pub(super) answer: oneshot::Sender<ElicitResult>,
}

/// How a session is opened.
pub(super) struct Opening<'a> {
    pub(super) target: &'a Target,
    pub(super) egress: &'a Egress,
    /// What the person behind it can be asked.
    pub(super) modes: Modes,
    /// Whether the server is known to speak the newest revision, or an older one.
    pub(super) is_modern: Option<bool>,
    pub(super) notes: Arc<ConnectionNotes>,
    pub(super) events: SessionEvents,
}

impl Session {
    pub(super) async fn open(opening: Opening<'_>) -> Result<Self, CallError> {
        let Opening { target, egress, modes, is_modern, notes, events } = opening;
        let events = Arc::new(events);
        let guest = || Guest::new(modes, events.clone());
        let (service, program) = match target {
            Target::Url { url, headers } => {
                let connection = || client::listening_connection(egress.clone(), url, headers.clone(), notes.clone());
                (shake(&guest, || Ok(connection()), is_modern).await?, None)
            }
            Target::Program(target) => {
                let mut running = None;
                let start = || {
                    let (process, pipes) = program::start(target)?;
                    running = Some(process);
                    Ok(pipes)
                };
                (shake(&guest, start, is_modern).await?, running)
            }
        };
        Ok(Self { service, events, notes, _program: program })
    }

    /// Whether the other side is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// The server, to be asked what it has. What does something there is asked with [`Self::ask`].
    pub(super) fn lister(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether it is of the newest revision, in which requests stand by themselves.
    pub(super) fn is_modern(&self) -> bool {
        let newest = ProtocolVersion::V_2026_07_28;
        let about = self.service.peer().peer_info();
        about.is_some_and(|about| about.protocol_version.as_str() >= newest.as_str())
    }

    /// Whether the server has given out a session.
    pub(super) fn has_session(&self) -> bool {
        self.notes.has_session()
    }

    /// Puts a request of a caller who was let through. Dropped, it is cancelled there.
    pub(super) async fn ask(
        &self,
        _: &ForwardPermit,
        request: ClientRequest,
        links: CallLinks,
    ) -> Result<ServerResult, CallError> {
        let told = links.told.clone();
        let call = self.events.begin(links);
        let sent = |id: &RequestId| call.sent(id.clone());
        Ok(request::send(self.service.peer(), request, &self.events.told, told, sent).await?)
    }
}

/// Connects in the newest revision, or with the handshake of older ones.
async fn shake<T, E, A>(
    guest: &impl Fn() -> Guest,
    mut connect: impl FnMut() -> std::io::Result<T>,
    is_modern: Option<bool>,
) -> Result<RunningService<RoleClient, Guest>, CallError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let newest = || vec![ProtocolVersion::V_2026_07_28];
    let mode = match is_modern {
        Some(true) => ClientLifecycleMode::Discover { preferred_versions: newest() },
        Some(false) => ClientLifecycleMode::Initialize,
        None => ClientLifecycleMode::Auto {
            preferred_versions: newest(),
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    };
    let is_probe = is_modern.is_none();
    match guest().serve_with_lifecycle(connect()?, mode).await {
        Ok(service) => Ok(service),
        // Some older servers answer the probe with what is no answer at all, or go away.
        Err(error) if is_probe && may_be_older(&error) => {
            let older = ClientLifecycleMode::Initialize;
            Ok(guest().serve_with_lifecycle(connect()?, older).await?)
        }
        Err(error) => Err(error.into()),
    }
}

fn may_be_older(error: &ClientInitializeError) -> bool {
    if error.is_authorization_required() {
        return false;
    }
    !matches!(
        CallError::from_initialize(error),
        CallError::Unreachable(_) | CallError::Busy | CallError::Declined { .. } | CallError::NotStarted(_)
    )
}

impl SessionEvents {
    pub(super) fn new(lists_changed: Arc<Notify>, updated: Arc<super::updates::Updates>) -> Self {
        Self { told: ProgressListeners::default(), calls: Mutex::default(), lists_changed, updated }
    }

    fn begin(&self, links: CallLinks) -> OpenCall<'_> {
        let mut calls = self.calls.lock();
        let number = calls.last().map_or(0, |last| last.number + 1);
        calls.push(LiveCall { number, id: None, links });
        OpenCall { events: self, number }
    }

    /// The call that something was said in: the one of the request on whose stream it came, else the only one. Where
    /// it can't be told, nobody's: an answer to somebody else's question is worse than none.
    fn links(&self, origin: Option<&InboundStreamOrigin>) -> Option<CallLinks> {
        let calls = self.calls.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin
            && let Some(call) = calls.iter().find(|call| call.id.as_ref() == Some(id))
        {
            return Some(call.links.clone());
        }
        match calls.as_slice() {
            [only] => Some(only.links.clone()),
            _ => None,
        }
    }

    /// Passes a message that the server logs on to the call that caused it.
    pub(super) fn log(&self, message: LoggedMessage) {
        match self.links(None) {
            // A client that is too slow misses some.
            Some(links) => drop(links.logged.try_send(message)),
            None => tracing::debug!("an MCP server logged something in no call that could be told"),
        }
    }

    /// Puts a question of the server to whoever it is asked.
    pub(super) async fn question(
        &self,
        request: ElicitRequestParams,
        context: &RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(links) = self.links(context.extensions.get::<InboundStreamOrigin>()) else {
            tracing::warn!("an MCP server asked something in no call that could be told; the question is declined");
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let (answer, answered) = oneshot::channel();
        if links.asked.send(ServerQuestion { request, answer }).await.is_err() {
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        }
        Ok(answered.await.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Decline)))
    }
}

/// A call among those of its session, until it is dropped.
struct OpenCall<'a> {
    events: &'a SessionEvents,
    number: u64,
}

impl OpenCall<'_> {
    fn sent(&self, id: RequestId) {
        let mut calls = self.events.calls.lock();
        if let Some(call) = calls.iter_mut().find(|call| call.number == self.number) {
            call.id = Some(id);
        }
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.events.calls.lock().retain(|call| call.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> (CallLinks, mpsc::Receiver<ServerQuestion>) {
        let (asked, questions) = mpsc::channel(1);
        (CallLinks { told: mpsc::channel(1).0, asked, logged: mpsc::channel(1).0 }, questions)
    }

    #[test]
    fn what_is_said_belongs_to_its_own_call_or_to_nobodys() {
        let events = SessionEvents::default();
        let origin = |id: i64| InboundStreamOrigin::OutboundRequest(RequestId::Number(id));
        assert!(events.links(Some(&origin(1))).is_none(), "there is no call");
        let ((one, _one), (other, _other)) = (links(), links());
        let first = events.begin(one.clone());
        assert!(events.links(None).is_some(), "there is one call");
        assert!(events.links(Some(&origin(1))).is_some(), "that is not known by its id yet");
        first.sent(RequestId::Number(1));
        let second = events.begin(other.clone());
        second.sent(RequestId::Number(2));
        assert!(events.links(None).is_none(), "it could be either's");
        assert!(events.links(Some(&InboundStreamOrigin::Unassociated)).is_none());
        let found = events.links(Some(&origin(2))).expect("the second");
        assert!(found.asked.same_channel(&other.asked) && !found.asked.same_channel(&one.asked));
        drop(second);
        assert!(events.links(None).expect("the first").asked.same_channel(&one.asked));
        drop(first);
        assert!(events.calls.lock().is_empty());
    }
}
