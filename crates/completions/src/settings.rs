//! The keys that every section with a provider has: `provider`, `base_url`, `api_key`, `headers`, `body`,
//! `temperature`.

use std::collections::BTreeMap;

use forecourt_settings::{Problems, Section};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::breaker::Breaker;
use crate::chain::Target;
use crate::metering::Price;
use crate::preset::{OTHER, Preset, QuirkSettings, Quirks};
use crate::provider::Provider;
use crate::service::Service;
use crate::window::{WINDOW_MIN, Window};
use forecourt_agents::backend::Context;
use forecourt_agents::settings::{fields, upstream_url};
use forecourt_agents::upstream::CallTimeouts;

/// What tokens cost. Nobody's prices are known here: those of the provider are written down, or costs are not
/// counted.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceSettings {
    /// A million tokens that the model reads, in any unit of money that all prices share.
    pub input: f64,
    /// A million tokens that it writes.
    pub output: f64,
    /// A million tokens that it reads from the provider's cache. Default: as `input`.
    pub cached_input: Option<f64>,
}

/// A model that stands in for the one before it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FallbackSettings {
    /// The provider, as in `[backend]`.
    pub provider: Option<String>,
    /// Where its API is, as in `[backend]`.
    pub base_url: Option<String>,
    /// The name of the model, as the API knows it.
    pub model: String,
    /// The key of the API: best as `"${VARIABLE}"`.
    pub api_key: Option<String>,
    /// Further fields to send in the head of each request, at most 32.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Further fields of each request's body.
    #[serde(default)]
    pub body: Map<String, Value>,
    /// Tokens of one reply. Default: as the first model.
    pub max_tokens: Option<u32>,
    /// Tokens that the model reads and writes at once, as in `[backend]`.
    pub context_tokens: Option<u32>,
    /// In what the API differs, as in `[backend]`.
    #[serde(default)]
    pub quirks: QuirkSettings,
    /// What tokens cost, as in `[backend]`.
    pub price: Option<PriceSettings>,
}

/// What all models of a chain share.
pub struct SharedKeys {
    /// Whether replies are asked for piece by piece.
    pub stream: bool,
    /// How much chance there is in them.
    pub temperature: Option<Value>,
    /// `first` is the longest wait for the head of an answer, `idle` that for its first piece.
    pub timeouts: CallTimeouts,
    /// The wait from one piece to the next.
    pub stall: std::time::Duration,
}

/// A model from its keys. `at` is the key at which problems are told that have none of their own.
pub fn target(
    section: &Section,
    at: Option<&'static str>,
    keys: &FallbackSettings,
    shared: &SharedKeys,
    context: &Context,
    problems: &mut Problems,
) -> Target {
    let key = |own: &'static str| Some(at.unwrap_or(own));
    let preset = preset(section, key("provider"), keys.provider.as_deref(), problems);
    let quirks = keys.quirks.over(preset.map_or_else(Quirks::default, |preset| preset.quirks_for(&keys.model)));
    let base_url = keys.base_url.as_deref().or(preset.and_then(|preset| preset.base_url));
    if base_url.is_none() {
        let problem = section.problem(at, "`base_url` is missing: where the API is");
        problems.push(match preset {
            Some(preset) => problem.hint(format!("`{}` has another address for everybody", preset.name)),
            None => problem.hint(format!("or name a `provider`: {}", Preset::names())),
        });
    }
    let api_key = api_key(section, key("api_key"), preset, keys, context, problems);
    let max_tokens = keys.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    if max_tokens == 0 {
        problems.push(section.problem(key("max_tokens"), "`max_tokens` must be at least 1"));
    }
    if keys.context_tokens.is_some_and(|tokens| tokens < WINDOW_MIN) {
        let text = format!("`context_tokens` must be at least {WINDOW_MIN}");
        problems.push(section.problem(key("context_tokens"), text));
    }
    let mut own = Map::from_iter([
        ("model".to_owned(), json!(keys.model)),
        (quirks.max_tokens.name().to_owned(), json!(max_tokens)),
        ("stream".to_owned(), json!(shared.stream)),
    ]);
    own.extend(shared.temperature.clone().map(|value| ("temperature".to_owned(), value)));
    if quirks.stream_usage && shared.stream {
        own.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    let url = base_url.map(|base| url(section, base, problems)).unwrap_or_default();
    Target {
        name: preset.map_or(OTHER, |preset| preset.name),
        model: keys.model.clone(),
        provider: Provider {
            egress: context.egress.clone(),
            service: Service::of(preset, &url),
            url,
            headers: headers(section, &keys.headers, api_key.as_deref(), quirks, problems),
            fields: body(section, own, &keys.body, problems),
            quirks,
            timeouts: shared.timeouts,
            stall: shared.stall,
            clock: context.clock.clone(),
        },
        window: Window::new(keys.context_tokens),
        max_tokens,
        price: keys.price.and_then(|price| checked_price(section, key("price"), price, problems)),
        breaker: Breaker::default(),
    }
}

/// Tokens of one reply, where the settings say nothing.
pub const DEFAULT_MAX_TOKENS: u32 = 1_024;

/// The provider that is known by this name.
pub fn preset(
    section: &Section,
    key: Option<&str>,
    name: Option<&str>,
    problems: &mut Problems,
) -> Option<&'static Preset> {
    let name = name?;
    let preset = Preset::find(name);
    if preset.is_none() {
        let problem = section.problem(key, format!("there is no provider `{name}` that is known"));
        problems.push(problem.hint(format!("there are {}; for any other one write `base_url`", Preset::names())));
    }
    preset
}

