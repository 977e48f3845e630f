//! A message on its way to its agent, and the answer in the form that was asked for.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Ending, Event, EventStream, Message, PolicyPart, Reply, Sender, TaskId, ThreadId};
use forecourt_host::{HostedAgent, Run, TaskAccess, TaskMode, TaskPermit};
use forecourt_identity::evidence::UnverifiedEvidence as Evidence;
use forecourt_surface::negotiate;
use forecourt_surface::usage::put_usage;
use futures::StreamExt;
use serde_json::Value;

use super::context::adopted;
use super::repeats::{ArrivalTurn, MessageFingerprint};
use super::tasks::{Pauses, at_work};
use super::{Caller, OperationReply, Service, ServiceError, no_such_agent};
use crate::from_wire::{IncomingMessage, heard};
use crate::limits::DIRECT_ANSWER_WITHIN;
use crate::model::{Configuration, Item, Metadata, OperationError, OperationOutcome, Role, Send};
use crate::parts::fragment;
use crate::payment::{self, PaymentAnswer};
use crate::view::{self, TaskDetail};

/// The name of this protocol in messages.
const TRANSPORT: &str = crate::NAME;

/// Whom a message is for, and what it goes on with.
struct MessageRoute<'a> {
    resident: &'a Arc<HostedAgent>,
    sender: Sender,
    thread: ThreadId,
    continues: Option<TaskPermit>,
    /// What the agent is to be remembered by, for as long again: it was mentioned, now or before.
    sticks: Option<ThreadId>,
}

/// Whom a message names.
#[derive(Clone, Copy)]
struct AddressedAgents<'a> {
    mentioned: Option<&'a Arc<HostedAgent>>,
    /// The agent of the endpoint, else the one that is mentioned.
    named: Option<&'a Arc<HostedAgent>>,
    /// That one, else the default one: to whom proofs are made out, as far as is known.
    assumed: &'a Arc<HostedAgent>,
}

/// Whether a message comes for the first time.
enum FirstSent {
    /// It does, or can't be told from others.
    Now(Option<(ArrivalTurn, MessageFingerprint)>),
    /// It began this task before. Boxed, as it is rare.
    Before(Box<TaskPermit>),
}

/// How an answer is wanted.
struct AnswerForm<'a> {
    configuration: &'a Configuration,
    streams: bool,
    /// Events that the task had given before the message.
    before: u64,
}

impl Service {
    /// Carries a message to its agent.
    pub(super) async fn send(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        send: Box<Send>,
        streams: bool,
    ) -> Result<OperationReply, ServiceError> {
        let Send { message, configuration, metadata } = *send;
        if caller.agent.is_none()
            && message.task.is_none()
            && let Some(request) = super::skill::requested(&self.skills, &message)
        {
            return self.call_skill(caller, &message, request).await;
        }
        let aimed = self.aimed(caller, &message)?;
        let sender = self.sender(caller, aimed.assumed).await?;
        let sent = match self.first_sent(caller, &message, &sender).await? {
            FirstSent::Now(sent) => sent,
            FirstSent::Before(task) => {
                // This way does not reach `Host::receive`, which meters all other messages.
                self.host.meter(caller.peer())?;
                return self.again(caller, *task, &configuration, streams).await;
            }
        };
        // Nobody but this host can have named it before.
        let begins = message.context.is_none() && message.task.is_none();
        let routed = self.routed(caller, &message, aimed, sender).await?;
        let agent = routed.resident.card.handle().clone();
        let mut heard = heard(message, &metadata, &routed.resident.card)?;
        if heard.payment == Some(PaymentAnswer::Rejected)
            && let Some(task) = routed.continues.as_ref().filter(|task| payment::is_wanted(task))
        {
            return self.rejected(caller, task, &heard.id).await;
        }
        self.take_payment(&mut heard, routed.continues.as_ref())?;
        let webhook = match configuration.push.clone() {
            Some(push) => Some(self.webhook(caller, push).await?),
            None => None,
        };
        let MessageRoute { resident, sender, thread, continues, sticks } = routed;
        let before = match &continues {
            // Read before the task gets the message: everything after this number is the answer to it.
            Some(task) => task.last_event().await?,
            None => 0,
        };
        let name = sent.as_ref().map(|(_, sent)| sent.task_name());
        let run = Run { webhook: webhook.map(Box::new), continues, begins, name, ..self.run(&configuration, streams) };
        let access = sender.clone();
        let message = self.message(caller, resident, sender, thread.clone(), heard).await;
        // A host that takes nothing at the moment has begun nothing: that is an error, since a task reads as if the
        // message had been taken.
        let reply = self.host.receive(message, run).await?;
        if let Some(name) = sticks {
            self.host.set_route(&name, &agent, &access).await?;
        }
        let told = AnswerForm { configuration: &configuration, streams, before };
        self.replied(caller, reply, (thread, access, sent), told).await
    }

