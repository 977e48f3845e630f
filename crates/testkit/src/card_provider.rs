//! A provider of card payments on loopback, after the public description of Stripe's interface: strict about what it is
//! sent, and failing as it is told to. Cards are played: whoever opens a checkout's page presses a button.

mod api;
mod books;
mod form;
mod notices;
mod pages;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub use books::CardBooks;
pub use notices::{CardNotice, sign_notice};

use form::Form;

/// The key that the provider takes.
pub const CARD_KEY: &str = "sk_test_double";

/// What happens to one request of the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardFault {
    /// The work is done, and no answer comes.
    SilentAfter,
    /// Nothing is done, and no answer comes.
    SilentBefore,
    /// Nothing is done, and this status is answered.
    Answer(u16),
}

/// The provider. Clones share its books.
#[derive(Debug, Clone, Default)]
pub struct CardProvider {
    /// What it knows.
    pub books: Arc<Mutex<CardBooks>>,
}

impl CardProvider {
    /// Listens on this machine, and gives the address.
    pub async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        self.books.lock().origin = format!("http://{address}");
        let routes = Router::new()
            .route("/v1/{*path}", any(on_api))
            .route("/c/pay/{id}", get(pages::show).post(pages::decide))
            // Browsers ask for it by themselves.
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }

    /// Has the next request whose path holds `part` fail.
    pub fn fail(&self, part: &str, fault: CardFault) {
        self.books.lock().faults.push((part.to_owned(), fault));
    }

    /// Somebody pays at a checkout.
    pub fn pay(&self, session: &str) {
        self.books.lock().complete(session);
    }

    /// The one checkout that was opened last.
    pub fn last_session(&self) -> Value {
        self.books.lock().sessions.last().cloned().unwrap()
    }

    /// What it would send by itself, since this was asked last.
    pub fn notices(&self) -> Vec<CardNotice> {
        std::mem::take(&mut self.books.lock().notices)
    }
}

/// Checks the key, the form and its repetition, then does what is asked for.
async fn on_api(
    State(provider): State<CardProvider>,
    method: Method,
    uri: Uri,
    Path(path): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let fault = provider.books.lock().next_fault(&path);
    match fault {
        Some(CardFault::SilentBefore) => return silence().await,
        Some(CardFault::Answer(status)) => return refused(status, "api_error", "as it was told to").into_response(),
        Some(CardFault::SilentAfter) | None => {}
    }
    let answer = checked(&provider, &method, &uri, &path, &headers, &body);
    match fault {
        Some(CardFault::SilentAfter) => silence().await,
        _ => answer.into_response(),
    }
}

/// What a request is answered with.
type Answer = (StatusCode, axum::Json<Value>);

fn checked(
    provider: &CardProvider,
    method: &Method,
    uri: &Uri,
    path: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Answer {
    let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if field("authorization") != Some(&format!("Bearer {CARD_KEY}")) {
        return refused(401, "invalid_request_error", "Invalid API Key provided");
    }
    let mut books = provider.books.lock();
    books.asked.push(format!("{method} {path}"));
    if *method == Method::GET {
        return match uri.query() {
            None => api::get(&books, path),
            Some(_) => refused(400, "parameter_unknown", "no parameters are known here"),
        };
    }
    if *method != Method::POST || field("content-type") != Some("application/x-www-form-urlencoded") {
        return refused(400, "invalid_request_error", "send a form by POST");
    }
    let Some(key) = field("idempotency-key") else {
        return refused(400, "idempotency_key_missing", "this double wants a key with whatever changes something");
    };
    if let Some((known, answer)) = books.answered.get(key) {
        // The same key with other fields is a mistake of whoever sends it.
        return match *known == (path.to_owned(), body.clone()) {
            true => answer.clone(),
            false => refused(
                400,
                "idempotency_error",
                "Keys for idempotent requests can only be used with the same parameters",
            ),
        };
    }
    let mut form = Form::read(body);
    let answer = api::post(&mut books, path, &mut form);
    // What was merely written wrong is not kept under its key.
    let is_kept = answer.0.is_success() || answer.0 == StatusCode::PAYMENT_REQUIRED;
    if is_kept {
        books.answered.insert(key.to_owned(), ((path.to_owned(), body.clone()), answer.clone()));
    }
    answer
}

/// An error as the interface has it.
fn refused(status: u16, code: &str, message: &str) -> Answer {
    let error = json!({"error": {"type": "invalid_request_error", "code": code, "message": message}});
    (StatusCode::from_u16(status).unwrap(), axum::Json(error))
}

/// Longer than anybody waits.
async fn silence() -> Response {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    StatusCode::GATEWAY_TIMEOUT.into_response()
}