/// The key of the settings, else that of the variable in which the provider's users have it.
fn api_key(
    section: &Section,
    key: Option<&str>,
    preset: Option<&'static Preset>,
    keys: &FallbackSettings,
    context: &Context,
    problems: &mut Problems,
) -> Option<String> {
    let variable = preset.and_then(|preset| preset.key_variable);
    let (None, Some(variable)) = (&keys.api_key, variable) else { return keys.api_key.clone() };
    let found = (context.variable)(variable).filter(|found| !found.is_empty());
    // Who names another address has a proxy there, which may have the key itself.
    if found.is_none() && keys.base_url.is_none() {
        let problem =
            section.problem(key, format!("`{}` needs a key, and {variable} is not set", preset.map_or("", |p| p.name)));
        problems.push(problem.hint(format!("set {variable}, or write api_key = \"${{VARIABLE}}\"")));
    }
    found
}

fn checked_price(section: &Section, key: Option<&str>, price: PriceSettings, problems: &mut Problems) -> Option<Price> {
    let price = Price { input: price.input, cached: price.cached_input.unwrap_or(price.input), output: price.output };
    let fits = [price.input, price.cached, price.output].iter().all(|one| (0.0..=PRICE_MAX).contains(one));
    if !fits {
        problems.push(section.problem(key, format!("prices must be between 0 and {PRICE_MAX} for a million tokens")));
    }
    fits.then_some(price)
}

/// The highest price of a million tokens.
const PRICE_MAX: f64 = 1_000_000.0;

/// Where chats are completed, from the key `base_url`.
pub fn url(section: &Section, base_url: &str, problems: &mut Problems) -> String {
    upstream_url(section, "base_url", base_url, problems);
    format!("{}/chat/completions", base_url.trim_end_matches('/'))
}

/// The fields in the head of each request: those of the key `headers`, and that of `api_key`, which nothing
/// prints.
pub fn headers(
    section: &Section,
    more: &BTreeMap<String, String>,
    api_key: Option<&str>,
    quirks: Quirks,
    problems: &mut Problems,
) -> HeaderMap {
    let mut headers = fields(section, more, problems);
    if let Some(key) = api_key.filter(|key| !key.is_empty()) {
        let (name, text) = match quirks.key_in_api_key {
            true => (HeaderName::from_static("api-key"), key.to_owned()),
            false => (AUTHORIZATION, format!("Bearer {key}")),
        };
        match HeaderValue::from_str(&text) {
            Ok(mut value) => {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            Err(_) => problems.push(section.problem(Some("api_key"), "`api_key` holds characters that no key has")),
        }
    }
    headers
}

/// The value of `temperature`, when it is set.
pub fn temperature(section: &Section, temperature: Option<f64>, problems: &mut Problems) -> Option<Value> {
    if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        problems.push(section.problem(Some("temperature"), "`temperature` must be between 0 and 2"));
    }
    temperature.map(Value::from)
}

/// The fields of each request's body: a backend's own, and those that the key `body` adds or replaces.
pub fn body(
    section: &Section,
    mut own: Map<String, Value>,
    more: &Map<String, Value>,
    problems: &mut Problems,
) -> Map<String, Value> {
    for (key, value) in more {
        if matches!(key.as_str(), "messages" | "tools" | "tool_choice" | "stream" | "model") {
            problems.push(section.problem(Some("body"), format!("`{key}` is set by the backend itself")));
        }
        own.insert(key.clone(), value.clone());
    }
    if own.contains_key("max_completion_tokens") {
        // The newer name of the same bound; APIs refuse both at once.
        own.remove("max_tokens");
    }
    own
}
