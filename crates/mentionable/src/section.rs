//! The `[mentionable]` section of `forecourt.toml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How agents are served over Mentionable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MentionableSettings {
    /// Whether a refusal also stands in the `X-Mentionable-Policy` field, beside the body. It says
    /// nothing that the body does not say. Default: false.
    pub policy_header: bool,
    /// Further attempts to deliver a callback or webhook after a failed first one. Receivers must
    /// then be ready to be told twice. Default: 0.
    pub webhook_retries: u32,
}
