//! What must be known of a message to answer it, now or after a restart: it travels with the delivery of the
//! answer.

use forecourt_core::store::Webhook;
use forecourt_core::{Handle, Sender};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::NAME;
use crate::inbound::InboundMail;
use crate::limits::{REFERENCES_MAX, SUBJECT_CHARS_MAX, SUBMISSION_RETRIES};
use crate::mailbox::Mailbox;

/// Where it lies in [`Webhook::details`].
const KEY: &str = "mail";

/// A message that is to be answered.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Correspondence {
    /// Who answers.
    pub(crate) agent: Handle,
    /// The name beside its address.
    pub(crate) agent_name: String,
    /// Who asked.
    pub(crate) to: Mailbox,
    /// The subject of the answer.
    pub(crate) subject: String,
    /// The message that is answered.
    pub(crate) in_reply_to: Option<String>,
    /// The messages before the answer, the first one first.
    pub(crate) references: Vec<String>,
    /// The language in which refusals are told.
    pub(crate) language: Option<String>,
    /// What stands before the `@` of the answer's own id: who knows it goes on with the conversation.
    pub(crate) token: String,
    /// The name of the conversation.
    pub(crate) conversation: String,
    /// Who asked, as far as was proven.
    pub(crate) sender: Sender,
    /// How often it was asked again since its agent had no room.
    #[serde(default)]
    pub(crate) repeats: u32,
}

impl Correspondence {
    /// The subject, and the ids of the messages before, of an answer to `mail`.
    pub(crate) fn headings(mail: &InboundMail) -> (String, Vec<String>) {
        let subject = match mail.subject.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("re:")) {
            true => mail.subject.clone(),
            false => format!("Re: {}", mail.subject).trim_end().chars().take(SUBJECT_CHARS_MAX).collect(),
        };
        let before = mail.references.iter().rev().chain(&mail.id);
        let count = before.clone().count();
        (subject, before.skip(count.saturating_sub(REFERENCES_MAX)).cloned().collect())
    }

    /// What a delivery of the answer is told by, with something beside.
    pub(crate) fn webhook(&self, id: String, beside: impl IntoIterator<Item = (&'static str, Value)>) -> Webhook {
        let mut details = Map::new();
        details.insert(KEY.to_owned(), serde_json::to_value(self).unwrap_or_default());
        details.extend(beside.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Webhook {
            id,
            protocol: NAME.to_owned(),
            url: format!("mailto:{}", self.to),
            secret: None,
            callback: false,
            retries: SUBMISSION_RETRIES,
            details,
        }
    }

    /// What a delivery tells of.
    pub(crate) fn of(webhook: &Webhook) -> Option<Self> {
        serde_json::from_value(webhook.details.get(KEY)?.clone()).ok()
    }
}
