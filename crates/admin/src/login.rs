//! To the provider, and back: an operator shows there who they are, and has a session here. OpenID Connect Core 3.1.

mod attempt;

use std::time::Duration;

use forecourt_core::Timestamp;
use forecourt_oidc::limits::{FLOW_TIME_MAX, PARAMETER_BYTES_MAX};
use forecourt_oidc::{OidcError, SignInPrompt};
use http::{HeaderMap, HeaderValue};
use url::form_urlencoded;

use crate::access::safe_next;
use crate::account::{self, Came};
use crate::address::Way;
use crate::api_error::ApiError;
use crate::cookie;
use crate::desk::Desk;
use crate::limits::CALLBACK_BYTES_MAX;
use crate::provider::{LoginProvider, called};
use crate::sessions::{self, NewSession, OpenedBy};
use attempt::LoginState;

/// Where the provider sends browsers back to.
pub(crate) const CALLBACK: &str = "/console/login/callback";

/// A login that was begun: where the browser goes, and what it is given along.
pub(crate) struct Away {
    pub(crate) url: String,
    pub(crate) cookie: Option<HeaderValue>,
}

/// What became of a browser that came back.
pub(crate) struct CameBack {
    /// Where it goes on to, which is a page of the console; or why it does not.
    pub(crate) outcome: Result<String, ApiError>,
    /// Where another try would lead.
    pub(crate) next: String,
    pub(crate) cookies: Vec<HeaderValue>,
}

/// Begins a login that leads to `next`.
pub(crate) async fn begin(desk: &Desk, next: &str, prompt: SignInPrompt) -> Result<Away, ApiError> {
    let entrance = desk.entrance();
    let provider = entrance.provider.as_ref().ok_or_else(no_provider)?;
    let host = desk.house()?.host;
    let now = host.clock().now();
    // Each login that is begun writes to the store: without a bound a stranger could fill it.
    desk.logins.may_try(now).map_err(held_up)?;
    desk.logins.count(now);
    let kept = LoginState { next: safe_next(Some(next)).to_owned(), provider: provider.mark() };
    let begun = attempt::begin(&host, kept).await?;
    let callback = entrance.url.at(CALLBACK);
    let url = provider
        .way()
        .sign_in_url(&begun, &callback, prompt, now)
        .await
        .map_err(|error| login_error(provider, error))?;
    let cookie = cookie::give_login(entrance.url.way(), &attempt::mark(&begun.state), &begun.cookie, FLOW_TIME_MAX);
    Ok(Away { url: url.into(), cookie })
}

/// Ends one with what the browser brings back in `query`. Whatever comes of it, its state is used up.
pub(crate) async fn come_back(desk: &Desk, headers: &HeaderMap, query: &str) -> CameBack {
    let way = desk.entrance().url.way();
    let state = parameter(query, "state").unwrap_or_default();
    let forget = cookie::forget_login(way, &attempt::mark(&state));
    let mut came = CameBack { outcome: Err(stale()), next: safe_next(None).to_owned(), cookies: Vec::new() };
    came.cookies.extend(forget);
    match ended(desk, headers, (query, &state, way), &mut came.next).await {
        Ok(cookies) => {
            came.cookies.extend(cookies);
            came.outcome = Ok(came.next.clone());
        }
        Err(error) => came.outcome = Err(error),
    }
    came
}

async fn ended(
    desk: &Desk,
    headers: &HeaderMap,
    (query, state, way): (&str, &str, Way),
    next: &mut String,
) -> Result<Vec<HeaderValue>, ApiError> {
    let entrance = desk.entrance();
    let provider = entrance.provider.as_ref().ok_or_else(no_provider)?;
    let host = desk.house()?.host;
    // Used up before anything is checked: a state that was seen by somebody else can't be tried twice.
    let (kept, flow) = attempt::take(&host, state).await?.ok_or_else(stale)?;
    safe_next(Some(&kept.next)).clone_into(next);
    let cookie = cookie::login(headers, way, &attempt::mark(state));
    // Another browser, or settings that have changed in between.
    if !cookie.is_some_and(|cookie| flow.is_of(cookie)) || kept.provider != provider.mark() {
        return Err(stale());
    }
    let now = host.clock().now();
    let issuer = parameter(query, "iss");
    // RFC 9207: before the code is used, or it would be sent to another provider than the one that gave it (mix-up).
    if !provider.way().is_of_issuer(issuer.as_deref(), now).await.map_err(|error| login_error(provider, error))? {
        tracing::warn!("a login came back from another issuer");
        return Err(login_error(provider, OidcError::Invalid));
    }
    if let Some(error) = parameter(query, "error") {
        return Err(declined(provider, &error));
    }
    let code = parameter(query, "code").ok_or_else(|| login_error(provider, OidcError::Invalid))?;
    let callback = entrance.url.at(CALLBACK);
    let wants_more = |claims: &_| provider.roles().wants_more(claims);
    let identified = provider.way().identified(code, (&flow, &callback), now, &wants_more).await;
    let claims = identified.map_err(|error| login_error(provider, error))?.claims;
    let who = called(&claims).ok_or_else(|| login_error(provider, OidcError::Invalid))?;
    // Only the claims that gave a role are kept, so that each request can ask the settings of the moment again.
    let held = provider.roles().held(&claims);
    let Some(role) = provider.roles().role(&held) else {
        tracing::warn!("somebody logged in at the provider who has no role here");
        return Err(no_role(provider, &who, provider.roles().held_back(&claims)));
    };
    let opened_by = OpenedBy::Provider { mark: provider.mark(), held };
    let new = NewSession { who: who.clone(), role, opened_by, way };
    let secret = sessions::begin(&host, headers, new).await?;
    account::note(&host, &who, "login", format!("console as {}", role.name()), None, Came::Done).await;
    Ok(cookie::give_session(way, &secret))
}

