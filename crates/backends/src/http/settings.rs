//! The keys of an `http` backend.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_settings::{Problems, Section};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use forecourt_agents::backend::Context;
use forecourt_agents::limits::RETRIES_MAX;
use forecourt_agents::on_behalf_of::{self, OnBehalfOfSettings, TokenExchange};
use forecourt_agents::settings::{count, fields, seconds, upstream_url};
use forecourt_agents::upstream::CallTimeouts;

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
    /// Whether the service takes a message that comes again under its `Idempotency-Key` for the one of before, and does
    /// nothing twice. Only then, and only with `on_lost = "attach"`, is a message sent again of which nobody knows
    /// whether it arrived.
    #[serde(default)]
    pub(super) knows_repeats: bool,
    /// Seconds until the answer begins.
    #[serde(default = "first_byte_seconds")]
    first_byte_seconds: u64,
    /// Seconds from one piece of the answer to the next.
    #[serde(default = "idle_seconds")]
    idle_seconds: u64,
    /// Seconds for a whole answer; where the service answers 202 and works on, for each time that it is asked how that
    /// stands. All of it has the agent's `timeout_seconds`.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
    /// How often to try again when no connection could be made, at most 5. What was sent is never
    /// sent again, but for `knows_repeats`.
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

/// The section, checked.
pub(super) struct CheckedSettings {
    pub(super) settings: HttpSettings,
    pub(super) url: Url,
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
    // `upstream_url` has noted that problem already.
    let Ok(url) = Url::parse(&settings.url) else { return Err(problems) };
    problems.into_result(CheckedSettings { settings, url, headers, timeouts, exchange })
}
