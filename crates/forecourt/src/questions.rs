//! What people ask: counted behind the gate, rated with a thumb at `POST /~{handle}/feedback`, and whose results are clicked at
//! `POST /~{handle}/click`. There is nothing of this unless `[questions]` turns it on.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::body::{Body, to_bytes};
use axum::extract::{Path as UrlPath, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use forecourt_agents::BuiltAgent;
use forecourt_core::{Agent, Clock, Handle, SystemClock};
use forecourt_host::Host;
use forecourt_pages::{click_path, feedback_path};
use forecourt_questions::{Click, ClickOutcome, LoggedAgent, QuestionLog, Rating, RatingOutcome};
use forecourt_surface::HttpRoutes;
use forecourt_surface::same_origin::is_foreign_form;
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded;

use crate::settings::QuestionSettings;

/// The log in the data folder.
const FILE: &str = "questions.db";
/// Bytes of a rating.
const RATING_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the query of a click.
const CLICK_BYTES_MAX: usize = 8 * 1024;
/// Where clicks on results go, for any agent.
static CLICK_PATH: LazyLock<String> = LazyLock::new(|| click_path("/~{handle}"));
/// Where thumbs go: the path that pages write, for any agent.
static FEEDBACK_PATH: LazyLock<String> = LazyLock::new(|| feedback_path("/~{handle}"));

/// The log, where the operator wants one.
pub(crate) fn log(settings: &QuestionSettings, data: &Path) -> Option<Arc<QuestionLog>> {
    let log = settings.log.then(|| QuestionLog::new(data.join(FILE), settings.keep_days))?;
    Some(Arc::new(if settings.suggest { log } else { log.without_suggestions() }))
}

/// An agent whose questions are counted.
pub(crate) fn logged(built: BuiltAgent, log: &Arc<QuestionLog>) -> Arc<dyn Agent> {
    Arc::new(LoggedAgent::new(built.agent, built.finds, log.clone(), Arc::new(SystemClock)))
}

#[derive(Clone)]
struct Feedback {
    log: Arc<QuestionLog>,
    host: Arc<Host>,
}

/// A thumb, as pages post it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thumb {
    question: String,
    good: bool,
    /// The id of the item that is meant. Without it, the answer as a whole.
    item: Option<String>,
}

const FORM: &str =
    "send {\"question\": \"…\", \"good\": true, \"item\": \"ID\"} as application/json; `item` may be left out";

/// `POST /~{handle}/feedback`. A rating changes a counter and nothing else, and asks for no proof of who rates; pages
/// of other sites can't send one all the same, since browsers say where a post is from.
pub(crate) fn feedback_routes(log: Arc<QuestionLog>, host: Arc<Host>) -> HttpRoutes {
    let router = Router::new().route(&FEEDBACK_PATH, post(rate)).route(&CLICK_PATH, post(click));
    HttpRoutes { paths: vec![&FEEDBACK_PATH, &CLICK_PATH], router: router.with_state(Feedback { log, host }) }
}

/// `POST /~{handle}/click?question=…&item=…`: what a link of a page tells, with whatever body. It has no cookie that
/// counts and no answer but a status.
async fn click(State(feedback): State<Feedback>, UrlPath(handle): UrlPath<String>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let no_store = [(header::CACHE_CONTROL, "no-store")];
    match clicked(&feedback, &handle, &head.headers, head.uri.query().unwrap_or_default()).await {
        Ok(()) => (StatusCode::NO_CONTENT, no_store).into_response(),
        Err((status, why)) => (status, no_store, Json(json!({"error": why}))).into_response(),
    }
}

async fn clicked(
    feedback: &Feedback,
    handle: &str,
    headers: &HeaderMap,
    query: &str,
) -> Result<(), (StatusCode, &'static str)> {
    if is_foreign_form(headers, feedback.host.site()) {
        return Err((StatusCode::FORBIDDEN, "clicks on other sites' pages are not counted"));
    }
    let known = Handle::parse(handle).ok().filter(|handle| feedback.host.directory().find(handle).is_some());
    let agent = known.ok_or((StatusCode::NOT_FOUND, "there is no such agent"))?;
    let click = click_of(agent.as_str(), query)
        .ok_or((StatusCode::BAD_REQUEST, "`question` and `item` are to be in the query, in at most 8192 bytes"))?;
    let log = feedback.log.clone();
    match tokio::task::spawn_blocking(move || log.click(&click, SystemClock.now())).await {
        Ok(Ok(ClickOutcome::Counted)) => Ok(()),
        Ok(Ok(ClickOutcome::NotShown)) => Err((StatusCode::NOT_FOUND, "this was not shown lately, or is counted")),
        Ok(Ok(ClickOutcome::Full)) => Err((StatusCode::TOO_MANY_REQUESTS, "too many clicks at once")),
        Ok(Err(error)) => {
            tracing::error!(%error, "a click was lost");
            Err((StatusCode::INTERNAL_SERVER_ERROR, "it could not be counted"))
        }
        Err(_) => Err((StatusCode::INTERNAL_SERVER_ERROR, "it could not be counted")),
    }
}

