//! `[reload]`: changes of the deployment's files while it is served.

use schemars::JsonSchema;
use serde::Deserialize;

/// `[reload]`: whether changes of the deployment's files are taken up by themselves. `SIGHUP` and `POST /reload` on
/// the operator's listener do so whatever this says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReloadSettings {
    /// Whether the files are watched: forecourt.toml, `agents/`, `endpoints/`, `vocabulary/`, `functions/`, recipes,
    /// and every file that one of them names. A deployment with a mistake changes nothing.
    pub watch: bool,
}

impl Default for ReloadSettings {
    fn default() -> Self {
        Self { watch: true }
    }
}
