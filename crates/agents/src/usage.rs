//! This module has the record of one request to a model provider, and the trait that receives such records.

use std::time::Duration;

/// Receives one record for each request to a model provider. Many answers call it at once: it must not block.
pub trait UsageRecorder: Send + Sync {
    /// A provider was asked.
    fn record(&self, call: &ModelCall<'_>);
}

/// One request to a provider of a model, after it.
#[derive(Debug, Clone)]
pub struct ModelCall<'a> {
    /// The handle of the agent that asked.
    pub agent: &'a str,
    /// The preset of the provider, or `other`: from configuration, never from a caller or a reply.
    pub provider: &'a str,
    /// The provider in the words of OpenTelemetry, from configuration too.
    pub service: &'a str,
    /// Its host and port.
    pub server: Option<(&'a str, u16)>,
    /// The model as the settings name it.
    pub model: &'a str,
    /// `answered`, `declined`, `failed`, `unreachable`, `canceled`, or `budget` where nobody was asked since a budget
    /// is used up.
    pub outcome: &'static str,
    /// Tokens that the model read; estimated where the provider says nothing.
    pub input_tokens: u64,
    /// Tokens that it wrote, its thoughts included.
    pub output_tokens: u64,
    /// Tokens of those it read that came from the provider's cache.
    pub cached_tokens: u64,
    /// Whether its tokens were estimated, since the provider said nothing of them.
    pub is_estimated: bool,
    /// What it cost in millionths of a unit of money; 0 where the settings name no price.
    pub cost_micros: u64,
    /// From the request to the end of the reply.
    pub elapsed: Duration,
}

/// Drops every record.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoUsage;

impl UsageRecorder for NoUsage {
    fn record(&self, _: &ModelCall<'_>) {}
}
