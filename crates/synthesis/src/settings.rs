//! The operator's switches. Section 10.1.7; base protocol, section 10. They stand in the section of the protocol
//! that negotiates.

mod duration;

use std::num::{NonZeroU32, NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use duration::{positive_seconds, seconds};

/// The table `policies.rcns`: contracts that calls of what is not there lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RcnsSettings {
    /// Whether a call of what is not there may lead to a contract, when its caller consents (`Allow-RCNS: true`),
    /// holds the scope `rcns:negotiate` and is vouched for well enough.
    pub enabled: bool,
    /// Whether a caller accepts the contract before anything is done (`confirm-first`), or the call is served under
    /// it at once (`optimistic`).
    pub mode: RcnsMode,
    /// How far a caller must be vouched for: 1 (the strictest) to 3.
    pub min_trust_tier: u8,
    /// How often a minute one agent may have a call looked at.
    #[serde(alias = "max_negotiations_per_minute")]
    #[schemars(extend("x-alias" = "max_negotiations_per_minute"))]
    pub rate_limit_per_minute: NonZeroU32,
    /// How long such a contract lasts, in seconds; also as text, such as `"24h"`.
    #[serde(deserialize_with = "positive_seconds")]
    #[schemars(with = "SecondsOrText")]
    pub contract_ttl_seconds: NonZeroU64,
    /// How long the answer to a call with an `Idempotency-Key` is repeated when the call led to an offer or to
    /// none, in seconds.
    pub idempotency_window_seconds: NonZeroU64,
    /// What a sweep does with contracts of a recipe that was changed, unless it says so itself: report them
    /// (`grandfather`) or end them (`invalidate`).
    pub on_policy_change: OnPolicyChange,
    /// Whether only agents whose name is proven may negotiate. Default: not on loopback, and everywhere else.
    pub require_verified_identity: Option<bool>,
}

/// How a contract is delivered. Section 10.1.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RcnsMode {
    /// The caller accepts it first.
    #[default]
    ConfirmFirst,
    /// The call is served at once.
    Optimistic,
}

/// What becomes of contracts whose recipe was changed. Section 10.1.4.1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnPolicyChange {
    /// They are reported and go on.
    #[default]
    Grandfather,
    /// They end.
    Invalidate,
}

/// The table `synthesis`: how endpoints are made while serving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SynthesisSettings {
    /// What endpoints are made from, in this order: `recipes`, and `schemas` (registered endpoints whose inputs and
    /// outputs fit together).
    pub policies: Vec<PlanSource>,
    /// How long a contract of a session lasts at most, in seconds; also as text, such as `"24h"`.
    #[serde(alias = "session_duration", deserialize_with = "positive_seconds")]
    #[schemars(with = "SecondsOrText", extend("x-alias" = "session_duration"))]
    pub session_duration_seconds: NonZeroU64,
    /// How long a persistent contract lasts when its proposal does not say, in seconds.
    #[serde(alias = "persistent_default_duration", deserialize_with = "positive_seconds")]
    #[schemars(with = "SecondsOrText", extend("x-alias" = "persistent_default_duration"))]
    pub persistent_default_seconds: NonZeroU64,
    /// How long a persistent contract lasts at most, in seconds; 0: none is made.
    #[serde(alias = "persistent_max_duration", deserialize_with = "seconds")]
    #[schemars(with = "SecondsOrText", extend("x-alias" = "persistent_max_duration"))]
    pub persistent_max_seconds: u64,
    /// Whether proposals are answered at once (`false`) or looked at later, and asked for with
    /// `QUERY /proposals/{proposal_id}`.
    pub async_evaluation_enabled: bool,
    /// How long a proposal may be looked at, in seconds.
    #[serde(alias = "max_evaluation_duration", deserialize_with = "positive_seconds")]
    #[schemars(with = "SecondsOrText", extend("x-alias" = "max_evaluation_duration"))]
    pub max_evaluation_seconds: NonZeroU64,
    /// Contracts that one agent has at once.
    pub contracts_per_agent_max: NonZeroU32,
    /// Contracts that all agents have at once.
    pub contracts_max: NonZeroU32,
    /// Proposals that an agent may have refused in a session before it must ESCALATE.
    pub turns_max: NonZeroU32,
}

/// A span as it may be written, for the schema of the settings: seconds, or text such as `"24h"`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum SecondsOrText {
    Seconds(u64),
    Text(String),
}

/// What endpoints are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanSource {
    /// The operator's recipes.
    Recipes,
    /// Registered endpoints, by their schemas.
    Schemas,
}

const HOUR: u64 = 60 * 60;

fn positive(number: u64) -> NonZeroU64 {
    NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN)
}

fn few(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

impl Default for RcnsSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            mode: RcnsMode::default(),
            min_trust_tier: 1,
            rate_limit_per_minute: few(10),
            contract_ttl_seconds: positive(24 * HOUR),
            idempotency_window_seconds: positive(60),
            on_policy_change: OnPolicyChange::default(),
            require_verified_identity: None,
        }
    }
}

impl Default for SynthesisSettings {
    fn default() -> Self {
        Self {
            policies: vec![PlanSource::Recipes],
            session_duration_seconds: positive(24 * HOUR),
            persistent_default_seconds: positive(7 * 24 * HOUR),
            persistent_max_seconds: 30 * 24 * HOUR,
            async_evaluation_enabled: false,
            max_evaluation_seconds: positive(600),
            contracts_per_agent_max: few(1_000),
            contracts_max: few(100_000),
            turns_max: few(3),
        }
    }
}