/// A parameter of the query, if it is there once and within its bound; empty when it can't be read, which is not the
/// same as none.
fn parameter(query: &str, name: &str) -> Option<String> {
    if query.len() > CALLBACK_BYTES_MAX {
        return Some(String::new());
    }
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name);
    let value = values.next()?.1;
    // A parameter that is there twice is refused: two readers may take different ones.
    let fits = values.next().is_none() && value.len() <= PARAMETER_BYTES_MAX;
    Some(if fits { value.into_owned() } else { String::new() })
}

fn no_provider() -> ApiError {
    ApiError::not_found("nobody logs in at a provider here").hint("[admin.oidc] in forecourt.toml names one")
}

fn held_up(wait: Duration) -> ApiError {
    let seconds = wait.as_secs().max(1);
    ApiError::too_many(format!("too many logins were started; try again in {seconds} s"), seconds)
}

fn stale() -> ApiError {
    ApiError::invalid("this login was used before, took too long, or was started in another browser")
        .hint("log in again")
}

fn login_error(provider: &LoginProvider, error: OidcError) -> ApiError {
    let name = provider.name();
    match error {
        OidcError::Unavailable => ApiError::unavailable(format!("{name} can't be reached at the moment"))
            .hint("try again in a moment; the log of this host says why it failed"),
        OidcError::Invalid => {
            ApiError::invalid(format!("the answer of {name} could not be verified, so you are not logged in"))
                .hint("log in again; the log of this host says what was wrong")
        }
    }
}

/// The provider has not logged somebody in. OpenID Connect Core 3.1.2.6.
fn declined(provider: &LoginProvider, error: &str) -> ApiError {
    let known = error.len() <= 64 && error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    tracing::info!(error = if known { error } else { "other" }, "the provider did not log somebody in");
    match error {
        "temporarily_unavailable" | "server_error" => login_error(provider, OidcError::Unavailable),
        _ => ApiError::forbidden(format!("{} did not log you in", provider.name())).hint("log in again"),
    }
}

fn no_role(provider: &LoginProvider, who: &str, held_back: Option<&str>) -> ApiError {
    let hint = match held_back {
        Some(claim) => format!(
            "the provider holds `{claim}` back since there is too much of it: have it send a claim with fewer values, \
             such as roles of the application, and name that as `claim` under [admin.oidc]"
        ),
        None => "whoever runs this host says under [admin.oidc] in forecourt.toml who is an operator and who a viewer"
            .to_owned(),
    };
    ApiError::forbidden(format!("{} knows you as {who}, who may not come in here", provider.name())).hint(hint)
}

/// When a login that begins now is over.
fn until(now: Timestamp) -> Timestamp {
    now.checked_add(FLOW_TIME_MAX).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_counts_once_and_within_its_bound() {
        assert_eq!(parameter("state=a&code=b%20c", "code").as_deref(), Some("b c"));
        assert_eq!(parameter("state=a", "code"), None);
        assert_eq!(parameter("code=a&code=b", "code").as_deref(), Some(""));
        let long = |bytes: usize| parameter(&format!("code={}", "x".repeat(bytes)), "code").unwrap().len();
        assert_eq!((long(PARAMETER_BYTES_MAX), long(PARAMETER_BYTES_MAX + 1)), (PARAMETER_BYTES_MAX, 0));
        let query = |bytes: usize| parameter(&format!("a={}&code=c", "x".repeat(bytes - 9)), "code");
        assert_eq!(query(CALLBACK_BYTES_MAX).as_deref(), Some("c"));
        assert_eq!(query(CALLBACK_BYTES_MAX + 1).as_deref(), Some(""));
    }
}
