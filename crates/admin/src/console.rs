//! The console: pages of the operator, made here and readable without any script.

mod assets;
mod doorway;
mod editor;
mod login;
mod login_provider;
mod nav;
mod pages;
mod trial;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use forecourt_pages::csp;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use serde_json::{Map, Value};

use crate::access::{self, Acting, Command, SameOriginProof};
use crate::api_error::ApiError;
use crate::desk::{Ask, Desk};
use crate::entrance::Entrance;
use crate::limits::BODY_BYTES_MAX;
use crate::login::CALLBACK;
use crate::role::Actor;
use crate::routes::{Calls, Does, ROUTES};
use view::Page;

/// The field of a form that shows whose it is.
const CSRF_FIELD: &str = "csrf";
/// The field of a form that says where to go afterwards.
const BACK_FIELD: &str = "back";

/// The routes of the console.
pub(crate) fn router(desk: Arc<Desk>) -> Router {
    let mut router = Router::new()
        .route("/console/login", get(login::form).post(login::login))
        .route("/console/login/provider", post(login_provider::leave))
        .route(CALLBACK, get(login_provider::come_back))
        .route("/console/logout", post(login::logout))
        .route("/console/do/{*path}", post(act))
        .route("/console/try/agents/{handle}", get(trial::agent).post(trial::ask_agent))
        .route("/console/try/{kind}/{id}", get(trial::thing).post(trial::call_thing))
        .route("/console/edit", get(editor::form).post(editor::send))
        .route("/console/assets/{file}", get(assets::asset))
        .route("/console/{*path}", get(nothing));
    for page in pages::PAGES {
        let make = page.make;
        let shown = move |State(desk): State<Arc<Desk>>, path: RawPathParams, uri: Uri, headers: HeaderMap| async move {
            let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            show(&desk, (&uri, &headers), path, make).await
        };
        router = router.route(page.path, get(shown));
    }
    router.with_state(desk)
}

async fn show(
    desk: &Arc<Desk>,
    (uri, headers): (&Uri, &HeaderMap),
    path: BTreeMap<String, String>,
    make: pages::Make,
) -> Response {
    let visitor = match visitor(desk, headers, uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let query: BTreeMap<String, String> = query.into_owned().collect();
    let done = query.get("done").cloned();
    let shown = match desk.house() {
        Ok(house) => {
            // `done` is the console's own word about the action before, and no parameter of the call.
            let query = query.into_iter().filter(|(name, _)| name != "done").collect();
            let ask = Ask { desk: desk.clone(), house, actor: visitor.clone(), path, query, body: Value::Null };
            make(ask).await
        }
        Err(error) => Err(error),
    };
    match shown {
        Ok(page) => html(StatusCode::OK, page.of(desk).await.render(&visitor, uri, done.as_deref())),
        Err(error) => failed(&error, &visitor, uri),
    }
}

/// Who looks at a page. Else the login, which leads back to it.
async fn visitor(desk: &Arc<Desk>, headers: &HeaderMap, uri: &Uri) -> Result<Actor, Box<Response>> {
    match access::actor(desk, headers).await {
        Ok(actor) => Ok(actor),
        Err(error) if error.status == StatusCode::UNAUTHORIZED => {
            let wanted = uri.path_and_query().map_or("/console", |wanted| wanted.as_str());
            let next = forecourt_pages::escape::query(access::safe_next(Some(wanted)));
            Err(Box::new(redirect(&format!("/console/login?next={next}"))))
        }
        Err(error) => Err(Box::new(turned_away(&error, doorway::closed(&error)))),
    }
}

async fn nothing(State(desk): State<Arc<Desk>>, uri: Uri, headers: HeaderMap) -> Response {
    match visitor(&desk, &headers, &uri).await {
        Ok(actor) => failed(&ApiError::not_found("there is no such page"), &actor, &uri),
        Err(response) => *response,
    }
}

/// A form that was sent: the call of the API of the same path, and back to where it was sent from.
async fn act(State(desk): State<Arc<Desk>>, Path(path): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let actor = match visitor(&desk, &head.headers, &head.uri).await {
        Ok(actor) => actor,
        Err(response) => return *response,
    };
    let done = match sent(&desk, &actor, &head.headers, body).await {
        Ok((meant, form)) => acted(&desk, &actor, &path, (meant, form)).await,
        Err(error) => Err(error),
    };
    match done {
        Ok((back, word)) => {
            let joint = if back.contains('?') { '&' } else { '?' };
            redirect(&format!("{back}{joint}done={word}"))
        }
        Err(error) => failed(&error, &actor, &head.uri),
    }
}

async fn acted(
    desk: &Arc<Desk>,
    actor: &Actor,
    path: &str,
    (meant, mut form): (SameOriginProof, BTreeMap<String, String>),
) -> Result<(String, &'static str), ApiError> {
    let acting: Acting = access::permit(actor, meant)?;
    let back = form.remove(BACK_FIELD);
    let (calls, path) = called(path).ok_or_else(|| ApiError::not_found("there is no such action"))?;
    let body: Map<String, Value> = form.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let (desk, house) = (desk.clone(), desk.house()?);
    let ask = Ask { desk, house, actor: actor.clone(), path, query: BTreeMap::new(), body: Value::Object(body) };
    let answer = (calls.run)(Command::new(ask, acting)).await?;
    let word = match (answer.get("outcome").and_then(Value::as_str), answer.get("is_applied")) {
        (Some("already"), _) => "already",
        (_, Some(Value::Bool(false))) => "refused",
        _ => "done",
    };
    // `back` comes from the form: unchecked it could lead to another site.
    Ok((access::safe_next(back.as_deref()).to_owned(), word))
}

/// The call that does something at a path behind the base of the API, and what stands in the path.
fn called(path: &str) -> Option<(&'static Calls<Command>, BTreeMap<String, String>)> {
    ROUTES.iter().find_map(|route| {
        // Forms only reach calls that act: those that look are pages.
        let Does::Act(calls) = &route.does else { return None };
        let wanted: Vec<&str> = route.path.trim_start_matches('/').split('/').collect();
        let given: Vec<&str> = path.split('/').collect();
        if wanted.len() != given.len() {
            return None;
        }
        let mut named = BTreeMap::new();
        for (wanted, given) in wanted.iter().zip(given) {
            match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                Some(name) => drop(named.insert(name.to_owned(), given.to_owned())),
                None if *wanted == given => {}
                None => return None,
            }
        }
        Some((calls, named))
    })
}

