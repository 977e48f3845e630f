//! Content that the operator's programs push: `POST` and `DELETE /content/{handle}` on the admin listener.
//!
//! An answer says what is on disk. Both calls can be made again without harm.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use forecourt_index::limits::PUSH_BYTES_MAX;
use forecourt_index::{Error as ContentError, PutOutcome, RemoveOutcome};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::content::Content;
use crate::data_folder::Place;
use crate::live::LiveHouse;
use crate::shared::content::{SharedContent, SharedContentError};

/// Calls that are worked on at once. One more is told to come again.
const AT_ONCE_MAX: usize = 4;
/// Seconds after which to come again.
const RETRY_AFTER: &str = "1";

#[derive(Clone)]
struct Doors {
    /// Whose agents they are for.
    live: Arc<LiveHouse>,
    slots: Arc<Semaphore>,
    place: Arc<Place>,
    /// Where what is pushed is all nodes'.
    shared: Option<Arc<SharedContent>>,
}

/// The routes, which are to be put behind the admin token.
pub(super) fn routes(live: Arc<LiveHouse>, place: Arc<Place>, shared: Option<Arc<SharedContent>>) -> Router {
    let doors = Doors { live, slots: Arc::new(Semaphore::new(AT_ONCE_MAX)), place, shared };
    Router::new().route("/content/{handle}", post(put).delete(remove).get(status)).with_state(doors)
}

/// Why a call was not done, for the operator.
struct PushRefusal(StatusCode, String);

impl IntoResponse for PushRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.0, Json(json!({"error": self.1}))).into_response();
        if self.0 == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, http::HeaderValue::from_static(RETRY_AFTER));
        }
        response
    }
}

