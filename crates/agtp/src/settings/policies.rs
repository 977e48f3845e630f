//! What callers may do. AGTP-API 8.7, 9; base 7.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::OauthSettings;

/// The table `policies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Whether callers without a name may read the manifest and what is discovered.
    pub anonymous_discovery: bool,
    /// Whether endpoints may be made while serving. Without effect in this version, as `false` is.
    pub synthesis_enabled: bool,
    /// Steps of an endpoint that is made while serving, for the manifest.
    pub max_synthesis_depth: NonZeroU32,
    /// Tokens beside the agent's name.
    pub oauth: OauthSettings,
    /// Contracts made while serving. Accepted, and without effect in this version.
    pub rcns: Option<Map<String, Value>>,
    /// The same as `[agtp.synthesis]`.
    pub synthesis: Option<Map<String, Value>>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            anonymous_discovery: true,
            synthesis_enabled: false,
            max_synthesis_depth: NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN),
            oauth: OauthSettings::default(),
            rcns: None,
            synthesis: None,
        }
    }
}
