//! The routes of the double, and the indexes behind them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::query::{Refusal, known_keys, refuse, search};
use super::score::Corpus;

/// An index.
#[derive(Default)]
struct DoubleIndex {
    mappings: Value,
    window: usize,
    /// What was written.
    written: BTreeMap<String, Value>,
    /// The number of the last change of each, as changes of an index are counted.
    sequences: BTreeMap<String, u64>,
    changes: u64,
    /// What is found: as it was at the last refresh.
    found: Corpus,
}

/// What a double was asked, and how it answers.
#[derive(Default)]
pub struct SearchDouble {
    indexes: Mutex<BTreeMap<String, DoubleIndex>>,
    /// Bulk requests that were taken.
    pub bulks: AtomicUsize,
    /// Searches of one request each.
    pub searches: AtomicUsize,
    /// Requests in which terms were counted.
    pub counted: AtomicUsize,
    /// Requests to be answered with 429 before others are taken.
    pub busy_requests: AtomicUsize,
    /// The seconds that these are told to wait.
    pub retry_after: AtomicUsize,
    /// Items of bulk requests to be answered with 429 before others are taken.
    pub busy_items: AtomicUsize,
    /// Bytes of a bulk request that are taken. 0: any.
    pub bulk_bytes_max: AtomicUsize,
    /// What a request has to have as its `Authorization`. Empty: nothing.
    pub authorization: Mutex<String>,
}

type Shared = State<Arc<SearchDouble>>;

/// The routes of the API.
pub(super) fn routes(double: Arc<SearchDouble>) -> Router {
    Router::new()
        .route(
            "/",
            get(async || {
                answer(StatusCode::OK, json!({"version": {"number": "2.19.0", "distribution": "opensearch"}}))
            }),
        )
        .route("/{index}", put(create))
        .route("/{index}/_mapping", get(mapping))
        .route("/{index}/_doc/{id}", get(one).put(put_over))
        .route("/{index}/_create/{id}", put(put_new))
        .route("/{index}/_bulk", post(bulk))
        .route("/{index}/_search", post(searched))
        .route("/{index}/_msearch", post(many_searched))
        .route("/{index}/_mget", post(many))
        .route("/{index}/_refresh", post(refresh))
        .layer(axum::middleware::from_fn_with_state(double.clone(), guarded))
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(double)
}

