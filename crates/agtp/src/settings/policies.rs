//! What callers may do. AGTP-API 8.7, 9; base 7.

use std::num::NonZeroU32;

use forecourt_synthesis::settings::{RcnsSettings, SynthesisSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OauthSettings;

/// The table `policies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PolicySettings {
    /// Whether callers without a name may read the manifest and what is discovered.
    pub anonymous_discovery: bool,
    /// Whether endpoints may be made while serving: by PROPOSE and, where `rcns` is enabled too, for calls of
    /// what is not there.
    pub synthesis_enabled: bool,
    /// Steps of an endpoint that is made while serving; at most 64.
    pub max_synthesis_depth: NonZeroU32,
    /// Tokens beside the agent's name.
    pub oauth: OauthSettings,
    /// Contracts that calls of what is not there lead to.
    pub rcns: RcnsSettings,
    /// Another place for `[agtp.synthesis]`.
    pub synthesis: Option<SynthesisSettings>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            anonymous_discovery: true,
            synthesis_enabled: false,
            max_synthesis_depth: NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN),
            oauth: OauthSettings::default(),
            rcns: RcnsSettings::default(),
            synthesis: None,
        }
    }
}
