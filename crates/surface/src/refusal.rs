//! This module spells refusals over HTTP for every protocol: status, header fields and words. PolicyPart 4.2, 4.5.

use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{Language, PolicyPart};
use http::header::{LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// The error of a challenge to a token that was granted too little. RFC 6750 3.1.
pub(crate) const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// The status that a refusal has where the transport tells of it. An unknown kind is never success.
pub fn status(kind: &RefusalKind) -> StatusCode {
    match kind {
        // RFC 6750 3.1: a valid token with too few scopes is 403. A 401 would have clients sign in again with the same
        // scopes.
        RefusalKind::Unauthorized { auth_challenges } if wants_scope(auth_challenges) => StatusCode::FORBIDDEN,
        RefusalKind::ConsentRequired { .. } | RefusalKind::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
        RefusalKind::PaymentRequired { .. } => StatusCode::PAYMENT_REQUIRED,
        // PolicyPart 3.6: a kind that is not known is never success.
        RefusalKind::Forbidden | RefusalKind::Other(_) => StatusCode::FORBIDDEN,
        RefusalKind::TooManyRequests { .. } => StatusCode::TOO_MANY_REQUESTS,
        RefusalKind::UnavailableForLegalReasons => StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS,
        RefusalKind::ServiceUnavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Whether every challenge asks for more scopes, and not for a proof of who calls.
fn wants_scope(challenges: &[AuthChallenge]) -> bool {
    let error = |challenge: &AuthChallenge| challenge.params.get("error").is_some_and(|it| it == INSUFFICIENT_SCOPE);
    !challenges.is_empty() && challenges.iter().all(error)
}

/// The words of a refusal: its message, and its URL on a line of its own. REST 5.3.
pub fn words(part: &PolicyPart, language: Option<&Language>) -> String {
    let (_, message) = part.in_language(language);
    match &part.url {
        Some(url) => format!("{message}\n\n{url}"),
        None => message.to_owned(),
    }
}

/// Adds the fields that the kind of a refusal demands. What can't be written safely is left out.
pub fn add_fields(head: &mut HeaderMap, part: &PolicyPart, canonical_host: &str) {
    match &part.kind {
        RefusalKind::ConsentRequired { .. } => {
            let mut challenge = AuthChallenge::new("Mentionable-Consent").with("realm", canonical_host);
            if let Some(url) = &part.url {
                challenge = challenge.with("error_uri", as_uri(url));
            }
            add(head, WWW_AUTHENTICATE, challenge.encode());
        }
        RefusalKind::Unauthorized { auth_challenges } => {
            for challenge in auth_challenges {
                add(head, WWW_AUTHENTICATE, challenge.encode());
            }
        }
        kind @ (RefusalKind::TooManyRequests { .. } | RefusalKind::ServiceUnavailable { .. }) => {
            head.extend(kind.retry_after_seconds().map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
        }
        RefusalKind::UnavailableForLegalReasons => {
            add(head, LINK, part.url.as_ref().map(|url| format!("<{}>; rel=\"blocked-by\"", as_uri(url))));
        }
        RefusalKind::PaymentRequired { .. } | RefusalKind::Forbidden | RefusalKind::Other(_) => {}
    }
}

fn add(head: &mut HeaderMap, name: HeaderName, value: Option<String>) {
    if let Some(value) = value.and_then(|text| HeaderValue::from_str(&text).ok()) {
        head.append(name, value);
    }
}

/// The same URL with everything that RFC 3986 does not know percent-encoded, so that it ends where
/// it should in any field.
fn as_uri(url: &str) -> String {
    let known = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&b);
    let mut uri = String::with_capacity(url.len());
    for byte in url.bytes() {
        match known(byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
