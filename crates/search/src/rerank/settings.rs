//! The keys of `[backend.rerank]`, which was called `[backend.sharpen]`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Reranker;
use super::model::RerankModel;
use crate::limits::{ANSWER_CACHE_MINUTES_MAX, RANKED_MAX, RERANK_TIME_MAX, RERANK_TOKENS_MAX};
use forecourt_agents::backend::Context;
use forecourt_agents::settings::count;
use forecourt_agents::upstream::CallTimeouts;
use forecourt_completions::Provider;
use forecourt_completions::preset::QuirkSettings;
use forecourt_completions::settings::{FallbackSettings, SharedKeys};

/// A language model that sharpens the answers of a search: it words questions anew, ranks what was found and
/// sums it up. Without it, too late or too dear, the answer is the one that the search gives by itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RerankSettings {
    /// Who runs the model, where that is somebody who is known by name, as in a `model` backend.
    provider: Option<String>,
    /// Where the API is, up to and including its version, such as `http://127.0.0.1:11434/v1`: any that is
    /// compatible with OpenAI's chat completions. Default: where that of the `provider` is.
    base_url: Option<String>,
    /// The name of the model, as the API knows it.
    model: String,
    /// The key of the API: best as `"${VARIABLE}"`.
    api_key: Option<String>,
    /// Further fields to send in the head of each request, at most 32.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Further fields of each request's body, for what this API has beside the common ones.
    #[serde(default)]
    body: Map<String, Value>,
    /// How much chance there is in answers, 0 to 2.
    #[serde(default)]
    temperature: f64,
    /// Whether follow-ups are made questions of their own, and questions searched for by other words too.
    #[serde(default = "yes")]
    rewrite: bool,
    /// Items that are reranked, at most 100; 0 leaves the order to the search.
    #[serde(default = "rank")]
    rank: usize,
    /// Whether each ranked item says why it is here.
    #[serde(default = "yes")]
    reasons: bool,
    /// Whether answers end in a summary that cites the items. Callers whose protocol lets them choose get one
    /// when they ask for it.
    #[serde(default = "yes")]
    summary: bool,
    /// Tokens that one question may take, with what is read and what is written.
    #[serde(default = "tokens")]
    tokens: usize,
    /// Seconds until the order has to be known, at most 60. What is not ranked by then stays as it was found.
    #[serde(default = "rank_seconds")]
    rank_seconds: u64,
    /// Seconds until the summary has to be whole, at most 60.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
    /// Minutes for which answers of the model are kept for who asks the same, at most 1440; 0 keeps none.
    #[serde(default = "cache_minutes")]
    cache_minutes: u64,
}

fn yes() -> bool {
    true
}

fn rank() -> usize {
    30
}

fn tokens() -> usize {
    20_000
}

fn rank_seconds() -> u64 {
    4
}

fn total_seconds() -> u64 {
    8
}

fn cache_minutes() -> u64 {
    10
}

/// Reads and checks the section.
pub(crate) fn read(section: &Section, context: &Context) -> Result<Reranker, Problems> {
    let settings: RerankSettings = section.read()?;
    let mut problems = Problems::new();
    count(section, "rank", settings.rank, 0, RANKED_MAX, &mut problems);
    count(section, "tokens", settings.tokens, 1, RERANK_TOKENS_MAX, &mut problems);
    let rank_time = time(section, "rank_seconds", settings.rank_seconds, &mut problems);
    let total_time = time(section, "total_seconds", settings.total_seconds, &mut problems);
    if rank_time > total_time {
        problems.push(section.problem(Some("rank_seconds"), "`rank_seconds` must not be more than `total_seconds`"));
    }
    if settings.cache_minutes > ANSWER_CACHE_MINUTES_MAX {
        let message = format!("`cache_minutes` must be between 0 and {ANSWER_CACHE_MINUTES_MAX}");
        problems.push(section.problem(Some("cache_minutes"), message));
    }
    let age_max = Duration::from_secs(60 * settings.cache_minutes.min(ANSWER_CACHE_MINUTES_MAX));
    let provider = provider(section, &settings, total_time, context, &mut problems);
    let reranker = Reranker {
        model: Arc::new(RerankModel::new(provider, age_max, context.entropy.clone())),
        language: context.language.clone(),
        rewrites: settings.rewrite,
        rank: settings.rank,
        reasons: settings.reasons,
        summarizes: settings.summary,
        tokens: settings.tokens,
        rank_time,
        total_time,
    };
    problems.into_result(reranker)
}

fn time(section: &Section, key: &str, seconds: u64, problems: &mut Problems) -> Duration {
    let max = RERANK_TIME_MAX.as_secs();
    if !(1..=max).contains(&seconds) {
        problems.push(section.problem(Some(key), format!("`{key}` must be between 1 and {max}")));
    }
    Duration::from_secs(seconds.clamp(1, max))
}

fn provider(
    section: &Section,
    settings: &RerankSettings,
    total_time: Duration,
    context: &Context,
    problems: &mut Problems,
) -> Provider {
    // Rankings are read as JSON: another form from the settings would break every one.
    if settings.body.contains_key("response_format") {
        problems.push(section.problem(Some("body"), "`response_format` is set by the backend itself"));
    }
    let shared = SharedKeys {
        stream: true,
        temperature: forecourt_completions::settings::temperature(section, Some(settings.temperature), problems),
        timeouts: CallTimeouts { first: total_time, idle: total_time, total: total_time },
        stall: total_time,
    };
    let keys = FallbackSettings {
        provider: settings.provider.clone(),
        base_url: settings.base_url.clone(),
        model: settings.model.clone(),
        api_key: settings.api_key.clone(),
        headers: settings.headers.clone(),
        body: settings.body.clone(),
        // Each prompt has a bound of its own.
        max_tokens: Some(1),
        context_tokens: None,
        quirks: QuirkSettings::default(),
        price: None,
    };
    forecourt_completions::settings::target(section, None, &keys, &shared, context, problems).provider
}
