//! What is sent to the page of a decision: a form of its own, JSON, or a payment in a header.

use axum::body::Body;
use bytes::Bytes;
use forecourt_core::StateToken;
use forecourt_core::json;
use forecourt_core::policy::PaymentSubmission;
use forecourt_surface::body::{content_type, is_json};
use http::StatusCode;
use http::request::Parts;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::super::answer::RestError;
use super::super::errors::Failure;
use super::super::failure_kind::FailureKind;
use super::super::limits::DECISION_BODY_BYTES_MAX;
use super::super::{body, payment};
use super::{DecisionKind, is_form_token, receipt};

/// The choice that a POST to the page of a consent or a payment makes.
pub(super) enum Decision {
    /// To agree.
    Accept,
    /// Not to.
    Decline,
    /// To pay, with this.
    Pay(PaymentSubmission),
    /// To pay so many times the price at a checkout.
    CheckOut { times: u32 },
    /// Nothing yet: a program asks what is to be paid.
    Ask,
}

/// A POST to the page of a consent or a payment: the choice, and where a receipt goes.
pub(super) struct SubmittedForm {
    pub(super) decision: Decision,
    /// Where the receipt goes besides. Not checked yet.
    pub(super) callback: Option<String>,
}

/// Reads what was posted. Forms need their token, since any page can make a browser post one; JSON and headers
/// of a payment do not, since no page of another site can (RFC 9110 and Fetch: they are preflighted).
pub(super) async fn read(
    head: &Parts,
    bytes: Body,
    kind: DecisionKind,
    state: &StateToken,
) -> Result<SubmittedForm, RestError> {
    body::check_uncoded(&head.headers)?;
    let callback = receipt::callback_of(head.uri.query().unwrap_or_default());
    if kind == DecisionKind::Payment
        && let Some(payment) = payment::from_headers(&head.headers)?
    {
        return Ok(SubmittedForm { decision: Decision::Pay(payment), callback });
    }
    let bytes = body::read(bytes, DECISION_BODY_BYTES_MAX).await?;
    if kind == DecisionKind::Payment && bytes.is_empty() {
        return Ok(SubmittedForm { decision: Decision::Ask, callback });
    }
    if kind == DecisionKind::Payment && is_json(&head.headers) {
        return of_json(&bytes, callback);
    }
    let essence = content_type(&head.headers).and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        true => of_form(&bytes, kind, state, callback),
        false => {
            let message = "the body must be application/x-www-form-urlencoded, or application/json for a payment";
            Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, FailureKind::UnsupportedMediaType, message).into())
        }
    }
}

/// `{"payment": {…}}`, the same under the name that receipts have, or the payment itself.
fn of_json(bytes: &Bytes, callback: Option<String>) -> Result<SubmittedForm, RestError> {
    let read = json::parse(bytes).map_err(|error| Failure::bad_request(format!("the body is not JSON: {error}")))?;
    let Value::Object(mut fields) = read else {
        return Err(Failure::bad_request("the body must be a JSON object").into());
    };
    let callback = match fields.remove("receipt_callback") {
        Some(Value::String(url)) => receipt::acceptable(&url).or(callback),
        _ => callback,
    };
    let paid = fields.remove("payment").or_else(|| fields.remove("receipt")).unwrap_or(Value::Object(fields));
    Ok(SubmittedForm { decision: Decision::Pay(payment::of_value(paid)?), callback })
}

fn of_form(
    bytes: &Bytes,
    kind: DecisionKind,
    state: &StateToken,
    callback: Option<String>,
) -> Result<SubmittedForm, RestError> {
    let mut fields = Map::new();
    for (name, value) in form_urlencoded::parse(bytes) {
        fields.entry(name.into_owned()).or_insert_with(|| value.into_owned().into());
    }
    let field = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    if !is_form_token(kind, state, field("token")) {
        let message = "this form is not one of this page; open the page again";
        return Err(Failure::new(StatusCode::FORBIDDEN, FailureKind::NotAllowed, message).into());
    }
    let decision = match (kind, field("decision")) {
        (DecisionKind::Consent, "accept") => Decision::Accept,
        (_, "decline") => Decision::Decline,
        (DecisionKind::Payment, "checkout") => {
            let times =
                field("times").parse().map_err(|_| Failure::bad_request("`times` must be one of those of the page"))?;
            Decision::CheckOut { times }
        }
        (DecisionKind::Payment, "pay") => Decision::Pay(payment::of_text(field("payment"))?),
        _ => return Err(Failure::bad_request("`decision` must be one of the buttons of the page").into()),
    };
    let callback = receipt::acceptable(field("receipt_callback")).or(callback);
    Ok(SubmittedForm { decision, callback })
}