/// The click that a query says. `None` for one that says none, or too much.
fn click_of(agent: &str, query: &str) -> Option<Click> {
    if query.len() > CLICK_BYTES_MAX {
        return None;
    }
    let value = |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name);
    let (question, item) = (value("question")?.1.into_owned(), value("item")?.1.into_owned());
    Some(Click { agent: agent.to_owned(), question, item })
}

async fn rate(State(feedback): State<Feedback>, UrlPath(handle): UrlPath<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match rated(&feedback, &handle, &head.headers, body).await {
        Ok(()) => (StatusCode::NO_CONTENT, [(header::CACHE_CONTROL, "no-store")]).into_response(),
        Err((status, why)) => {
            (status, [(header::CACHE_CONTROL, "no-store")], Json(json!({"error": why}))).into_response()
        }
    }
}

async fn rated(feedback: &Feedback, handle: &str, headers: &HeaderMap, body: Body) -> Result<(), (StatusCode, String)> {
    let refused = |status: StatusCode, why: &str| (status, why.to_owned());
    // Other sites could else vote with their visitors' browsers.
    if is_foreign_form(headers, feedback.host.site()) {
        return Err(refused(StatusCode::FORBIDDEN, "thumbs of other sites' pages are not counted"));
    }
    let is_form = is_of(headers, "application/x-www-form-urlencoded");
    if !is_form && !is_of(headers, "application/json") {
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, FORM));
    }
    let unknown = || refused(StatusCode::NOT_FOUND, "there is no such agent");
    let handle = Handle::parse(handle).map_err(|_| unknown())?;
    if feedback.host.directory().find(&handle).is_none() {
        return Err(unknown());
    }
    let bytes = to_bytes(body, RATING_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| refused(StatusCode::PAYLOAD_TOO_LARGE, "a rating has at most 16384 bytes"))?;
    let thumb = if is_form { of_form(&bytes) } else { serde_json::from_slice(&bytes).map_err(|e| e.to_string()) };
    let thumb = thumb.map_err(|error| refused(StatusCode::BAD_REQUEST, &format!("{error}; {FORM}")))?;
    let rating =
        Rating { agent: handle.as_str().to_owned(), question: thumb.question, item: thumb.item, is_good: thumb.good };
    let log = feedback.log.clone();
    let counted = tokio::task::spawn_blocking(move || log.rate(&rating, SystemClock.now())).await;
    match counted {
        Ok(Ok(RatingOutcome::Counted)) => Ok(()),
        Ok(Ok(RatingOutcome::UnknownQuestion)) => Err(refused(StatusCode::NOT_FOUND, "nobody asked this lately")),
        Ok(Ok(RatingOutcome::Full)) => {
            Err(refused(StatusCode::TOO_MANY_REQUESTS, "too many ratings at once; try again in a minute"))
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "a rating was lost");
            Err(refused(StatusCode::INTERNAL_SERVER_ERROR, "it could not be counted"))
        }
        Err(_) => Err(refused(StatusCode::INTERNAL_SERVER_ERROR, "it could not be counted")),
    }
}

/// Whether a body says that it is of this media type.
fn is_of(headers: &HeaderMap, wanted: &str) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(wanted))
}

/// The thumb of a page whose script does not run.
fn of_form(bytes: &[u8]) -> Result<Thumb, String> {
    let mut thumb = (None, None);
    for (name, value) in form_urlencoded::parse(bytes) {
        match (&*name, &*value) {
            ("question", _) => thumb.0 = Some(value.into_owned()),
            ("good", "true") => thumb.1 = Some(true),
            ("good", "false") => thumb.1 = Some(false),
            _ => return Err(format!("unknown field `{}`", name.chars().take(100).collect::<String>())),
        }
    }
    match thumb {
        (Some(question), Some(good)) => Ok(Thumb { question, good, item: None }),
        _ => Err("`question` and `good` are missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_form_says_one_thumb_or_is_refused() {
        let thumb = of_form(b"question=a+b%3F&good=false").unwrap();
        assert_eq!((thumb.question.as_str(), thumb.good, thumb.item), ("a b?", false, None));
        for wrong in ["", "question=a", "good=true", "question=a&good=1", "question=a&good=true&x=1"] {
            assert!(of_form(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_query_says_one_click_within_its_bound() {
        let click = click_of("chef", "question=a+b%3F&item=https%3A%2F%2Fx.example%2F&more=1").unwrap();
        assert_eq!((click.question.as_str(), click.item.as_str()), ("a b?", "https://x.example/"));
        assert!(click_of("chef", "question=a").is_none() && click_of("chef", "").is_none());
        let long = |bytes: usize| format!("item=b&question={}", "x".repeat(bytes - "item=b&question=".len()));
        assert!(click_of("chef", &long(CLICK_BYTES_MAX)).is_some());
        assert!(click_of("chef", &long(CLICK_BYTES_MAX + 1)).is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_a_click_or_none(query in "\\PC{0,80}") {
            let _ = click_of("chef", &query);
        }

        #[test]
        fn any_bytes_are_a_thumb_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = of_form(&bytes);
        }
    }
}
