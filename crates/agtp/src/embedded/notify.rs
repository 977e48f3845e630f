//! NOTIFY: a message to an agent here, in the background. Base 3.1.

use forecourt_agtp_wire::status::Status;
use serde_json::json;

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{Messenger, parts, require_answer};
use crate::reply::{Problem, Reply};

const URGENCIES: [&str; 3] = ["critical", "informational", "background"];
const GUARANTEES: [&str; 3] = ["at_most_once", "at_least_once", "exactly_once"];
/// What is kept: a message is written down before it is acknowledged and handed over once; a crash in
/// between ends it as failed and never repeats it.
const KEPT: &str = "at_most_once";

/// A message to an agent here, in the background.
pub(super) struct NotifyMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub ambient: Ambient<'a>,
}

impl NotifyMethod<'_> {
    /// Hands a message over and gives a receipt.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        self.call.agent_id()?;
        self.call.given.require(&[&["recipient"], &["content", "event"]])?;
        let recipient = self.call.given.required_text(&["recipient"])?;
        let handle = self.agents.find(recipient)?;
        let urgency = self.call.given.one_of(&["urgency"], &URGENCIES)?.unwrap_or("informational");
        let guarantee = self.call.given.one_of(&["delivery_guarantee"], &GUARANTEES)?.unwrap_or(KEPT);
        // Refused and not passed over: a caller would rely on what it asked for.
        if guarantee != KEPT {
            let message = format!("messages are handed over {KEPT} here: leave `delivery_guarantee` out, or say so");
            let problem = Problem::new(Status::UNPROCESSABLE, "guarantee-not-offered", message);
            return Err(problem.with("offered", vec![KEPT]).with("field", "/delivery_guarantee"));
        }
        if self.call.given.moment(&["expiry"])?.is_some_and(|expiry| expiry <= self.ambient.now()) {
            return Err(Problem::new(Status::TIMEOUT, "notification-expired", "`expiry` has passed already"));
        }
        let content = self.call.given.words(&["content", "event"]).unwrap_or_default();
        let urgency_value = json!(urgency);
        let beside = [("payload", self.call.given.get(&["payload"])), ("urgency", Some(&urgency_value))];
        let message = self.messenger.message(&handle, parts(content, beside));
        let reply = self.messenger.hand_over(message).await?;
        let Some(task) = reply.task else {
            // It was refused before there was a task.
            require_answer(reply.collect().await)?;
            return Err(Problem::new(Status::SERVER_ERROR, "server-error", "the message was not handed over"));
        };
        let id = self.ambient.mint("ntf");
        Ok(Reply::ok(json!({
            "method": self.call.method,
            "notification_id": id,
            "delivery_id": id,
            "recipient": recipient,
            "agent_id": self.agents.id_of(&handle),
            "status": "delivered",
            "urgency": urgency,
            "delivery_guarantee": guarantee,
            "task_id": task.expose(),
            "delivered_at": self.ambient.now(),
        })))
    }
}
