//! The keys of a `model` backend.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_index::Options;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Model;
use super::limits::SYSTEM_BYTES_MAX;
use super::messages::PromptSettings;
use crate::tools::{AskSettings, SiblingsSetting, Toolbox, ask_agent, endpoints_named, siblings};
use forecourt_agents::backend::{Context, IndexedContent};
use forecourt_agents::limits::RETRIES_MAX;
use forecourt_agents::settings::{count, seconds};
use forecourt_agents::upstream::CallTimeouts;
use forecourt_completions::budget::Budget;
use forecourt_completions::chain::{Chain, FALLBACKS_MAX};
use forecourt_completions::preset::QuirkSettings;
use forecourt_completions::settings::{DEFAULT_MAX_TOKENS, FallbackSettings, PriceSettings, SharedKeys};
use forecourt_search::{ContentIndex, SearchTool, content_sources, vocabulary_of};

/// The section of a `model` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelSettings {
    /// `"model"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// Who runs the model, where that is somebody who is known by name: `ollama`, `llama.cpp`, `vllm`, `openai`,
    /// `anthropic`, `gemini`, `mistral`, `groq`, `openrouter`, `deepseek` or `azure`. It says where the API is, in
    /// which variable its key is found, and in what it differs.
    provider: Option<String>,
    /// Where the API is, up to and including its version, such as `http://127.0.0.1:11434/v1`. Default: where that
    /// of the `provider` is.
    base_url: Option<String>,
    /// The name of the model, as the API knows it.
    model: String,
    /// The key of the API: best as `"${VARIABLE}"`. Default: what the variable of the `provider` holds, such as
    /// `OPENAI_API_KEY`.
    api_key: Option<String>,
    /// Further fields to send in the head of each request, at most 32.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The instructions for the model. Without them it is told the agent's name and description.
    system: Option<String>,
    /// A file with the instructions, relative to the deployment; instead of `system`.
    system_file: Option<PathBuf>,
    /// How much chance there is in answers, 0 to 2. Without it, the API decides.
    temperature: Option<f64>,
    /// Tokens of one reply of the model.
    #[serde(default = "max_tokens")]
    max_tokens: u32,
    /// Tokens that the model reads and writes at once. What is said to it is cut to fit: earlier turns are left out
    /// from the oldest on, and long results of tools shortened. Default: what its server says, with `ollama`,
    /// `llama.cpp` and `vllm`; else nothing is cut until the provider says that it was too much.
    context_tokens: Option<u32>,
    /// In what the API differs from what its `provider`, or the common form, would have it.
    #[serde(default)]
    quirks: QuirkSettings,
    /// What tokens cost: needed where `[budget]` bounds costs.
    price: Option<PriceSettings>,
    /// How often a provider is asked again for one reply that failed before its first word: when it is busy, broken
    /// or away. At most 5.
    #[serde(default = "retries")]
    retries: usize,
    /// Models that stand in, in their order, when those before them fail, are busy or can't read so much. At most 5.
    #[serde(default)]
    fallback: Vec<FallbackSettings>,
    /// Further fields of each request's body, for what this API has beside the common ones.
    #[serde(default)]
    body: Map<String, Value>,
    /// Whether answers are asked for piece by piece.
    #[serde(default = "yes")]
    stream: bool,
    /// Whether the model sees images of the current turn (PNG, JPEG, GIF, WebP).
    #[serde(default)]
    vision: bool,
    /// Earlier turns that the model is told of.
    #[serde(default = "history_turns")]
    history_turns: usize,
    /// Bytes of earlier turns that the model is told of.
    #[serde(default = "history_bytes")]
    history_bytes: usize,
    /// Files and folders that the model may search, as in a `search` backend.
    #[serde(default)]
    content: Vec<String>,
    /// The public URLs of entries of `content`, as in a `search` backend.
    #[serde(default)]
    urls: BTreeMap<String, String>,
    /// A folder with an embedding model for searches, as in a `search` backend.
    model_dir: Option<PathBuf>,
    /// What several items of the content are called.
    #[serde(default = "item_label")]
    item_label: String,
    /// The other agents of this host that the model may ask: all (`true`), none, or these handles; at
    /// most 50. Without it, all, if the API takes tools.
    siblings: Option<SiblingsSetting>,
    /// Agents of other domains that the model may ask by their addresses: none without it.
    ask: Option<AskSettings>,
    /// The endpoints of this host that the model may call, each as its method and path, such as
    /// `BOOK /rooms/{room_id}`; at most 100. What they require is required of whoever asks the model.
    #[serde(default)]
    endpoints: Vec<String>,
    /// Seconds until the first sign of an answer (words, thoughts, a call of a tool), over all retries and fallbacks:
    /// with one model that stands in, the first one has half of them. Then callers are told. Default: 25, and without
    /// `stream` as `total_seconds`.
    first_token_seconds: Option<u64>,
    /// Seconds from one piece to the next.
    #[serde(default = "stall_seconds")]
    stall_seconds: u64,
    /// Seconds for a whole answer, its tool calls included.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
}

