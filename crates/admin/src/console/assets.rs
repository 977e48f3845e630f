//! The style, the script and the icon of the console, compiled in.

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};

use crate::secret::hashed;

const STYLE: &str =
    concat!(include_str!("../../../pages/assets/answer.css"), "\n", include_str!("../../assets/console.css"));
const ICON: &str = include_str!("../../../pages/assets/forecourt.svg");
const SCRIPT: &str = include_str!("../../assets/console.js");

/// The path of a file with the version that makes a browser ask anew after a change.
pub(super) fn versioned(file: &str) -> String {
    let text = if file.ends_with(".css") { STYLE } else { SCRIPT };
    format!("/console/assets/{file}?v={}", &hashed(text)[..12])
}

/// A file. It says nothing of the deployment, so nobody is asked who they are.
pub(super) async fn asset(Path(file): Path<String>, headers: HeaderMap) -> Response {
    let (text, mime) = match file.as_str() {
        "console.css" => (STYLE, "text/css; charset=utf-8"),
        "console.js" => (SCRIPT, "text/javascript; charset=utf-8"),
        "console.svg" => (ICON, "image/svg+xml"),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let etag = format!("\"{}\"", &hashed(text)[..16]);
    let fixed = [(header::CACHE_CONTROL, "max-age=31536000, immutable".to_owned()), (header::ETAG, etag.clone())];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    let sniff = [(header::CONTENT_TYPE, mime), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (fixed, sniff, text).into_response()
}
