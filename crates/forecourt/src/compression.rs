//! Answers are made smaller for clients that say they can read it: zstd, br or gzip, whichever they like best.

use axum::Router;
use axum::body::Body;
use axum::middleware::map_response;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, ETAG};
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};

/// Bytes below which it is not worth the while: such an answer fits into one packet as it is.
const BYTES_MIN: u16 = 1_024;
/// Levels that cost little: answers are made for one caller, and read once.
const LEVEL: CompressionLevel = CompressionLevel::Fastest;

/// The same routes, with bodies made smaller where that helps. Streams of events leave as they come, and what
/// is small already (pictures, archives, PDF) stays as it is.
pub(crate) fn compressed(router: Router) -> Router {
    let worth_it = SizeAbove::new(BYTES_MIN)
        .and(NotForContentType::GRPC)
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::SSE)
        .and(NotForContentType::const_new("audio/"))
        .and(NotForContentType::const_new("video/"))
        .and(NotForContentType::const_new("application/zip"))
        .and(NotForContentType::const_new("application/gzip"))
        .and(NotForContentType::const_new("application/pdf"))
        .and(NotForContentType::const_new("application/octet-stream"));
    let layer = CompressionLayer::new().quality(LEVEL).compress_when(worth_it);
    router.layer(layer).layer(map_response(weaken_tag))
}

/// A strong tag stands for the very bytes, and these are others now. RFC 9110 8.8.3.
async fn weaken_tag(mut response: Response<Body>) -> Response<Body> {
    if response.headers().contains_key(CONTENT_ENCODING)
        && let Some(tag) = response.headers().get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\""))
        && let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat())
    {
        response.headers_mut().insert(ETAG, weak);
    }
    response
}