fn max_tokens() -> u32 {
    DEFAULT_MAX_TOKENS
}

fn retries() -> usize {
    2
}

fn yes() -> bool {
    true
}

fn history_turns() -> usize {
    20
}

fn history_bytes() -> usize {
    64 * 1024
}

fn item_label() -> String {
    "items".to_owned()
}

/// Seconds until the first sign of a streamed answer.
const FIRST_TOKEN_SECONDS: u64 = 25;

fn stall_seconds() -> u64 {
    30
}

fn total_seconds() -> u64 {
    120
}

/// The section, checked.
pub(super) struct ModelParts {
    pub(super) model: Model,
    pub(super) indexing: Option<Arc<dyn IndexedContent>>,
}

pub(super) fn read(section: &Section, context: &Context) -> Result<ModelParts, Problems> {
    let settings: ModelSettings = section.read()?;
    let mut problems = Problems::new();
    let prompt = prompt(section, &settings, context, &mut problems);
    let total_time = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    let silent_max = silent_max(section, &settings, total_time, &mut problems);
    let chain = chain(section, &settings, total_time, context, &mut problems);
    let index = index(section, &settings, context, &mut problems);
    let mut toolbox =
        Toolbox { tools: endpoints_named(section, &settings.endpoints, &context.endpoints, &mut problems) };
    if let Some(index) = &index {
        toolbox.tools.push(Arc::new(SearchTool::new(index.clone(), &settings.item_label)));
    }
    // Before the siblings are added, which come by default: only tools that the settings ask for must be kept.
    let tools_are_optional = toolbox.is_empty() && settings.siblings.is_none() && settings.ask.is_none();
    let siblings = siblings(section, settings.siblings.as_ref(), context, &mut problems);
    toolbox.tools.extend(ask_agent(section, siblings, settings.ask.as_ref(), context, &mut problems));
    // Without a price a model would count as free, and a bound on costs would never hold.
    if context.budget.counts_costs() && chain.targets.iter().any(|target| target.price.is_none()) {
        let problem = section.problem(Some("price"), "`[budget]` bounds what this agent costs, and there is no price");
        problems
            .push(problem.hint("write price = { input = 0.5, output = 1.5 }, for a million tokens, for each model"));
    }
    let budget =
        Budget::new(&context.budget, context.handle.clone(), context.siblings.host().clone(), context.clock.clone());
    let indexing = index.map(|index| index as Arc<dyn IndexedContent>);
    let model = Model {
        handle: context.handle.clone(),
        prompt,
        chain,
        toolbox,
        tools_are_optional,
        total_time,
        silent_max,
        budget: budget.map(Arc::new),
        usage: context.usage.clone(),
    };
    problems.into_result(ModelParts { model, indexing })
}

