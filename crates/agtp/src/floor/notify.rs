//! NOTIFY: a message to an agent here, in the background. Base 3.1.

use forecourt_core::{AgentId, Handle};
use forecourt_host::Run;
use serde_json::json;

use super::Floor;
use super::carry::parts;
use crate::reply::{Problem, Reply};
use crate::status::Status;

const URGENCIES: [&str; 3] = ["critical", "informational", "background"];
const GUARANTEES: [&str; 3] = ["at_most_once", "at_least_once", "exactly_once"];
/// What is kept: a message is written down before it is acknowledged and handed over once; a crash in
/// between ends it as failed and never repeats it.
const KEPT: &str = "at_most_once";

impl Floor<'_> {
    /// Hands a message over and gives a receipt.
    pub(super) async fn notify(&self) -> Result<Reply, Problem> {
        self.caller()?;
        self.given.require(&[&["recipient"], &["content", "event"]])?;
        let recipient = self.given.required_text(&["recipient"])?;
        let handle = self.recipient(recipient)?;
        let urgency = self.given.one_of(&["urgency"], &URGENCIES)?.unwrap_or("informational");
        let guarantee = self.given.one_of(&["delivery_guarantee"], &GUARANTEES)?.unwrap_or(KEPT);
        if guarantee != KEPT {
            let message = format!("messages are handed over {KEPT} here: leave `delivery_guarantee` out, or say so");
            let problem = Problem::new(Status::UNPROCESSABLE, "guarantee-not-offered", message);
            return Err(problem.with("offered", vec![KEPT]).with("field", "/delivery_guarantee"));
        }
        if self.given.moment(&["expiry"])?.is_some_and(|expiry| expiry <= self.now()) {
            return Err(Problem::new(Status::TIMEOUT, "notification-expired", "`expiry` has passed already"));
        }
        let content = self.given.words(&["content", "event"]).unwrap_or_default();
        let urgency_value = json!(urgency);
        let beside = [("payload", self.given.get(&["payload"])), ("urgency", Some(&urgency_value))];
        let message = self.message(&handle, parts(content, beside));
        let reply = self.service.host.receive(message, Run::in_background(None)).await?;
        let Some(task) = reply.task else {
            // It was refused before there was a task.
            super::carry::answered(reply.collect().await)?;
            return Err(Problem::new(Status::SERVER_ERROR, "server-error", "the message was not handed over"));
        };
        let id = self.name("ntf");
        Ok(Reply::ok(json!({
            "method": self.method,
            "notification_id": id,
            "delivery_id": id,
            "recipient": recipient,
            "agent_id": self.agent_id(&handle),
            "status": "delivered",
            "urgency": urgency,
            "delivery_guarantee": guarantee,
            "task_id": task.expose(),
            "delivered_at": self.now(),
        })))
    }

    /// The agent here that a caller means: by its Agent-ID, its address, or its name.
    pub(super) fn recipient(&self, said: &str) -> Result<Handle, Problem> {
        let agents = &self.service.agents;
        let name = said.rsplit('/').next().unwrap_or(said);
        let local = name.trim_start_matches('@').split('@').next().unwrap_or(name);
        let found = match AgentId::parse(name) {
            Ok(id) => agents.get(&id),
            Err(_) => agents.of_name(local).filter(|_| self.is_here(name)),
        };
        let none = || {
            let message = "no such agent lives here: DISCOVER /agents lists those that do";
            Problem::new(Status::NOT_FOUND, "recipient-not-found", message)
        };
        found.and_then(|agent| agent.handle.clone()).ok_or_else(none)
    }

    /// Whether an address is one of this domain. A name alone is.
    fn is_here(&self, name: &str) -> bool {
        let domain = name.trim_start_matches('@').split_once('@').map(|(_, domain)| domain);
        domain.is_none_or(|domain| domain.eq_ignore_ascii_case(self.service.host.site().domain.as_str()))
    }
}
