//! The keys of an `a2a` backend.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::Context;
use forecourt_agents::on_behalf_of::{self, OnBehalfOfSettings, TokenExchange};
use forecourt_agents::settings::{count, fields, seconds, upstream_url};
use forecourt_settings::{Problems, Section};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use url::{Origin, Url};

use crate::address;
use crate::client::ClientTimeouts;
use crate::client::limits::{CARD_KEPT_MAX, CARD_KEPT_MIN, ORIGINS_MAX};

/// The section of an `a2a` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteAgentSettings {
    /// `"a2a"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Where the remote agent is: its address such as `@chef@example.com`, a domain for whoever its hub leads to, the
    /// URL of its card, or that of an endpoint. Any http or https URL: you wrote it, so it may be private. A port may
    /// follow an address; names under `.localhost` are asked over plain http, at 8080 unless it does.
    url: String,
    /// Fields to send with each request, such as `{ Authorization = "Bearer ${TOKEN}" }`. At most 32.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Asks the remote agent in the name of the caller, with a token of the caller's for it. Its card is read
    /// without one.
    on_behalf_of: Option<OnBehalfOfSettings>,
    /// Further origins that the card's interfaces may be on, such as `["https://api.example.com"]`. A
    /// card that leads elsewhere is not followed, as your `headers` would go there. At most 16.
    #[serde(default)]
    origins: Vec<String>,
    /// Whether the card must be signed by a key of its own origin. A wrong signature is refused
    /// either way.
    #[serde(default)]
    require_signature: bool,
    /// Seconds for which the card is kept at most, between 60 and 3600.
    #[serde(default = "card_refresh_seconds")]
    card_refresh_seconds: u64,
    /// Whether a remote agent that begins a conversation is told what was said here before, under
    /// `metadata.mentionable.history`.
    #[serde(default = "send_history")]
    send_history: bool,
    /// Whether the remote agent takes a message that comes again under its `messageId` for the one of before, and does
    /// nothing twice, as Forecourt does. Only then, and only with `on_lost = "attach"`, is a message sent again of
    /// which nobody knows whether it arrived.
    #[serde(default)]
    knows_repeats: bool,
    /// Seconds until the answer begins.
    #[serde(default = "first_byte_seconds")]
    first_byte_seconds: u64,
    /// Seconds from one piece of the answer to the next.
    #[serde(default = "idle_seconds")]
    idle_seconds: u64,
    /// Seconds for a whole answer.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
}

fn card_refresh_seconds() -> u64 {
    CARD_KEPT_MAX.as_secs()
}

fn send_history() -> bool {
    true
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

/// The settings of an `a2a` backend, parsed and checked.
pub(crate) struct CheckedSettings {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) origins: Vec<Origin>,
    pub(crate) require_signature: bool,
    pub(crate) card_refresh: Duration,
    pub(crate) send_history: bool,
    pub(crate) knows_repeats: bool,
    pub(crate) patience: ClientTimeouts,
    pub(crate) exchange: Option<Arc<TokenExchange>>,
}

/// Reads and checks the section.
pub(crate) fn read(section: &Section, context: &Context) -> Result<CheckedSettings, Problems> {
    let settings: RemoteAgentSettings = section.read()?;
    let mut problems = Problems::new();
    let url = address::url_of(&settings.url);
    match &url {
        Some(url) => upstream_url(section, "url", url, &mut problems),
        None => {
            let message = format!("`{}` is neither the address of an agent, nor a domain, nor a URL", settings.url);
            let hint = "write @chef@example.com, example.com or https://example.com/a2a/chef";
            problems.push(section.problem(Some("url"), message).hint(hint));
        }
    }
    let patience = ClientTimeouts {
        first: seconds(section, "first_byte_seconds", settings.first_byte_seconds, &mut problems),
        idle: seconds(section, "idle_seconds", settings.idle_seconds, &mut problems),
        total: seconds(section, "total_seconds", settings.total_seconds, &mut problems),
    };
    let (min, max) = (CARD_KEPT_MIN.as_secs(), CARD_KEPT_MAX.as_secs());
    if !(min..=max).contains(&settings.card_refresh_seconds) {
        let message = format!("`card_refresh_seconds` must be between {min} and {max} seconds");
        problems.push(section.problem(Some("card_refresh_seconds"), message));
    }
    let origins = origins(section, &settings.origins, &mut problems);
    let headers = fields(section, &settings.headers, &mut problems);
    let exchange = on_behalf_of::read(settings.on_behalf_of, section, &headers, context, &mut problems);
    // What is none was noted already.
    let Some(url) = url.and_then(|url| Url::parse(&url).ok()) else { return Err(problems) };
    problems.into_result(CheckedSettings {
        url,
        headers,
        origins,
        require_signature: settings.require_signature,
        card_refresh: Duration::from_secs(settings.card_refresh_seconds),
        send_history: settings.send_history,
        knows_repeats: settings.knows_repeats,
        patience,
        exchange,
    })
}

fn origins(section: &Section, settings: &[String], problems: &mut Problems) -> Vec<Origin> {
    count(section, "origins", settings.len(), 0, ORIGINS_MAX, problems);
    let mut origins = Vec::new();
    for text in settings {
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.path() == "/" => origins.push(url.origin()),
            _ => problems.push(
                section.problem(Some("origins"), format!("`{text}` is not an origin, such as https://api.example.com")),
            ),
        }
    }
    origins
}
