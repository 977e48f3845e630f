//! What waits in the queue of the host: activities for servers that did not take them, and looks at what takes long.

use std::time::Duration;

use forecourt_core::store::{Notification, Webhook};
use forecourt_core::{Account, Error, Handle, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Service;
use crate::NAME;
use crate::iri::Iri;
use crate::letter::Letter;
use crate::limits::{DELIVERY_RETRIES, LONG_WORK};

/// What a notice holds that is one activity on its way to one inbox.
pub(crate) const POST: &str = "post";
/// What a notice holds that looks whether a question takes long.
pub(crate) const LONG: &str = "long";

/// An activity of an agent on its way to one inbox, as it is kept in its notice.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct QueuedPost {
    pub(crate) agent: Handle,
    pub(crate) inbox: Iri,
    /// Whom it is for.
    pub(crate) reader: Iri,
    pub(crate) activity: Value,
    /// What it answers, if it is an answer or a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answered: Option<AnsweredQuestion>,
}

/// What of a question is counted once it is answered.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AnsweredQuestion {
    pub(crate) is_refusal: bool,
    pub(crate) asked_at: Option<Timestamp>,
}

impl Service {
    /// Has it looked after a while whether the question is answered.
    pub(super) async fn look_later(&self, letter: &Letter) -> Result<(), Error> {
        let now = self.host().clock().now();
        let webhook = self.webhook(&letter.address.inbox, LONG, json!(letter));
        let due_at = now.checked_add(LONG_WORK).unwrap_or(now);
        let expires_at = now.checked_add(2 * LONG_WORK).unwrap_or(now);
        self.host().notify(Notification { webhook, account: letter.sender.account(), due_at, expires_at }).await
    }

    /// A delivery of this protocol, to this inbox.
    fn webhook(&self, inbox: &Iri, key: &str, value: Value) -> Webhook {
        Webhook {
            id: forecourt_core::ids::mint(self.host().entropy().as_ref()),
            protocol: NAME.to_owned(),
            url: inbox.as_str().to_owned(),
            secret: None,
            callback: false,
            retries: DELIVERY_RETRIES,
            details: Map::from_iter([(key.to_owned(), value)]),
        }
    }

    /// Has an activity delivered now, and for a time where its server does not take it. Durable when this returns.
    pub(crate) async fn send(&self, post: &QueuedPost, account: Account, time: Duration) -> Result<(), Error> {
        self.send_after(post, account, Duration::ZERO, time).await
    }

    /// The same after a while, within which nobody wants to hear of it.
    pub(crate) async fn send_after(
        &self,
        post: &QueuedPost,
        account: Account,
        wait: Duration,
        time: Duration,
    ) -> Result<(), Error> {
        let now = self.host().clock().now();
        let webhook = self.webhook(&post.inbox, POST, json!(post));
        let [due_at, expires_at] = [wait, time].map(|after| now.checked_add(after).unwrap_or(now));
        self.host().notify(Notification { webhook, account, due_at, expires_at }).await
    }
}
