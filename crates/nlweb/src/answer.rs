//! A response as HTTP: status, fields, whole or in frames. NLWeb 6, 7.

use bytes::Bytes;
use forecourt_core::Language;
use forecourt_surface::answer::{Content, HttpAnswer};
use forecourt_surface::refusal::add_fields;
use forecourt_surface::sse::KeepAlive;
use futures::Stream;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::limits::RETRY_AFTER_SECONDS;
use crate::response::{Outcome, Response};
use crate::section::NlwebSettings;

/// Asks proxies not to hold a stream back.
static X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A whole response. NLWeb 7.4.
pub(crate) fn whole(response: &Response, settings: &NlwebSettings, canonical_host: &str) -> HttpAnswer {
    let mut head = head("application/json", "no-store");
    if let (Some(language), Outcome::Answer { .. }) = (&response.about.language, &response.outcome) {
        in_language(&mut head, language);
    }
    match &response.outcome {
        Outcome::Refused { part, .. } => add_fields(&mut head, part, canonical_host),
        Outcome::Failure { retry_after: Some(seconds), .. } => {
            head.insert(RETRY_AFTER, HeaderValue::from(*seconds));
        }
        _ => {}
    }
    let status = response.outcome.status();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        head.entry(RETRY_AFTER).or_insert(HeaderValue::from(RETRY_AFTER_SECONDS));
    }
    HttpAnswer::whole(status, head, response.to_text(settings))
}

/// A response in frames. NLWeb 6.2.
pub(crate) fn streamed(frames: impl Stream<Item = Bytes> + Send + 'static, language: &Language) -> HttpAnswer {
    let mut head = head("text/event-stream", "no-cache");
    head.insert(&X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    in_language(&mut head, language);
    let content = Content::Frames(Box::pin(KeepAlive::new(Box::pin(frames))));
    HttpAnswer { status: StatusCode::OK, head, content }
}

/// Says in which language an answer is.
fn in_language(head: &mut HeaderMap, language: &Language) {
    if let Ok(value) = HeaderValue::from_str(language.as_str()) {
        head.insert(CONTENT_LANGUAGE, value);
    }
}

fn head(media_type: &'static str, cache: &'static str) -> HeaderMap {
    let mut head = HeaderMap::new();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    head.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    head.insert(VARY, HeaderValue::from_static("Accept, Accept-Language"));
    head.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    head
}
