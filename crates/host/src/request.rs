//! What is kept of a message on the way of its answer.

use std::sync::Arc;

use forecourt_core::network::Network;
use forecourt_core::store::Account;
use forecourt_core::{
    AgentState, AnswerUsage, CallerKey, EventStream, Language, Message, MessageId, PaymentReceipt, Reply, StopSign,
    Task, TaskId, ThreadId, Transport, Turn, UsageMeter,
};
use forecourt_telemetry::current_trace;
use parking_lot::Mutex;

use crate::conversations::{UserTurn, as_turn};
use crate::directory::HostedAgent;
use crate::in_flight::CallerSlots;
use crate::journal::Journal;
use crate::records::Records;
use crate::run::{Run, TaskMode};
use crate::task_names::TaskName;

/// What is kept of a message once its agent, or the gate, has it. Shared, since the agent's wrapper may need it at
/// the end; at 900 bytes, each future on its way would carry it again.
pub(crate) struct Request {
    pub(crate) resident: Arc<HostedAgent>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) via: Transport,
    /// The id of the message.
    pub(crate) id: MessageId,
    /// The trace that it belongs to.
    pub(crate) trace: Option<String>,
    /// The places that its work takes.
    pub(crate) slots: CallerSlots,
    pub(crate) owner: Option<String>,
    /// The caller's turn; `None` where neither a task nor a conversation will hold it.
    pub(crate) turn: Option<Turn>,
    /// The language that the caller asked for.
    pub(crate) language: Option<Language>,
    /// Whether the conversation is to be kept.
    is_remembered: bool,
    /// Whether it was kept before.
    is_known: bool,
    /// The task that it goes on with.
    pub(crate) earlier: Option<Box<Task>>,
    /// By what its client names the task that the message begins.
    pub(crate) name: Option<Arc<TaskName>>,
    /// The network behind the caller.
    pub(crate) network: Option<Network>,
    /// What models used for the answer so far.
    pub(crate) used: Mutex<AnswerUsage>,
    /// Where what becomes of it is written down.
    pub(crate) records: Arc<Records>,
    /// The receipt of what is paid for the answer.
    pub(crate) receipt: PaymentReceipt,
    /// What another run goes on by, where its agent is set so.
    pub(crate) journal: Option<Arc<Journal>>,
    /// By what its agent learns why it is stopped. Nobody's for an answer that is never a task: then its caller left.
    pub(crate) stop: StopSign,
    /// What its agent keeps in the conversation.
    state: AgentState,
}

impl Request {
    pub(crate) fn new(
        resident: Arc<HostedAgent>,
        message: &Message,
        earlier: Option<Box<Task>>,
        slots: CallerSlots,
        is_known: bool,
        run: &Run,
        records: &Arc<Records>,
    ) -> Self {
        let is_remembered = resident.card.remembers && !message.unrecorded && message.thread.is_some();
        Self {
            thread: message.thread.clone(),
            via: message.received_via,
            id: message.id.clone(),
            trace: current_trace(),
            owner: message.sender.owner().map(str::to_owned),
            network: message.sender.network(),
            // What goes on with a task is of that one, whatever its client calls it.
            name: run.name.clone().filter(|_| earlier.is_none()),
            used: Mutex::default(),
            // Of an answer without a task and without a conversation nothing is kept, so nothing is copied.
            turn: (is_remembered || run.task != TaskMode::Never).then(|| as_turn(message)),
            language: message.language.clone(),
            resident,
            is_remembered,
            is_known,
            slots,
            earlier,
            records: records.clone(),
            receipt: PaymentReceipt::default(),
            journal: None,
            stop: if run.task == TaskMode::Never { StopSign::default() } else { StopSign::new() },
            state: message.state.clone(),
        }
    }

    /// What is kept of a message whose task was taken up.
    pub(crate) fn taken_up(
        resident: Arc<HostedAgent>,
        message: &Message,
        slots: CallerSlots,
        is_known: bool,
        records: Arc<Records>,
    ) -> Self {
        Self::new(resident, message, None, slots, is_known, &Run::in_background(None), &records)
    }

    /// The same, with what another run goes on by.
    #[must_use]
    pub(crate) fn with_journal(mut self, journal: Arc<Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// The same, with the receipt of what is paid for the answer.
    #[must_use]
    pub(crate) fn with_receipt(mut self, receipt: PaymentReceipt) -> Self {
        self.receipt = receipt;
        self
    }

    /// Whether its conversation was kept before.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// The turn to store with the answer; `None` where the conversation is not kept.
    pub(crate) fn remembered(&self) -> Option<UserTurn> {
        let (thread, turn) = self.thread.clone().zip(self.turn.clone()).filter(|_| self.is_remembered)?;
        let state = self.state.clone();
        Some(UserTurn { thread, turn, account: self.account(), begins: !self.is_known, state })
    }

    /// Whose stored bytes count what is kept of it. Made when something is: of most messages nothing is.
    pub(crate) fn account(&self) -> Account {
        self.caller().account()
    }

    /// Who asked, whatever the conversation.
    pub(crate) fn caller(&self) -> CallerKey<'_> {
        CallerKey::of(self.owner.as_deref(), None, self.network)
    }

    /// The language of the answer.
    pub(crate) fn answer_language(&self) -> Language {
        self.resident.answer_language(self.language.as_ref())
    }

    pub(crate) fn reply(&self, task: Option<TaskId>, events: EventStream) -> Reply {
        let (agent, language) = (self.resident.card.handle().clone(), self.answer_language());
        let usage = UsageMeter::default();
        Reply { agent, thread: self.thread.clone(), task, language, receipt: self.receipt.clone(), usage, events }
    }

    /// The meter that models report their usage to.
    pub(crate) fn meter(self: &Arc<Self>) -> UsageMeter {
        UsageMeter::new(self.clone())
    }

    /// The same meter for the caller; an empty one where the caller may not see usage.
    pub(crate) fn shown_usage(self: &Arc<Self>) -> UsageMeter {
        match self.resident.usage_viewers.include(self.owner.is_some()) {
            true => self.meter(),
            false => UsageMeter::default(),
        }
    }
}
