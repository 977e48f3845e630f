//! Logging in with the token, and out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::doorway::{self, Doorway};
use super::{failed, html, redirect, sent, sent_before_login, turned_away, with_cookies};
use crate::access::{self, TOKEN_HOLDER};
use crate::account::{self, Came};
use crate::address::Way;
use crate::api_error::ApiError;
use crate::cookie;
use crate::desk::Desk;
use crate::role::Role;
use crate::sessions::{self, NewSession, OpenedBy};

/// The ways in.
pub(super) async fn form(
    State(desk): State<Arc<Desk>>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let entrance = desk.entrance();
    if entrance.is_closed() {
        let error = access::closed();
        return turned_away(&error, doorway::closed(&error));
    }
    let next = access::safe_next(query.get("next").map(String::as_str));
    let is_here = query.contains_key("here");
    html(StatusCode::OK, Doorway::new(&entrance, &headers, is_here).render(next, None))
}

/// The token, sent.
pub(super) async fn login(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let entrance = desk.entrance();
    let form = match sent_before_login(&entrance, &head.headers, body).await {
        Ok(form) => form,
        Err(error) => return turned_away(&error, doorway::closed(&error)),
    };
    let next = access::safe_next(form.get("next").map(String::as_str));
    match logged_in(&desk, &head.headers, form.get("token").map_or("", |token| token.trim())).await {
        Ok(cookies) => with_cookies(redirect(next), cookies),
        Err(error) => turned_away(&error, Doorway::new(&entrance, &head.headers, false).render(next, Some(&error))),
    }
}

async fn logged_in(desk: &Desk, headers: &HeaderMap, token: &str) -> Result<Vec<HeaderValue>, ApiError> {
    let entrance = desk.entrance();
    let no_token = || ApiError::forbidden("nobody logs in with a token here").hint("log in at the provider");
    let own = entrance.token().ok_or_else(no_token)?;
    let host = desk.house()?.host;
    let now = host.clock().now();
    // Before the token is compared: whoever guesses must not learn, while held up, that one guess was right.
    desk.attempts.may_try(now).map_err(|wait| {
        let seconds = wait.as_secs().max(1);
        ApiError::too_many(format!("too many wrong tokens were shown; try again in {seconds} s"), seconds)
    })?;
    if !own.is(token) {
        desk.attempts.count(now);
        tracing::warn!("somebody showed a wrong token at the console");
        return Err(ApiError::forbidden("this is not the token").hint("it is `token` under [admin] in forecourt.toml"));
    }
    let (who, way) = (TOKEN_HOLDER.to_owned(), Way::of(headers));
    let opened_by = OpenedBy::Token { mark: own.mark() };
    let new = NewSession { who, role: Role::Operator, opened_by, way };
    let secret = sessions::begin(&host, headers, new).await?;
    account::note(&host, TOKEN_HOLDER, "login", "console".to_owned(), None, Came::Done).await;
    Ok(cookie::give_session(way, &secret))
}

/// Out: the session ends, and the cookie goes.
pub(super) async fn logout(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let actor = match access::actor(&desk, &head.headers).await {
        Ok(actor) => actor,
        Err(_) => return redirect("/console/login"),
    };
    let ended = match sent(&desk, &actor, &head.headers, body).await {
        Ok(_) => match desk.house() {
            Ok(house) => sessions::end(&house.host, &head.headers).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    match ended {
        Ok(()) => with_cookies(redirect("/console/login"), cookie::forget_session()),
        Err(error) => failed(&error, &actor, &head.uri),
    }
}
