//! What is kept of questions and of what was sent for them: an edit and a deletion find the answer, and an answer whose
//! sending was cut short goes on where it was.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::store::Span;
use forecourt_core::{Account, Error, Sender, Timestamp};
use forecourt_correspondence::{Letter, Threads};
use forecourt_host::{Host, Ledger};
use serde::{Deserialize, Serialize};

use crate::address::ChatAddress;
use crate::limits::SENT_PER_QUESTION_MAX;
use crate::platform::Platform;

/// A question that an agent was asked.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AskedQuestion {
    /// The name of its task.
    pub(crate) task: String,
    /// The token of the letter that its answer is.
    pub(crate) letter: String,
    /// A hash of what it said.
    pub(crate) said: String,
    /// Who asked.
    pub(crate) sender: Sender,
}

/// One thing that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SentItem {
    /// A message of this id.
    Message(String),
    /// The file of this number among those of the answer.
    File(usize),
    /// The message of this id is not there any more.
    Gone(String),
    /// None: the platform did not take the file of this number, which goes by a link.
    Refused(usize),
    /// Nothing, and nothing more is: the question was deleted.
    TakenBack,
    /// Nothing more: the question was edited, and is answered as it is now.
    Superseded,
}

/// Whether nothing more is sent for a question, nor opened.
pub(crate) fn is_over(sent: &[SentItem]) -> bool {
    sent.iter().any(|sent| matches!(sent, SentItem::TakenBack | SentItem::Superseded))
}

/// The messages that are there, in the order in which they were sent.
pub(crate) fn messages_of(sent: &[SentItem]) -> Vec<String> {
    let is_gone = |id: &String| sent.iter().any(|sent| matches!(sent, SentItem::Gone(gone) if gone == id));
    let id = |sent: &SentItem| match sent {
        SentItem::Message(id) if !is_gone(id) => Some(id.clone()),
        _ => None,
    };
    sent.iter().filter_map(id).collect()
}

/// Writes down that a message of an answer is there: an edit and a deletion of its question find it, and who replies to it
/// goes on with its agent.
pub(crate) async fn keep_message<P: Platform>(
    host: &Host,
    letter: &Letter<ChatAddress<P>>,
    id: &str,
) -> Result<(), Error> {
    let records = Records::of(host, P::KIND);
    records.keep_sent(letter.sender.account(), letter.origin(), &SentItem::Message(id.to_owned())).await?;
    remember_speaker(host, letter, id).await
}

/// Writes down whose words a message has, for who replies to it.
pub(crate) async fn remember_speaker<P: Platform>(
    host: &Host,
    letter: &Letter<ChatAddress<P>>,
    id: &str,
) -> Result<(), Error> {
    let ChatAddress { connector, place, .. } = &letter.address;
    // Elsewhere there is one agent at a time in a thread.
    if place.thread.is_none() || P::THREADS_ARE_TOPICS {
        let key = place.message_key(connector, id);
        Threads::of(host, P::KIND).remember(&key, &letter.agent, &letter.reader(), &letter.conversation).await?;
    }
    Ok(())
}

/// The records of one kind of platform.
pub(crate) struct Records {
    ledger: Ledger,
    until: Timestamp,
}

impl Records {
    pub(crate) fn of(host: &Host, kind: &'static str) -> Self {
        let now = host.clock().now();
        Self { ledger: host.ledger(kind), until: now.checked_add(THREAD_TTL).unwrap_or(now) }
    }

    /// The question that a message asked last.
    pub(crate) async fn question(&self, message: &str) -> Result<Option<AskedQuestion>, Error> {
        let entry = self.ledger.last(&stream("question", message)).await?;
        Ok(entry.and_then(|(_, entry)| serde_json::from_value(entry.body).ok()))
    }

    pub(crate) async fn keep_question(&self, message: &str, asked: &AskedQuestion) -> Result<(), Error> {
        let body = serde_json::to_value(asked).map_err(Error::internal)?;
        let account = asked.sender.account();
        self.ledger.append_on(account, &stream("question", message), body, Some(self.until), None).await?;
        Ok(())
    }

    /// What was sent for a letter, in its order.
    pub(crate) async fn sent(&self, letter: &str) -> Result<Vec<SentItem>, Error> {
        let entries = self.ledger.entries(&stream("sent", letter), Span::After(0), SENT_PER_QUESTION_MAX).await?;
        Ok(entries.into_iter().filter_map(|(_, entry)| serde_json::from_value(entry.body).ok()).collect())
    }

    pub(crate) async fn keep_sent(&self, account: Account, letter: &str, sent: &SentItem) -> Result<(), Error> {
        let body = serde_json::to_value(sent).map_err(Error::internal)?;
        self.ledger.append_on(account, &stream("sent", letter), body, Some(self.until), None).await?;
        Ok(())
    }
}

/// A hash as hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn stream(kind: &str, name: &str) -> String {
    format!("{kind}:{}", hash(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_that_are_there_in_their_order() {
        let (message, gone) = (|id: &str| SentItem::Message(id.to_owned()), |id: &str| SentItem::Gone(id.to_owned()));
        let sent = [message("1"), SentItem::File(0), message("2"), gone("1"), message("3"), SentItem::TakenBack];
        assert_eq!(messages_of(&sent), ["2", "3"]);
    }
}
