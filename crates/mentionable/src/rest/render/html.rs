//! Pages for people. REST 4.1.

use forecourt_core::{CollectedReply, Part, PolicyPart};
use forecourt_pages::{ErrorPage, RefusalPage, ReplyPage, csp};
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Frame;
use crate::rest::errors::Failure;

pub(super) fn answer(frame: &Frame<'_>, asked: &[Part], collected: &CollectedReply) -> String {
    ReplyPage {
        card: &frame.door.card,
        url: frame.url,
        language: frame.language,
        collected,
        path: &frame.door.path,
        session: frame.session,
        asked,
        kept_under: None,
    }
    .render()
}

pub(super) fn refusal(frame: &Frame<'_>, part: &PolicyPart) -> String {
    RefusalPage { card: &frame.door.card, url: frame.url, language: frame.language, part }.render()
}

pub(super) fn failure(frame: &Frame<'_>, failure: &Failure) -> String {
    ErrorPage {
        address: Some(&frame.door.card.address),
        url: frame.url,
        language: frame.language,
        title: failure.title,
        message: &failure.message,
        hint: failure.hint.as_deref(),
    }
    .render()
}

/// Adds what a browser must know of a page. `policy` is one of [`csp`]. REST 8.2.
pub(crate) fn security_fields(head: &mut HeaderMap, policy: &'static str) {
    head.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    for (name, value) in csp::HEADERS {
        head.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