    /// Whether a message was sent before; else its fingerprint, where it has an id, with its turn among those of that id.
    async fn first_sent(
        &self,
        caller: &Caller<'_>,
        message: &crate::model::Message,
        sender: &Sender,
    ) -> Result<FirstSent, ServiceError> {
        let Some(sent) = MessageFingerprint::of(message, caller, sender) else { return Ok(FirstSent::Now(None)) };
        Ok(match self.arrived(caller, sender, &sent).await? {
            (_, Some(task)) => FirstSent::Before(Box::new(task)),
            (turn, None) => FirstSent::Now(Some((turn, sent))),
        })
    }

    /// What the host made of a message, in the form that was asked for.
    async fn replied(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        reply: Reply,
        (thread, access, sent): (ThreadId, Sender, Option<(ArrivalTurn, MessageFingerprint)>),
        AnswerForm { configuration, streams, before }: AnswerForm<'_>,
    ) -> Result<OperationReply, ServiceError> {
        let Some(id) = &reply.task else {
            let thread = reply.thread.clone().unwrap_or(thread);
            return Ok(self.direct(reply, &thread).await);
        };
        if let Some((turn, sent)) = sent {
            self.remember_sent(turn, sent, id);
        }
        let task = self.host.task(id, TaskAccess::As(&access)).await?;
        if streams {
            return self.streamed(caller, task, before).await;
        }
        if configuration.blocking {
            self.wait_for(reply.events).await;
        }
        self.stands(caller, &task, configuration).await
    }

    /// How long an answer is waited for before it is a task, and how long for its end. Who wants to be told elsewhere,
    /// or as it comes, waits for no direct answer.
    fn run(&self, configuration: &Configuration, streams: bool) -> Run {
        let waits = configuration.blocking && !streams && configuration.push.is_none();
        let within = if waits { DIRECT_ANSWER_WITHIN } else { Duration::ZERO };
        let wait = if streams || configuration.blocking { self.blocking() } else { Duration::ZERO };
        Run {
            wait,
            task: TaskMode::UnlessMessage { within },
            webhook: None,
            continues: None,
            begins: false,
            name: None,
        }
    }

    /// The stream of a task from its beginning; what it had given `before` this message is told at once.
    async fn streamed(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        task: TaskPermit,
        before: u64,
    ) -> Result<OperationReply, ServiceError> {
        let passed = match before {
            0 => Vec::new(),
            before => task.events(0, before as usize).await?,
        };
        let begun = at_work(task.task().clone());
        Ok(self.follow(caller, task, begun, passed, Pauses::None))
    }

