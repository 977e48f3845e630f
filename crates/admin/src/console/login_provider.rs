//! Logging in at a provider: away and back, as pages.
//!
//! Both ways lead over a page that goes on by itself. A form that is answered with a redirect to another site is held to
//! what forms of this page may lead to, which would have to name every site that a provider leads on to; and a cookie
//! that links of other sites don't bring along is there only once a page of this site leads on.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use forecourt_oidc::SignInPrompt;
use http::{HeaderMap, StatusCode, Uri};

use super::doorway::{self, Doorway};
use super::{html, sent_before_login, turned_away, with_cookies};
use crate::access;
use crate::desk::Desk;
use crate::login;

/// Away to the provider.
pub(super) async fn leave(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let entrance = desk.entrance();
    let form = match sent_before_login(&entrance, &head.headers, body).await {
        Ok(form) => form,
        Err(error) => return turned_away(&error, doorway::closed(&error)),
    };
    let next = access::safe_next(form.get("next").map(String::as_str));
    // Whoever was sent back with an account that may not come in has another one in mind.
    let prompt = if form.contains_key(doorway::ANEW) { SignInPrompt::Anew } else { SignInPrompt::Usual };
    match login::begin(&desk, next, prompt).await {
        Ok(away) => {
            let name = entrance.provider.as_ref().map_or("the provider", |provider| provider.name());
            with_cookies(html(StatusCode::OK, doorway::leading(&away.url, &format!("Go on to {name}"))), away.cookie)
        }
        Err(error) => turned_away(&error, Doorway::new(&entrance, &head.headers, true).render(next, Some(&error))),
    }
}

/// Back from it.
pub(super) async fn come_back(State(desk): State<Arc<Desk>>, uri: Uri, headers: HeaderMap) -> Response {
    let came = login::come_back(&desk, &headers, uri.query().unwrap_or_default()).await;
    let response = match came.outcome {
        Ok(next) => html(StatusCode::OK, doorway::leading(&next, "Go on to the console")),
        Err(error) => {
            let entrance = desk.entrance();
            let page = match entrance.is_closed() {
                true => doorway::closed(&error),
                false => Doorway::new(&entrance, &headers, true).render(&came.next, Some(&error)),
            };
            turned_away(&error, page)
        }
    };
    with_cookies(response, came.cookies)
}
