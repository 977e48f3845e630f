//! The `[mcp]` section of `forecourt.toml`.

use std::num::NonZeroU32;

use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::origin::Origin;

/// How the host is served over MCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Seconds that a call waits for an answer before it is given the task that goes on. Many clients
    /// give up after 60. Default: 25.
    pub patience_seconds: NonZeroU32,
    /// Origins of web pages that may connect, such as `https://app.example.com`, beside this host's
    /// own. In development pages of this machine may too. Default: none.
    pub allowed_origins: Vec<String>,
    /// Words for models on what this host is good for. Default: made from the agents.
    pub instructions: Option<String>,
    /// Whether results come with a widget that shows them as cards, for clients that can. Default:
    /// true.
    pub widget: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            patience_seconds: NonZeroU32::new(25).unwrap_or(NonZeroU32::MIN),
            allowed_origins: Vec::new(),
            instructions: None,
            widget: true,
        }
    }
}

impl Settings {
    /// Reads the section. Fails with every origin that is none.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        for text in settings.allowed_origins.iter().filter(|text| Origin::parse(text).is_none()) {
            let words = format!("`{text}` is no origin; write it like https://app.example.com");
            problems.push(section.problem(Some("allowed_origins"), words));
        }
        problems.into_result(settings)
    }
}
