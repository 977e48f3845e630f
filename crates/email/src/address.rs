//! What a mail that answers needs: it travels with the delivery of the answer.

use forecourt_core::Transport;
use forecourt_correspondence::{Address, Letter};
use serde::{Deserialize, Serialize};

use crate::NAME;
use crate::inbound::InboundMail;
use crate::limits::{REFERENCES_MAX, SUBJECT_CHARS_MAX, SUBMISSION_RETRIES};
use crate::mailbox::Mailbox;

/// A message that is to be answered. Its token stands before the `@` of the answer's own id.
pub(crate) type MailLetter = Letter<MailAddress>;

/// Where an answer goes, and what it is the answer to.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MailAddress {
    /// The name beside the agent's address.
    pub(crate) agent_name: String,
    /// Who asked.
    pub(crate) to: Mailbox,
    /// The subject of the answer.
    pub(crate) subject: String,
    /// The message that is answered.
    pub(crate) in_reply_to: Option<String>,
    /// The messages before the answer, the first one first.
    pub(crate) references: Vec<String>,
}

impl MailAddress {
    /// That of an answer to `mail` by an agent of this name.
    pub(crate) fn answering(mail: &InboundMail, agent_name: String) -> Self {
        let subject = match mail.subject.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("re:")) {
            true => mail.subject.clone(),
            false => format!("Re: {}", mail.subject).trim_end().chars().take(SUBJECT_CHARS_MAX).collect(),
        };
        let before = mail.references.iter().rev().chain(&mail.id);
        let count = before.clone().count();
        let references = before.skip(count.saturating_sub(REFERENCES_MAX)).cloned().collect();
        Self { agent_name, to: mail.from.clone(), subject, in_reply_to: mail.id.clone(), references }
    }

    /// By what somebody is known who writes from a mailbox that nobody proved.
    pub(crate) fn stranger_of(mailbox: &Mailbox) -> String {
        format!("unverified:{mailbox}")
    }
}

impl Address for MailAddress {
    const PROTOCOL: Transport = NAME;
    const KEY: &'static str = "mail";
    const RETRIES: u32 = SUBMISSION_RETRIES;
    const ANSWERS_HAVE_TOKENS: bool = true;

    fn url(&self) -> String {
        format!("mailto:{}", self.to)
    }

    fn stranger(&self) -> String {
        Self::stranger_of(&self.to)
    }
}
