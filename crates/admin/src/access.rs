//! Who asks, what they may do, and what is refused before anything is read or changed.

use std::ops::Deref;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use http::{HeaderMap, header};

use crate::api_error::ApiError;
use crate::desk::{Ask, Desk};
use crate::role::{Actor, Proof, Role};
use crate::sessions;

/// Who carries the token.
pub(crate) const TOKEN_HOLDER: &str = "operator";
/// The header by which scripts of the console show that they are its.
pub(crate) const CSRF_HEADER: &str = "x-csrf-token";

/// Who asks: whoever carries the token, else the session of a cookie.
pub(crate) async fn actor(desk: &Desk, headers: &HeaderMap) -> Result<Actor, ApiError> {
    let entrance = desk.entrance();
    if entrance.is_closed() {
        return Err(closed());
    }
    // A header decides alone: a wrong token must not fall back to the cookie that the same browser may send.
    if headers.contains_key(header::AUTHORIZATION) {
        return match entrance.token() {
            Some(token) if token.is_in(headers) => {
                let by = Proof::Token { mark: token.mark() };
                Ok(Actor { name: TOKEN_HOLDER.to_owned(), role: Role::Operator, by })
            }
            Some(_) => Err(ApiError::unauthorized("this is not the admin token")),
            None => Err(ApiError::unauthorized("programs are let in by the admin token, and there is none")
                .hint("set `token` under [admin] in forecourt.toml; people log in at /console/login")),
        };
    }
    let opened = sessions::opened(&desk.house()?.host, headers).await?;
    let role = opened.as_ref().and_then(|opened| entrance.role(&opened.session));
    match opened.zip(role) {
        Some((opened, role)) => {
            let by = Proof::Session { hash: opened.hash, csrf: opened.csrf };
            Ok(Actor { name: opened.session.who, role, by })
        }
        None => Err(ApiError::unauthorized("this call needs `Authorization: Bearer` with the admin token, or a login")
            .hint("browsers log in at /console/login")),
    }
}

/// Whether somebody who was let in would still be, to see what they see: for answers that go on.
pub(crate) async fn is_still_in(desk: &Desk, actor: &Actor) -> bool {
    let entrance = desk.entrance();
    match &actor.by {
        Proof::Token { mark } => entrance.token().is_some_and(|token| token.mark() == *mark),
        Proof::Session { hash, .. } => {
            let Ok(house) = desk.house() else { return false };
            let session = sessions::by_hash(&house.host, hash).await;
            session.is_ok_and(|session| session.is_some_and(|session| entrance.role(&session).is_some()))
        }
    }
}

/// What is said while nobody can be let in.
pub(crate) fn closed() -> ApiError {
    ApiError::forbidden(
        "the console and its API are closed: there is neither an admin token nor a provider to log in at",
    )
    .hint("set `token` under [admin] in forecourt.toml, best as \"${FORECOURT_ADMIN_TOKEN}\", or [admin.oidc]")
}

/// Proof that a request which changes something comes from a page of this console, or carries the token. Only
/// [`meant`] makes one.
pub(crate) struct SameOriginProof(());

/// Proof that the caller has the role of an operator and passed [`meant`]. Only [`permit`] makes one.
#[derive(Clone, Copy)]
pub(crate) struct Acting(());

/// A call that does something, by an operator who meant it. What does something takes one, and there is no other way to
/// one than past both checks.
pub(crate) struct Command(Ask);

impl Command {
    pub(crate) fn new(ask: Ask, _: Acting) -> Self {
        Self(ask)
    }
}

impl Deref for Command {
    type Target = Ask;

    fn deref(&self) -> &Ask {
        &self.0
    }
}

/// A call that looks at what only operators see. Only [`for_operators`] makes one.
pub(crate) struct OperatorAsk(Ask);

impl Deref for OperatorAsk {
    type Target = Ask;

    fn deref(&self) -> &Ask {
        &self.0
    }
}

/// A look at what only operators see, by one of them. It changes nothing, so that it does not matter which page asks: no
/// other site reads what is answered.
pub(crate) fn for_operators(ask: Ask) -> Result<OperatorAsk, ApiError> {
    match ask.actor.role {
        Role::Operator => Ok(OperatorAsk(ask)),
        Role::Viewer => Err(ApiError::forbidden(format!("this is for operators, and {} is a viewer", ask.actor.name))
            .hint("files of settings may hold secrets, which viewers are not shown")),
    }
}

/// Whether somebody may do something.
pub(crate) fn permit(actor: &Actor, _: SameOriginProof) -> Result<Acting, ApiError> {
    match actor.role {
        Role::Operator => Ok(Acting(())),
        Role::Viewer => Err(ApiError::forbidden(format!("this is for operators, and {} is a viewer", actor.name))
            .hint("viewers see everything and do nothing; `operators` under [admin.oidc] says who does")),
    }
}

