//! What operators did, written down: who, what, to what, why and what came of it. Kept in the store, for every node.

use forecourt_core::Timestamp;
use forecourt_core::store::Span;
use forecourt_host::Host;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api_error::ApiError;
use crate::limits::ACTIONS_DAYS;
use crate::sessions::OWNER;

const STREAM: &str = "actions";

/// Something that an operator did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Who: `operator` for whoever carries the token.
    pub by: String,
    /// What, such as `suspend`.
    pub action: String,
    /// To what, such as `agent @chef`.
    pub target: String,
    /// Why, as far as was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What came of it: `done`, `already` when there was nothing to do, or `refused`.
    pub outcome: String,
}

/// What came of it, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Came {
    Done,
    Already,
    Refused,
}

impl Came {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Already => "already",
            Self::Refused => "refused",
        }
    }
}

/// Writes down that somebody did something. What is not written down was done all the same: the log says so.
pub(crate) async fn note(host: &Host, by: &str, action: &str, target: String, reason: Option<&str>, came: Came) {
    let at = host.clock().now();
    let until = at.checked_add(jiff::SignedDuration::from_hours(24 * ACTIONS_DAYS)).ok();
    tracing::info!(by, action, target, outcome = came.word(), "an operator acted");
    let done = Action {
        at,
        by: by.to_owned(),
        action: action.to_owned(),
        target,
        reason: reason.map(str::to_owned),
        outcome: came.word().to_owned(),
    };
    let body = serde_json::to_value(&done).unwrap_or_default();
    if let Err(error) = host.ledger(OWNER).append(STREAM, body, until, None).await {
        tracing::error!(%error, action, "what an operator did was not written down");
    }
}

/// What was done, the last first, before a number.
pub(crate) async fn read(host: &Host, before: u64, limit: usize) -> Result<Vec<(u64, Action)>, ApiError> {
    let entries = host.ledger(OWNER).entries(STREAM, Span::Before(before), limit).await?;
    let action = |(number, entry): (u64, forecourt_core::store::LedgerEntry)| {
        serde_json::from_value(entry.body).ok().map(|action| (number, action))
    };
    Ok(entries.into_iter().filter_map(action).collect())
}
