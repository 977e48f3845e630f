//! A receipt for the program that sent a person here. PolicyResolution 5.3, pattern A.
//!
//! Where it goes is a stranger's word: https alone, through the guard of outgoing connections, never a redirect
//! and never a link. What is sent proves nothing to us: what counts is in our own records.

use forecourt_core::StateToken;
use forecourt_core::policy::PaymentSubmission;
use forecourt_egress::{Egress, Purpose};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde_json::json;
use url::form_urlencoded;

use super::super::limits::CALLBACK_BYTES_MAX;

/// The parameter that names it.
const RECEIPT_CALLBACK: &str = "receipt_callback";

/// The callback that a query names, if it may be one. Of several the first counts.
pub(super) fn callback_of(query: &str) -> Option<String> {
    let named = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == RECEIPT_CALLBACK);
    named.and_then(|(_, url)| acceptable(&url))
}

/// The same address, if it is https and not too long. What it may reach is checked when it is used.
pub(super) fn acceptable(url: &str) -> Option<String> {
    (url.starts_with("https://") && url.len() <= CALLBACK_BYTES_MAX).then(|| url.to_owned())
}

/// Posts the payment, where it was settled, to `callback`, once. What comes of that changes nothing here: the payment is good, and whoever
/// waits there may ask again.
pub(super) async fn hand_over(
    egress: &Egress,
    callback: &str,
    state: &StateToken,
    payment: Option<&PaymentSubmission>,
) {
    let body = json!({"state": state.expose(), "receipt": payment.map(|payment| &payment.payload)});
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    match egress.post(Purpose::Callback, callback, headers, body.to_string().into()).await {
        Ok(outcome) if outcome.is_success() => {}
        Ok(outcome) => tracing::info!(status = outcome.status.as_u16(), "a receipt was not taken"),
        Err(error) => tracing::info!(reason = error.log_reason(), "a receipt could not be sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy5_3_only_https_addresses_are_callbacks() {
        let named = |url: &str| {
            callback_of(&form_urlencoded::Serializer::new(String::new()).append_pair(RECEIPT_CALLBACK, url).finish())
        };
        assert_eq!(named("https://adapter.example/r?a=b").as_deref(), Some("https://adapter.example/r?a=b"));
        for url in ["http://adapter.example/", "javascript:alert(1)", "//adapter.example", "HTTPS://a.example", ""] {
            assert_eq!(named(url), None, "{url}");
        }
        let long = |bytes: usize| format!("https://a.example/{}", "a".repeat(bytes - 18));
        assert!(named(&long(CALLBACK_BYTES_MAX)).is_some());
        assert_eq!(named(&long(CALLBACK_BYTES_MAX + 1)), None);
    }
}
