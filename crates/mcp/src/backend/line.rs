//! A connection to a server, with the program at its end if there is one, and calls on it.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::Progress;
use forecourt_egress::{Egress, Purpose};
use forecourt_process::{Process, Program, RunningProgram, each_line, printable};
use http::HeaderMap;
use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ProgressNotificationParam, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RequestContext, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use tokio::sync::mpsc;

use super::bounded::Lines;
use super::call_error::CallError;
use super::settings::Target;
use crate::client;
use crate::limits::{COMPLAINT_BYTES_MAX, EARLY_PROGRESS_MAX, MESSAGE_BYTES_MAX};
use crate::visit::{Person, Visitor};

/// An open connection. Dropped, it is closed, and its program killed with its children.
pub(super) struct Line {
    service: RunningService<RoleClient, Guest>,
    told: Arc<ProgressListeners>,
    _program: Option<Process>,
}

impl Line {
    /// Connects, or starts the program, in the name of a person who may be asked.
    pub(super) async fn open(target: &Target, egress: &Egress, person: Arc<dyn Person>) -> Result<Self, CallError> {
        let told = Arc::new(ProgressListeners::default());
        let guest = Guest { visitor: Visitor(person), told: told.clone() };
        match target {
            Target::Url { url, headers } => Self::over_http(url, headers.clone(), egress.clone(), guest, told).await,
            Target::Program(program) => Self::over_a_pipe(program, guest, told).await,
        }
    }

    async fn over_http(
        url: &str,
        headers: HeaderMap,
        egress: Egress,
        guest: Guest,
        told: Arc<ProgressListeners>,
    ) -> Result<Self, CallError> {
        let connection = client::connection(egress, Purpose::Upstream, url, headers);
        Ok(Self { service: guest.serve(connection).await?, told, _program: None })
    }

    async fn over_a_pipe(program: &Program, guest: Guest, told: Arc<ProgressListeners>) -> Result<Self, CallError> {
        let RunningProgram { process, stdin, stdout, stderr } = program.start()?;
        let complaint = |line: &[u8]| tracing::debug!("an MCP server's program says: {}", printable(line));
        // Read whether or not it is logged: a program whose pipe is full stands still.
        tokio::spawn(each_line(stderr, COMPLAINT_BYTES_MAX, complaint));
        let output = Lines::new(stdout, MESSAGE_BYTES_MAX);
        let transport = AsyncRwTransport::<RoleClient, _, _>::new_client(output, stdin);
        Ok(Self { service: guest.serve(transport).await?, told, _program: Some(process) })
    }

    /// Whether the other side is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Calls a tool, and tells `listener` of its progress. Dropped, it cancels the call there.
    pub(super) async fn call(
        &self,
        params: CallToolRequestParams,
        listener: mpsc::Sender<Progress>,
    ) -> Result<CallToolResult, CallError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let peer = self.service.peer();
        let handle = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        // The token is made when the request is sent, so that progress may have come before anybody listens
        // (`Listener::Early`).
        let _listening = self.told.listen(handle.progress_token.clone(), listener);
        let mut leaving = Leaving { peer: peer.clone(), call: Some(handle.id.clone()) };
        let result = handle.await_response().await;
        leaving.call = None;
        match result? {
            ServerResult::CallToolResult(result) => Ok(result),
            _ => Err(CallError::Unreadable("an answer to another question".to_owned())),
        }
    }
}

/// Cancels a call that nobody waits for any more.
struct Leaving {
    peer: Peer<RoleClient>,
    call: Option<RequestId>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let (Some(call), Ok(runtime)) = (self.call.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        let told = CancelledNotificationParam::new(Some(call), reason);
        runtime.spawn(async move { peer.notify_cancelled(told).await });
    }
}

/// Who listens to the progress of which call.
#[derive(Default)]
struct ProgressListeners(Mutex<HashMap<ProgressToken, Listener>>);

enum Listener {
    /// Nobody yet: the call is on its way, and this was told already.
    Early(Progress),
    Call(mpsc::Sender<Progress>),
}

/// Ends the listening when dropped.
struct Listening<'a> {
    told: &'a ProgressListeners,
    token: ProgressToken,
}

impl ProgressListeners {
    fn listen(&self, token: ProgressToken, listener: mpsc::Sender<Progress>) -> Listening<'_> {
        let early = self.0.lock().insert(token.clone(), Listener::Call(listener.clone()));
        if let Some(Listener::Early(progress)) = early {
            let _ = listener.try_send(progress);
        }
        Listening { told: self, token }
    }

    /// Passes progress on. A listener who is too slow misses some: only the last one matters.
    fn tell(&self, token: ProgressToken, progress: Progress) {
        let mut listeners = self.0.lock();
        if let Some(Listener::Call(listener)) = listeners.get(&token) {
            let _ = listener.try_send(progress);
            return;
        }
        let is_early = |listener: &&Listener| matches!(listener, Listener::Early(_));
        if listeners.values().filter(is_early).count() >= EARLY_PROGRESS_MAX {
            // Of calls that have ended, or of none.
            listeners.retain(|_, listener| matches!(listener, Listener::Call(_)));
        }
        listeners.insert(token, Listener::Early(progress));
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.told.0.lock().remove(&self.token);
    }
}

/// Our side of a connection: a person who may be asked, and calls that want to know how far they are.
struct Guest {
    visitor: Visitor,
    told: Arc<ProgressListeners>,
}

impl ClientHandler for Guest {
    fn get_info(&self) -> ClientConfig {
        self.visitor.get_info()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.visitor.create_elicitation(request, context).await
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let whole = told.total.filter(|total| *total > 0.0);
        let progress = Progress { fraction: whole.map(|total| told.progress / total), note: told.message };
        self.told.tell(told.progress_token, progress);
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn token(number: i64) -> ProgressToken {
        ProgressToken(NumberOrString::Number(number))
    }

    fn progress(note: &str) -> Progress {
        Progress { fraction: None, note: Some(note.to_owned()) }
    }

    #[test]
    fn progress_reaches_its_own_call_even_if_it_came_first() {
        let told = ProgressListeners::default();
        told.tell(token(1), progress("early"));
        let ((one, mut heard), (other, mut quiet)) = (mpsc::channel(4), mpsc::channel(4));
        let listening = told.listen(token(1), one);
        let _other = told.listen(token(2), other);
        told.tell(token(1), progress("later"));
        assert_eq!((heard.try_recv(), heard.try_recv()), (Ok(progress("early")), Ok(progress("later"))));
        assert!(quiet.try_recv().is_err());
        drop(listening);
        told.tell(token(1), progress("late"));
        assert!(heard.try_recv().is_err());
    }

    #[test]
    fn progress_of_no_call_is_bounded() {
        let told = ProgressListeners::default();
        let (one, _heard) = mpsc::channel(1);
        let _listening = told.listen(token(-1), one);
        for number in 0..=EARLY_PROGRESS_MAX {
            told.tell(token(number as i64), progress("x"));
            assert!(told.0.lock().len() <= EARLY_PROGRESS_MAX + 1);
        }
        assert_eq!(told.0.lock().len(), 2, "the others were forgotten, and who listens was not");
    }
}
