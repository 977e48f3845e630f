//! A file of `agents/`, but for what its backend owns.

use std::num::NonZeroU32;

use forecourt_agents::budget::BudgetSettings;
use forecourt_core::{ContentMode, Handle, Language, Skill};
use forecourt_host::{OnLost, UsageViewers};
use forecourt_rules::RuleSettings;
use schemars::JsonSchema;
use serde::Deserialize;

/// The top of a file in `agents/`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// The local part of its address: 1 to 30 of `a-z`, `0-9`, `_` and `-`.
    #[schemars(with = "String")]
    pub handle: Handle,
    /// A name for people.
    pub name: String,
    /// What it is for, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// Semantic version of the agent, published in its card.
    #[serde(default = "first_version")]
    pub version: String,
    /// The language it answers in, a BCP 47 tag.
    #[serde(default = "Language::english")]
    #[schemars(with = "String")]
    pub language: Language,
    /// A page about it, https.
    pub homepage: Option<String>,
    /// A picture of it, https.
    pub icon: Option<String>,
    /// Questions to suggest on its page.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Whether it keeps conversations. The default is its backend's.
    pub sessions: Option<bool>,
    /// Whether web pages of other origins may talk to it.
    #[serde(default)]
    pub cors: bool,
    /// `Cache-Control` of its answers. Long caching is for answers that are the same for everybody.
    pub cache_control: Option<String>,
    /// How long it may take for one answer.
    #[serde(default = "agent_time")]
    pub timeout_seconds: NonZeroU32,
    /// What it can do.
    #[serde(default)]
    pub skills: Vec<SkillSettings>,
    /// What it takes. The default is its backend's.
    #[schemars(with = "Option<Vec<ModeSettings>>")]
    pub input_modes: Option<Vec<ContentMode>>,
    /// What it gives. The default is its backend's.
    #[schemars(with = "Option<Vec<ModeSettings>>")]
    pub output_modes: Option<Vec<ContentMode>>,
    /// The rules before it.
    #[serde(default)]
    pub policy: PolicySettings,
    /// What it may use of language models, where a `model` backend answers for it.
    #[serde(default)]
    pub budget: BudgetSettings,
    /// Who sees what language models used for an answer (model, tokens, and the cost where a `price` is set), in the
    /// metadata of A2A, MCP, NLWeb and of tasks. The operator always does.
    #[serde(default)]
    pub show_usage: UsageViewers,
    /// What becomes of its tasks when the node that works on them is lost, or stops before they are done: `fail` ends
    /// them as failed; `restart` has the agent asked again by another node, or at the next start, at most three times in
    /// all, for an agent to which beginning anew is harmless; `attach` goes on from what the agent has noted: with work
    /// that lives elsewhere (`a2a`, `http`), behind the last finished call of a tool (`model`), or behind what a program
    /// has noted (`command`).
    #[serde(default)]
    pub on_lost: OnLost,
    /// Whether a message that its sender may send again (by A2A's `messageId`) reaches the agent once, even when the
    /// daemon is killed in between: such a message is a task on disk before the agent hears of it, at the price of two
    /// writes for each. Always so with `on_lost = "attach"`.
    #[serde(default)]
    pub once: bool,
}

/// One thing an agent can do.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillSettings {
    /// Names it among the agent's skills.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// A sentence about it.
    #[serde(default)]
    pub description: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What one might ask.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// A form of content, for the generated reference.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct ModeSettings {
    /// `text`, `link`, `file` or `artifact`.
    kind: String,
    /// The media type, for all but links.
    mime: Option<String>,
}

/// `[policy]` of an agent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Rules in the order in which they are asked; the first refusal stands.
    pub rules: Vec<RuleSettings>,
}

impl From<SkillSettings> for Skill {
    fn from(s: SkillSettings) -> Self {
        Self { id: s.id, name: s.name, description: s.description, tags: s.tags, examples: s.examples }
    }
}

fn first_version() -> String {
    "1.0.0".to_owned()
}

fn agent_time() -> NonZeroU32 {
    let seconds = forecourt_core::limits::AGENT_TIME_MAX.as_secs();
    u32::try_from(seconds).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

impl AgentSettings {
    /// An agent of this handle and name, with everything else as it comes when a file leaves it out.
    pub fn new(handle: Handle, name: impl Into<String>) -> Self {
        Self {
            handle,
            name: name.into(),
            description: String::new(),
            version: first_version(),
            language: Language::english(),
            homepage: None,
            icon: None,
            examples: Vec::new(),
            sessions: None,
            cors: false,
            cache_control: None,
            timeout_seconds: agent_time(),
            skills: Vec::new(),
            input_modes: None,
            output_modes: None,
            policy: PolicySettings::default(),
            budget: BudgetSettings::default(),
            show_usage: UsageViewers::default(),
            on_lost: OnLost::default(),
            once: false,
        }
    }
}
