//! A handler that negotiates between four types and repeats what it was told.

use std::collections::HashMap;

use axum::Router;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// `GET /{agent}?user=…`, answered with the headers that ours has.
pub fn router() -> Router {
    Router::new().route("/{agent}", get(echo))
}

/// Negotiates between four types and answers what it was told, with the headers that ours has.
async fn echo(Path(agent): Path<String>, Query(query): Query<HashMap<String, String>>, headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("text/html");
    let Some(mime) = negotiate(accept) else { return StatusCode::NOT_ACCEPTABLE.into_response() };
    let text = query.get("user").cloned().unwrap_or_default();
    let handle = agent.trim_start_matches('~');
    let named = [
        ("content-type", mime),
        ("content-language", "en"),
        ("cache-control", "private, max-age=0"),
        ("x-robots-tag", "noindex, nofollow, noarchive"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("vary", "Accept, Accept-Language"),
    ];
    ([("x-mentionable-agent", format!("@{handle}@demo.localhost"))], named, text).into_response()
}

fn negotiate(accept: &str) -> Option<&'static str> {
    const OFFERS: [(&str, &str); 4] = [
        ("text/html", "text/html; charset=utf-8"),
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ];
    let mut best: Option<(f32, &str)> = None;
    for range in accept.split(',') {
        let mut pieces = range.split(';').map(str::trim);
        let wanted = pieces.next().unwrap_or_default();
        let quality = pieces.find_map(|p| p.strip_prefix("q=")).and_then(|q| q.parse().ok()).unwrap_or(1.0);
        let fits = |offer: &str| wanted == "*/*" || wanted == offer;
        if let Some((_, mime)) = OFFERS.iter().find(|(offer, _)| fits(offer))
            && best.is_none_or(|(other, _)| quality > other)
        {
            best = Some((quality, mime));
        }
    }
    best.filter(|(quality, _)| *quality > 0.0).map(|(_, mime)| mime)
}
