//! This module has the sessions of people who are signed in, in the store. OpenID Connect Core 1.0, security sheet
//! section 8.
//!
//! A session is a stream in the ledger; its last entry counts, and expires when nobody comes for a while. A token
//! leads to it by way of a stream of its own, named by the token's hash, so that a token can be replaced while the
//! session stays, and ending the session ends every token at once, in every process.

mod cookie;
mod listed;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::identity::{Audience, Proof, SESSION};
use forecourt_core::store::{Account, LedgerEntry, Span, StoreError};
use forecourt_core::{Entropy, IdentityEvidence, Store, Timestamp};
use forecourt_jose::encoding::{sha256, to_base64url};
use futures::future::BoxFuture;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use cookie::{
    BrowserRequest, CONSENTS_COOKIE, PLAIN_CONSENTS_COOKIE, PLAIN_SESSION_COOKIE, SESSION_COOKIE, cookie_value,
    set_cookie,
};
pub use listed::ListedSession;

use crate::limits::{SESSION_TOKEN_AGE_MAX, SESSION_TOKEN_GRACE, SESSION_TOUCHES};

/// The method of evidence from a sign-in.
pub const METHOD: &str = "urn:mentionable:auth:oidc:v0.1";

/// Characters of a token: 32 bytes in base64url.
const TOKEN_CHARS: usize = 43;

/// Sessions in a store.
pub struct Sessions {
    store: Arc<dyn Store>,
    lifetime: Duration,
    idle: Duration,
}

/// A person who has signed in at the provider.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The subject with the provider's prefix: `oidc:ISSUER#SUB`.
    pub subject: String,
    /// The provider.
    pub issuer: String,
    /// What the provider says beside that; never `scope`.
    pub claims: Map<String, Value>,
    /// When the sign-in was.
    pub at: Timestamp,
    /// The ID token, kept where signing out is to end the provider's session too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_token: Option<String>,
}

/// A session that was found.
pub struct Session {
    /// Whose it is.
    pub person: SignedIn,
    /// When it ends at the latest.
    pub until: Timestamp,
    /// Whether its token is due to be replaced.
    pub token_is_old: bool,
    id: String,
    number: u64,
    token_number: u64,
}

/// What opens a session: 256 random bits. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(String);

/// An entry of a session's stream.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    /// The session is open; written again as it is used.
    Open { person: SignedIn, until: Timestamp },
    /// The session was ended before its time.
    Ended,
}

/// An entry of a token's stream.
#[derive(Serialize, Deserialize)]
struct TokenEntry {
    session: String,
    until: Timestamp,
    issued_at: Timestamp,
    replaced_at: Option<Timestamp>,
}

impl SessionToken {
    /// A new one.
    pub fn mint(entropy: &dyn Entropy) -> Self {
        Self(random(entropy))
    }

    /// Its text, for the cookie.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Never prints who it is: a subject is personal.
impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignedIn").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl SignedIn {
    /// The name to show: the claim `name`, else `preferred_username`, else `email`, else the provider's subject.
    pub fn name(&self) -> &str {
        let claim = |name: &str| self.claims.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let known = claim("name").or_else(|| claim("preferred_username")).or_else(|| claim("email"));
        // The subject is `oidc:ISSUER#SUB`, and no issuer has a `#`.
        known.unwrap_or_else(|| self.subject.split_once('#').map_or(self.subject.as_str(), |(_, subject)| subject))
    }

    /// Evidence of this sign-in for `audience`, which expires at `until`.
    pub(crate) fn evidence(&self, audience: &str, until: Timestamp) -> IdentityEvidence {
        let fields = Map::from_iter([("verified_by".to_owned(), Value::from(self.issuer.as_str()))]);
        let mut claims = self.claims.clone();
        // Scopes are granted to programs, by tokens for this host; a person's provider must not grant any.
        claims.remove("scope");
        IdentityEvidence {
            id: None,
            subject: self.subject.clone(),
            issuer: self.issuer.clone(),
            method: METHOD.to_owned(),
            assurance: "oauth".to_owned(),
            audience: Audience::One(audience.to_owned()),
            issued_at: self.at,
            not_before: None,
            expires_at: Some(until),
            on_behalf_of: Vec::new(),
            claims,
            source: Map::new(),
            proof: Proof { kind: SESSION.to_owned(), fields },
        }
    }
}

