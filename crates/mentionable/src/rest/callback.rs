//! `Prefer: respond-async`: who keeps the answer going, the caller's connection or this host.
//! REST 5.4.

use forecourt_core::store::Webhook;
use forecourt_egress::{Egress, Purpose};
use forecourt_host::Run;
use forecourt_surface::prefer::preference;
use forecourt_surface::same_origin::is_callback_of;
use http::request::Parts;
use http::{HeaderName, HeaderValue};

use crate::NAME;

/// Says that a preference was honoured. RFC 7240 3.
pub(crate) static PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// The value of `Preference-Applied` where an answer is made in the background.
pub(crate) const RESPOND_ASYNC: HeaderValue = HeaderValue::from_static("respond-async");

/// How the answer to a POST is kept going. In the background when that is preferred, unless it names
/// a callback that may not be called: then the preference is passed over, in silence.
pub(crate) async fn run(head: &Parts, egress: &Egress, retries: u32) -> Run {
    let Some(wish) = preference(&head.headers, "respond-async") else { return Run::without_task() };
    let Some(callback) = wish.parameter("callback") else { return Run::in_background(None) };
    // REST 5.4: otherwise a caller could have this host post answers to a third party.
    if !is_callback_of(&callback, &head.headers, &head.uri) {
        return Run::without_task();
    }
    // Whoever is no browser writes `Origin` and `Host` as it likes, so that the check above proves nothing by itself.
    match egress.permits(Purpose::Callback, &callback).await {
        Ok(()) => Run::in_background(Some(webhook(callback.into_owned(), retries))),
        Err(error) => {
            tracing::info!(reason = error.log_reason(), "a callback was not accepted");
            Run::without_task()
        }
    }
}

fn webhook(url: String, retries: u32) -> Webhook {
    // The only one of its task that has no id: registered ones are minted.
    let (id, details) = (String::new(), serde_json::Map::new());
    Webhook { id, protocol: NAME.to_owned(), url, secret: None, callback: true, retries, details }
}
