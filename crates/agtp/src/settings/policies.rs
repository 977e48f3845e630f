//! What callers may do. AGTP-API 8.7, 9; base 7.

use std::num::NonZeroU32;

use forecourt_contract::policy::MethodPolicySettings;
use forecourt_contract::reserved;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The table `policies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Whether calls beyond what is declared are consented to. Agents consent in their own documents;
    /// where exactly one side does, the call is refused with 262.
    pub wildcards_accepted: bool,
    /// Whether callers without a name may read the manifest and what is discovered.
    pub anonymous_discovery: bool,
    /// Whether every call of an endpoint must say in `Authority-Scope` which scopes it uses.
    pub scope_required_for_invocation: bool,
    /// Whether endpoints may be made while serving. Without effect in this version, as `false` is.
    pub synthesis_enabled: bool,
    /// Steps of an endpoint that is made while serving, for the manifest.
    pub max_synthesis_depth: NonZeroU32,
    /// Which methods are let in, and under which name.
    pub methods: MethodPolicySettings,
    /// What the operator answers in place of the host.
    pub builtins: BuiltinSettings,
    /// Tokens beside the agent's name.
    pub oauth: OauthSettings,
    /// Contracts made while serving. Accepted, and without effect in this version.
    pub rcns: Option<Map<String, Value>>,
    /// The same as `[agtp.synthesis]`.
    pub synthesis: Option<Map<String, Value>>,
}

/// The table `policies.builtins`. AGTP-API 5.9.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BuiltinSettings {
    /// Reserved paths, such as `/tools`, at which an endpoint of yours answers DISCOVER. It has to keep
    /// to what callers expect there.
    pub overrides: Vec<String>,
}

/// The table `policies.oauth`. Base 7.4.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OauthSettings {
    /// Whether a bearer token in `Authorization` is looked at. The issuers are those of `[identity]`; a
    /// token that does not hold is refused.
    pub enabled: bool,
    /// Methods that are refused without one, whatever the way in: over AGTP, as a tool or a skill, or as a
    /// step of a composition. A certificate proves an agent, and is no token.
    pub required_on_methods: Vec<String>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            wildcards_accepted: false,
            anonymous_discovery: true,
            scope_required_for_invocation: true,
            synthesis_enabled: false,
            max_synthesis_depth: NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN),
            methods: MethodPolicySettings::default(),
            builtins: BuiltinSettings::default(),
            oauth: OauthSettings::default(),
            rcns: None,
            synthesis: None,
        }
    }
}

impl Default for OauthSettings {
    fn default() -> Self {
        Self { enabled: true, required_on_methods: Vec::new() }
    }
}

impl PolicySettings {
    pub(super) fn check(&self, wrong: &mut impl FnMut(&'static str, &str)) {
        for path in &self.builtins.overrides {
            if !path.strip_prefix('/').is_some_and(|name| reserved::ROOTS.contains(&name)) {
                let known = reserved::ROOTS.map(|name| format!("/{name}")).join(", ");
                wrong("policies", &format!("`builtins.overrides` takes the reserved paths {known}, not `{path}`"));
            }
        }
        if !self.oauth.enabled && !self.oauth.required_on_methods.is_empty() {
            wrong("policies", "`oauth.required_on_methods` needs `oauth.enabled`, or no such call is ever answered");
        }
    }
}
