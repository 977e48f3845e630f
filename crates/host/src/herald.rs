//! Telling the operator that a question waits: a post like those that tell of settled tasks, made by the
//! same deliverer under the same bounds.
//!
//! Deliveries belong to tasks, in whose transactions they are written. So a question is told as the end of
//! a task of its own, which nobody owns, no conversation holds, and whose name is told to nobody.

use std::sync::Arc;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::Gathered;
use forecourt_core::store::{Account, TaskChange, Webhook};
use forecourt_core::{Clock, Ending, Entropy, Error, Handle, Store, Task, TaskId, TaskState, ids};
use serde_json::{Map, Value, json};

use crate::deliver::{Bell, Post};
use crate::queue::Asked;
use crate::threads::after;

/// Whose posts these are, among those of protocols.
pub(crate) const NAME: &str = "operator";
/// Further attempts after a first one that failed: the last about an hour and a half after it.
pub const QUESTION_RETRIES: u32 = 10;

/// Where the operator is told that a question waits.
#[derive(Clone)]
pub struct OperatorWebhook {
    /// Where to post: what a webhook may reach.
    pub url: String,
    /// What signs each post.
    pub secret: String,
}

/// Never prints the secret, nor the URL, which may hold one.
impl std::fmt::Debug for OperatorWebhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperatorWebhook").finish_non_exhaustive()
    }
}

/// Tells the operator.
pub(crate) struct Herald {
    pub(crate) webhook: OperatorWebhook,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) bell: Bell,
}

impl Herald {
    /// Queues the post that a question waits, in the name of `agent`. Once this is done, it will be made.
    pub(crate) async fn tell(&self, asked: &Asked, agent: &Handle) -> Result<(), Error> {
        let task = self.task(agent);
        let (id, state) = (task.id.clone(), task.state);
        self.store.create_task(task).await?;
        // Of a task that was just made there is one webhook; should the process die now, the next run ends it.
        let _one = self.store.add_webhook(&id, self.webhook(asked), 1).await?;
        let told = Gathered::default().finish(Ending::Complete);
        self.store.advance_task(&id, TaskChange::settle(state, told, self.clock.now())).await?;
        self.bell.ring();
        Ok(())
    }

    fn task(&self, agent: &Handle) -> Task {
        let now = self.clock.now();
        Task {
            id: TaskId::mint(&*self.entropy),
            agent: agent.clone(),
            thread: None,
            owner: None,
            account: Account::HOST,
            received_via: NAME.to_owned(),
            turns: Vec::new(),
            state: TaskState::Working,
            outcome: None,
            run: NAME.to_owned(),
            created_at: now,
            updated_at: now,
            expires_at: after(now, TASK_TTL),
        }
    }

    fn webhook(&self, asked: &Asked) -> Webhook {
        let OperatorWebhook { url, secret } = self.webhook.clone();
        Webhook {
            id: ids::mint(&*self.entropy),
            protocol: NAME.to_owned(),
            url,
            secret: Some(secret),
            callback: false,
            retries: QUESTION_RETRIES,
            details: told(asked),
        }
    }
}

/// What is told of a question. What it is about and what there is to know stay behind the door of the
/// queue: the one may be the name of a task, which opens it, and the other is anything.
fn told(asked: &Asked) -> Map<String, Value> {
    let inquiry = &asked.inquiry;
    let all = [
        ("event", json!("question")),
        ("id", json!(asked.id)),
        ("by", json!(inquiry.by)),
        ("agent", json!(inquiry.agent)),
        ("reason", json!(inquiry.reason)),
        ("urgency", json!(inquiry.urgency)),
        ("asked_at", json!(asked.asked_at)),
        ("due", json!(inquiry.due)),
    ];
    all.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The post that a question waits.
pub(crate) fn post(_: &Task, webhook: &Webhook) -> Post {
    Post::json(&Value::Object(webhook.details.clone()), webhook.secret.as_deref())
}
