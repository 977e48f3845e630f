//! A connection to a server, with the program at its end if there is one, and calls on it.

use std::sync::Arc;

use forecourt_core::Progress;
use forecourt_egress::{Egress, Purpose};
use forecourt_process::Process;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest, ElicitRequestParams,
    ElicitResult, ProgressNotificationParam, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use tokio::sync::mpsc;

use crate::client;
use crate::upstream::call_error::CallError;
use crate::upstream::program;
use crate::upstream::progress::ProgressListeners;
use crate::upstream::request;
use crate::upstream::target::Target;
use crate::visit::{Person, Visitor};

/// An open connection. Dropped, it is closed, and its program killed with its children.
pub(super) struct Line {
    service: RunningService<RoleClient, Guest>,
    told: Arc<ProgressListeners<Progress>>,
    _program: Option<Process>,
}

impl Line {
    /// Connects, or starts the program, in the name of a person who may be asked.
    pub(super) async fn open(target: &Target, egress: &Egress, person: Arc<dyn Person>) -> Result<Self, CallError> {
        let told = Arc::new(ProgressListeners::default());
        let guest = Guest { visitor: Visitor(person), told: told.clone() };
        match target {
            Target::Url { url, headers } => {
                let connection = client::connection(egress.clone(), Purpose::Upstream, url, headers.clone());
                Ok(Self { service: guest.serve(connection).await?, told, _program: None })
            }
            Target::Program(program) => {
                let (process, transport) = program::start(program)?;
                Ok(Self { service: guest.serve(transport).await?, told, _program: Some(process) })
            }
        }
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
        match request::send(self.service.peer(), request, &self.told, listener, |_| ()).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            _ => Err(CallError::Unreadable("an answer to another question".to_owned())),
        }
    }
}

/// Our side of a connection: a person who may be asked, and calls that want to know how far they are.
struct Guest {
    visitor: Visitor,
    told: Arc<ProgressListeners<Progress>>,
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
