//! What is posted to a webhook: a body in JSON, and what signs it.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::signature;

/// One post, ready to be sent.
#[derive(Debug, Clone)]
pub struct WebhookPost {
    /// Headers beside those of the client.
    pub headers: HeaderMap,
    /// The body, exactly as it was signed.
    pub body: Bytes,
}

impl WebhookPost {
    /// A body in JSON, signed when there is a secret: `X-Hub-Signature-256`, Mentionable REST 5.5.
    pub fn json(body: &Value, secret: Option<&str>) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let signature = secret.map(|secret| signature::sign(secret.as_bytes(), &body));
        if let Some(value) = signature.and_then(|text| HeaderValue::from_str(&text).ok()) {
            headers.insert(signature::HEADER, value);
        }
        Self { headers, body: body.into() }
    }
}