fn prompt(section: &Section, settings: &ModelSettings, context: &Context, problems: &mut Problems) -> PromptSettings {
    use forecourt_core::limits::{HISTORY_BYTES_MAX, HISTORY_TURNS_MAX};
    count(section, "history_turns", settings.history_turns, 0, HISTORY_TURNS_MAX, problems);
    count(section, "history_bytes", settings.history_bytes, 0, HISTORY_BYTES_MAX, problems);
    let system = match (&settings.system, &settings.system_file) {
        (Some(_), Some(_)) => {
            problems.push(section.problem(Some("system_file"), "there is `system` already: write one of them"));
            None
        }
        (Some(system), None) => Some(system.clone()),
        (None, Some(file)) => problems.absorb(std::fs::read_to_string(context.resolve(file)).map_err(|error| {
            section.problem(Some("system_file"), format!("cannot read `{}`: {error}", file.display()))
        })),
        (None, None) => None,
    };
    if system.as_ref().is_some_and(|system| system.len() > SYSTEM_BYTES_MAX) {
        let key = if settings.system.is_some() { "system" } else { "system_file" };
        problems.push(section.problem(Some(key), format!("the instructions have more than {SYSTEM_BYTES_MAX} bytes")));
    }
    let ModelSettings { vision, history_turns, history_bytes, .. } = *settings;
    PromptSettings { system, vision, history_turns, history_bytes }
}

/// How long nothing may be heard of an answer. One that comes in one piece is heard of at its end.
fn silent_max(section: &Section, settings: &ModelSettings, total: Duration, problems: &mut Problems) -> Duration {
    match (settings.first_token_seconds, settings.stream) {
        (Some(given), _) => seconds(section, "first_token_seconds", given, problems),
        (None, true) => Duration::from_secs(FIRST_TOKEN_SECONDS),
        (None, false) => total,
    }
}

/// The models, in the order in which they are asked.
fn chain(
    section: &Section,
    settings: &ModelSettings,
    total: Duration,
    context: &Context,
    problems: &mut Problems,
) -> Chain {
    count(section, "retries", settings.retries, 0, RETRIES_MAX, problems);
    count(section, "fallback", settings.fallback.len(), 0, FALLBACKS_MAX, problems);
    let shared = SharedKeys {
        stream: settings.stream,
        temperature: forecourt_completions::settings::temperature(section, settings.temperature, problems),
        timeouts: CallTimeouts { first: total, idle: total, total },
        stall: seconds(section, "stall_seconds", settings.stall_seconds, problems),
    };
    let keys = FallbackSettings {
        provider: settings.provider.clone(),
        base_url: settings.base_url.clone(),
        model: settings.model.clone(),
        api_key: settings.api_key.clone(),
        headers: settings.headers.clone(),
        body: settings.body.clone(),
        max_tokens: Some(settings.max_tokens),
        context_tokens: settings.context_tokens,
        quirks: settings.quirks,
        price: settings.price,
    };
    let mut targets = vec![forecourt_completions::settings::target(section, None, &keys, &shared, context, problems)];
    for one in settings.fallback.iter().take(FALLBACKS_MAX) {
        let keys = FallbackSettings { max_tokens: one.max_tokens.or(Some(settings.max_tokens)), ..one.clone() };
        targets.push(forecourt_completions::settings::target(
            section,
            Some("fallback"),
            &keys,
            &shared,
            context,
            problems,
        ));
    }
    Chain { targets, retries: settings.retries, clock: context.clock.clone(), entropy: context.entropy.clone() }
}

fn index(
    section: &Section,
    settings: &ModelSettings,
    context: &Context,
    problems: &mut Problems,
) -> Option<Arc<ContentIndex>> {
    if settings.content.is_empty() {
        return None;
    }
    let content_sources = content_sources(section, &settings.content, 1, &settings.urls, context, problems);
    let model = settings.model_dir.as_ref().map(|dir| context.resolve(dir));
    let vocabulary = vocabulary_of(context, problems);
    let options = Options { language: Some(context.language.clone()), model, vocabulary, ..Options::default() };
    Some(Arc::new(ContentIndex::new(context, content_sources, options)))
}
