//! Why a call was not done, for the operator: in words, and by what can be done about it.

use axum::Json;
use axum::response::{IntoResponse, Response};
use forecourt_core::limits::RETRY_AFTER;
use forecourt_core::{Error, StoreError};
use http::{HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a call was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Seconds after which it may work.
    pub(crate) retry_after: Option<u64>,
}

/// A fault as it is answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApiErrorBody {
    /// What went wrong, in a sentence.
    error: String,
    /// The same in a word.
    code: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None, retry_after: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    pub(crate) fn too_many(message: impl Into<String>, retry_after: u64) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message);
        Self { retry_after: Some(retry_after), ..error }
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message);
        Self { retry_after: Some(RETRY_AFTER.as_secs()), ..error }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// The same, with what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn body(&self) -> ApiErrorBody {
        ApiErrorBody { error: self.message.clone(), code: self.code.to_owned(), hint: self.hint.clone() }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound { .. } | Error::Gone { .. } => Self::not_found(error.to_string()),
            Error::Conflict { .. } => Self::conflict(error.to_string()),
            Error::Invalid { .. } => Self::invalid(error.to_string()),
            Error::Unavailable { .. } | Error::Full { .. } => Self::unavailable(error.to_string()),
            error => {
                tracing::error!(%error, "the operator's call could not be answered");
                Self::internal("it could not be done; the log says why")
            }
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"admin\""));
        }
        response
    }
}