/// Whether one more of a number of things is to be done.
fn take(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

async fn guarded(
    State(double): Shared,
    headers: HeaderMap,
    request: axum::extract::Request,
    next: axum::middleware::Next,
) -> Response {
    let wanted = double.authorization.lock().clone();
    if !wanted.is_empty() && headers.get(header::AUTHORIZATION).is_none_or(|given| given != wanted.as_str()) {
        return answer(StatusCode::UNAUTHORIZED, json!({"error": "missing credentials"}));
    }
    if take(&double.busy_requests) {
        let mut response = answer(StatusCode::TOO_MANY_REQUESTS, json!({"error": {"reason": "queue is full"}}));
        let seconds = double.retry_after.load(Ordering::SeqCst);
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        return response;
    }
    next.run(request).await
}

fn answer(status: StatusCode, body: Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn refused((status, kind, reason): Refusal) -> Response {
    let cause = json!({"type": kind, "reason": reason});
    answer(status, json!({"error": {"root_cause": [cause], "type": kind, "reason": reason}, "status": status.as_u16()}))
}

fn done(result: Result<Value, Refusal>) -> Response {
    result.map_or_else(refused, |body| answer(StatusCode::OK, body))
}

fn read(body: &Bytes) -> Result<Value, Refusal> {
    serde_json::from_slice(body).map_err(|error| refuse("parse_exception", error.to_string()))
}

fn missing(index: &str) -> Refusal {
    (StatusCode::NOT_FOUND, "index_not_found_exception", format!("no such index [{index}]"))
}

async fn create(State(double): Shared, Path(name): Path<String>, body: Bytes) -> Response {
    done(read(&body).and_then(|body| {
        known_keys(&body, &["settings", "mappings", "aliases"])?;
        let mut indexes = double.indexes.lock();
        if indexes.contains_key(&name) {
            return Err(refuse("resource_already_exists_exception", format!("index [{name}] already exists")));
        }
        if name != name.to_lowercase() {
            return Err(refuse("invalid_index_name_exception", "must be lowercase".to_owned()));
        }
        check_mappings(&body["mappings"])?;
        let window = body["settings"]["index"]["max_result_window"].as_u64().unwrap_or(10_000) as usize;
        indexes.insert(name, DoubleIndex { mappings: body["mappings"].clone(), window, ..DoubleIndex::default() });
        Ok(json!({"acknowledged": true}))
    }))
}

/// A mapping has what a mapping can have, and each field what one of its type can.
fn check_mappings(mappings: &Value) -> Result<(), Refusal> {
    known_keys(mappings, &["_meta", "dynamic", "dynamic_templates", "properties"])?;
    for (name, field) in mappings["properties"].as_object().into_iter().flatten() {
        let known: &[&str] = match field["type"].as_str() {
            Some("keyword") => &["type", "index", "doc_values", "norms", "ignore_above"],
            Some("integer" | "double") => &["type", "index", "doc_values"],
            Some("text") => &["type", "index", "analyzer", "norms"],
            Some("object") => &["type", "dynamic", "properties"],
            other => {
                return Err(refuse("mapper_parsing_exception", format!("no handler for type {other:?} of [{name}]")));
            }
        };
        known_keys(field, known)?;
    }
    Ok(())
}

async fn mapping(State(double): Shared, Path(name): Path<String>) -> Response {
    let indexes = double.indexes.lock();
    done(indexes.get(&name).map(|index| json!({&name: {"mappings": index.mappings}})).ok_or_else(|| missing(&name)))
}

async fn one(State(double): Shared, Path((name, id)): Path<(String, String)>) -> Response {
    let indexes = double.indexes.lock();
    let Some(index) = indexes.get(&name) else { return refused(missing(&name)) };
    match index.written.get(&id) {
        Some(source) => {
            let sequence = index.sequences.get(&id).copied().unwrap_or_default();
            let found = json!({"_id": id, "_seq_no": sequence, "_primary_term": 1, "found": true, "_source": source});
            answer(StatusCode::OK, found)
        }
        None => answer(StatusCode::NOT_FOUND, json!({"_id": id, "found": false})),
    }
}

async fn put_over(
    State(double): Shared,
    Path((name, id)): Path<(String, String)>,
    Query(over): Query<BTreeMap<String, u64>>,
    body: Bytes,
) -> Response {
    let over = (over.get("if_seq_no").copied(), over.get("if_primary_term").copied());
    done(read(&body).and_then(|body| match over {
        (Some(sequence), Some(1)) => double.put(&name, &id, body, Some(sequence)),
        _ => Err(refuse("action_request_validation_exception", "if_seq_no and if_primary_term are missing".to_owned())),
    }))
}

async fn put_new(State(double): Shared, Path((name, id)): Path<(String, String)>, body: Bytes) -> Response {
    done(read(&body).and_then(|body| double.put(&name, &id, body, None)))
}

async fn bulk(State(double): Shared, Path(name): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    let most = double.bulk_bytes_max.load(Ordering::SeqCst);
    if most > 0 && body.len() > most {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    if let Err(refusal) = has_lines(&headers) {
        return refused(refusal);
    }
    double.bulks.fetch_add(1, Ordering::SeqCst);
    done(double.bulk(&name, &body))
}

async fn searched(State(double): Shared, Path(name): Path<String>, body: Bytes) -> Response {
    double.searches.fetch_add(1, Ordering::SeqCst);
    done(read(&body).and_then(|body| {
        let indexes = double.indexes.lock();
        let index = indexes.get(&name).ok_or_else(|| missing(&name))?;
        search(&body, &index.found, &index.mappings, index.window)
    }))
}

async fn many_searched(State(double): Shared, Path(name): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(refusal) = has_lines(&headers) {
        return refused(refusal);
    }
    double.counted.fetch_add(1, Ordering::SeqCst);
    done(lines(&body).and_then(|lines| {
        let indexes = double.indexes.lock();
        let each = lines.chunks(2).map(|pair| {
            let [header, body] = pair else { return Err(refuse("parse_exception", "a search is missing".to_owned())) };
            known_keys(header, &[])?;
            let index = indexes.get(&name).ok_or_else(|| missing(&name));
            let found = index.and_then(|index| search(body, &index.found, &index.mappings, index.window));
            Ok(match found {
                Ok(mut found) => {
                    found["status"] = json!(200);
                    found
                }
                Err((status, kind, reason)) => {
                    json!({"status": status.as_u16(), "error": {"type": kind, "reason": reason}})
                }
            })
        });
        Ok(json!({"took": 1, "responses": each.collect::<Result<Vec<Value>, Refusal>>()?}))
    }))
}

/// Refuses a request that is not said to be of lines.
fn has_lines(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(header::CONTENT_TYPE) {
        Some(mime) if mime == "application/x-ndjson" => Ok(()),
        _ => {
            let reason = "not newline-delimited".to_owned();
            Err((StatusCode::NOT_ACCEPTABLE, "media_type_header_exception", reason))
        }
    }
}

/// The lines of a body, each of them JSON.
fn lines(body: &Bytes) -> Result<Vec<Value>, Refusal> {
    let text = std::str::from_utf8(body).map_err(|error| refuse("parse_exception", error.to_string()))?;
    if !text.ends_with('\n') {
        return Err(refuse("illegal_argument_exception", "must be terminated by a newline".to_owned()));
    }
    text.lines().map(|line| read(&Bytes::copy_from_slice(line.as_bytes()))).collect()
}

async fn many(State(double): Shared, Path(name): Path<String>, body: Bytes) -> Response {
    done(read(&body).and_then(|body| {
        known_keys(&body, &["ids"])?;
        let indexes = double.indexes.lock();
        let index = indexes.get(&name).ok_or_else(|| missing(&name))?;
        let ids = body["ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let of = |id: &str| match index.written.get(id) {
            Some(source) => json!({"_id": id, "found": true, "_source": source}),
            None => json!({"_id": id, "found": false}),
        };
        Ok(json!({"docs": ids.map(of).collect::<Vec<_>>()}))
    }))
}

async fn refresh(State(double): Shared, Path(name): Path<String>) -> Response {
    let mut indexes = double.indexes.lock();
    done(indexes.get_mut(&name).ok_or_else(|| missing(&name)).map(|index| {
        index.found = Corpus::of(&index.written);
        json!({"_shards": {"failed": 0}})
    }))
}

impl SearchDouble {
    /// Makes an index of somebody else.
    pub fn make(&self, name: &str) {
        let mappings = json!({"properties": {"message": {"type": "text"}}});
        self.indexes.lock().insert(name.to_owned(), DoubleIndex { mappings, ..DoubleIndex::default() });
    }

    /// Puts a document over a version of it, or where there is none.
    fn put(&self, name: &str, id: &str, source: Value, over: Option<u64>) -> Result<Value, Refusal> {
        let mut indexes = self.indexes.lock();
        let index = indexes.get_mut(name).ok_or_else(|| missing(name))?;
        if index.written.get(id).map(|_| index.sequences.get(id).copied().unwrap_or_default()) != over {
            let reason = format!("[{id}]: version conflict");
            return Err((StatusCode::CONFLICT, "version_conflict_engine_exception", reason));
        }
        match index.change(id, Some(source)) {
            (status, _) if status < 300 => Ok(json!({"_id": id, "result": "updated"})),
            (_, error) => Err(refuse("mapper_parsing_exception", error["reason"].to_string())),
        }
    }

    fn bulk(&self, name: &str, body: &Bytes) -> Result<Value, Refusal> {
        let mut indexes = self.indexes.lock();
        let index = indexes.get_mut(name).ok_or_else(|| missing(name))?;
        let mut lines = lines(body)?.into_iter();
        let mut items = Vec::new();
        while let Some(action) = lines.next() {
            known_keys(&action, &["index", "delete"])?;
            let kind = if action["delete"].is_object() { "delete" } else { "index" };
            let id = action[kind]["_id"].as_str().unwrap_or_default().to_owned();
            let source = if kind == "index" { lines.next() } else { None };
            let (status, error) = if take(&self.busy_items) {
                (429, json!({"type": "rejected_execution_exception", "reason": "queue is full"}))
            } else {
                index.change(&id, source)
            };
            items.push(json!({kind: {"_id": id, "status": status, "error": error}}));
        }
        Ok(json!({"took": 1, "errors": items.iter().any(|item| item.to_string().contains("reason")), "items": items}))
    }
}

impl DoubleIndex {
    fn change(&mut self, id: &str, source: Option<Value>) -> (u16, Value) {
        self.changes += 1;
        self.sequences.insert(id.to_owned(), self.changes);
        let Some(source) = source else {
            return (if self.written.remove(id).is_some() { 200 } else { 404 }, Value::Null);
        };
        let fields = self.mappings["properties"].as_object();
        let unknown = source
            .as_object()
            .into_iter()
            .flatten()
            .find(|(name, _)| !fields.is_some_and(|fields| fields.contains_key(*name)));
        if let Some((name, _)) = unknown {
            let reason = format!("mapping set to strict, dynamic introduction of [{name}] is not allowed");
            return (400, json!({"type": "strict_dynamic_mapping_exception", "reason": reason}));
        }
        let blank = source["numbers"].as_object().into_iter().flatten().any(|(name, _)| name.trim().is_empty());
        if blank {
            return (
                400,
                json!({"type": "mapper_parsing_exception", "reason": "field name cannot be an empty string"}),
            );
        }
        let status = if self.written.insert(id.to_owned(), source).is_some() { 200 } else { 201 };
        (status, Value::Null)
    }
}
