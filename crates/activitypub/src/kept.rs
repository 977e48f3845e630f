//! Answers that are kept, so that servers and people can read them where a note says that they are. For as long as a
//! conversation is, on the account of who asked.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::store::Span;
use forecourt_core::{Error, Handle, Timestamp};
use forecourt_host::{Host, Ledger};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::NAME;
use crate::iri::Iri;
use crate::letter::Letter;
use crate::limits::FEATURED_MAX;

/// An answer as it was sent.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct KeptNote {
    /// Who answered.
    pub(crate) agent: Handle,
    /// Whom it was for.
    pub(crate) reader: Iri,
    pub(crate) is_public: bool,
    /// The note, without a context.
    pub(crate) note: Value,
    /// All that was said, in markdown.
    pub(crate) words: String,
}

/// The answers of a host.
pub(crate) struct KeptNotes {
    ledger: Ledger,
    until: Timestamp,
}

impl KeptNotes {
    pub(crate) fn of(host: &Host) -> Self {
        let now = host.clock().now();
        Self { ledger: host.ledger(NAME), until: now.checked_add(THREAD_TTL).unwrap_or(now) }
    }

    /// The answer called `token`.
    pub(crate) async fn find(&self, token: &str) -> Result<Option<KeptNote>, Error> {
        self.read(&stream("note", token)).await
    }

    /// The answer whose whole words are behind `token`.
    pub(crate) async fn whole(&self, token: &str) -> Result<Option<KeptNote>, Error> {
        self.read(&stream("whole", token)).await
    }

    /// Keeps an answer under its token, and, with a `whole`, where its words are for whoever has the link. The first of
    /// a token stays, which is the one that counts.
    pub(crate) async fn keep(
        &self,
        letter: &Letter,
        token: &str,
        kept: KeptNote,
        whole: Option<&str>,
    ) -> Result<KeptNote, Error> {
        let body = serde_json::to_value(&kept).map_err(Error::internal)?;
        if let Some(whole) = whole {
            // Before the note that tells of it.
            self.append(letter, &stream("whole", whole), body.clone()).await?;
        }
        match self.append(letter, &stream("note", token), body).await? {
            true => Ok(kept),
            false => Ok(self.find(token).await?.unwrap_or(kept)),
        }
    }

    /// Features a public answer of an agent.
    pub(crate) async fn feature(&self, letter: &Letter, note: &str) -> Result<(), Error> {
        let account = letter.sender.account();
        let stream = format!("featured:{}", letter.agent);
        self.ledger.append_on(account, &stream, Value::from(note), Some(self.until), None).await?;
        Ok(())
    }

    /// The answers of an agent that are featured, the latest one first.
    pub(crate) async fn featured(&self, agent: &Handle) -> Result<Vec<Value>, Error> {
        let entries = self.ledger.entries(&format!("featured:{agent}"), Span::Before(u64::MAX), FEATURED_MAX).await?;
        Ok(entries.into_iter().map(|(_, entry)| entry.body).collect())
    }

    /// The letter of the first copy of its note: copies come to several inboxes at once, and again after a crash, and
    /// have one answer in one conversation.
    pub(crate) async fn first_of(&self, letter: Letter) -> Result<Letter, Error> {
        // Of one reader, so that nobody takes the answer of somebody else by the name of a note.
        let stream = stream("asked", &format!("{}\0{}\0{}", letter.agent, letter.reader(), letter.address.note));
        let names = json!([letter.token, letter.conversation]);
        let account = letter.sender.account();
        if self.ledger.append_on(account, &stream, names, Some(self.until), Some(0)).await?.is_some() {
            return Ok(letter);
        }
        let first = self.ledger.last(&stream).await?;
        let names: Option<(String, String)> = first.and_then(|(_, entry)| serde_json::from_value(entry.body).ok());
        Ok(match names {
            Some((token, conversation)) => Letter { token, conversation, ..letter },
            None => letter,
        })
    }

    /// Notes that it is told that the answer to a letter takes longer; whether that is the first time.
    pub(crate) async fn delay(&self, letter: &Letter) -> Result<bool, Error> {
        self.append(letter, &stream("delayed", &letter.token), Value::Bool(true)).await
    }

    /// Counts one more message of a conversation: how many there are by now.
    pub(crate) async fn count_turn(&self, letter: &Letter) -> Result<u64, Error> {
        let account = letter.sender.account();
        let stream = stream("turns", &format!("{}\0{}", letter.reader(), letter.conversation));
        let number = self.ledger.append_on(account, &stream, Value::Bool(true), Some(self.until), None).await?;
        Ok(number.unwrap_or(u64::MAX))
    }

    async fn append(&self, letter: &Letter, stream: &str, body: Value) -> Result<bool, Error> {
        let account = letter.sender.account();
        Ok(self.ledger.append_on(account, stream, body, Some(self.until), Some(0)).await?.is_some())
    }

    async fn read(&self, stream: &str) -> Result<Option<KeptNote>, Error> {
        let entry = self.ledger.last(stream).await?;
        Ok(entry.and_then(|(_, entry)| serde_json::from_value(entry.body).ok()))
    }
}

/// Tokens are capabilities: the store knows their hashes alone.
fn stream(kind: &str, secret: &str) -> String {
    let hash = digest(&SHA256, secret.as_bytes());
    hash.as_ref().iter().fold(format!("{kind}:"), |text, byte| format!("{text}{byte:02x}"))
}
