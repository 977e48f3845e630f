//! What language models are asked, use and cost. Labels come from configuration: no caller and no reply makes one.

use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_agents::usage::{ModelCall, UsageRecorder};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::gen_ai_metrics::GenAiMetrics;

/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// Counters of all models of a deployment.
#[derive(Debug)]
pub struct ModelMetrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<ModelLabels, Histogram, Buckets>,
    tokens: Family<TokenLabels, Counter>,
    cost: Family<ModelLabels, Counter<f64, AtomicU64>>,
    /// The same of all of them, in millionths.
    cost_micros: AtomicU64,
    conventional: GenAiMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabels {
    agent: String,
    provider: String,
    model: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    agent: String,
    provider: String,
    model: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TokenLabels {
    agent: String,
    provider: String,
    model: String,
    kind: &'static str,
}

/// From a tenth of a second to three minutes.
#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(0.1, 2.0, 11))
    }
}

impl Default for ModelMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(Buckets),
            tokens: Family::default(),
            cost: Family::default(),
            cost_micros: AtomicU64::new(0),
            conventional: GenAiMetrics::default(),
        }
    }
}

impl ModelMetrics {
    /// What all models have cost until now, in millionths of the unit of money of their prices.
    pub fn cost_micros(&self) -> u64 {
        self.cost_micros.load(Ordering::Relaxed)
    }

    /// Names every counter in `registry`.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Requests to language models, by agent, provider, model and outcome";
        registry.register("model_requests", help, self.requests.clone());
        let help = "Seconds from a request to a model until the end of its reply";
        registry.register("model_request_seconds", help, self.durations.clone());
        let help = "Tokens that models read (input), had in a cache (cached) and wrote (output)";
        registry.register("model_tokens", help, self.tokens.clone());
        let help = "What models cost, in the unit of money of the prices that are set";
        registry.register("model_cost", help, self.cost.clone());
    }

    /// Names in `registry` what is called by the conventions of OpenTelemetry, without a prefix of ours.
    pub(crate) fn register_conventional(&self, registry: &mut Registry) {
        self.conventional.register(registry);
    }
}

impl UsageRecorder for ModelMetrics {
    fn record(&self, call: &ModelCall<'_>) {
        self.conventional.record(call);
        let [agent, provider, model] = [call.agent, call.provider, call.model].map(str::to_owned);
        let of = ModelLabels { agent: agent.clone(), provider: provider.clone(), model: model.clone() };
        for (kind, tokens) in
            [("input", call.input_tokens), ("cached", call.cached_tokens), ("output", call.output_tokens)]
        {
            let labels = TokenLabels { agent: agent.clone(), provider: provider.clone(), model: model.clone(), kind };
            self.tokens.get_or_create(&labels).inc_by(tokens);
        }
        self.durations.get_or_create(&of).observe(call.elapsed.as_secs_f64());
        self.cost_micros.fetch_add(call.cost_micros, Ordering::Relaxed);
        self.cost.get_or_create(&of).inc_by(call.cost_micros as f64 / MICROS);
        self.requests.get_or_create(&RequestLabels { agent, provider, model, outcome: call.outcome }).inc();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn what_models_use_and_cost_adds_up() {
        let metrics = ModelMetrics::default();
        let call = ModelCall {
            agent: "chef",
            provider: "ollama",
            service: "ollama",
            server: None,
            model: "small",
            outcome: "answered",
            input_tokens: 100,
            output_tokens: 20,
            cached_tokens: 60,
            is_estimated: false,
            cost_micros: 1_500,
            elapsed: Duration::from_millis(300),
        };
        metrics.record(&call);
        metrics.record(&ModelCall { outcome: "failed", ..call });
        assert_eq!(metrics.cost_micros(), 3_000);
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let of = "agent=\"chef\",provider=\"ollama\",model=\"small\"";
        for line in [
            format!("model_requests_total{{{of},outcome=\"failed\"}} 1"),
            format!("model_tokens_total{{{of},kind=\"input\"}} 200"),
            format!("model_tokens_total{{{of},kind=\"cached\"}} 120"),
            format!("model_cost_total{{{of}}} 0.003"),
            format!("model_request_seconds_count{{{of}}} 2"),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }
    }
}
