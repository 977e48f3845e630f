//! What a provider of payments sends by itself, to `/pay/events/{family}`. It only says where to look.

use axum::body::Body;
use forecourt_issuance::NoticeOutcome;
use http::{Method, StatusCode};

use super::answer::{HttpAnswer, Outcome};
use super::body;
use super::errors::Failure;
use super::limits::NOTICE_BODY_BYTES_MAX;
use super::media::Media;
use super::responder::Responder;
use super::transport::Rest;

const METHODS: &str = "POST, OPTIONS";
const PREFIX: &str = "/pay/events/";

/// Takes a notice. 200 for whatever is the provider's, so that it is not sent again; nobody else is metered by it, since
/// providers send many from few addresses.
pub(super) async fn take(rest: &Rest, responder: &Responder<'_>, body: Body) -> Outcome {
    let parts = responder.request.parts;
    match parts.method {
        Method::OPTIONS => return Ok(responder.options(METHODS)),
        Method::POST => {}
        _ => return Err(Failure::method(METHODS).into()),
    }
    let family = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    // Before the body is read.
    if !rest.host.takes_payments(family) {
        return Err(Failure::no_such_page().into());
    }
    body::check_uncoded(&parts.headers)?;
    let bytes = body::read(body, NOTICE_BODY_BYTES_MAX).await?;
    let field = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    match rest.host.take_notice(family, &field, &bytes).await? {
        NoticeOutcome::Taken => {
            let head = responder.head_of(Media::Json, &responder.route.card.language, None);
            Ok(HttpAnswer::empty(StatusCode::OK, head))
        }
        NoticeOutcome::Refused(error) => Err(Failure::bad_request(error.message).into()),
        NoticeOutcome::NoScheme => Err(Failure::no_such_page().into()),
    }
}
