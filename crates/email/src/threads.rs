//! Which conversation a message goes on with: the one of the answer that it replies to.
//!
//! Each answer has an id of 256 random bits, of which the hash is kept. Whoever names such an id in `In-Reply-To`
//! or `References` has read the answer; who it is still counts, since answers are forwarded.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::limits::THREAD_TTL;
use forecourt_core::{Error, Handle, Timestamp, ids};
use forecourt_host::{Host, Ledger};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::NAME;

/// What is kept of an answer.
#[derive(Serialize, Deserialize)]
struct SentAnswer {
    agent: Handle,
    /// Whom it was for.
    reader: String,
    /// The name of the conversation.
    conversation: String,
}

/// The conversation that `reader` goes on with by a message to `agent` that refers to these ids, if any is one
/// of ours.
pub(crate) async fn find(
    ledger: &Ledger,
    domain: &str,
    agent: &Handle,
    reader: &str,
    references: &[String],
) -> Result<Option<String>, Error> {
    for id in references {
        let Some(token) = id.rsplit_once('@').filter(|(token, host)| ids::is_token(token) && *host == domain) else {
            continue;
        };
        let Some((_, entry)) = ledger.last(&stream("answer", token.0.as_bytes())).await? else { continue };
        let Ok(sent) = serde_json::from_value::<SentAnswer>(entry.body) else { continue };
        if sent.agent == *agent && sent.reader == reader {
            return Ok(Some(sent.conversation));
        }
    }
    Ok(None)
}

/// Keeps the id of an answer for as long as a conversation is kept.
pub(crate) async fn remember(
    host: &Host,
    token: &str,
    agent: &Handle,
    reader: &str,
    conversation: &str,
) -> Result<(), Error> {
    let (agent, reader, conversation) = (agent.clone(), reader.to_owned(), conversation.to_owned());
    let body = serde_json::to_value(SentAnswer { agent, reader, conversation }).map_err(Error::internal)?;
    host.ledger(NAME).append(&stream("answer", token.as_bytes()), body, Some(forgotten_at(host)), None).await?;
    Ok(())
}

/// Whether a message was taken before.
pub(crate) async fn was_taken(host: &Host, fingerprint: &[u8]) -> Result<bool, Error> {
    Ok(host.ledger(NAME).last(&stream("taken", fingerprint)).await?.is_some())
}

/// Remembers that a message was taken.
pub(crate) async fn take(host: &Host, fingerprint: &[u8]) -> Result<(), Error> {
    host.ledger(NAME)
        .append(&stream("taken", fingerprint), Value::Bool(true), Some(forgotten_at(host)), Some(0))
        .await?;
    Ok(())
}

fn forgotten_at(host: &Host) -> Timestamp {
    let now = host.clock().now();
    now.checked_add(THREAD_TTL).unwrap_or(now)
}

fn stream(kind: &str, secret: &[u8]) -> String {
    let hash = digest(&SHA256, secret);
    hash.as_ref().iter().fold(format!("{kind}:"), |text, byte| format!("{text}{byte:02x}"))
}
