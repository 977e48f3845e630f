//! One document, unless what we have is still right.

use std::time::Duration;

use forecourt_agents::declined::UpstreamError;
use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest, freshness};
use http::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use url::Url;

use super::super::limits::CARD_TIME_MAX;
use super::DiscoveryError;

/// What a look at a URL found.
pub(crate) enum CardResponse {
    /// Nothing.
    Nothing,
    /// What we have already.
    Same {
        fresh: Duration,
    },
    Document(CardDocument),
}

/// A JSON object, and how long its server lets it be kept.
pub(crate) struct CardDocument {
    pub(crate) value: Value,
    pub(crate) etag: Option<String>,
    pub(crate) fresh: Duration,
}

/// Fetches a document of at most `bytes_max`. Its media type does not matter: static hosts get that wrong.
pub(crate) async fn look(
    egress: &Egress,
    purpose: Purpose,
    headers: &HeaderMap,
    url: &Url,
    etag: Option<&str>,
    bytes_max: usize,
) -> Result<CardResponse, DiscoveryError> {
    let bounds = purpose.deadlines(egress.config());
    let total = bounds.total.min(CARD_TIME_MAX);
    let bounds = Deadlines { first_byte: bounds.first_byte.min(total), total, body_bytes_max: bytes_max, ..bounds };
    let mut request = UpstreamRequest::get(url.as_str()).within(bounds);
    request.headers = headers.clone();
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.1"));
    if let Some(etag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
        request.headers.insert(IF_NONE_MATCH, etag);
    }
    let answer = egress.send(purpose, request).await.map_err(|error| unavailable(&error))?;
    let fresh = freshness(&answer.headers);
    match answer.status {
        StatusCode::NOT_MODIFIED => return Ok(CardResponse::Same { fresh }),
        StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::METHOD_NOT_ALLOWED => return Ok(CardResponse::Nothing),
        status if !status.is_success() => {
            if let Some(declined) = UpstreamError::of(status, &answer.headers) {
                return Err(DiscoveryError::Declined(declined));
            }
            return Err(DiscoveryError::Unavailable(format!("the server answered {}", status.as_u16())));
        }
        _ => {}
    }
    let etag = answer.headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
    let bytes = answer.body.collect().await.map_err(|error| unavailable(&error))?;
    let unreadable = |reason: String| DiscoveryError::Unreadable(url.to_string(), reason);
    let value = json::parse(&bytes).map_err(unreadable)?;
    match value.is_object() {
        true => Ok(CardResponse::Document(CardDocument { value, etag, fresh })),
        false => Err(unreadable("it is no object".to_owned())),
    }
}

fn unavailable(error: &EgressError) -> DiscoveryError {
    match error {
        EgressError::Unconnected(_) => DiscoveryError::Unreachable(error.log_reason()),
        _ => DiscoveryError::Unavailable(error.log_reason()),
    }
}
