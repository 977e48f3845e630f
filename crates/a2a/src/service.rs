//! One operation carried to the host and back, the same for every binding and both versions.

use std::sync::Arc;

use forecourt_core::clock::whole_seconds;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Error, Handle, Noun, PolicyPart, Sender, TaskId, TaskState, in_place};
use forecourt_egress::Egress;
use forecourt_host::{Host, HostedAgent, TaskAccess, TaskPermit};
use forecourt_identity::Verifier;
use forecourt_surface::BaseUrl;
use forecourt_surface::failure::HostFailure;
use forecourt_surface::tool::Tool;
use futures::stream::BoxStream;

use crate::card::Cards;
use crate::model::{Item, Operation, OperationError, OperationOutcome};
use crate::section::A2aSettings;

mod caller;
mod context;
mod grpc;
mod list;
mod pay;
mod push;
mod remembered;
mod repeats;
mod send;
mod skill;
mod tasks;
mod tenant;

pub(crate) use caller::{Caller, EXTENSION_FIELDS};
pub(crate) use grpc::OverGrpc;
pub(crate) use push::post;
pub(crate) use repeats::Arrivals;
pub(crate) use skill::card_skill;
pub(crate) use tenant::named as tenant_named;

/// What the protocol is made of, once for all bindings.
pub(crate) struct Service {
    pub(crate) host: Arc<Host>,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) egress: Arc<Egress>,
    pub(crate) cards: Cards,
    /// What the hub does beside its agents, called by name with data.
    pub(crate) skills: Arc<[Tool]>,
    pub(crate) settings: A2aSettings,
    /// Whether pages of other origins may use the hub. A mention reaches everybody behind it, also
    /// those who keep other origins out, so only where nobody does.
    pub(crate) hub_is_open: bool,
    /// The messages that are being taken in.
    pub(crate) arrivals: Arc<Arrivals>,
}

/// What comes of an operation.
pub(crate) enum OperationReply {
    /// One thing.
    Once(OperationOutcome),
    /// A task that stands at a refusal, which some bindings also tell in fields of their own.
    Refused(Item, Box<PolicyPart>),
    /// Items as they come, each with the number to go on after. Dropping it stops nothing.
    Stream(BoxStream<'static, (Option<u64>, Item)>),
}

/// Why an operation was not carried out.
#[derive(Debug)]
pub(crate) enum ServiceError {
    /// A fault, theirs or ours.
    Fault(OperationError),
    /// A refusal of what carries no message: credentials that don't hold, too many requests.
    Refused(Box<PolicyPart>),
}

impl Service {
    /// Carries out one operation for a caller.
    pub(crate) async fn carry(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        operation: Operation,
    ) -> Result<OperationReply, ServiceError> {
        match operation {
            // On the heap, so that small questions don't carry the size of messages around.
            Operation::Send(send) => in_place(|| self.send(caller, send, false)).await,
            Operation::Stream(send) => in_place(|| self.send(caller, send, true)).await,
            other => {
                // `Host::receive` meters messages; operations that carry none are metered here, before proofs cost
                // anything.
                self.host.meter(caller.peer())?;
                let sender = self.sender(caller, self.addressed(caller)?).await?;
                Box::pin(self.asked(caller, &sender, other)).await
            }
        }
    }

    /// The operations that carry no message.
    async fn asked(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        sender: &Sender,
        operation: Operation,
    ) -> Result<OperationReply, ServiceError> {
        let outcome = match operation {
            Operation::Get { task, history_length } => self.get(caller, sender, &task, history_length).await?,
            Operation::List(query) => self.list(caller, sender, query).await?,
            Operation::Cancel { task, .. } => self.cancel(caller, sender, &task).await?,
            Operation::Subscribe { task } => return self.subscribe(caller, sender, &task).await,
            Operation::PushCreate(config) => self.push_create(caller, sender, config).await?,
            Operation::PushGet { task, id } => self.push_get(caller, sender, &task, id.as_deref()).await?,
            Operation::PushList { task, .. } => self.push_list(caller, sender, &task).await?,
            Operation::PushDelete { task, id } => self.push_delete(caller, sender, &task, &id).await?,
            Operation::ExtendedCard => self.extended_card(caller, sender)?,
            Operation::Send(_) | Operation::Stream(_) => return Err(OperationError::Internal.into()),
        };
        Ok(OperationReply::Once(outcome))
    }

    /// The card for callers who proved who they are.
    fn extended_card(&self, caller: &Caller<'_>, sender: &Sender) -> Result<OperationOutcome, ServiceError> {
        if !self.cards.has_extended() {
            return Err(OperationError::UnsupportedOperation("this host has no extended agent card".to_owned()).into());
        }
        if !sender.verified {
            return Err(ServiceError::Refused(Box::new(unproven(self.host.site().canonical_host()))));
        }
        let cards = self.cards.at(self.base(caller));
        let document = match &caller.agent {
            None => cards.extended_hub(caller.version),
            Some(agent) => cards.extended_agent(agent, caller.version),
        };
        let card = document.and_then(|document| serde_json::from_slice(document.body()).ok());
        Ok(OperationOutcome::Card(card.ok_or(OperationError::ExtendedAgentCardNotConfigured)?))
    }

