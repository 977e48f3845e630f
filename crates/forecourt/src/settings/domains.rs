//! `[[domain]]`: the domains of one daemon.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

/// `[[domain]]`: one of several domains of one daemon, in a `forecourt.toml` that has no `domain` of its own. That file
/// says what they share (`[listen]`, `[http]`, `[log]`, `[metrics]`, `[telemetry]`, `[drain]`, `trusted_proxies`) and nothing else.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainEntry {
    /// The folder of its deployment, relative to this file: with a `forecourt.toml` of its own, which says everything
    /// that is not shared, agents and endpoints.
    pub path: PathBuf,
}
