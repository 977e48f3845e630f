//! A payment processor on loopback, as the manual describes one: strict about what it is sent, and failing as it is told
//! to. Money is played.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The secret that the processor takes.
pub const PROCESSOR_SECRET: &str = "psp_test_double";

/// What happens to one request of the host's.
#[derive(Debug, Clone)]
pub enum ProcessorFault {
    /// The work is done, and a gateway in between answers that it is not.
    LostAfter,
    /// Nothing is done, and a gateway in between says so.
    LostBefore,
    /// Nothing is done, and this is answered.
    Answer(u16, Value),
    /// The work is done, and the answer has these members instead of its own.
    AnswerWith(Value),
}

/// What the processor knows.
#[derive(Debug, Default)]
pub struct ProcessorBooks {
    /// Where each payment stands, by its reference.
    pub payments: BTreeMap<String, String>,
    /// Operations that were asked for, with their bodies.
    pub asked: Vec<(String, Value)>,
    /// What is to happen to the next request of an operation.
    pub faults: Vec<(String, ProcessorFault)>,
    /// Whether it declines to hold anything.
    pub declines: bool,
    /// What was wrong with requests: each is an error of the host's.
    pub complaints: Vec<String>,
}

/// The processor. Clones share its books.
#[derive(Debug, Clone, Default)]
pub struct PaymentProcessor {
    /// What it knows.
    pub books: Arc<Mutex<ProcessorBooks>>,
}

impl PaymentProcessor {
    /// Listens on this machine, and gives the address.
    pub async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/{operation}", post(on_request)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }

    /// Has the next request of an operation fail.
    pub fn fail(&self, operation: &str, fault: ProcessorFault) {
        self.books.lock().faults.push((operation.to_owned(), fault));
    }

    /// How many payments stand so.
    pub fn count(&self, status: &str) -> usize {
        self.books.lock().payments.values().filter(|stands| *stands == status).count()
    }

    /// How often an operation was asked for.
    pub fn asked(&self, operation: &str) -> usize {
        self.books.lock().asked.iter().filter(|(asked, _)| asked == operation).count()
    }
}

impl ProcessorBooks {
    /// Carries out an operation, and says where the payment stands then. What was let go of stays so.
    fn carry_out(&mut self, operation: &str, reference: &str) -> String {
        let stands = self.payments.get(reference).map(String::as_str);
        let next = match (operation, stands) {
            ("authorize", None) if self.declines => "declined",
            ("authorize", None) | ("authorize", Some("authorized")) => "authorized",
            ("capture", Some("authorized")) => "captured",
            ("release", None | Some("authorized" | "declined")) => "released",
            ("release", Some("captured")) => "refunded",
            ("capture", None) => "declined",
            (_, Some(stands)) => stands,
            _ => "declined",
        };
        let next = next.to_owned();
        self.payments.insert(reference.to_owned(), next.clone());
        next
    }

    /// What is wrong with a request, if anything.
    fn complaint(operation: &str, head: &HeaderMap, body: &Value) -> Option<String> {
        let field = |name: &str| head.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let reference = body["reference"].as_str().unwrap_or_default();
        let checks = [
            (field("content-type") == "application/json", "the type of the body"),
            (field("authorization") == format!("Bearer {PROCESSOR_SECRET}"), "the secret"),
            (field("idempotency-key") == format!("{operation}-{reference}"), "the idempotency key"),
            (reference.len() == 64, "the reference"),
            (body["amount"]["currency"].is_string() && body["amount"]["value"].is_number(), "the amount"),
            (
                operation != "authorize"
                    || body["mandates"]["ap2.mandates.CartMandate"]["contents"]["payment_request"]["details"]["total"]
                        ["amount"]
                        == body["amount"],
                "the cart",
            ),
            (
                operation != "authorize"
                    || body["mandates"]["ap2.mandates.PaymentMandate"]["user_authorization"].is_string(),
                "the payment mandate",
            ),
            (["authorize", "capture", "release"].contains(&operation), "the operation"),
        ];
        checks.into_iter().find(|(is_fine, _)| !is_fine).map(|(_, what)| format!("{operation}: {what}"))
    }
}

async fn on_request(
    State(processor): State<PaymentProcessor>,
    Path(operation): Path<String>,
    head: HeaderMap,
    bytes: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (answer, fault) = {
        let mut books = processor.books.lock();
        books.asked.push((operation.clone(), body.clone()));
        if let Some(complaint) = ProcessorBooks::complaint(&operation, &head, &body) {
            books.complaints.push(complaint.clone());
            return (StatusCode::BAD_REQUEST, complaint).into_response();
        }
        let at = books.faults.iter().position(|(of, _)| *of == operation);
        let fault = at.map(|at| books.faults.remove(at).1);
        let status = match &fault {
            Some(ProcessorFault::LostBefore | ProcessorFault::Answer(..)) => String::new(),
            _ => books.carry_out(&operation, body["reference"].as_str().unwrap_or_default()),
        };
        (json!({"reference": body["reference"], "amount": body["amount"], "status": status}), fault)
    };
    match fault {
        None => Json(answer).into_response(),
        Some(ProcessorFault::Answer(status, body)) => {
            (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
        }
        Some(ProcessorFault::AnswerWith(members)) => {
            let mut answer = answer;
            answer.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            Json(answer).into_response()
        }
        Some(ProcessorFault::LostBefore | ProcessorFault::LostAfter) => StatusCode::BAD_GATEWAY.into_response(),
    }
}
