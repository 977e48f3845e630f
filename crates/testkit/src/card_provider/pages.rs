//! The page of a checkout: two buttons, and where they lead.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde_json::Value;

use super::CardProvider;

fn session(provider: &CardProvider, id: &str) -> Option<Value> {
    let mut books = provider.books.lock();
    books.expire();
    books.sessions.iter().find(|session| session["id"] == id).cloned()
}

pub(super) async fn show(State(provider): State<CardProvider>, Path(id): Path<String>) -> Response {
    let Some(session) = session(&provider, &id) else { return StatusCode::NOT_FOUND.into_response() };
    let text = |key: &str| session[key].as_str().unwrap_or_default().to_owned();
    if session["status"] != "open" {
        return Html(format!("<h1 id=over>This checkout is {}.</h1>", text("status"))).into_response();
    }
    Html(format!(
        "<title>Checkout</title><h1>{} {}</h1><p id=product>{}</p><form method=post><button id=paid>Pay</button></form>\
         <a id=back href=\"{}\">Back</a>",
        session["amount_total"],
        text("currency"),
        text("product").replace(['<', '&'], ""),
        text("cancel_url"),
    ))
    .into_response()
}

pub(super) async fn decide(State(provider): State<CardProvider>, Path(id): Path<String>) -> Response {
    let Some(found) = session(&provider, &id) else { return StatusCode::NOT_FOUND.into_response() };
    provider.pay(&id);
    Redirect::to(found["success_url"].as_str().unwrap()).into_response()
}
