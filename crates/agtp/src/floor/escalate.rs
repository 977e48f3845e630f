//! ESCALATE: a question to the operator of this host. Base 3.1.

use forecourt_core::TaskId;
use forecourt_host::OperatorInquiry;
use serde_json::{Value, json};

use super::Floor;
use crate::reply::{Problem, Reply};
use crate::status::Status;

/// Why somebody must decide.
const REASONS: [&str; 5] =
    ["confidence_threshold", "scope_limit", "ethical_flag", "ambiguous_instruction", "resource_unavailable"];
const PRIORITIES: [&str; 3] = ["urgent", "normal", "low"];
/// Whoever reads the queue.
const OPERATORS: [&str; 2] = ["operator", "human"];

impl Floor<'_> {
    /// Puts a question into the operator's queue. The same one that waits already is the answer.
    pub(super) async fn escalate(&self) -> Result<Reply, Problem> {
        let caller = self.caller()?;
        // The reference implementation has a decision point alone.
        let is_bare = self.given.get(&["decision_point"]).is_some() && self.given.get(&["task_id"]).is_none();
        if !is_bare {
            self.given.require(&[&["task_id"], &["reason"], &["context", "decision_point"]])?;
        }
        let reason = self.given.one_of(&["reason"], &REASONS)?.unwrap_or("ambiguous_instruction");
        let urgency = self.given.one_of(&["priority"], &PRIORITIES)?.unwrap_or("normal");
        self.for_operator()?;
        let due = self.given.moment(&["deadline"])?;
        if due.is_some_and(|due| due <= self.now()) {
            return Err(Problem::new(Status::TIMEOUT, "deadline-passed", "the deadline has passed already"));
        }
        let task = self.given.name(&["task_id"])?;
        let paused = match task.filter(|id| TaskId::parse(id).is_some()) {
            Some(id) => self.task(id).await?.state.is_waiting(),
            None => false,
        };
        let context = self.context()?;
        let inquiry = OperatorInquiry {
            by: Some(caller.to_owned()),
            agent: self.addressed().ok().map(|(_, handle)| handle.clone()),
            subject: task.map_or_else(|| context.to_string(), str::to_owned),
            reason: reason.to_owned(),
            urgency: urgency.to_owned(),
            context,
            due,
        };
        let asked = self.service.host.inquiries().ask(inquiry).await?;
        // AGTP-API 10.3: what this session had refused is in the hands of a person now.
        self.service.negotiator.escalated(&self.ask.call.caller, &self.ask.call.thread);
        Ok(Reply::json(
            Status::ACCEPTED,
            json!({
                "method": self.method,
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
        let Some(recipient) = self.given.text(&["recipient", "target_authority"])? else { return Ok(()) };
        let contact = self.service.settings.server.contact.as_deref();
        if OPERATORS.contains(&recipient) || contact == Some(recipient) {
            return Ok(());
        }
        let message = "questions go to the operator of this server: leave `recipient` out, or say operator";
        Err(Problem::new(Status::NOT_FOUND, "recipient-not-found", message).with("recipients", OPERATORS.to_vec()))
    }

    /// What is to be known, the decision point too.
    fn context(&self) -> Result<Value, Problem> {
        let (context, point) = (self.given.kept(&["context"])?, self.given.kept(&["decision_point"])?);
        Ok(match (context, point) {
            (Some(context), None) => context.clone(),
            (None, Some(point)) => point.clone(),
            (context, point) => json!({"decision_point": point, "context": context}),
        })
    }
}
