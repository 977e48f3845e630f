//! A session with a server behind this host: requests that were let through, and what the server says in between.

use std::sync::Arc;

use forecourt_egress::Egress;
use forecourt_host::ForwardPermit;
use forecourt_process::Process;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, PingRequest, ProtocolVersion, RequestId, ServerResult};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::IntoTransport;
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::direct::DirectWay;
use super::events::{CallLinks, SessionEvents};
use super::guest::Guest;
use super::lister::Lister;
use crate::client::{self, ConnectionNotes, Out};
use crate::elicit::Modes;
use crate::limits::PROGRAM_PING_TIME_MAX;
use crate::upstream::call_error::CallError;
use crate::upstream::target::Target;
use crate::upstream::{program, request};

/// An open session. Dropped, it is closed, and its program killed with its children.
pub(crate) struct Session {
    service: RunningService<RoleClient, Guest>,
    /// The way of calls that want nothing but their answer, where there is one.
    direct: Option<DirectWay>,
    events: Arc<SessionEvents>,
    notes: Arc<ConnectionNotes>,
    program: Option<Process>,
}

/// How a session is opened.
pub(crate) struct Opening<'a> {
    pub(crate) target: &'a Target,
    pub(crate) egress: &'a Egress,
    /// What the person behind it can be asked.
    pub(crate) modes: Modes,
    /// Whether the server is known to speak the newest revision, or an older one.
    pub(crate) is_modern: Option<bool>,
    pub(crate) notes: Arc<ConnectionNotes>,
    pub(crate) events: SessionEvents,
}

impl Session {
    pub(crate) async fn open(opening: Opening<'_>) -> Result<Self, CallError> {
        let Opening { target, egress, modes, is_modern, notes, events } = opening;
        let events = Arc::new(events);
        let guest = || Guest::new(modes, events.clone());
        let (service, direct, program) = match target {
            Target::Url { url, headers } => {
                let out = Out::noted(egress.clone(), headers.clone(), notes.clone());
                let connect = || Ok(client::listening_connection(out.clone(), url));
                let service = shake(&guest, connect, is_modern).await?;
                let about = service.peer().peer_info();
                let direct = about.and_then(|about| DirectWay::new(out, url, &about.protocol_version, &guest()));
                (service, direct, None)
            }
            Target::Program(target) => {
                let mut running = None;
                let start = || {
                    let (process, pipes) = program::start(target)?;
                    running = Some(process);
                    Ok(pipes)
                };
                (shake(&guest, start, is_modern).await?, None, running)
            }
        };
        Ok(Self { service, direct, events, notes, program })
    }

    /// Whether the other side is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// The server, to be asked what it has. What does something there is asked with [`Self::ask`].
    pub(crate) fn lister(&self) -> Lister {
        Lister::new(self.service.peer().clone())
    }

    /// Whether it is of the newest revision, in which requests stand by themselves.
    pub(crate) fn is_modern(&self) -> bool {
        let newest = ProtocolVersion::V_2026_07_28;
        let about = self.service.peer().peer_info();
        about.is_some_and(|about| about.protocol_version.as_str() >= newest.as_str())
    }

    /// Whether the server has given out a session.
    pub(crate) fn has_session(&self) -> bool {
        self.notes.has_session()
    }

    /// Puts a request of a caller who was let through: `is_plain`, where it may be put without the SDK. Dropped, it is
    /// cancelled there.
    pub(crate) async fn ask(
        &self,
        _: &ForwardPermit,
        mut request: ClientRequest,
        is_plain: bool,
        links: CallLinks,
    ) -> Result<ServerResult, CallError> {
        let told = links.told.clone();
        let call = self.events.begin(links);
        if let (true, Some(direct), ClientRequest::CallToolRequest(asked)) = (is_plain, &self.direct, &mut request)
            && let Some(written) = direct.write(&asked.params, self.notes.session())
        {
            let id = RequestId::Number(written.number);
            call.sent(id.clone());
            let leaving = request::Leaving::new(self.service.peer(), id);
            let posted = direct.post(written).await;
            leaving.stay();
            match posted {
                Ok(result) => {
                    call.answered();
                    return Ok(ServerResult::CallToolResult(result));
                }
                // The SDK goes on with what is there, and posts nothing.
                Err(early) => drop(asked.extensions.insert(early)),
            }
        }
        let sent = |id: &RequestId| call.sent(id.clone());
        // On the heap, since most calls need nothing of it.
        let answered = Box::pin(request::send(self.service.peer(), request, &self.events.told, told, sent)).await;
        call.answered();
        Ok(answered?)
    }

    /// The addresses of resources that the server says have changed, from now on.
    pub(crate) fn updates(&self) -> broadcast::Receiver<String> {
        self.events.updated.subscribe()
    }

    /// Whether it is of use to another call. A program that left a call without an answer is asked whether it is there:
    /// it may have stopped reading.
    pub(crate) async fn is_usable(&self) -> bool {
        if self.is_closed() || self.events.is_lost() {
            return false;
        }
        if self.program.is_none() || !self.events.is_in_doubt() {
            return true;
        }
        let (peer, events) = (self.service.peer().clone(), self.events.clone());
        // It goes on where the call has less time than that, for the calls after it.
        let asked = tokio::spawn(async move {
            let ping = ClientRequest::PingRequest(PingRequest::default());
            // An error is an answer, too: the newest revision has no such request.
            match timeout(PROGRAM_PING_TIME_MAX, peer.send_request(ping)).await {
                Ok(_) => events.answered(),
                Err(_) => events.lost(),
            }
        });
        // It fails where the host ends.
        let _ = asked.await;
        !self.events.is_lost() && !self.is_closed()
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
