//! One JSON document over https, within its bounds.

use std::time::Duration;

use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest, freshness};
use serde_json::Value;

use super::super::limits::DOCUMENT_TIME_MAX;
use super::error::{ResolveError, ResolveSource};

/// Something that was fetched, and how long its server lets it be kept.
pub(super) struct FetchedDocument<T> {
    pub(super) value: T,
    pub(super) fresh: Duration,
}

/// Fetches an object. Its media type does not matter: static hosts get that wrong, and what is not
/// JSON shows itself.
pub(super) async fn json(
    egress: &Egress,
    purpose: Purpose,
    what: ResolveSource,
    url: &str,
) -> Result<FetchedDocument<Value>, ResolveError> {
    let bounds = purpose.deadlines(egress.config());
    let bounds = Deadlines { total: bounds.total.min(DOCUMENT_TIME_MAX), ..bounds };
    let fetched = egress.fetch(purpose, UpstreamRequest::get(url).within(bounds)).await;
    let fetched = fetched.map_err(|error| ResolveError::unavailable(what, url, error))?;
    let value = json::parse(&fetched.bytes).ok().filter(Value::is_object);
    let value = value.ok_or_else(|| ResolveError::Unreadable { what, url: url.to_owned() })?;
    Ok(FetchedDocument { value, fresh: freshness(&fetched.headers) })
}
