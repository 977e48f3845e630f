//! A code or a refresh token for tokens, and the end of tokens. RFC 6749 4.1.3 and 6, RFC 8707 2.2, RFC 7009.

use std::fmt;

use forecourt_core::Timestamp;
use forecourt_egress::UpstreamRequest;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use url::Url;

use super::metadata::AuthorizationServer;
use super::registration::Registration;
use crate::exchange::{Answer, Exchange};
use crate::limits::{CREDENTIAL_BYTES_MAX, TOKEN_TIME_MAX};
use crate::report::broken;
use crate::token_request::{ClientProof, is_posted, token_request};

/// Tokens for a resource, of one person.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegatedTokens {
    /// What the resource is shown.
    pub access_token: String,
    /// What a new one is given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// When the access token ends, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Never prints a token.
impl fmt::Debug for DelegatedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegatedTokens").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Why there are no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The code or the refresh token does not count any more: the person has to sign in anew.
    #[error("the authorization server does not take it any more")]
    Refused,
    /// The server does not know this host any more.
    #[error("the authorization server does not know this host")]
    UnknownClient,
    /// The server can't be reached, or answers with something else than it should.
    #[error("the authorization server can't be asked")]
    Unavailable,
}

/// What a token endpoint answers. RFC 6749 5.1.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: String,
    token_type: String,
    expires_in: Option<u64>,
    refresh_token: Option<String>,
}

/// RFC 6749 5.2.
#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
}

/// Asks for tokens for the resource of `server` with the fields of a grant.
pub(super) async fn ask(
    exchange: &Exchange,
    (server, client): (&AuthorizationServer, &Registration),
    grant: &[(&str, &str)],
    now: Timestamp,
) -> Result<DelegatedTokens, TokenError> {
    let fields: Vec<(&str, &str)> = grant.iter().copied().chain([("resource", server.resource.as_str())]).collect();
    let request = request(&server.token_endpoint, (server, client), &fields);
    let answer = exchange.ask(request).await.map_err(|error| unavailable(&error.log_reason()))?;
    read(&answer, now)
}

/// Ends a token at its server, as far as that can be done.
pub(super) async fn revoke(exchange: &Exchange, (server, client): (&AuthorizationServer, &Registration), token: &str) {
    let Some(endpoint) = &server.revocation_endpoint else { return };
    let fields = [("token", token), ("token_type_hint", "refresh_token")];
    if let Err(error) = exchange.ask(request(endpoint, (server, client), &fields)).await {
        tracing::info!(reason = error.log_reason(), "a token could not be revoked");
    }
}

fn request(
    endpoint: &Url,
    (server, client): (&AuthorizationServer, &Registration),
    fields: &[(&str, &str)],
) -> UpstreamRequest {
    let is_posted = match &client.token_endpoint_auth_method {
        Some(way) => way == "client_secret_post",
        None => is_posted(server.token_endpoint_auth_methods_supported.as_deref()),
    };
    let proof = ClientProof { id: &client.client_id, secret: client.client_secret.as_deref(), is_posted };
    token_request(endpoint, &proof, fields)
}

fn read(answer: &Answer, now: Timestamp) -> Result<DelegatedTokens, TokenError> {
    if !answer.status().is_success() {
        return Err(refused(answer.status(), &answer.body));
    }
    let given: TokenAnswer =
        serde_json::from_slice(&answer.body).map_err(|_| unavailable("its tokens can't be read"))?;
    tokens(given, now).map_err(unavailable)
}

/// The tokens of an answer, if they can be used.
fn tokens(given: TokenAnswer, now: Timestamp) -> Result<DelegatedTokens, &'static str> {
    // Others need a proof with each request, and can't go into `Authorization: Bearer`.
    if !given.token_type.eq_ignore_ascii_case("bearer") {
        return Err("it gave a token that is not a bearer token");
    }
    let is_plain = |token: &str| token.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = |token: &str| !token.is_empty() && token.len() <= CREDENTIAL_BYTES_MAX && is_plain(token);
    if !fits(&given.access_token) || !given.refresh_token.as_deref().is_none_or(fits) {
        return Err("it gave a token that can't be used");
    }
    let lasts = given.expires_in.map(|seconds| std::time::Duration::from_secs(seconds).min(TOKEN_TIME_MAX));
    let expires_at = lasts.map(|lasts| now.checked_add(lasts).unwrap_or(now));
    Ok(DelegatedTokens { access_token: given.access_token, refresh_token: given.refresh_token, expires_at })
}

fn refused(status: StatusCode, body: &[u8]) -> TokenError {
    let error = serde_json::from_slice::<TokenRefusal>(body).map(|refusal| refusal.error).unwrap_or_default();
    match error.as_str() {
        _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            unavailable(&format!("it answered {status}"))
        }
        "invalid_grant" => TokenError::Refused,
        "invalid_client" | "unauthorized_client" => TokenError::UnknownClient,
        _ => unavailable(&format!("it gave no tokens: {status}")),
    }
}

fn unavailable(reason: &str) -> TokenError {
    let _ = broken(reason);
    TokenError::Unavailable
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn given(changes: serde_json::Value) -> Result<DelegatedTokens, &'static str> {
        let mut said = json!({"access_token": "a", "token_type": "Bearer", "expires_in": 60, "refresh_token": "r"});
        said.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        tokens(serde_json::from_value(said).unwrap(), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn rfc6749_5_1_only_bearer_tokens_that_can_be_sent_are_taken() {
        let whole = given(json!({})).unwrap();
        assert_eq!(whole.expires_at, Some(Timestamp::from_second(60).unwrap()));
        assert!(!format!("{whole:?}").contains("\"a\""));
        assert!(given(json!({"token_type": "DPoP"})).is_err());
        for wrong in ["", "a b", "a\nb"] {
            assert!(given(json!({"access_token": wrong})).is_err() && given(json!({"refresh_token": wrong})).is_err());
        }
        let long = |bytes: usize| json!({"access_token": "a".repeat(bytes)});
        assert!(given(long(CREDENTIAL_BYTES_MAX)).is_ok() && given(long(CREDENTIAL_BYTES_MAX + 1)).is_err());
        let ever = given(json!({"expires_in": u64::MAX})).unwrap().expires_at.unwrap();
        assert_eq!(ever.as_second(), TOKEN_TIME_MAX.as_secs().cast_signed());
    }

    #[test]
    fn rfc6749_5_2_who_is_refused_signs_in_anew_and_who_is_not_heard_tries_again() {
        let of = |status: u16, body: &str| refused(StatusCode::from_u16(status).unwrap(), body.as_bytes());
        assert_eq!(of(400, r#"{"error":"invalid_grant"}"#), TokenError::Refused);
        assert_eq!(of(401, r#"{"error":"invalid_client"}"#), TokenError::UnknownClient);
        for (status, body) in [(503, r#"{"error":"invalid_grant"}"#), (429, ""), (400, "{}"), (404, "<html>")] {
            assert_eq!(of(status, body), TokenError::Unavailable, "{status} {body}");
        }
    }

    proptest! {
        #[test]
        fn any_refusal_is_read(status in 400_u16..600, body in any::<Vec<u8>>()) {
            refused(StatusCode::from_u16(status).unwrap(), &body);
        }
    }
}
