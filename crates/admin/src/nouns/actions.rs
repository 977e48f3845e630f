//! What operators did.

use schemars::JsonSchema;
use serde::Serialize;

use crate::account::{self, Action};
use crate::api_error::ApiError;
use crate::desk::Ask;

/// A page of what operators did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Actions {
    /// The last one first.
    pub actions: Vec<Action>,
    /// What to give as `before` for the next page; none at the end.
    pub next: Option<u64>,
}

pub(crate) const QUERY: &[(&str, &str)] =
    &[("before", "What `next` of the page before was"), ("limit", "At most so many, up to 200")];

pub(crate) async fn list(ask: Ask) -> Result<Actions, ApiError> {
    let limit = ask.limit()?;
    let found = account::read(&ask.house.host, ask.number("before")?.unwrap_or(u64::MAX), limit).await?;
    let next = found.last().filter(|(number, _)| found.len() == limit && *number > 1).map(|(number, _)| *number);
    Ok(Actions { actions: found.into_iter().map(|(_, action)| action).collect(), next })
}
