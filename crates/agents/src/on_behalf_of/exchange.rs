//! The question to the token endpoint, and its answer. RFC 8693 2.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::{SubjectToken, json};
use forecourt_egress::{Egress, UpstreamRequest};
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};
use zeroize::Zeroizing;

use super::settings::TokenEndpoint;
use crate::limits::{TOKEN_ANSWER_BYTES_MAX, TOKEN_EXCHANGE_TIME_MAX};
use crate::upstream::{self, CallTimeouts, UpstreamFailure};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// A token that was given for another one.
pub(super) struct GrantedToken {
    /// The value of `Authorization` that carries it, marked sensitive so that no log prints it.
    pub(super) authorization: HeaderValue,
    /// How long it is valid (`expires_in`). `None`: the endpoint did not say, so it is used once and not cached.
    pub(super) lifetime: Option<Duration>,
}

/// Why there is no token.
#[derive(Debug)]
pub(super) enum ExchangeFailure {
    /// No answer came.
    Unreachable(UpstreamFailure),
    /// The endpoint failed or is overloaded: a 5xx or 429, with this status.
    Away(u16),
    /// The endpoint refuses the caller's token, with this error code.
    Subject(String),
    /// The settings or the answer are at fault, not the caller: a client that is unknown, a token that can't be used.
    Ours(String),
}

/// Asks for a token in the place of `subject`.
pub(super) async fn ask(
    egress: &Egress,
    endpoint: &TokenEndpoint,
    subject: &SubjectToken,
) -> Result<GrantedToken, ExchangeFailure> {
    let timeouts =
        CallTimeouts { first: TOKEN_EXCHANGE_TIME_MAX, idle: TOKEN_EXCHANGE_TIME_MAX, total: TOKEN_EXCHANGE_TIME_MAX };
    let sent = upstream::send(egress, request(endpoint, subject), timeouts, 1).await;
    let response = sent.map_err(ExchangeFailure::Unreachable)?;
    let status = response.status;
    let body = response.bytes(TOKEN_ANSWER_BYTES_MAX).await.map_err(ExchangeFailure::Unreachable)?;
    let body = Zeroizing::new(body);
    // Before the body is parsed: an overloaded endpoint must not tell a caller that its token is not valid.
    if status.is_server_error() || status.as_u16() == 429 {
        return Err(ExchangeFailure::Away(status.as_u16()));
    }
    let answer = json::parse(&body).unwrap_or(Value::Null);
    if status.is_success() { granted(&answer, subject) } else { Err(refused(&answer, status.as_u16())) }
}

fn request(endpoint: &TokenEndpoint, subject: &SubjectToken) -> UpstreamRequest {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", GRANT)
        .append_pair("subject_token", subject.expose_for_exchange())
        .append_pair("subject_token_type", ACCESS_TOKEN)
        .append_pair("requested_token_type", ACCESS_TOKEN)
        .extend_pairs(endpoint.fields.iter().map(|(name, value)| (*name, value.as_str())));
    // RFC 6749 2.3.1: both are encoded as in a form before they are joined.
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encoded(&endpoint.client_id), encoded(&endpoint.client_secret)));
    let basic = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
    let mut request = UpstreamRequest::post(&endpoint.url, form.finish())
        .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
        .header(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(value) = sensitive(&basic) {
        request = request.header(AUTHORIZATION, value);
    }
    request
}

fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// RFC 8693 2.2.1.
fn granted(answer: &Value, subject: &SubjectToken) -> Result<GrantedToken, ExchangeFailure> {
    let ours = |reason: &str| ExchangeFailure::Ours(reason.to_owned());
    let token = answer["access_token"].as_str().filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| ours("an answer without `access_token`"))?;
    // RFC 8693 2.2.1 also allows `N_A` and types that need a proof: only a bearer token can go into `Authorization`.
    if !answer["token_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
        return Err(ours("a token that is no bearer token"));
    }
    if token == subject.expose_for_exchange() {
        // Sending it would be passing the caller's own on.
        return Err(ours("the caller's own token"));
    }
    let authorization = sensitive(&format!("Bearer {token}")).ok_or_else(|| ours("a token that can't be sent"))?;
    Ok(GrantedToken { authorization, lifetime: answer["expires_in"].as_u64().map(Duration::from_secs) })
}

/// RFC 8693 2.2.2: `invalid_request` is also what is said of a subject token that is not valid.
fn refused(answer: &Value, status: u16) -> ExchangeFailure {
    // The code goes to the log: whatever is not a plain code could be a token or a forged line.
    let known = |error: &&str| error.len() <= 64 && error.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    match answer["error"].as_str().filter(known) {
        Some(error @ ("invalid_grant" | "invalid_request" | "access_denied")) => {
            ExchangeFailure::Subject(error.to_owned())
        }
        Some(error) => ExchangeFailure::Ours(error.to_owned()),
        None => ExchangeFailure::Ours(format!("status {status}")),
    }
}
