//! Which of several representations is JSON.

use serde_json::Value;

use super::ANYTHING;

/// A representation that is JSON.
#[derive(Debug)]
pub(super) struct Json<'a> {
    /// Its media type, without parameters.
    pub(super) media: &'a str,
    /// Its schema; anything when there is none.
    pub(super) schema: &'a Value,
}

/// The JSON among the representations of a body.
///
/// # Errors
/// The media types that are there instead.
pub(super) fn json<'a>(body: &'a Value) -> Result<Option<Json<'a>>, String> {
    let Some(content) = body["content"].as_object().filter(|content| !content.is_empty()) else { return Ok(None) };
    let plain = |media: &'a str| media.split(';').next().unwrap_or_default().trim();
    let best = content.iter().filter_map(|(media, value)| Some((likeness(plain(media))?, plain(media), value)));
    match best.min_by_key(|(rank, _, _)| *rank) {
        Some((_, media, value)) => Ok(Some(Json { media, schema: value.get("schema").unwrap_or(&ANYTHING) })),
        None => Err(content.keys().map(|media| plain(media)).collect::<Vec<_>>().join(", ")),
    }
}

/// How near to plain JSON a media type is; 0 is it.
fn likeness(media: &str) -> Option<u8> {
    match media.to_ascii_lowercase().as_str() {
        "application/json" => Some(0),
        other if other.ends_with("+json") || other == "text/json" => Some(1),
        "*/*" | "application/*" => Some(2),
        _ => None,
    }
}
