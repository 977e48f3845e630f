//! A sign-in on its way: what this host must know again when the browser comes back. OpenID Connect Core 3.1.2.
//!
//! The state in the URL names it, and a cookie that only this browser has opens it: so nobody can have somebody
//! else's browser end a sign-in that they began (RFC 9700 4.7). It is good for one use, and for ten minutes.

use forecourt_core::{Account, Entropy, Timestamp};
use forecourt_identity::sessions::{BrowserRequest, SessionToken, Sessions, hash, set_cookie};
use http::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::error::SignInError;
use crate::limits::ATTEMPT_TIME_MAX;
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
    /// What the ID token must hold.
    pub(crate) nonce: String,
    /// What proves to the provider that whoever exchanges the code asked for it. RFC 7636.
    pub(crate) verifier: String,
    /// The origin under which it was begun.
    pub(crate) origin: String,
    return_to: String,
    /// The hash of the cookie's value.
    cookie: String,
}

/// A sign-in that was begun: what the browser is given.
pub(crate) struct Begun {
    /// What travels through the provider.
    pub(crate) state: String,
    /// What is kept.
    pub(crate) attempt: Attempt,
    /// The `Set-Cookie`.
    pub(crate) cookie: Option<HeaderValue>,
}

/// Begins one, and keeps it.
pub(crate) async fn begin(
    sessions: &Sessions,
    browser: BrowserRequest<'_>,
    return_to: &ReturnTo,
    account: Account,
    (now, entropy): (Timestamp, &dyn Entropy),
) -> Result<Begun, SignInError> {
    let secret = || SessionToken::mint(entropy).expose().to_owned();
    let (state, value) = (secret(), secret());
    let attempt = Attempt {
        nonce: secret(),
        verifier: secret(),
        origin: browser.origin.to_owned(),
        return_to: return_to.as_str().to_owned(),
        cookie: hash(&value),
    };
    let until = now.checked_add(ATTEMPT_TIME_MAX).unwrap_or(now);
    let kept = serde_json::to_value(&attempt).unwrap_or_default();
    sessions.keep_once(&state, kept, account, (now, until)).await?;
    let cookie = set_cookie(&cookie_name(browser, &state), &value, Some(ATTEMPT_TIME_MAX), browser.is_plain());
    Ok(Begun { state, attempt, cookie })
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
    // Hashes of secrets are compared, so that how long it takes tells nothing.
    let is_its_browser =
        browser.cookie(&cookie_name(browser, state)).is_some_and(|value| hash(value) == attempt.cookie);
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
