//! ESCALATE: a question to the operator of this host. Base 3.1.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::call::Thread;
use forecourt_core::TaskId;
use forecourt_host::{Inquiries, OperatorInquiry, OperatorQuestion};
use forecourt_synthesis::negotiator::Negotiator;
use serde_json::{Value, json};

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::tasks::CallerTasks;
use crate::reply::{Problem, Reply};

/// Why somebody must decide.
const REASONS: [&str; 5] =
    ["confidence_threshold", "scope_limit", "ethical_flag", "ambiguous_instruction", "resource_unavailable"];
const PRIORITIES: [&str; 3] = ["urgent", "normal", "low"];
/// Whoever reads the queue.
const OPERATORS: [&str; 2] = ["operator", "human"];

/// A question to the operator of this host.
pub(super) struct EscalateMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub tasks: CallerTasks<'a>,
    pub ambient: Ambient<'a>,
    pub inquiries: Inquiries<'a>,
    pub negotiator: &'a Negotiator,
    /// The session whose refused proposals are in a person's hands from now on.
    pub thread: &'a Thread,
    /// What the operator is called, beside `operator` and `human`.
    pub contact: Option<&'a str>,
}

impl EscalateMethod<'_> {
    /// Puts a question into the operator's queue. The same one that waits already is the answer.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let caller = self.call.agent_id()?;
        // The reference implementation has a decision point alone.
        let is_bare = self.call.given.get(&["decision_point"]).is_some() && self.call.given.get(&["task_id"]).is_none();
        if !is_bare {
            self.call.given.require(&[&["task_id"], &["reason"], &["context", "decision_point"]])?;
        }
        let reason = self.call.given.one_of(&["reason"], &REASONS)?.unwrap_or("ambiguous_instruction");
        let urgency = self.call.given.one_of(&["priority"], &PRIORITIES)?.unwrap_or("normal");
        self.for_operator()?;
        let due = self.call.given.moment(&["deadline"])?;
        if due.is_some_and(|due| due <= self.ambient.now()) {
            return Err(Problem::new(Status::TIMEOUT, "deadline-passed", "the deadline has passed already"));
        }
        let task = self.call.given.name(&["task_id"])?;
        // A name of another form is the caller's own for work that is not here.
        let paused = match task.filter(|id| TaskId::parse(id).is_some()) {
            Some(id) => self.tasks.find(id).await?.state.is_waiting(),
            None => false,
        };
        let context = self.context()?;
        let inquiry = OperatorInquiry {
            by: Some(caller.to_owned()),
            agent: self.agents.addressed().ok().map(|(_, handle)| handle.clone()),
            subject: task.map_or_else(|| context.to_string(), str::to_owned),
            reason: reason.to_owned(),
            urgency: urgency.to_owned(),
            context,
            due,
        };
        let asked = self.inquiries.ask(inquiry).await?;
        // AGTP-API 10.3: what this session had refused is in the hands of a person now.
        self.negotiator.escalated(self.call.caller, self.thread);
        Ok(Reply::json(
            Status::ACCEPTED,
            json!({
                "method": self.call.method,
                "escalation_id": asked.id,
                "routed_to": OPERATORS[0],
                "status": "pending_review",
                "task_id": task,
                "task_paused": paused,
                "priority": asked.inquiry.urgency,
                "escalated_at": asked.asked_at,
                "estimated_review_by": asked.inquiry.due,
                "poll": {"method": "INSPECT", "path": "/",
                    "parameters": {"target": "escalation", "escalation_id": asked.id}},
            }),
        ))
    }

    /// Nobody but the operator reads the queue.
    fn for_operator(&self) -> Result<(), Problem> {
        let Some(recipient) = self.call.given.text(&["recipient", "target_authority"])? else { return Ok(()) };
        if OPERATORS.contains(&recipient) || self.contact == Some(recipient) {
            return Ok(());
        }
        let message = "questions go to the operator of this server: leave `recipient` out, or say operator";
        Err(Problem::new(Status::NOT_FOUND, "recipient-not-found", message).with("recipients", OPERATORS.to_vec()))
    }

    /// What is to be known, the decision point too.
    fn context(&self) -> Result<Value, Problem> {
        let (context, point) = (self.call.given.kept(&["context"])?, self.call.given.kept(&["decision_point"])?);
        Ok(match (context, point) {
            (Some(context), None) => context.clone(),
            (None, Some(point)) => point.clone(),
            (context, point) => json!({"decision_point": point, "context": context}),
        })
    }
}

/// A question to the operator as it is answered.
pub(super) fn describe_question(asked: &OperatorQuestion) -> Value {
    let status = match &asked.answer {
        None => json!("pending_review"),
        Some(answer) => json!(answer.decision),
    };
    json!({
        "escalation_id": asked.id,
        "status": status,
        "task_id": asked.inquiry.subject,
        "reason": asked.inquiry.reason,
        "priority": asked.inquiry.urgency,
        "escalated_at": asked.asked_at,
        "answer": asked.answer,
    })
}
