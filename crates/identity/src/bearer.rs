//! This module verifies `Authorization: Bearer`: JWTs of configured issuers. RFC 6750, RFC 7519, RFC 8725.

use std::sync::Arc;

use forecourt_core::identity::{Audience, BEARER_TOKEN, Proof};
use forecourt_core::{IdentityEvidence, Timestamp};
use forecourt_jose::jws::Jws;
use forecourt_jose::{KeySet, ProofError, claims};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use serde_json::{Map, Value};

use crate::limits::{SKEW, SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX};
use crate::remote_keys::RemoteKeys;

/// The method of evidence from a bearer token.
pub const METHOD: &str = "urn:mentionable:auth:oauth-bearer:v0.1";

/// One issuer of tokens, ready to verify.
pub(crate) struct BearerIssuer {
    pub(crate) issuer: String,
    pub(crate) audience: Vec<String>,
    pub(crate) subject_prefix: String,
    pub(crate) require_not_before: bool,
    pub(crate) keys: Keys,
}

pub(crate) enum Keys {
    Fixed(Arc<KeySet>),
    Remote(RemoteKeys),
}

impl Keys {
    /// Where they are, unless they are written down.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Self::Fixed(_) => None,
            Self::Remote(remote) => Some(remote.url()),
        }
    }
}

/// The token of a request, if it brings one. Two `Authorization` fields, or one that can't be read,
/// are malformed; another scheme is none of ours.
pub(crate) fn token(headers: &HeaderMap) -> Option<Result<&str, ProofError>> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let first = all.next()?;
    if all.next().is_some() {
        return Some(Err(ProofError::Malformed("authorization")));
    }
    // A field that can't be read becomes a bearer token without content: malformed below, and not a request without
    // credentials.
    let text = first.to_str().unwrap_or("Bearer");
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let token = token.trim_matches(' ');
    let fits = !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && token.bytes().all(|b| b.is_ascii_graphic());
    Some(if fits { Ok(token) } else { Err(ProofError::Malformed("authorization")) })
}

/// Verifies a token against the issuers; gives what it proves.
pub(crate) async fn verify(
    issuers: &[BearerIssuer],
    token: &str,
    now: Timestamp,
) -> Result<IdentityEvidence, ProofError> {
    let jws = Jws::parse(token)?;
    // Only to choose the issuer, whose keys then verify it; the claims are read again after that.
    let named = claims::read(jws.unverified_payload())?;
    let name = named.get("iss").and_then(Value::as_str).ok_or(ProofError::Missing("iss"))?;
    // To the letter, and before any fetch: a token must not choose where its keys come from.
    let issuer = issuers.iter().find(|issuer| issuer.issuer == name).ok_or(ProofError::UnknownIssuer)?;
    let keys = match &issuer.keys {
        Keys::Fixed(keys) => keys.clone(),
        Keys::Remote(remote) => remote.with(jws.kid(), jws.algorithm(), now).await?,
    };
    let claims = claims::read(jws.verify(&keys, now)?)?;
    check_kind(jws.header(), &claims)?;
    let times = check_times(&claims, issuer.require_not_before, now)?;
    check_audience(&claims, &issuer.audience)?;
    evidence(issuer, claims, times, jws.kid(), now)
}

/// Whether it is a token to be shown to a resource, by whoever bears it. What issuers sign for other purposes has a
/// type of its own (RFC 8725 3.11): `at+jwt` is that of access tokens (RFC 9068 2.1), and most say no more than `JWT`.
fn check_kind(header: &Map<String, Value>, claims: &Map<String, Value>) -> Result<(), ProofError> {
    let name = match header.get("typ") {
        None => String::new(),
        Some(Value::String(name)) => name.to_ascii_lowercase(),
        Some(_) => return Err(ProofError::Malformed("token")),
    };
    let purpose = name.strip_suffix("+jwt").map(|own| own.rsplit(['/', '-']).next().unwrap_or(own));
    if purpose.is_some_and(|purpose| purpose != "at") || name.starts_with("jose") {
        return Err(ProofError::WrongKind);
    }
    // RFC 7800: the token is bound to a key that its bearer did not prove here. Taken as a plain one, it would serve a
    // thief.
    if claims.contains_key("cnf") { Err(ProofError::BoundToKey) } else { Ok(()) }
}

/// The moments that a token speaks of.
struct Times {
    issued_at: Option<Timestamp>,
    not_before: Option<Timestamp>,
    expires_at: Timestamp,
}

fn check_times(claims: &Map<String, Value>, require_not_before: bool, now: Timestamp) -> Result<Times, ProofError> {
    let issued_at = claims::moment(claims, "iat")?;
    let not_before = claims::moment(claims, "nbf")?;
    let expires_at = claims::moment(claims, "exp")?.ok_or(ProofError::Missing("exp"))?;
    let soon = now.checked_add(SKEW).unwrap_or(now);
    if now.checked_sub(SKEW).unwrap_or(now) >= expires_at {
        return Err(ProofError::Expired);
    }
    if require_not_before && not_before.is_none() {
        return Err(ProofError::Missing("nbf"));
    }
    match not_before.is_some_and(|t| t > soon) || issued_at.is_some_and(|t| t > soon) {
        true => Err(ProofError::NotYetValid),
        false => Ok(Times { issued_at, not_before, expires_at }),
    }
}

fn check_audience(claims: &Map<String, Value>, wanted: &[String]) -> Result<(), ProofError> {
    let is_wanted = |value: &Value| value.as_str().is_some_and(|name| wanted.iter().any(|own| own == name));
    let fits = match claims.get("aud").ok_or(ProofError::Missing("aud"))? {
        Value::Array(all) => all.iter().any(is_wanted),
        one => is_wanted(one),
    };
    if fits { Ok(()) } else { Err(ProofError::WrongAudience) }
}

fn evidence(
    issuer: &BearerIssuer,
    mut claims: Map<String, Value>,
    times: Times,
    kid: Option<&str>,
    now: Timestamp,
) -> Result<IdentityEvidence, ProofError> {
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    if subject.is_empty() || subject.len() > SUBJECT_BYTES_MAX || subject.chars().any(char::is_control) {
        return Err(ProofError::Missing("sub"));
    }
    let subject = format!("{}{subject}", issuer.subject_prefix);
    let id = claims.get("jti").and_then(Value::as_str).map(str::to_owned);
    // These are fields of the evidence; as claims beside them they could contradict it.
    for registered in ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"] {
        claims.remove(registered);
    }
    let mut fields = Map::new();
    fields.insert("verified_by".to_owned(), issuer.issuer.as_str().into());
    if let Some(kid) = kid {
        fields.insert("key_id".to_owned(), kid.into());
    }
    Ok(IdentityEvidence {
        id,
        subject,
        issuer: issuer.issuer.clone(),
        method: METHOD.to_owned(),
        assurance: "oauth".to_owned(),
        audience: Audience::Many(issuer.audience.clone()),
        issued_at: times.issued_at.or(times.not_before).unwrap_or(now),
        not_before: times.not_before,
        expires_at: Some(times.expires_at),
        on_behalf_of: Vec::new(),
        claims,
        source: Map::new(),
        proof: Proof { kind: BEARER_TOKEN.to_owned(), fields },
    })
}