/// What a form of this session holds, once it is certain that it is one.
async fn sent(
    desk: &Desk,
    actor: &Actor,
    headers: &HeaderMap,
    body: Body,
) -> Result<(SameOriginProof, BTreeMap<String, String>), ApiError> {
    let mut form = written(headers, body).await?;
    let given = form.remove(CSRF_FIELD);
    let meant = access::meant(desk, actor, headers, given.as_deref())?;
    Ok((meant, form))
}

/// The form of somebody who is not logged in yet. A login that another site makes a browser do would be the first step
/// of other attacks.
async fn sent_before_login(
    entrance: &Entrance,
    headers: &HeaderMap,
    body: Body,
) -> Result<BTreeMap<String, String>, ApiError> {
    access::is_same_origin(headers, entrance.url.origin())?;
    written(headers, body).await
}

/// What a form holds.
async fn written(headers: &HeaderMap, body: Body) -> Result<BTreeMap<String, String>, ApiError> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.starts_with("application/x-www-form-urlencoded") {
        return Err(ApiError::invalid("this takes a form"));
    }
    let bytes = to_bytes(body, BODY_BYTES_MAX).await;
    let bytes = bytes.map_err(|_| ApiError::invalid(format!("a form has at most {BODY_BYTES_MAX} bytes")))?;
    Ok(url::form_urlencoded::parse(&bytes).into_owned().collect())
}

fn failed(error: &ApiError, actor: &Actor, uri: &Uri) -> Response {
    html(error.status, Page::of_error(error).render(actor, uri, None))
}

/// The same with cookies to set.
fn with_cookies(mut response: Response, cookies: impl IntoIterator<Item = HeaderValue>) -> Response {
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// The page of an error for who is not logged in, with when to come again.
fn turned_away(error: &ApiError, page: String) -> Response {
    let mut response = html(error.status, page);
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// A page as an answer: nobody keeps it, nobody frames it, and nothing in it runs but the console's own file.
fn html(status: StatusCode, page: String) -> Response {
    let mut response = (status, page).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(csp::PAGE));
    // For browsers that do not know `frame-ancestors`: a framed console could be clicked through.
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    for (name, value) in csp::HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // Without any referrer, browsers would send forms of these very pages with an origin of `null`.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

fn redirect(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/console"));
    let no_store = HeaderValue::from_static("no-store");
    // 303: the browser comes with GET, and loading the page again does not send the form again.
    (StatusCode::SEE_OTHER, [(header::LOCATION, to), (header::CACHE_CONTROL, no_store)]).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_reach_the_calls_that_do_something_and_no_other() {
        let named = |path: &str| called(path).map(|(_, named)| named);
        assert_eq!(named("agents/chef/suspend").unwrap()["handle"], "chef");
        assert!(named("reload").is_some());
        for nothing in ["agents", "agents/chef", "agents/chef/suspend/x", "", "config"] {
            assert!(named(nothing).is_none(), "{nothing}");
        }
    }
}
