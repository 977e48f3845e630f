//! INSPECT: what is kept about agents, tasks and questions. Base 3.3.

use arc_swap::ArcSwap;
use forecourt_agtp_wire::status::Status;
use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use forecourt_host::{CHANGES_PER_READ_MAX, Inquiries, LifecycleView, OperatorQuestion};
use forecourt_identity::HostKeys;
use serde_json::{Value, json};

use super::agents::{HostAgents, no_agent};
use super::call::{MethodCall, not_kept};
use super::contracts::CallerContracts;
use super::escalate::describe_question;
use super::events::describe_change;
use super::records::RecordReader;
use super::tasks::CallerTasks;
use crate::limits::EVENTS_DEFAULT;
use crate::reply::{Problem, Reply};

/// What can be looked at.
const TARGETS: [&str; 7] = ["audit", "chain_head", "lifecycle", "contract", "rcns-attempt", "task", "escalation"];

/// INSPECT: records, lifecycle events, contracts, tasks and questions, each for those who may see it.
pub(super) struct InspectMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub tasks: CallerTasks<'a>,
    pub records: RecordReader<'a>,
    pub contracts: CallerContracts<'a>,
    pub inquiries: Inquiries<'a>,
    pub lifecycle: LifecycleView<'a>,
    pub keys: &'a ArcSwap<HostKeys>,
    pub server_id: &'a str,
}

impl InspectMethod<'_> {
    /// Looks at one thing.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let target = self.call.given.required_text(&["target"])?;
        match target {
            "lifecycle" => self.inspect_lifecycle().await,
            "task" => {
                let task = self.tasks.find(self.call.given.named("task_id")?).await?;
                Ok(self.call.inspection(target, self.tasks.describe(&task).await?))
            }
            "escalation" => self.inspect_escalation().await,
            "audit" => self.records.inspect_audit().await,
            "chain_head" => self.records.inspect_chain_head().await,
            "contract" => self.contracts.inspect().await,
            "rcns-attempt" => self.contracts.inspect_attempt(),
            _ => {
                let message = format!("`target` must be one of {}", TARGETS.join(", "));
                Err(Problem::new(Status::UNPROCESSABLE, "unknown-inspect-target", message)
                    .with("targets", TARGETS.to_vec()))
            }
        }
    }

    /// The signed events of an agent, the newest first.
    async fn inspect_lifecycle(&self) -> Result<Reply, Problem> {
        self.call.given.named("agent_id")?;
        self.records.require_some_reader()?;
        let id = self.call.given.agent(&["agent_id"])?.ok_or_else(|| no_agent(None))?;
        let agent = self.agents.known.get(&id).filter(|agent| agent.is_hosted());
        let agent = agent.ok_or_else(|| no_agent(Some(id.as_str())))?;
        let handle = agent.handle.as_ref().ok_or_else(|| no_agent(None))?;
        self.records.require_reader(Some(&agent.agent_id), || no_agent(Some(id.as_str())))?;
        let limit = self.call.given.count(&["limit"], 1..=CHANGES_PER_READ_MAX)?.unwrap_or(EVENTS_DEFAULT);
        let kept = self.lifecycle.changes(handle, Span::Before(u64::MAX), limit).await?;
        let status = self.lifecycle.state(handle).await?.name();
        let keys = self.keys.load();
        let mut events: Vec<Value> =
            kept.iter().map(|(_, kept)| describe_change(kept, &keys, &agent.agent_id, self.server_id)).collect();
        events.extend(self.records.contract_events(&agent.agent_id, limit).await?);
        newest_first(&mut events);
        events.truncate(limit);
        let body = json!({"agent_id": id, "status": status, "event_count": events.len(), "events": events});
        Ok(self.call.inspection("lifecycle", body))
    }

    /// A question to the operator, for whoever asked it.
    async fn inspect_escalation(&self) -> Result<Reply, Problem> {
        let id = self.call.given.named("escalation_id")?;
        let caller = self.call.caller.agent_id.as_deref();
        let asked = self.inquiries.question(id).await?;
        let is_mine =
            |asked: &OperatorQuestion| asked.inquiry.by.as_deref() == caller || self.call.require_operator().is_ok();
        // Another agent's question looks like one that is not there, so that ids can't be tried out.
        let asked = asked.filter(is_mine).ok_or_else(|| not_kept("escalation-not-found", "escalation_id", id))?;
        Ok(self.call.inspection("escalation", describe_question(&asked)))
    }
}

/// Events by when they were signed, the newest first.
fn newest_first(events: &mut [Value]) {
    let at = |event: &Value| event["payload"]["issued_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    events.sort_by_key(|event| std::cmp::Reverse(at(event)));
}