impl Sessions {
    /// Sessions that last for `lifetime`, and for `idle` without a request.
    pub fn new(store: Arc<dyn Store>, lifetime: Duration, idle: Duration) -> Self {
        Self { store, lifetime, idle }
    }

    /// How long a session lasts at most.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Begins a session with a token of its own, whatever the browser had before.
    pub fn begin<'a>(
        &'a self,
        person: SignedIn,
        now: Timestamp,
        entropy: &'a dyn Entropy,
    ) -> BoxFuture<'a, Result<SessionToken, StoreError>> {
        Box::pin(async move {
            // The token comes last: after a crash in between, no token leads to a session that is missing or not
            // listed.
            let (id, until) = (random(entropy), later(now, self.lifetime));
            self.write_open(&id, person, until, 0, now).await?;
            self.list(&id, until, now).await?;
            self.issue(id, until, now, entropy).await
        })
    }

    /// The session that a token opens now, whose idle time begins anew. `None`: the token is malformed, unknown,
    /// expired or replaced, or its session has ended.
    pub fn find<'a>(&'a self, token: &'a str, now: Timestamp) -> BoxFuture<'a, Result<Option<Session>, StoreError>> {
        Box::pin(async move {
            if token.len() != TOKEN_CHARS || !token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
                return Ok(None);
            }
            let Some((token_number, entry)) = self.last::<TokenEntry>(&token_stream(token), now).await? else {
                return Ok(None);
            };
            if entry.value.replaced_at.is_some_and(|at| now >= later(at, SESSION_TOKEN_GRACE)) {
                return Ok(None);
            }
            let (id, replaced) = (entry.value.session, entry.value.replaced_at.is_some());
            let Some((number, OpenEntry { person, until, seen })) = self.last_open(&id, now).await? else {
                return Ok(None);
            };
            // A replaced token has its successor already: requests under way with it make no further ones.
            let token_is_old = !replaced && now >= later(entry.value.issued_at, SESSION_TOKEN_AGE_MAX);
            let session = Session { person, until, token_is_old, id, number, token_number };
            self.touch(&session, seen, now).await?;
            Ok(Some(session))
        })
    }

    /// Puts a new token in the place of one; the old one opens the session for [`SESSION_TOKEN_GRACE`] more, for
    /// requests under way. `None` when somebody else did so first.
    pub fn replace<'a>(
        &'a self,
        token: &'a str,
        session: &'a Session,
        now: Timestamp,
        entropy: &'a dyn Entropy,
    ) -> BoxFuture<'a, Result<Option<SessionToken>, StoreError>> {
        Box::pin(async move {
            let (id, until) = (session.id.clone(), session.until);
            let entry = TokenEntry { session: id.clone(), until, issued_at: now, replaced_at: Some(now) };
            match self.append(&token_stream(token), &entry, until, Some(session.token_number), now).await? {
                Some(_) => Ok(Some(self.issue(id, until, now, entropy).await?)),
                None => Ok(None),
            }
        })
    }

    /// Ends the session that a token opens, and with it every token of it. Gives whose it was.
    pub fn end<'a>(&'a self, token: &'a str, now: Timestamp) -> BoxFuture<'a, Result<Option<SignedIn>, StoreError>> {
        Box::pin(async move {
            let Some(session) = self.find(token, now).await? else { return Ok(None) };
            // Kept until the session would be over anyway: if `Ended` expired first, the `Open` before it would be the
            // last entry again.
            // `None`: the end goes behind every entry, also one that another request writes at this moment.
            self.append(&session_stream(&session.id), &Entry::Ended, session.until, None, now).await?;
            Ok(Some(session.person))
        })
    }

    /// Stores `value` for one use until a moment, under a secret name: the state of a sign-in on its way. A name that
    /// is taken keeps its first value.
    pub fn keep_once<'a>(
        &'a self,
        name: &'a str,
        value: Value,
        account: Account,
        (now, until): (Timestamp, Timestamp),
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let entry = LedgerEntry::new(value, now).until(until).on(account);
            self.store.append_entry(&once_stream(name), entry, Some(0)).await?;
            Ok(())
        })
    }

    /// Takes the value that [`Sessions::keep_once`] stored. Of several callers one gets it, the others `None`.
    pub fn take_once<'a>(&'a self, name: &'a str, now: Timestamp) -> BoxFuture<'a, Result<Option<Value>, StoreError>> {
        Box::pin(async move {
            let stream = once_stream(name);
            let Some((number, kept)) = self.store.entries(&stream, Span::Before(u64::MAX), 1, now).await?.pop() else {
                return Ok(None);
            };
            let used = LedgerEntry { expires_at: kept.expires_at, ..LedgerEntry::new(Value::Null, now) };
            // Of all who read the value, the store lets one append behind it.
            let is_ours = !kept.body.is_null() && self.store.append_entry(&stream, used, Some(number)).await?.is_some();
            Ok(is_ours.then_some(kept.body))
        })
    }

    async fn issue(
        &self,
        session: String,
        until: Timestamp,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<SessionToken, StoreError> {
        let token = SessionToken::mint(entropy);
        let entry = TokenEntry { session, until, issued_at: now, replaced_at: None };
        self.append(&token_stream(token.expose()), &entry, until, Some(0), now).await?;
        Ok(token)
    }

    /// The last entry of a session, while it is open.
    async fn last_open(&self, id: &str, now: Timestamp) -> Result<Option<(u64, OpenEntry)>, StoreError> {
        // By what the entry says and not only by the store, which keeps it for longer once the clock was set forward:
        // it would be the last one again behind the entry that ended the session.
        let last = self.last::<Entry>(&session_stream(id), now).await?;
        Ok(last.and_then(|(number, DatedEntry { value, at: seen })| match value {
            Entry::Open { person, until } if now < until => Some((number, OpenEntry { person, until, seen })),
            Entry::Open { .. } | Entry::Ended => None,
        }))
    }

    /// Records that the session was used, a few times within the idle time and not with each request. Written only
    /// behind the entry that was read, so that it never revives a session that was ended meanwhile.
    async fn touch(&self, session: &Session, seen: Timestamp, now: Timestamp) -> Result<(), StoreError> {
        if now < later(seen, self.idle / SESSION_TOUCHES) {
            return Ok(());
        }
        self.write_open(&session.id, session.person.clone(), session.until, session.number, now).await
    }

    async fn write_open(
        &self,
        id: &str,
        person: SignedIn,
        until: Timestamp,
        last: u64,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let expires_at = until.min(later(now, self.idle));
        self.append(&session_stream(id), &Entry::Open { person, until }, expires_at, Some(last), now).await?;
        Ok(())
    }

    async fn append(
        &self,
        stream: &str,
        entry: &impl Serialize,
        until: Timestamp,
        last: Option<u64>,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError> {
        let body = serde_json::to_value(entry).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.store.append_entry(stream, LedgerEntry::new(body, now).until(until).on(Account::HOST), last).await
    }

    async fn last<T: for<'de> Deserialize<'de>>(
        &self,
        stream: &str,
        now: Timestamp,
    ) -> Result<Option<(u64, DatedEntry<T>)>, StoreError> {
        let Some((number, entry)) =
            self.store.entries(stream, Span::Before(u64::MAX), 1, now).await?.into_iter().next()
        else {
            return Ok(None);
        };
        let value = serde_json::from_value(entry.body).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        Ok(Some((number, DatedEntry { value, at: entry.at })))
    }
}

/// The `Set-Cookie` of a session, until a moment.
pub fn session_cookie(token: &SessionToken, until: Timestamp, now: Timestamp, plain: bool) -> Option<HeaderValue> {
    let seconds = u64::try_from(until.as_second().saturating_sub(now.as_second())).unwrap_or_default();
    let name = if plain { PLAIN_SESSION_COOKIE } else { SESSION_COOKIE };
    set_cookie(name, token.expose(), Some(Duration::from_secs(seconds)), plain)
}

/// A session that is open: whose, until when, and when it was used last.
struct OpenEntry {
    person: SignedIn,
    until: Timestamp,
    seen: Timestamp,
}

/// An entry's value, and when it was written.
struct DatedEntry<T> {
    value: T,
    at: Timestamp,
}

fn session_stream(id: &str) -> String {
    format!("session:{id}")
}

fn token_stream(token: &str) -> String {
    format!("session-token:{}", hash(token))
}

fn once_stream(name: &str) -> String {
    format!("sign-in:{}", hash(name))
}

/// SHA-256 of a secret in base64url. Streams are named by it, so that whoever reads the store can't use the secret.
pub fn hash(secret: &str) -> String {
    to_base64url(&sha256(secret.as_bytes()))
}

fn random(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; 32];
    entropy.fill(&mut bytes);
    to_base64url(&bytes)
}

fn later(at: Timestamp, time: Duration) -> Timestamp {
    at.checked_add(time).unwrap_or(Timestamp::MAX)
}
