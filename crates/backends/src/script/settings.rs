//! The keys of a `script` backend.

use std::collections::BTreeMap;

use forecourt_core::policy::Translation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The section of a `script` backend.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptSettings {
    /// `"script"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// The rules. The first one that fits is played; when none does, the message is repeated. At
    /// most 1,000.
    #[serde(default, rename = "rule")]
    _rule: Vec<RuleSettings>,
}

/// When to play what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSettings {
    /// A regular expression that is looked for in the text of the message. Without it, any text fits.
    pub(super) text: Option<String>,
    /// A regular expression that is looked for in the caller's own id of the message. Without it, any
    /// id fits.
    pub(super) message_id: Option<String>,
    /// What happens, in order; each has one of the keys below. A list without an ending (`message`,
    /// `question`, `policy`, `sign_in`, `decline`, `fail`) completes; what stands after an ending is never sent. At most
    /// 10,000.
    #[serde(default, rename = "events")]
    _events: Vec<EventSettings>,
}

/// One event: exactly one of these keys, `progress` with or without `note`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventSettings {
    /// A fragment of the answer, in markdown.
    pub(super) text: Option<String>,
    /// Milliseconds in which nothing happens.
    pub(super) wait_ms: Option<u64>,
    /// How far the work has come, between 0 and 1.
    pub(super) progress: Option<f64>,
    /// A short sentence about the progress.
    pub(super) note: Option<String>,
    /// A tool at work. A later one with the same `id` replaces it.
    pub(super) tool_call: Option<CallSettings>,
    /// A file, in the answer itself or elsewhere.
    pub(super) file: Option<FileSettings>,
    /// Structured data: any value.
    pub(super) data: Option<Value>,
    /// A pointer to a page.
    pub(super) link: Option<LinkSettings>,
    /// The same text again and again, at a steady pace: for measuring.
    pub(super) stream: Option<StreamSettings>,
    /// Ends the answer with a refusal.
    pub(super) policy: Option<PolicySettings>,
    /// Ends the answer with this markdown, directly and without a task where a protocol has the choice.
    pub(super) message: Option<String>,
    /// Ends the answer with a question to the caller.
    pub(super) question: Option<QuestionSettings>,
    /// Ends the answer by asking its caller to sign in somewhere first, in these words.
    pub(super) sign_in: Option<String>,
    /// Ends the answer by declining for good, for this reason.
    pub(super) decline: Option<String>,
    /// Ends the answer with a failure, for this reason.
    pub(super) fail: Option<String>,
}

/// A tool at work. Without `result` and `error` it is running.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CallSettings {
    /// Names the call within the answer.
    pub(super) id: String,
    /// Names the tool.
    pub(super) name: String,
    /// What the tool was given.
    #[serde(default = "no_args")]
    #[schemars(with = "Map<String, Value>")]
    pub(super) args: Value,
    /// What it answered.
    pub(super) result: Option<Value>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

fn no_args() -> Value {
    Value::Object(Map::new())
}

/// A file: `base64` or `url`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSettings {
    /// A name to show.
    pub(super) name: Option<String>,
    /// The media type.
    #[serde(default = "any_bytes")]
    pub(super) mime: String,
    /// The content, in base64.
    pub(super) base64: Option<String>,
    /// Where the content is.
    pub(super) url: Option<String>,
}

fn any_bytes() -> String {
    "application/octet-stream".to_owned()
}

/// A pointer to a page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkSettings {
    /// Where it points.
    pub(super) url: String,
    /// A name to show.
    pub(super) title: Option<String>,
    /// A sentence about it.
    pub(super) description: Option<String>,
}

/// The same text again and again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamSettings {
    /// The text of each fragment. `{n}` in it is the fragment's number, from 1.
    pub(super) text: String,
    /// How many fragments.
    pub(super) count: u32,
    /// Milliseconds from one to the next; the first comes at once.
    #[serde(default)]
    pub(super) every_ms: u64,
}

/// A question to the caller.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionSettings {
    /// The question in words.
    pub(super) text: String,
    /// Structured questions in NLWeb's shape, for protocols that have them.
    #[serde(default)]
    pub(super) questions: Vec<Value>,
}

/// A refusal: which kind, and what that kind has. Mentionable PolicyPart v0.1.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicySettings {
    /// The kind, such as `forbidden` or `consent_required`: the refusals of the table of errors.
    pub(super) kind: String,
    /// What a person reads.
    pub(super) message: String,
    /// A short summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The finer reason, namespaced, such as `oauth:consent_required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Title and message in other languages, by language tag.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, TranslationSettings>")]
    message_translations: BTreeMap<String, Translation>,
    /// Where a person can act: https, on the canonical host. `{state}` in it is the refusal's token.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The name of that action.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_label: Option<String>,
    /// More, by keys with a prefix, such as `oauth.error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Map<String, Value>>,
    /// For `consent_required`: its token. Without it, each refusal gets a fresh one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<String>,
    /// For `consent_required`: where the consent page leads back to. Without it, to this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) return_to: Option<String>,
    /// For `unauthorized`: one or more ways to prove who one is, the preferred first.
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_challenges: Option<Vec<ChallengeSettings>>,
    /// For `payment_required`: one or more ways to pay, the preferred first.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_payments: Option<Vec<PaymentSettings>>,
    /// For `too_many_requests` and `service_unavailable`: seconds to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
}

/// Title and message in another language.
#[derive(Debug, JsonSchema)]
#[allow(dead_code, reason = "it only describes the core's type, which knows no schemas")]
struct TranslationSettings {
    /// The short summary.
    title: Option<String>,
    /// What a person reads.
    message: String,
}

/// A way to prove who one is.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChallengeSettings {
    /// Such as `Bearer`.
    scheme: String,
    /// Its parameters, unquoted.
    #[serde(default)]
    params: BTreeMap<String, String>,
}

/// A way to pay.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PaymentSettings {
    /// Which payment protocol the payload belongs to, such as `x402.exact`.
    scheme: String,
    /// The offer, in that protocol's words.
    payload: Map<String, Value>,
}
