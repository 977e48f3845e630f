//! The provider's interface over HTTPS: forms go there, JSON comes back.

use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, EgressError, Purpose, UpstreamRequest};
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::settings::CardSettings;
use crate::facilitator::{brief, never_left};
use crate::limits::{ANSWER_BYTES_MAX, CARD_RETRY_WAIT, CARD_TIME_MAX, CARD_TRIES_MAX};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The version of the interface that this is written for, whatever the account has as its own.
const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("stripe-version"), HeaderValue::from_static("2024-06-20"));

/// The client of one account.
pub(super) struct Client {
    egress: Egress,
    base: String,
    authorization: HeaderValue,
}

/// Why there is no answer that says what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ApiError {
    /// Nothing was done: it was not reached, or turned the request away unread.
    NotAsked(String),
    /// It refused, by its own code: nothing was done.
    Refused(String),
    /// Nobody knows what it did.
    NoAnswer(String),
}

impl ApiError {
    /// For the operator.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::NotAsked(reason) | Self::Refused(reason) | Self::NoAnswer(reason) => reason,
        }
    }
}

impl Client {
    /// A client by `settings`; `None` without a key that can be sent.
    pub(super) fn new(settings: &CardSettings, egress: Egress) -> Option<Self> {
        let mut authorization = HeaderValue::from_str(&format!("Bearer {}", settings.secret_key.as_ref()?)).ok()?;
        authorization.set_sensitive(true);
        Some(Self { egress, base: settings.api.trim_end_matches('/').to_owned(), authorization })
    }

    /// Asks for what is at `path`.
    pub(super) fn get<'a, T: DeserializeOwned>(&'a self, path: &'a str) -> BoxFuture<'a, Result<T, ApiError>> {
        Box::pin(async move { read(self.ask(path, None).await?) })
    }

    /// Has something done, once for a `key`, whoever asks again with the same fields.
    pub(super) fn post<'a, T: DeserializeOwned>(
        &'a self,
        path: &'a str,
        key: &'a str,
        fields: &'a [(&'a str, String)],
    ) -> BoxFuture<'a, Result<T, ApiError>> {
        Box::pin(async move { read(self.ask(path, Some((key, fields))).await?) })
    }

    async fn ask(&self, path: &str, sent: Option<(&str, &[(&str, String)])>) -> Result<Value, ApiError> {
        let mut tries = 1;
        loop {
            let (status, body) = self.exchange(path, sent).await?;
            // It is at work on the very same request, of another tab or node: what comes of that is the answer.
            if status == StatusCode::CONFLICT && tries < CARD_TRIES_MAX {
                tries += 1;
                tokio::time::sleep(CARD_RETRY_WAIT).await;
                continue;
            }
            return judged(path, status, body);
        }
    }

    async fn exchange(
        &self,
        path: &str,
        sent: Option<(&str, &[(&str, String)])>,
    ) -> Result<(StatusCode, Option<Value>), ApiError> {
        let url = format!("{}/v1/{path}", self.base);
        let mut request = match sent {
            None => UpstreamRequest::get(url),
            Some((key, fields)) => {
                let form = Serializer::new(String::new()).extend_pairs(fields).finish();
                let key =
                    HeaderValue::from_str(key).map_err(|_| ApiError::NotAsked("a key that is none".to_owned()))?;
                UpstreamRequest::post(url, form)
                    .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
                    .header(IDEMPOTENCY_KEY, key)
            }
        };
        let usual = Purpose::Service.deadlines(self.egress.config());
        let (first_byte, total) = (CARD_TIME_MAX, CARD_TIME_MAX);
        let (version, value) = VERSION;
        request = request.header(AUTHORIZATION, self.authorization.clone()).header(version, value).within(Deadlines {
            first_byte,
            total,
            body_bytes_max: ANSWER_BYTES_MAX,
            ..usual
        });
        let answer = self.egress.send(Purpose::Service, request).await.map_err(|error| failure(&error))?;
        let status = answer.status;
        let body = answer.body.collect().await.map_err(|error| ApiError::NoAnswer(error.log_reason()))?;
        Ok((status, json::parse(&body).ok()))
    }
}

fn read<T: DeserializeOwned>(body: Value) -> Result<T, ApiError> {
    serde_json::from_value(body).map_err(|error| ApiError::NoAnswer(format!("its answer can't be read: {error}")))
}

/// What an answer means. An error of the provider's own is one that it found before it did anything, but for those of
/// its insides.
fn judged(path: &str, status: StatusCode, body: Option<Value>) -> Result<Value, ApiError> {
    let Some(mut body) = body else { return Err(ApiError::NoAnswer(format!("{status} without JSON from {path}"))) };
    if status.is_success() {
        return Ok(body);
    }
    let error = body["error"].take();
    let word = |key: &str| error[key].as_str().map(brief);
    let code = word("code").or_else(|| word("type")).unwrap_or_else(|| status.as_u16().to_string());
    // Its sentence may repeat what was sent, which holds the state of a payment: no log has it.
    tracing::warn!(path, status = status.as_u16(), code, field = word("param"), "a provider of cards refused");
    match status.as_u16() {
        401 | 403 | 429 => Err(ApiError::NotAsked(code)),
        400 | 402 | 404 => Err(ApiError::Refused(code)),
        _ => Err(ApiError::NoAnswer(format!("{status}: {code}"))),
    }
}

/// What a failed exchange means.
fn failure(error: &EgressError) -> ApiError {
    let reason = error.log_reason();
    match never_left(error) {
        true => ApiError::NotAsked(reason),
        false => ApiError::NoAnswer(reason),
    }
}
