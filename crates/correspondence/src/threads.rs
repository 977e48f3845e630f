//! Which conversation a message goes on with, and which messages were taken. Foreign ids are kept by their hash, for as
//! long as a conversation is.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::{Error, Handle, Timestamp};
use forecourt_host::{Host, Ledger};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is kept of an answer.
#[derive(Serialize, Deserialize)]
struct SentAnswer {
    agent: Handle,
    /// Whom it was for.
    reader: String,
    /// The name of the conversation.
    conversation: String,
}

/// The threads of one protocol.
pub struct Threads {
    ledger: Ledger,
    /// When what is written now is forgotten.
    until: Timestamp,
}

impl Threads {
    /// Those of a protocol, whose ids are its own.
    pub fn of(host: &Host, protocol: &'static str) -> Self {
        let now = host.clock().now();
        Self { ledger: host.ledger(protocol), until: now.checked_add(THREAD_TTL).unwrap_or(now) }
    }

    /// The conversation that `reader` goes on with by a message to `agent` that refers to the answer called `id`.
    /// `None` where there was none to this reader: answers are forwarded, and who it is counts.
    pub fn find<'a>(
        &'a self,
        id: &'a str,
        agent: &'a Handle,
        reader: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Error>> {
        Box::pin(async move {
            let sent = self.answer(id).await?;
            let sent = sent.filter(|sent| sent.agent == *agent && sent.reader == reader);
            Ok(sent.map(|sent| sent.conversation))
        })
    }

    /// The agent that gave the answer called `id`, to whomever.
    pub fn agent<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Handle>, Error>> {
        Box::pin(async move { Ok(self.answer(id).await?.map(|sent| sent.agent)) })
    }

    /// Keeps what an answer is called; of two that are called alike, the last one.
    pub fn remember<'a>(
        &'a self,
        id: &'a str,
        agent: &'a Handle,
        reader: &'a str,
        conversation: &'a str,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let (agent, reader, conversation) = (agent.clone(), reader.to_owned(), conversation.to_owned());
            let body = serde_json::to_value(SentAnswer { agent, reader, conversation }).map_err(Error::internal)?;
            self.ledger.append(&stream("answer", id.as_bytes()), body, Some(self.until), None).await?;
            Ok(())
        })
    }

    /// Whether a message was taken before. `fingerprint` is the same each time that it is handed over.
    pub fn was_taken<'a>(&'a self, fingerprint: &'a [u8]) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move { Ok(self.ledger.last(&stream("taken", fingerprint)).await?.is_some()) })
    }

    /// Remembers that a message was taken.
    pub fn take<'a>(&'a self, fingerprint: &'a [u8]) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let stream = stream("taken", fingerprint);
            self.ledger.append(&stream, Value::Bool(true), Some(self.until), Some(0)).await?;
            Ok(())
        })
    }

    async fn answer(&self, id: &str) -> Result<Option<SentAnswer>, Error> {
        let entry = self.ledger.last(&stream("answer", id.as_bytes())).await?;
        Ok(entry.and_then(|(_, entry)| serde_json::from_value(entry.body).ok()))
    }
}

fn stream(kind: &str, secret: &[u8]) -> String {
    let hash = digest(&SHA256, secret);
    hash.as_ref().iter().fold(format!("{kind}:"), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests;
