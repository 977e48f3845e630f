//! Answers that are kept, so that servers and people can read them where a note says that they are. For as long as a
//! conversation is, on the account of who asked.

use std::collections::BTreeMap;

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
use crate::limits::{ASKS_PER_NOTE_MAX, FEATURED_MAX};

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
    /// Which edit of its question it answers.
    #[serde(default)]
    pub(crate) revision: u32,
    /// Whether another answer was there before, whose place it takes.
    #[serde(default)]
    pub(crate) is_update: bool,
}

/// What a note asked of one agent.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct AskedNote {
    pub(crate) letter: Letter,
    /// A hash of what it said.
    pub(crate) said: String,
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

    /// What the last answer called `token` is, with its number; none where it was deleted.
    pub(crate) async fn last(&self, token: &str) -> Result<(u64, Option<KeptNote>), Error> {
        let entry = self.ledger.last(&stream("note", token)).await?;
        Ok(entry.map_or((0, None), |(number, entry)| (number, serde_json::from_value(entry.body).ok())))
    }

    /// Keeps an answer under its token, behind the one of number `last`, and, with a `whole`, where its words are for
    /// whoever has the link. The first one there stays, which is the one that counts.
    pub(crate) async fn keep(
        &self,
        letter: &Letter,
        token: &str,
        kept: KeptNote,
        last: u64,
        whole: Option<&str>,
    ) -> Result<KeptNote, Error> {
        let body = serde_json::to_value(&kept).map_err(Error::internal)?;
        if let Some(whole) = whole {
            // Before the note that tells of it.
            self.append(letter, &stream("whole", whole), body.clone()).await?;
        }
        let account = letter.sender.account();
        let name = stream("note", token);
        match self.ledger.append_on(account, &name, body, Some(self.until), Some(last)).await?.is_some() {
            true => Ok(kept),
            false => Ok(self.find(token).await?.unwrap_or(kept)),
        }
    }

    /// Keeps what a note asks of an agent; whether there is room for one more of this note.
    pub(crate) async fn keep_asked(&self, asked: &AskedNote) -> Result<bool, Error> {
        let (stream, account) = (asks_of(&asked.letter.address.note), asked.letter.sender.account());
        if self.ledger.last(&stream).await?.is_some_and(|(number, _)| number >= ASKS_PER_NOTE_MAX as u64) {
            return Ok(false);
        }
        let body = serde_json::to_value(asked).map_err(Error::internal)?;
        self.ledger.append_on(account, &stream, body, Some(self.until), None).await?;
        Ok(true)
    }

    /// What a note of `actor` asked of each agent, as it was last.
    pub(crate) async fn asked(&self, note: &Iri, actor: &Iri) -> Result<BTreeMap<Handle, AskedNote>, Error> {
        let entries = self.ledger.entries(&asks_of(note), Span::After(0), ASKS_PER_NOTE_MAX).await?;
        let asked = entries.into_iter().filter_map(|(_, entry)| serde_json::from_value::<AskedNote>(entry.body).ok());
        // Somebody else of that server may have named a note alike.
        let own = asked.filter(|asked| asked.letter.address.actor == *actor);
        Ok(own.map(|asked| (asked.letter.agent.clone(), asked)).collect())
    }

    /// Notes that the question of a letter was deleted: it is not answered, and its answer is not there any more.
    pub(crate) async fn withdraw(&self, letter: &Letter) -> Result<(), Error> {
        self.append(letter, &stream("withdrawn", &letter.token), Value::Bool(true)).await?;
        let account = letter.sender.account();
        let note = stream("note", &letter.token);
        if self.ledger.last(&note).await?.is_some() {
            self.ledger.append_on(account, &note, Value::Null, Some(self.until), None).await?;
        }
        Ok(())
    }

    /// Whether that was noted.
    pub(crate) async fn is_withdrawn(&self, token: &str) -> Result<bool, Error> {
        Ok(self.ledger.last(&stream("withdrawn", token)).await?.is_some())
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

/// The stream of what a note asks.
fn asks_of(note: &Iri) -> String {
    stream("asks", note.as_str())
}

/// Tokens are capabilities: the store knows their hashes alone.
fn stream(kind: &str, secret: &str) -> String {
    let hash = digest(&SHA256, secret.as_bytes());
    hash.as_ref().iter().fold(format!("{kind}:"), |text, byte| format!("{text}{byte:02x}"))
}