    /// Whom a message names before it is known who sends it and what it goes on with. An endpoint of one
    /// agent is for that agent; on the hub a mention counts. Hub card 3.2.
    fn aimed(&self, caller: &Caller<'_>, message: &crate::model::Message) -> Result<AddressedAgents<'_>, ServiceError> {
        let directory = self.host.directory();
        let own = match &caller.agent {
            Some(handle) => Some(directory.find(handle).ok_or_else(|| no_such_agent(handle))?),
            None => None,
        };
        let mentioned = if own.is_none() { self.mentioned(message) } else { None };
        let named = own.or(mentioned);
        Ok(AddressedAgents { mentioned, named, assumed: named.unwrap_or_else(|| directory.default_agent()) })
    }

    /// Finds the agent of a message: on the hub a task stays with its own, a mention switches, and a
    /// conversation goes on. Hub card 3.2, 3.3.
    async fn routed<'a>(
        &'a self,
        caller: &Caller<'_>,
        message: &crate::model::Message,
        aimed: AddressedAgents<'a>,
        sender: Sender,
    ) -> Result<MessageRoute<'a>, ServiceError> {
        let directory = self.host.directory();
        let AddressedAgents { mentioned, named, assumed } = aimed;
        if let Some(id) = &message.task {
            let task = self.continued(caller, &sender, id, message.context.as_deref()).await?;
            let resident = directory.find(&task.agent).ok_or(OperationError::TaskNotFound)?;
            let sender = self.seen_by(resident, assumed, caller, sender).await?;
            let thread = match &task.thread {
                Some(thread) => thread.clone(),
                None => self.thread(Some(&view::context(&task)), None, &sender).await?,
            };
            return Ok(MessageRoute { resident, sender, thread, continues: Some(task), sticks: None });
        }
        let context = message.context.as_deref();
        let sticky = match (named, context) {
            (None, Some(context)) => self.sticky(context, &sender).await?,
            _ => None,
        };
        let resident = named.or(sticky).unwrap_or(assumed);
        let sender = self.seen_by(resident, assumed, caller, sender).await?;
        let thread = self.thread(context, Some(resident.card.handle()), &sender).await?;
        // Renewed by each message: a lively conversation would lose its agent seven days after the mention (Hub card
        // 3.3).
        let sticks = match mentioned.or(sticky) {
            Some(_) => Some(adopted(thread.expose(), &sender)?),
            None => None,
        };
        Ok(MessageRoute { resident, sender, thread, continues: None, sticks })
    }

    /// The sender as `resident` sees it. Evidence is made out to one agent, so that it is looked at
    /// again when the message is for another one than was assumed.
    async fn seen_by(
        &self,
        resident: &Arc<HostedAgent>,
        assumed: &Arc<HostedAgent>,
        caller: &Caller<'_>,
        sender: Sender,
    ) -> Result<Sender, ServiceError> {
        match Arc::ptr_eq(resident, assumed) {
            true => Ok(sender),
            false => self.sender(caller, resident).await,
        }
    }

    /// The task that a message goes on with.
    async fn continued(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        id: &str,
        context: Option<&str>,
    ) -> Result<TaskPermit, ServiceError> {
        let task = self.readable(caller, sender, id).await?;
        if context.is_some_and(|context| context != view::context(&task)) {
            return Err(OperationError::param("message.contextId", "is not the conversation of that task").into());
        }
        match task.state.is_settled() && !task.state.is_final() {
            true => Ok(task),
            false => {
                let words = format!("the task is {} and takes no message now", task.state.name());
                Err(OperationError::UnsupportedOperation(words).into())
            }
        }
    }

    async fn message(
        &self,
        caller: &Caller<'_>,
        resident: &HostedAgent,
        mut sender: Sender,
        thread: ThreadId,
        heard: IncomingMessage,
    ) -> Message {
        let submission = self.submission(&heard).await;
        let IncomingMessage { id, parts, history, hop, evidence, metadata, mut extensions, annotations, .. } = heard;
        let received_at = self.host.clock().now();
        self.forwarded(&mut sender, evidence, resident, received_at).await;
        for uri in caller.extensions() {
            if !extensions.contains(&uri) {
                extensions.push(uri);
            }
        }
        Message {
            thread: Some(thread),
            sender,
            history: history.into(),
            language: negotiate::language(&caller.head.headers),
            hop: caller.hop().max(hop),
            metadata,
            extensions,
            annotations,
            submission,
            ..Message::new(id, resident.card.handle().clone(), parts, TRANSPORT, received_at)
        }
    }

    /// Adds what forwarded evidence proves. What does not hold is left out, and nothing else happens.
    async fn forwarded(
        &self,
        sender: &mut Sender,
        entries: Vec<Value>,
        resident: &HostedAgent,
        now: forecourt_core::Timestamp,
    ) {
        if entries.is_empty() {
            return;
        }
        let mut carried = Evidence::default();
        carried.take(entries);
        let own = std::mem::take(&mut sender.identities);
        sender.identities = self.verifier.forwarded(&carried, &resident.card.address, &own, now).await;
        sender.identities.extend(own);
        sender.verified = !sender.identities.is_empty();
        (sender.authority, sender.agent) = self.verifier.authority(&sender.identities);
    }

    /// An answer without a task: a message, or a refusal before there was one.
    async fn direct(&self, reply: Reply, thread: &ThreadId) -> OperationReply {
        let (receipt, usage) = (reply.receipt.clone(), reply.usage.clone());
        let collected = reply.collect().await;
        match collected.ending {
            Ending::Message(text) => {
                let mut message = self.remark(text, thread);
                payment::complete(
                    &mut message.metadata,
                    receipt.get().cloned().map(Value::Object).into_iter().collect(),
                );
                put_usage(&mut message.metadata, &usage.so_far());
                OperationReply::Once(OperationOutcome::Sent(Item::Message(message)))
            }
            Ending::Refused(part) => self.refused(thread, part),
            _ => {
                let part = forecourt_core::policy::RefusalKind::ServiceUnavailable { retry_after_seconds: None };
                tracing::error!("an answer that is no message had no task");
                self.refused(thread, Box::new(PolicyPart::new(part, "This host could not answer.")))
            }
        }
    }

    fn remark(&self, text: String, thread: &ThreadId) -> crate::model::Message {
        crate::model::Message {
            id: forecourt_core::ids::mint(&**self.host.entropy()),
            role: Role::Agent,
            parts: vec![fragment(text)],
            context: Some(thread.expose().to_owned()),
            task: None,
            references: Vec::new(),
            extensions: Vec::new(),
            metadata: Metadata::new(),
        }
    }

    pub(crate) fn refused(&self, thread: &ThreadId, part: Box<PolicyPart>) -> OperationReply {
        let id = TaskId::mint(&**self.host.entropy());
        let now = self.host.clock().now();
        let task = view::refused(id.expose().to_owned(), thread.expose().to_owned(), &part, now);
        OperationReply::Refused(Item::Task(task), part)
    }

    /// How long a request is held open for an answer.
    fn blocking(&self) -> Duration {
        Duration::from_secs(self.settings.blocking_seconds.get().into())
    }

    /// Waits for the end of a task, as long as the configuration allows. The task goes on without.
    pub(super) async fn wait_for(&self, mut events: EventStream) {
        let patience = self.blocking();
        let ending = async { while !matches!(events.next().await, None | Some(Event::Ending(_))) {} };
        let _ = tokio::time::timeout(patience, ending).await;
    }

    /// A task as it stands, in answer to a message.
    pub(super) async fn stands(
        &self,
        caller: &Caller<'_>,
        task: &TaskPermit,
        configuration: &Configuration,
    ) -> Result<OperationReply, ServiceError> {
        let task = task.reload().await?;
        let want = TaskDetail { history: configuration.history_length, ..caller.detail() };
        let shown = Item::Task(view::task(&task, want, self.base(caller).as_str()).await);
        Ok(match task.outcome.clone().map(|outcome| outcome.ending) {
            Some(Ending::Refused(part)) => OperationReply::Refused(shown, part),
            _ => OperationReply::Once(OperationOutcome::Sent(shown)),
        })
    }
}
