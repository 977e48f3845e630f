//! A sign-in on its way, kept in the store for one use and for ten minutes, with where it was begun and where it leads.

use forecourt_core::{Account, Entropy, Timestamp};
use forecourt_identity::sessions::{BrowserRequest, Sessions, hash, set_cookie};
use forecourt_oidc::limits::FLOW_TIME_MAX;
use forecourt_oidc::{Flow, SignInStart};
use http::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::error::SignInError;
use crate::return_to::ReturnTo;

/// What begins the name of the cookie. A part of the state's hash follows, so that two sign-ins of one browser are
/// not in each other's way.
const COOKIE: &str = "__Host-sign-in-";
/// The same on plain loopback in development.
const PLAIN_COOKIE: &str = "forecourt-sign-in-";
/// Characters of the hash in the name.
const COOKIE_HASH_CHARS: usize = 12;

/// What is kept of a sign-in on its way.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attempt {
    /// What the way to the provider and back needs.
    #[serde(flatten)]
    pub(crate) flow: Flow,
    /// The origin under which it was begun.
    origin: String,
    return_to: String,
}

/// Begins one, and keeps it: what the browser is sent away with, and its `Set-Cookie`.
pub(crate) async fn begin(
    sessions: &Sessions,
    browser: BrowserRequest<'_>,
    return_to: &ReturnTo,
    account: Account,
    (now, entropy): (Timestamp, &dyn Entropy),
) -> Result<(SignInStart, Option<HeaderValue>), SignInError> {
    let begun = Flow::begin(entropy);
    let attempt = Attempt {
        flow: begun.flow.clone(),
        origin: browser.origin.to_owned(),
        return_to: return_to.as_str().to_owned(),
    };
    let until = now.checked_add(FLOW_TIME_MAX).unwrap_or(now);
    let kept = serde_json::to_value(&attempt).unwrap_or_default();
    sessions.keep_once(&begun.state, kept, account, (now, until)).await?;
    let name = cookie_name(browser, &begun.state);
    let cookie = set_cookie(&name, &begun.cookie, Some(FLOW_TIME_MAX), browser.is_plain());
    Ok((begun, cookie))
}

/// Uses up the one that a state names, if this browser began it. A state that comes with the wrong cookie, or none, is
/// used up all the same.
pub(crate) async fn take(
    sessions: &Sessions,
    browser: BrowserRequest<'_>,
    state: &str,
    now: Timestamp,
) -> Result<Attempt, SignInError> {
    let kept = sessions.take_once(state, now).await?.ok_or(SignInError::Stale)?;
    let attempt: Attempt = serde_json::from_value(kept).map_err(|_| SignInError::Stale)?;
    let is_its_browser = browser.cookie(&cookie_name(browser, state)).is_some_and(|value| attempt.flow.is_of(value));
    match is_its_browser && attempt.origin == browser.origin {
        true => Ok(attempt),
        false => Err(SignInError::Stale),
    }
}

/// The `Set-Cookie` that takes the cookie of a state away.
pub(crate) fn forget(browser: BrowserRequest<'_>, state: &str) -> Option<HeaderValue> {
    set_cookie(&cookie_name(browser, state), "", None, browser.is_plain())
}

impl Attempt {
    /// Where the person comes back to.
    pub(crate) fn return_to(&self) -> ReturnTo {
        ReturnTo::parse(&self.return_to).unwrap_or_else(ReturnTo::account)
    }
}

/// The same state has the same name, and says nothing about itself in it.
fn cookie_name(browser: BrowserRequest<'_>, state: &str) -> String {
    let hashed = hash(state);
    let short = hashed.get(..COOKIE_HASH_CHARS).unwrap_or_default();
    format!("{}{short}", if browser.is_plain() { PLAIN_COOKIE } else { COOKIE })
}
