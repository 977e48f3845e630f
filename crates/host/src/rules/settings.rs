//! A rule as an operator writes it.

use forecourt_core::Handle;
use forecourt_settings::JsonProblem;
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::callers::CallerRule;
use super::consent::ConsentRule;
use super::guardrail::GuardrailRule;
use super::identity::IdentityRule;
use super::legal::LegalRule;
use super::limit::LimitRule;
use super::maintenance::MaintenanceRule;
use super::overload::OverloadRule;
use super::payment::PaymentRule;
use super::words::RuleWords;

/// One rule: its words, and what its kind has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleSettings {
    // First, so that what is left is the kind's, which refuses keys that it does not know.
    /// What it says.
    #[serde(flatten)]
    pub words: RuleWords,
    /// What it wants.
    #[serde(flatten)]
    pub kind: RuleKind,
}

/// A rule before several agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRuleSettings {
    /// The agents that it stands before; all when empty.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub agents: Vec<Handle>,
    /// Agents that it does not stand before.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub except: Vec<Handle>,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
}

/// What a rule wants, by its kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RuleKind {
    /// Nobody passes unless this host verified who it is.
    RequireIdentity(IdentityRule),
    /// Nobody passes before a person agreed to a text.
    RequireConsent(ConsentRule),
    /// Nobody passes before somebody paid.
    RequirePayment(PaymentRule),
    /// Only some callers pass.
    Allow(CallerRule),
    /// Some callers do not pass.
    Deny(CallerRule),
    /// Nobody passes more often than this.
    Limit(LimitRule),
    /// Closed for now.
    Maintenance(MaintenanceRule),
    /// Nobody passes while too much is under way.
    Overload(OverloadRule),
    /// A law forbids it.
    Legal(LegalRule),
    /// What messages and replies may say.
    Guardrail(GuardrailRule),
}

/// The kinds, as they are written.
const KINDS: &[&str] = &[
    "require_identity",
    "require_consent",
    "require_payment",
    "allow",
    "deny",
    "limit",
    "maintenance",
    "overload",
    "legal",
    "guardrail",
];

/// By hand, since the derived reader of a tagged choice does not know the key at which something is wrong.
impl<'de> Deserialize<'de> for RuleKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        let kind = match fields.remove("kind") {
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(D::Error::custom("`kind`: expected a string")),
            None => return Err(D::Error::missing_field("kind")),
        };
        match kind.as_str() {
            "require_identity" => read(fields).map(Self::RequireIdentity),
            "require_consent" => read(fields).map(Self::RequireConsent),
            "require_payment" => read(fields).map(Self::RequirePayment),
            "allow" => read(fields).map(Self::Allow),
            "deny" => read(fields).map(Self::Deny),
            "limit" => read(fields).map(Self::Limit),
            "maintenance" => read(fields).map(Self::Maintenance),
            "overload" => read(fields).map(Self::Overload),
            "legal" => read(fields).map(Self::Legal),
            "guardrail" => read(fields).map(Self::Guardrail),
            other => Err(format!("`kind`: there is no rule `{other}` (known: {})", KINDS.join(", "))),
        }
        .map_err(D::Error::custom)
    }
}

/// Reads what a kind has. A problem begins with the key that it is at, but for keys that are missing or unknown,
/// which name themselves.
fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    forecourt_settings::from_json(&Value::Object(fields)).map_err(|JsonProblem { path, message }| {
        let names_itself = ["unknown field", "missing field"].iter().any(|start| message.starts_with(start));
        if names_itself || path.is_empty() { message } else { format!("`{path}`: {message}") }
    })
}

impl RuleKind {
    /// Its `kind`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RequireIdentity(_) => "require_identity",
            Self::RequireConsent(_) => "require_consent",
            Self::RequirePayment(_) => "require_payment",
            Self::Allow(_) => "allow",
            Self::Deny(_) => "deny",
            Self::Limit(_) => "limit",
            Self::Maintenance(_) => "maintenance",
            Self::Overload(_) => "overload",
            Self::Legal(_) => "legal",
            Self::Guardrail(_) => "guardrail",
        }
    }

    /// What it wants in a few words, for `forecourt check`.
    fn summary(&self) -> String {
        match self {
            Self::RequireIdentity(rule) => {
                let lists = [&rule.issuers, &rule.methods, &rule.assurance, &rule.subjects];
                lists.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
            }
            Self::RequireConsent(rule) => {
                let version = rule.version.as_ref().map(|version| format!("version {version}"));
                let lifetime = rule.lifetime.map(|span| format!("for {span}"));
                [version, lifetime].into_iter().flatten().collect::<Vec<_>>().join(", ")
            }
            Self::RequirePayment(rule) => rule.price.clone(),
            Self::Allow(rule) | Self::Deny(rule) => {
                let networks = rule.networks.iter().map(ToString::to_string);
                let lists = [&rule.countries, &rule.subjects, &rule.languages].into_iter().flatten().cloned();
                lists.chain(networks).collect::<Vec<_>>().join(", ")
            }
            Self::Limit(rule) => format!("{} per {} by {}", rule.requests, rule.per, rule.by.name()),
            Self::Maintenance(rule) => match (rule.weekly.len(), rule.from, rule.until) {
                (0, None, None) => "until further notice".to_owned(),
                (0, from, until) => {
                    let from = from.map(|from| format!("from {from}"));
                    let until = until.map(|until| format!("until {until}"));
                    [from, until].into_iter().flatten().collect::<Vec<_>>().join(" ")
                }
                (count, ..) => format!("{count} weekly"),
            },
            Self::Overload(rule) => format!("over {} replies", rule.replies_running),
            Self::Legal(_) => String::new(),
            Self::Guardrail(rule) => rule.summary(),
        }
    }
}

impl RuleSettings {
    /// Its kind, its name and what it wants, in one line.
    pub fn summary(&self) -> String {
        let name = self.words.name.as_ref().map(|name| format!("`{name}`"));
        let parts = [Some(self.kind.name().to_owned()), name, Some(self.kind.summary())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl HostRuleSettings {
    /// Whether it stands before this agent.
    pub fn is_before(&self, agent: &Handle) -> bool {
        (self.agents.is_empty() || self.agents.contains(agent)) && !self.except.contains(agent)
    }
}

impl From<RuleKind> for RuleSettings {
    fn from(kind: RuleKind) -> Self {
        Self { words: RuleWords::default(), kind }
    }
}
