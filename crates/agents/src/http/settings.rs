//! The keys of an `http` backend.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_settings::{Problems, Section};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::Context;
use crate::limits::{HEADERS_MAX, RETRIES_MAX};
use crate::on_behalf_of::{self, OnBehalfOfSettings, TokenExchange};
use crate::settings::{count, seconds, upstream_url};
use crate::upstream::CallTimeouts;

/// The section of an `http` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpSettings {
    /// `"http"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Where messages are posted to. Any http or https URL: you wrote it, so it may be private.
    pub(super) url: String,
    /// Fields to send with each request, such as `{ Authorization = "Bearer ${TOKEN}" }`. At most 32.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Asks the service in the name of the caller, with a token of the caller's for it.
    pub(super) on_behalf_of: Option<OnBehalfOfSettings>,
    /// A secret that signs each body: `X-Hub-Signature-256` is then its HMAC-SHA-256.
    pub(super) secret: Option<String>,
    /// Seconds until the answer begins.
    #[serde(default = "first_byte_seconds")]
    first_byte_seconds: u64,
    /// Seconds from one piece of the answer to the next.
    #[serde(default = "idle_seconds")]
    idle_seconds: u64,
    /// Seconds for a whole answer.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
    /// How often to try again when no connection could be made, at most 5. What was sent is never
    /// sent again.
    #[serde(default = "retries")]
    pub(super) retries: usize,
}

fn first_byte_seconds() -> u64 {
    60
}

fn idle_seconds() -> u64 {
    60
}

fn total_seconds() -> u64 {
    120
}

fn retries() -> usize {
    2
}

/// Fields that are the client's to set.
const FRAMING: [HeaderName; 5] = [HOST, CONTENT_LENGTH, CONTENT_TYPE, CONNECTION, TRANSFER_ENCODING];

/// The section, checked.
pub(super) struct CheckedSettings {
    pub(super) settings: HttpSettings,
    pub(super) headers: HeaderMap,
    pub(super) timeouts: CallTimeouts,
    pub(super) exchange: Option<Arc<TokenExchange>>,
}

/// Reads and checks the section.
pub(super) fn read(section: &Section, context: &Context) -> Result<CheckedSettings, Problems> {
    let mut settings: HttpSettings = section.read()?;
    let mut problems = Problems::new();
    upstream_url(section, "url", &settings.url, &mut problems);
    count(section, "retries", settings.retries, 0, RETRIES_MAX, &mut problems);
    if settings.secret.as_ref().is_some_and(String::is_empty) {
        problems.push(section.problem(Some("secret"), "`secret` is empty"));
    }
    let timeouts = CallTimeouts {
        first: seconds(section, "first_byte_seconds", settings.first_byte_seconds, &mut problems),
        idle: seconds(section, "idle_seconds", settings.idle_seconds, &mut problems),
        total: seconds(section, "total_seconds", settings.total_seconds, &mut problems),
    };
    let headers = fields(section, &settings.headers, &mut problems);
    let exchange = on_behalf_of::read(settings.on_behalf_of.take(), section, &headers, context, &mut problems);
    problems.into_result(CheckedSettings { settings, headers, timeouts, exchange })
}

/// Fields that the settings add to each request, from the key `headers`, checked. Their values are
/// sensitive: nothing prints them.
pub fn fields(section: &Section, settings: &BTreeMap<String, String>, problems: &mut Problems) -> HeaderMap {
    count(section, "headers", settings.len(), 0, HEADERS_MAX, problems);
    let mut headers = HeaderMap::new();
    for (name, value) in settings {
        // The value is never shown: it may be a secret.
        match (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            (Ok(name), _) if FRAMING.contains(&name) => {
                problems
                    .push(section.problem(Some("headers"), format!("the field `{name}` is set by the client itself")));
            }
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            _ => {
                problems.push(section.problem(Some("headers"), format!("the field `{name}` can't be sent like this")));
            }
        }
    }
    headers
}
