//! Bounds that callers ran into.

use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// The bounds that were hit on this node since it began.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limits {
    /// The last one first; at most 1000 pairs of a bound and a caller are remembered.
    pub limits: Vec<Limit>,
}

/// A bound that a caller ran into.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limit {
    /// The key that sets it.
    pub limit: String,
    /// Who, as a hash that is another one after each start; none for a bound of all callers together.
    pub caller: Option<String>,
    /// How often.
    pub count: u64,
    /// When last.
    #[schemars(with = "String")]
    pub last_at: Timestamp,
}

pub(crate) async fn list(ask: Ask) -> Result<Limits, ApiError> {
    let seen = |hit: forecourt_host::LimitHit| Limit {
        limit: hit.limit.to_owned(),
        caller: (hit.caller != 0).then(|| format!("{:016x}", hit.caller)),
        count: hit.count,
        last_at: hit.last_at,
    };
    Ok(Limits { limits: ask.house.host.limits_hit().into_iter().map(seen).collect() })
}
