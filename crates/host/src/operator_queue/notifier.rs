//! Telling the operator that a question waits: a notice, posted by the same deliverer as what tells of
//! settled tasks, under the same bounds.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::store::{Account, Notification, Webhook};
use forecourt_core::{Clock, Entropy, Error, Store, Timestamp, ids};
use serde_json::{Map, Value, json};

use super::OperatorQuestion;
use crate::deliver::{DeliveryWakeup, OPERATOR};

/// Further attempts after a first one that failed: the last about an hour and a half after it.
pub const QUESTION_RETRIES: u32 = 10;
/// How long after the question a post is of use.
const NOTICE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the operator is told that a question waits.
#[derive(Clone)]
pub struct OperatorWebhook {
    /// Where to post: what a webhook may reach.
    pub url: String,
    /// What signs each post.
    pub secret: String,
}

impl OperatorWebhook {
    /// A post of these details, due now.
    pub(crate) fn notice(self, details: Map<String, Value>, entropy: &dyn Entropy, due_at: Timestamp) -> Notification {
        let Self { url, secret } = self;
        let webhook = Webhook {
            id: ids::mint(entropy),
            protocol: OPERATOR.to_owned(),
            url,
            secret: Some(secret),
            callback: false,
            retries: QUESTION_RETRIES,
            details,
        };
        Notification { webhook, account: Account::HOST, due_at, expires_at: after(due_at, NOTICE_TTL) }
    }
}

/// Never prints the secret, nor the URL, which may hold one.
impl std::fmt::Debug for OperatorWebhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperatorWebhook").finish_non_exhaustive()
    }
}

/// Tells the operator.
pub(crate) struct OperatorNotifier {
    pub(crate) webhook: OperatorWebhook,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) wakeup: DeliveryWakeup,
}

impl OperatorNotifier {
    /// Queues the post that a question waits. Once this is done, it will be made.
    pub(crate) async fn notify(&self, asked: &OperatorQuestion) -> Result<(), Error> {
        let notice = self.webhook.clone().notice(summary(asked), &*self.entropy, self.clock.now());
        self.store.enqueue(notice).await?;
        self.wakeup.wake();
        Ok(())
    }
}

/// What is told of a question. What it is about and what there is to know stay behind the door of the
/// queue: the one may be the name of a task, which opens it, and the other is anything.
fn summary(asked: &OperatorQuestion) -> Map<String, Value> {
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
