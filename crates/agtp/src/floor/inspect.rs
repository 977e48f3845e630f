//! INSPECT: what is kept about agents, tasks and questions. Base 3.3.

use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use forecourt_host::{CHANGES_PER_READ_MAX, OperatorQuestion};
use serde_json::{Value, json};

use super::events::shown;
use super::{Floor, no_agent};
use crate::limits::EVENTS_DEFAULT;
use crate::reply::{Problem, Reply};
use crate::status::Status;

/// What can be looked at.
const TARGETS: [&str; 7] = ["audit", "chain_head", "lifecycle", "contract", "rcns-attempt", "task", "escalation"];

impl Floor<'_> {
    /// Looks at one thing.
    pub(super) async fn inspect(&self) -> Result<Reply, Problem> {
        let target = self.given.required_text(&["target"])?;
        match target {
            "lifecycle" => self.inspect_lifecycle().await,
            "task" => {
                let task = self.task(self.named("task_id")?).await?;
                self.inspected(target, self.task_shown(&task).await?)
            }
            "escalation" => self.inspect_escalation().await,
            "audit" => self.inspect_audit().await,
            "chain_head" => self.inspect_chain_head().await,
            "contract" => self.inspect_contract().await,
            "rcns-attempt" => self.inspect_attempt(),
            _ => {
                let message = format!("`target` must be one of {}", TARGETS.join(", "));
                Err(Problem::new(Status::UNPROCESSABLE, "unknown-inspect-target", message)
                    .with("targets", TARGETS.to_vec()))
            }
        }
    }

    /// The signed events of an agent, the newest first.
    async fn inspect_lifecycle(&self) -> Result<Reply, Problem> {
        self.named("agent_id")?;
        let id = self.given.agent(&["agent_id"])?.ok_or_else(|| no_agent(None))?;
        let agent = self.service.agents.get(&id).filter(|agent| agent.is_hosted());
        let agent = agent.ok_or_else(|| no_agent(Some(id.as_str())))?;
        let handle = agent.handle.as_ref().ok_or_else(|| no_agent(None))?;
        self.may_read(Some(&agent.agent_id))?;
        let limit = self.given.count(&["limit"], 1..=CHANGES_PER_READ_MAX)?.unwrap_or(EVENTS_DEFAULT);
        let kept = self.service.host.lifecycle().changes(handle, Span::Before(u64::MAX), limit).await?;
        let status = self.service.host.lifecycle().state(handle).await?.name();
        let keys = self.service.keys.load();
        let mut events: Vec<Value> =
            kept.iter().map(|(_, kept)| shown(kept, &keys, &agent.agent_id, self.server_id())).collect();
        events.extend(self.contract_events(&agent.agent_id, limit).await?);
        newest_first(&mut events);
        events.truncate(limit);
        self.inspected(
            "lifecycle",
            json!({"agent_id": id, "status": status, "event_count": events.len(), "events": events}),
        )
    }

    /// A question to the operator, for whoever asked it.
    async fn inspect_escalation(&self) -> Result<Reply, Problem> {
        let id = self.named("escalation_id")?;
        let caller = self.ask.call.caller.agent_id.as_deref();
        let asked = self.service.host.inquiries().question(id).await?;
        let is_mine = |asked: &OperatorQuestion| asked.inquiry.by.as_deref() == caller || self.is_operator().is_ok();
        let asked = asked.filter(is_mine).ok_or_else(|| none("escalation-not-found", "escalation_id", id))?;
        self.inspected("escalation", escalation(&asked))
    }

    pub(super) fn inspected(&self, target: &str, mut body: Value) -> Result<Reply, Problem> {
        body["method"] = self.method.into();
        body["target"] = target.into();
        Ok(Reply::ok(body))
    }

    /// A parameter that this target needs. Base 3.3: a missing one is 400.
    pub(super) fn named(&self, name: &'static str) -> Result<&str, Problem> {
        let named = self.given.text(&[name])?;
        named.ok_or_else(|| self.given.missing(Status::BAD_REQUEST, &[name]))
    }
}

/// Events by when they were signed, the newest first.
fn newest_first(events: &mut [Value]) {
    let at = |event: &Value| event["payload"]["issued_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    events.sort_by_key(|event| std::cmp::Reverse(at(event)));
}

/// What is said of a question to the operator.
pub(super) fn escalation(asked: &OperatorQuestion) -> Value {
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

/// The problem that nothing of that name is kept.
pub(super) fn none(code: &str, name: &str, id: &str) -> Problem {
    let id: String = id.chars().take(crate::limits::NAME_CHARS_MAX).collect();
    Problem::new(Status::NOT_FOUND, code, "nothing of this name is kept here").with(name, id)
}
