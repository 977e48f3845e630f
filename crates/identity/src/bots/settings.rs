//! This module has the section `[identity.bots]`.

use forecourt_core::BotPurpose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Crawlers: which are known by name, and whether those are verified that sign their requests.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BotSettings {
    /// Whether crawlers that sign their requests (Web Bot Auth) are verified by the keys that their signature agent
    /// publishes. Such a signature is not looked at otherwise.
    pub signatures: bool,
    /// Crawlers that are known beside those that the program knows. One of the same name takes its place. At most
    /// 1,000.
    pub known: Vec<KnownBotSettings>,
}

/// A crawler that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownBotSettings {
    /// The product by which it names itself in `User-Agent`, such as `ExampleBot`: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Who runs it.
    #[serde(default)]
    pub operator: String,
    /// What it reads for: `search`, `training`, `assistant` or `archive`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub purpose: Option<BotPurpose>,
    /// The hosts of its signature agent, where it signs.
    #[serde(default)]
    pub hosts: Vec<String>,
}

impl Default for BotSettings {
    fn default() -> Self {
        Self { signatures: true, known: Vec::new() }
    }
}
