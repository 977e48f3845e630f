//! The bodies of requests: within which bounds they are read, and what they may say they are.

use axum::body::Body;
use bytes::Bytes;
use forecourt_surface::body::{BodyError, BodyLimits, content_type, read_limited};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, StatusCode};

use super::answer::RestError;
use super::errors::Failure;
use super::failure_kind::FailureKind;
use super::wire::DecodeError;

/// Reads a body of at most `bytes_max`.
pub(super) async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    read_limited(body, &BodyLimits::with_bytes_max(bytes_max)).await.map_err(|error| match error {
        BodyError::TooLarge { bytes_max } => DecodeError::BodyTooLarge { bytes_max }.into(),
        BodyError::TooSlow => DecodeError::BodyTooSlow.into(),
        BodyError::Broken => DecodeError::BodyBroken.into(),
    })
}

/// Fails for a body with a content coding, which none may have.
pub(super) fn check_uncoded(headers: &HeaderMap) -> Result<(), RestError> {
    // Bounds count what comes over the wire: a coded body could unpack to any size.
    let coded =
        headers.get_all(CONTENT_ENCODING).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if coded { Err(DecodeError::Coded.into()) } else { Ok(()) }
}

/// Fails for a body that does not say that it is JSON.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    let essence = content_type(headers).and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => {
            let message = "the body must be application/json";
            Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::UnsupportedMediaType, message))
        }
    }
}
