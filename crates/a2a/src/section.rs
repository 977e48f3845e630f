//! The `[a2a]` section of `forecourt.toml`.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How agents are served over A2A.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct A2aSettings {
    /// Who runs this host, for the cards. Default: the name of the deployment.
    pub organization: Option<String>,
    /// Semantic version of the hub's card. Default: `1.0.0`.
    pub version: String,
    /// Whether the cards of agents name gRPC. The hub's never does, since some clients refuse a
    /// card with an address that is no https URL. Default: false.
    pub grpc_on_cards: bool,
    /// Seconds that a request waits for the end of its task before it gets the task as it stands.
    /// Default: 100.
    pub blocking_seconds: NonZeroU32,
    /// Further attempts to deliver a push notification after a failed first one, the first after
    /// 5 seconds and each after twice the time. Default: 8, about 20 minutes.
    pub push_retries: u32,
}

impl Default for A2aSettings {
    fn default() -> Self {
        Self {
            organization: None,
            version: "1.0.0".to_owned(),
            grpc_on_cards: false,
            blocking_seconds: NonZeroU32::new(100).unwrap_or(NonZeroU32::MIN),
            push_retries: 8,
        }
    }
}