/// Whether what changes something comes from where it says: for whoever is known by a cookie, which a browser sends
/// whoever made it ask. `given` is what the form or the script carries.
pub(crate) fn meant(
    desk: &Desk,
    actor: &Actor,
    headers: &HeaderMap,
    given: Option<&str>,
) -> Result<SameOriginProof, ApiError> {
    // A token is sent by a program on purpose; only a cookie is sent by a browser for whoever made it ask.
    let Some(expected) = actor.csrf() else { return Ok(SameOriginProof(())) };
    is_same_origin(headers, desk.entrance().url.origin())?;
    // In constant time: the time must not tell how much of a guessed value is right.
    match verify_slices_are_equal(expected.as_bytes(), given.unwrap_or_default().as_bytes()) {
        Ok(()) => Ok(SameOriginProof(())),
        Err(_) => {
            Err(ApiError::forbidden("this form is not of your session").hint("open the page again, and try again"))
        }
    }
}

/// Whether a page of this very host asks: the browser says so, in one header or the other, and in none against it.
/// `own` is the console's origin, which a proxy may not pass on as the host.
pub(crate) fn is_same_origin(headers: &HeaderMap, own: &str) -> Result<(), ApiError> {
    let foreign = || ApiError::forbidden("pages of other sites can't ask this");
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let site = headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or_default());
    // `same-site` is refused too: another name under the same domain may be somebody else's page.
    if site.is_some_and(|site| site != "same-origin") {
        return Err(foreign());
    }
    let origin = text(header::ORIGIN);
    if let Some(origin) = origin {
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        let is_host = authority.is_some() && authority == text(header::HOST);
        // Both are possible: a proxy may put its own name into `Host`, and then only the configured origin is right.
        if !is_host && origin != own {
            return Err(foreign());
        }
    }
    // Browsers send at least one of the two with a form or a script, so a cookie without either is not from a page.
    if origin.is_none() && site.is_none() {
        return Err(ApiError::forbidden("nothing says which page asks")
            .hint("programs send `Authorization: Bearer` with the admin token, and no cookie"));
    }
    Ok(())
}

/// Where to go after the login: a page of the console, and nothing else.
pub(crate) fn safe_next(next: Option<&str>) -> &str {
    const HOME: &str = "/console";
    let Some(next) = next.filter(|next| next.len() <= 512 && next.is_ascii()) else { return HOME };
    let rest = next.strip_prefix(HOME);
    let begins = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = !next.bytes().any(|byte| byte.is_ascii_control() || matches!(byte, b'\\' | b' ' | b'#'));
    // `//host` is a URL of another site to a browser, and `..` leads out of the console.
    let leaves = next.contains("//") || next.contains("..");
    // Whoever has just come in does not go through the login once more.
    let is_login = rest.is_some_and(|rest| rest.starts_with("/login") || rest.starts_with("/logout"));
    if begins && is_plain && !leaves && !is_login { next } else { HOME }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://console.example";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<header::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn what_another_site_sends_with_the_cookie_is_refused() {
        let host = ("host", "127.0.0.1:9080");
        for own in [
            headers(&[host, ("origin", "http://127.0.0.1:9080"), ("sec-fetch-site", "same-origin")]),
            headers(&[host, ("origin", "http://127.0.0.1:9080")]),
            headers(&[host, ("sec-fetch-site", "same-origin")]),
            // A proxy that does not pass the host on.
            headers(&[host, ("origin", OWN)]),
        ] {
            assert!(is_same_origin(&own, OWN).is_ok(), "{own:?}");
        }
        for foreign in [
            headers(&[host]),
            headers(&[host, ("origin", "null")]),
            headers(&[host, ("origin", "https://evil.example")]),
            headers(&[host, ("origin", "http://console.example")]),
            headers(&[host, ("origin", "http://127.0.0.1:9081")]),
            headers(&[host, ("origin", "http://127.0.0.1:9080"), ("sec-fetch-site", "cross-site")]),
            headers(&[host, ("sec-fetch-site", "same-site")]),
            headers(&[host, ("sec-fetch-site", "none")]),
        ] {
            assert!(is_same_origin(&foreign, OWN).is_err(), "{foreign:?}");
        }
    }

    #[test]
    fn nobody_is_led_elsewhere_after_the_login() {
        for inside in ["/console", "/console/tasks?state=working", "/console?x=1"] {
            assert_eq!(safe_next(Some(inside)), inside);
        }
        for outside in [
            "https://evil.example/console",
            "//evil.example",
            "/\\evil.example",
            "/consolers",
            "/console//evil.example",
            "/console/../api",
            "/console\\x",
            "/console/\r\nSet-Cookie: a=b",
            "javascript:alert(1)",
            "/api/v1/agents",
            "/console/login?next=/console/login",
            "/console/logout",
            "/console#x",
            "",
        ] {
            assert_eq!(safe_next(Some(outside)), "/console", "{outside}");
        }
        assert_eq!(safe_next(None), "/console");
    }

    #[test]
    fn a_viewer_may_look_and_not_act() {
        let actor = |role| Actor { name: "ann".to_owned(), role, by: Proof::Token { mark: String::new() } };
        assert!(permit(&actor(Role::Operator), SameOriginProof(())).is_ok());
        let refused = permit(&actor(Role::Viewer), SameOriginProof(())).err().unwrap();
        assert_eq!((refused.status.as_u16(), refused.code), (403, "forbidden"));
        assert!(refused.message.contains("ann is a viewer"), "{refused:?}");
    }
}