    /// The agent that an operation is about before its text was read: the one whose endpoint was
    /// called, else the default one.
    pub(crate) fn addressed(&self, caller: &Caller<'_>) -> Result<&Arc<HostedAgent>, ServiceError> {
        match &caller.agent {
            None => Ok(self.host.directory().default_agent()),
            Some(handle) => self.host.directory().find(handle).ok_or_else(|| no_such_agent(handle).into()),
        }
    }

    /// What URLs begin with in an answer to this caller.
    pub(crate) fn base<'a>(&'a self, caller: &Caller<'a>) -> BaseUrl<'a> {
        BaseUrl::of(self.host.site(), &caller.head.extensions)
    }

    /// Who calls, as far as the request proves it to the agent of `resident`.
    pub(crate) async fn sender(&self, caller: &Caller<'_>, resident: &HostedAgent) -> Result<Sender, ServiceError> {
        let request = caller.proof(&resident.card.address, self.host.clock().now());
        Ok(forecourt_surface::credentials::sender(&self.verifier, self.host.site(), request).await?)
    }

    /// A task that the caller may see at this endpoint. Of what it may not see it learns nothing.
    pub(crate) async fn readable(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
    ) -> Result<TaskPermit, ServiceError> {
        let id = TaskId::parse(id).ok_or(OperationError::TaskNotFound)?;
        let task = self.host.task(&id, TaskAccess::As(sender)).await?;
        // Hub card 4: at the endpoint of one agent the tasks of others do not exist.
        let here = caller.agent.as_ref().is_none_or(|agent| *agent == task.agent);
        if here { Ok(task) } else { Err(OperationError::TaskNotFound.into()) }
    }
}

pub(crate) fn no_such_agent(handle: &Handle) -> OperationError {
    OperationError::InvalidRequest(format!("there is no agent @{handle} here"))
}

/// The refusal of a caller who would have to prove who it is.
fn unproven(realm: &str) -> PolicyPart {
    let challenge = AuthChallenge::new("Bearer").with("realm", realm);
    PolicyPart::new(
        RefusalKind::Unauthorized { auth_challenges: vec![challenge] },
        "Only callers that prove who they are see this.",
    )
}

impl From<OperationError> for ServiceError {
    fn from(fault: OperationError) -> Self {
        Self::Fault(fault)
    }
}

impl From<Box<PolicyPart>> for ServiceError {
    fn from(part: Box<PolicyPart>) -> Self {
        Self::Refused(part)
    }
}

impl From<Error> for ServiceError {
    fn from(error: Error) -> Self {
        Self::Fault(match error {
            Error::NotFound { what: Noun::Task | Noun::Artifact | Noun::Thread } => OperationError::TaskNotFound,
            Error::NotFound { what: Noun::Agent } => {
                OperationError::InvalidRequest("there is no such agent here".to_owned())
            }
            Error::Gone { .. } => OperationError::InvalidRequest(error.to_string()),
            Error::Conflict { what, state } => {
                OperationError::UnsupportedOperation(format!("the {what} is {}", state.name()))
            }
            Error::Invalid { field, reason } => OperationError::param(field, reason),
            Error::Full { bound } => return Self::Refused(Box::new(bound.refusal())),
            Error::Unavailable { retry_after } => return Self::Refused(Box::new(unavailable(retry_after))),
            Error::Internal(cause) => {
                tracing::error!(%cause, "an operation failed");
                OperationError::Internal
            }
        })
    }
}

/// A failure of the host as the bindings spell it, for the table of errors: JSON-RPC, HTTP+JSON and gRPC.
pub(crate) fn spelling(failure: HostFailure) -> Option<String> {
    let trouble = match failure {
        HostFailure::Error(error) => error.into(),
        HostFailure::Refused(part) => ServiceError::Refused(Box::new(part)),
        HostFailure::Ended(ending) => return Some(format!("task `{}`", TaskState::after(&ending).name())),
        // An endpoint is a skill here: its refusal is a task that failed, with the code in its data.
        HostFailure::Call(_) => return Some("task `failed`".to_owned()),
    };
    let row = match trouble {
        ServiceError::Fault(fault) => fault.row(),
        ServiceError::Refused(part) => {
            let status = forecourt_surface::refusal::status(&part.kind);
            return Some(format!("HTTP {}", status.as_u16()));
        }
    };
    Some(format!("`{}`, HTTP {}, gRPC `{}`", row.rpc, row.http.as_u16(), row.grpc.1))
}

/// The refusal of a host that has too much to do.
fn unavailable(retry_after: std::time::Duration) -> PolicyPart {
    let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(whole_seconds(retry_after)) };
    PolicyPart::new(kind, "This host has too much to do at the moment. Try again later.")
}