impl From<ContentError> for PushRefusal {
    fn from(error: ContentError) -> Self {
        let status = match &error {
            ContentError::Unreadable(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ContentError::TooMuch(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ContentError::NoRoom { .. } => StatusCode::INSUFFICIENT_STORAGE,
            ContentError::NothingPushed => StatusCode::CONFLICT,
            // The operator can do something about a full disk, so it has a status of its own.
            _ if is_full(&error) => {
                tracing::error!(%error, "pushed content could not be kept");
                return Self(StatusCode::INSUFFICIENT_STORAGE, format!("{DISK_FULL}; nothing of this call is kept"));
            }
            _ => {
                tracing::error!(%error, "pushed content could not be kept");
                return Self(StatusCode::INTERNAL_SERVER_ERROR, "it could not be kept; the log says why".to_owned());
            }
        };
        Self(status, error.to_string())
    }
}

impl From<SharedContentError> for PushRefusal {
    fn from(error: SharedContentError) -> Self {
        match error {
            SharedContentError::Content(error) => error.into(),
            SharedContentError::Store(error) => {
                tracing::error!(%error, "pushed content could not be kept");
                Self(StatusCode::SERVICE_UNAVAILABLE, "the store of this host is not available; come again".to_owned())
            }
        }
    }
}

/// What a call is told that was made while there is no room.
const DISK_FULL: &str = "the disk of this host is full";

/// What the system and SQLite call a full disk. Content has no more than their words.
fn is_full(error: &ContentError) -> bool {
    const WORDS: [&str; 4] = ["os error 28", "os error 122", "No space left on device", "database or disk is full"];
    let said = error.to_string();
    WORDS.iter().any(|words| said.contains(words))
}

/// While the data folder is away, nothing is acknowledged.
fn gone(reason: String) -> PushRefusal {
    tracing::error!("a push was refused: {reason}");
    PushRefusal(StatusCode::SERVICE_UNAVAILABLE, "the data folder of this host is gone".to_owned())
}

/// What the last run of indexing came to: what was taken, and what was left out and why.
async fn status(State(doors): State<Doors>, Path(handle): Path<String>) -> Result<Response, PushRefusal> {
    let indexing = doors.content(&handle)?.indexing;
    let shown = blocking(move || {
        let (items, left_out) = (indexing.items(), indexing.left_out());
        Ok(json!({"items": items, "last_run": indexing.last_report(), "not_read": left_out}))
    });
    Ok(Json(shown.await?).into_response())
}

async fn put(
    State(doors): State<Doors>,
    Path(handle): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PushRefusal> {
    let content = doors.content(&handle)?;
    let _slot = doors.slot()?;
    // The slot is taken first: bodies that are read at once are what takes memory.
    let document = read(body).await?;
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.to_owned();
    doors.place.is_there().map_err(gone)?;
    let done = match &doors.shared {
        Some(shared) => shared.put(&content, document, media_type).await?,
        None => blocking(move || content.indexing.put(&document, &media_type)).await?,
    };
    doors.place.is_there().map_err(gone)?;
    tracing::info!(agent = handle, stored = done.stored, skipped = done.skipped, "content was pushed");
    let nothing = done.stored + done.unchanged == 0 && done.skipped > 0;
    let status = if nothing { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok((status, Json(put_summary(&done))).into_response())
}

async fn remove(
    State(doors): State<Doors>,
    Path(handle): Path<String>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Result<Response, PushRefusal> {
    let content = doors.content(&handle)?;
    let _slot = doors.slot()?;
    let wanted = wanted(query.as_deref().unwrap_or_default(), &read(body).await?)?;
    let names = match wanted {
        RemovalTarget::All => {
            match &doors.shared {
                Some(shared) => shared.forget(&content).await?,
                None => blocking(move || content.indexing.forget_pushed()).await?,
            }
            tracing::info!(agent = handle, "all that was pushed is forgotten");
            return Ok(Json(json!({"forgotten": true, "searchable": false})).into_response());
        }
        RemovalTarget::Named(names) => names,
    };
    doors.place.is_there().map_err(gone)?;
    let done = match &doors.shared {
        Some(shared) => shared.remove(&content, names).await?,
        None => blocking(move || content.indexing.remove(&names)).await?,
    };
    doors.place.is_there().map_err(gone)?;
    tracing::info!(agent = handle, removed = done.removed.len(), "content was removed");
    let status = if done.removed.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
    Ok((status, Json(removal_summary(&done))).into_response())
}

impl Doors {
    fn content(&self, handle: &str) -> Result<Content, PushRefusal> {
        let house = self.live.now();
        let contents = house.as_ref().map(|house| house.contents.as_slice()).unwrap_or_default();
        let wanted = handle.trim_start_matches('@');
        let found = contents.iter().find(|content| content.handle.as_str() == wanted);
        found.cloned().ok_or_else(|| {
            let known: Vec<&str> = contents.iter().map(|content| content.handle.as_str()).collect();
            let known =
                if known.is_empty() { "none has any".to_owned() } else { format!("these have: {}", known.join(", ")) };
            PushRefusal(StatusCode::NOT_FOUND, format!("no agent `{handle}` has content; {known}"))
        })
    }

    fn slot(&self) -> Result<tokio::sync::SemaphorePermit<'_>, PushRefusal> {
        let busy = |_| PushRefusal(StatusCode::SERVICE_UNAVAILABLE, "too many calls at once; come again".to_owned());
        self.slots.try_acquire().map_err(busy)
    }
}

/// What is to be removed.
#[derive(Debug, PartialEq)]
enum RemovalTarget {
    /// All that was pushed, and all removals.
    All,
    /// These ids or links.
    Named(Vec<String>),
}

/// The body of a call that removes more than fits into a query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ids {
    ids: Vec<String>,
}

/// `?id=…`, any number of them, or `{"ids": […]}`; `?pushed=all` forgets everything that was pushed.
fn wanted(query: &str, body: &[u8]) -> Result<RemovalTarget, PushRefusal> {
    const FORM: &str = "name items with ?id=… (an id or a link, as often as needed) or a body {\"ids\": […]}; \
                        ?pushed=all forgets everything that was pushed";
    let wrong = || PushRefusal(StatusCode::BAD_REQUEST, FORM.to_owned());
    let mut names = Vec::new();
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match (&*key, &*value) {
            ("id" | "url", name) if !name.is_empty() => names.push(name.to_owned()),
            // Alone and to the letter: nobody is to forget everything by a query that was meant to name items.
            ("pushed", "all") if body.is_empty() && query == "pushed=all" => return Ok(RemovalTarget::All),
            _ => return Err(wrong()),
        }
    }
    if !body.is_empty() {
        let ids: Ids = serde_json::from_slice(body).map_err(|_| wrong())?;
        names.extend(ids.ids);
    }
    if names.is_empty() { Err(wrong()) } else { Ok(RemovalTarget::Named(names)) }
}

async fn read(body: Body) -> Result<Vec<u8>, PushRefusal> {
    let too_large = |_| {
        let why = format!("more than {PUSH_BYTES_MAX} bytes in one call, or it broke off; send them in several");
        PushRefusal(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    to_bytes(body, PUSH_BYTES_MAX).await.map(Vec::from).map_err(too_large)
}

/// Disks are written on threads that may wait for them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ContentError> + Send + 'static,
) -> Result<T, PushRefusal> {
    let broke = |_| PushRefusal(StatusCode::INTERNAL_SERVER_ERROR, "it could not be kept; the log says why".to_owned());
    Ok(tokio::task::spawn_blocking(work).await.map_err(broke)??)
}

fn put_summary(done: &PutOutcome) -> Value {
    let reasons: Vec<Value> =
        done.reasons.iter().map(|skipped| json!({"line": skipped.line, "reason": skipped.reason})).collect();
    json!({"stored": done.stored, "unchanged": done.unchanged, "skipped": done.skipped, "reasons": reasons,
        "searchable": done.is_searchable})
}

fn removal_summary(done: &RemoveOutcome) -> Value {
    json!({"removed": done.removed, "unknown": done.unknown, "searchable": done.is_searchable})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_is_named_and_never_everything_by_mistake() {
        let named = |names: &[&str]| RemovalTarget::Named(names.iter().map(|name| (*name).to_owned()).collect());
        let ok = |query: &str, body: &str| wanted(query, body.as_bytes()).ok();
        assert_eq!(ok("id=a&url=https%3A%2F%2Fe.org%2Fb", ""), Some(named(&["a", "https://e.org/b"])));
        assert_eq!(ok("", "{\"ids\": [\"a\"]}"), Some(named(&["a"])));
        assert_eq!(ok("id=a", "{\"ids\": [\"b\"]}"), Some(named(&["a", "b"])));
        assert_eq!(ok("pushed=all", ""), Some(RemovalTarget::All));
        for (query, body) in [("", ""), ("id=", ""), ("di=a", ""), ("pushed=all&id=a", ""), ("id=a&pushed=all", "")] {
            assert_eq!(ok(query, body), None, "{query}");
        }
        for body in ["[]", "{\"ids\": []}", "{\"ids\": [1]}", "{\"ids\": [\"a\"], \"x\": 1}"] {
            assert_eq!(ok("", body), None, "{body}");
        }
        assert_eq!(ok("pushed=all", "{\"ids\": [\"a\"]}"), None);
    }
}
