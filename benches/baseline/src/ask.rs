//! `/ask` of NLWeb 0.55 in list mode, and nothing else: tantivy for the words, serde for the JSON.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bare::Bare;

/// Answers from the index in a folder.
///
/// # Errors
/// When the index can't be opened.
pub fn router(folder: &Path) -> anyhow::Result<Router> {
    Ok(Router::new().route("/ask", post(ask)).with_state(Arc::new(Bare::open(folder)?)))
}

#[derive(Deserialize)]
struct Request {
    query: Query,
    prefer: Prefer,
}

#[derive(Deserialize)]
struct Query {
    text: String,
}

#[derive(Deserialize)]
struct Prefer {
    mode: String,
    streaming: bool,
}

#[derive(Serialize)]
struct Answer {
    _meta: Meta,
    results: Vec<Value>,
}

#[derive(Serialize)]
struct Meta {
    processing_time_ms: u128,
    response_format: &'static str,
    response_type: &'static str,
    session_context: Value,
    version: &'static str,
}

async fn ask(State(index): State<Arc<Bare>>, Json(request): Json<Request>) -> Response {
    if request.prefer.mode != "list" || request.prefer.streaming {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let begin = Instant::now();
    let mut results = Vec::with_capacity(10);
    let found = index.find(&request.query.text, |_, item| {
        results.push(grounded(serde_json::from_slice(item)?));
        Ok(())
    });
    if found.is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let meta = Meta {
        processing_time_ms: begin.elapsed().as_millis(),
        response_format: "conversational_search",
        response_type: "answer",
        session_context: json!({"conversation_id": "0123456789012345678901234567890123456789012"}),
        version: "0.55",
    };
    let headers = [
        ("cache-control", "no-store"),
        ("content-language", "en"),
        ("x-robots-tag", "noindex, nofollow, noarchive"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("vary", "Accept, Accept-Language"),
    ];
    (headers, Json(Answer { _meta: meta, results })).into_response()
}

/// Says where an item comes from, and what it is.
fn grounded(mut item: Value) -> Value {
    let url = item["url"].clone();
    if let Some(fields) = item.as_object_mut() {
        fields.insert("grounding".to_owned(), json!({"source_urls": [&url]}));
        fields.insert("@id".to_owned(), url);
    }
    item
}
