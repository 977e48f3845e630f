//! What happened, searched: tasks, refusals, steps of consents and payments, what models used, conversations and
//! deliveries, the last one first. By names, ids and states alone: what was said stays sealed.

mod cursor;
mod filter;
mod merge;
mod sources;

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

pub use filter::SearchKind;
pub(crate) use filter::{KINDS, moment};
pub(crate) use sources::{of_holding, of_record};

/// A page of what happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResults {
    /// The last one first.
    pub hits: Vec<SearchHit>,
    /// What to give as `cursor` for the next page; none at the end.
    pub next: Option<String>,
    /// Back to when was looked, where a page ends before it is full: what fits little is looked for a part of history at
    /// a time, and `next` goes on.
    #[schemars(with = "Option<String>")]
    pub looked_back_to: Option<Timestamp>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchHit {
    /// `task`, `refusal`, `step` of a consent or payment, `usage` of models, `consent`, `payment`, `conversation` or
    /// `delivery`.
    pub kind: SearchKind,
    /// When: of a task when it was begun, of a conversation when it last went on, of a delivery when it is due.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// With which agent.
    pub agent: Option<String>,
    /// Who: the proven subject, else the network where it is kept, else empty.
    pub who: String,
    /// Where it stands, or what came of it, in a word.
    pub outcome: String,
    /// What there is to say beside that, on a line.
    pub about: String,
    /// The protocol, where it is kept.
    pub via: Option<String>,
    /// The task that it is, or belongs to.
    pub task: Option<String>,
    /// What conversations are called here: it opens nothing.
    pub conversation: Option<String>,
    /// The request that it came by.
    pub request: Option<String>,
    /// What tells steps of one issuance from those of others.
    pub state: Option<String>,
}

/// The parameters of a search, with what they mean.
pub(crate) const QUERY: &[(&str, &str)] = &[
    ("text", "Only what has all of these words in its names, ids or states; at most 200 characters"),
    ("who", "Only of callers of whose name this is a part"),
    ("agent", "Only with this agent"),
    (
        "kind",
        "Only of these kinds, with commas between: task, refusal, step, usage, consent, payment, conversation, delivery",
    ),
    ("since", "Only from this day or moment on, such as 2026-11-30"),
    ("until", "Only up to this day, its end included, or before this moment"),
    ("cursor", "What `next` of the page before was"),
    ("limit", "At most so many, up to 200"),
];

pub(crate) async fn list(ask: Ask) -> Result<SearchResults, ApiError> {
    let limit = ask.limit()?;
    let wanted = filter::SearchFilter::of(&ask)?;
    let places = ask.query("cursor").map(cursor::read).transpose()?;
    let _place = ask.desk.place()?;
    merge::page(&ask, &wanted, places, limit).await
}
