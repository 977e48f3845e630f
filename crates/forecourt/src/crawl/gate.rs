//! The gate before pages: a crawler passes it as a call of a server behind this host passes its own, by the rules, and
//! pays as a message does.

use axum::body::Body;
use axum::response::Response;
use forecourt_core::policy::{PaymentSubmission, RefusalKind, Submission};
use forecourt_core::{Ending, Error, Message, MessageId, Part, PolicyPart, Sender, Timestamp};
use forecourt_host::{ForwardPermit, Host, ServerGate, Target};
use forecourt_payments::crawl::{self, CRAWLER_PRICE};
use forecourt_payments::receipt_field;
use forecourt_payments::x402::http as x402;
use forecourt_surface::refusal::{add_fields, status, words};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

/// What messages that ask for pages came by.
const TRANSPORT: &str = "page";
/// Seconds after which a crawler may come again whom nobody could judge.
const RETRY_SECONDS: u64 = 5;

/// What came of a crawler at the gate.
pub(super) enum Passage {
    /// It may read the page; what lets it pass is used once it has.
    Open(Box<ForwardPermit>),
    /// It is told this instead.
    Told(Box<Response>),
}

/// Holds a request for a page against the rules before it, by its path in the spelling that they have.
pub(super) async fn pass(
    host: &Host,
    gate: &ServerGate,
    (head, path): (&Parts, &str),
    sender: Sender,
    now: Timestamp,
) -> Passage {
    let told = |response| Passage::Told(Box::new(response));
    let payment = match brought(head, &sender) {
        Ok(payment) => payment,
        Err(reason) => return told(problem(StatusCode::BAD_REQUEST, &reason)),
    };
    let id = MessageId::mint(&**host.entropy());
    let recipient = gate.card().handle().clone();
    let message = Message {
        sender,
        submission: payment.map(|payment| Box::new(Submission { payment: Some(payment), ..Submission::default() })),
        ..Message::new(id, recipient, vec![Part::text(path)], TRANSPORT, now)
    };
    match host.forward(gate, Target::Tool(path), message).await {
        Ok(Ok(mut permit)) => {
            permit.give_back_place();
            Passage::Open(Box::new(permit))
        }
        Ok(Err(refused)) => told(refusal(&refused.part, host.site().canonical_host())),
        Err(error) => told(fault(&error)),
    }
}

/// The payment that a request for a page brings: of a signed authorization, or on the account of a verified crawler. A
/// HEAD pays nothing.
fn brought(head: &Parts, sender: &Sender) -> Result<Option<PaymentSubmission>, String> {
    if head.method != Method::GET {
        return Ok(None);
    }
    if let Some((_, payment)) = x402::from_headers(&head.headers).map_err(|error| error.message)? {
        return Ok(Some(payment));
    }
    crawl::submission(&head.headers, sender).map_err(|error| error.to_string())
}

/// Ends a passage by what was answered: a page is charged for, and nothing else. Gives the answer that is sent.
pub(super) async fn end(mut permit: ForwardPermit, mut response: Response, asked: &HeaderMap, host: &str) -> Response {
    permit.begin();
    let receipt = permit.receipt().clone();
    let is_read = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    if !is_read {
        permit.fail();
    }
    if let Ending::Refused(part) = permit.end(Ending::Complete).await {
        return refusal(&part, host);
    }
    if let Some(receipt) = receipt.get() {
        response.headers_mut().extend(receipt_field(asked, receipt));
        // Who has paid has it; nobody else gets it out of a cache.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    response
}

/// A refusal as crawlers read it: Problem Details, with what clients of x402 look for beside them.
pub(super) fn refusal(part: &PolicyPart, host: &str) -> Response {
    let status = status(&part.kind);
    let mut body = json!({
        "type": "about:blank",
        "title": part.in_language(None).0,
        "status": status.as_u16(),
        "detail": words(part, None),
        "kind": part.kind(),
    });
    if let (Some(code), Value::Object(body)) = (&part.code, &mut body) {
        body.insert("code".to_owned(), code.clone().into());
    }
    let mut head = HeaderMap::new();
    add_fields(&mut head, part, host);
    if let RefusalKind::PaymentRequired { accepted_payments } = &part.kind {
        let prompt = x402::required(accepted_payments, "this page has a price for crawlers");
        head.extend(prompt.header.map(|value| (x402::PAYMENT_REQUIRED, value)));
        head.extend(crawl::price(accepted_payments).map(|price| (CRAWLER_PRICE, price.field())));
        if let Value::Object(body) = &mut body {
            body.extend(prompt.body.unwrap_or_default());
        }
    }
    let mut response = written(status, &body);
    response.headers_mut().extend(head);
    response
}

fn fault(error: &Error) -> Response {
    let mut response = match error {
        Error::Invalid { .. } => problem(StatusCode::BAD_REQUEST, &error.to_string()),
        _ => problem(StatusCode::SERVICE_UNAVAILABLE, "This can't be looked up at the moment. Try again later."),
    };
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
    }
    response
}

fn problem(status: StatusCode, detail: &str) -> Response {
    written(status, &json!({"type": "about:blank", "status": status.as_u16(), "detail": detail}))
}

fn written(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let head = response.headers_mut();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}
