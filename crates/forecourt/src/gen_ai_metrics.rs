//! What language models are asked and use, by OpenTelemetry's conventions for generative AI. Labels come from
//! configuration: no caller and no reply makes one.

use forecourt_agents::usage::ModelCall;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds in seconds, which the conventions advise.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// Upper bounds in tokens, which the conventions advise: powers of four.
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// Names and values; those without a value are left out.
type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Debug)]
struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`.
#[derive(Debug)]
pub(crate) struct GenAiMetrics {
    durations: Family<Labels, Histogram, Buckets>,
    tokens: Family<Labels, Histogram, Buckets>,
}

impl Default for GenAiMetrics {
    fn default() -> Self {
        Self {
            durations: Family::new_with_constructor(Buckets(&SECONDS)),
            tokens: Family::new_with_constructor(Buckets(&TOKENS)),
        }
    }
}

impl GenAiMetrics {
    /// Names them in `registry`, which has no prefix: they are called here as everywhere.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Seconds from a request to a model until the end of its reply, by OpenTelemetry's conventions";
        registry.register_with_unit("gen_ai_client_operation_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Tokens of a request and of its reply as providers count them, by OpenTelemetry's conventions";
        registry.register("gen_ai_client_token_usage", help, self.tokens.clone());
    }

    pub(crate) fn record(&self, call: &ModelCall<'_>) {
        // Where a budget is used up, nobody was asked.
        if call.outcome == "budget" {
            return;
        }
        let of = labels(call);
        let error = (call.outcome != "answered").then(|| ("error_type", call.outcome.to_owned()));
        let timed = of.iter().cloned().chain(error).collect();
        self.durations.get_or_create(&timed).observe(call.elapsed.as_secs_f64());
        // The conventions forbid to tell estimates as counts.
        if call.is_estimated || call.input_tokens + call.output_tokens == 0 {
            return;
        }
        for (kind, tokens) in [("input", call.input_tokens), ("output", call.output_tokens)] {
            let labels = of.iter().cloned().chain([("gen_ai_token_type", kind.to_owned())]).collect();
            self.tokens.get_or_create(&labels).observe(tokens as f64);
        }
    }
}

fn labels(call: &ModelCall<'_>) -> Labels {
    let label = |name: &'static str, value: &str| (name, value.to_owned());
    let mut labels = vec![
        label("gen_ai_operation_name", "chat"),
        label("gen_ai_provider_name", call.service),
        label("gen_ai_request_model", call.model),
    ];
    if let Some((address, port)) = call.server {
        labels.push(("server_address", address.trim_matches(['[', ']']).to_owned()));
        labels.push(("server_port", port.to_string()));
    }
    labels
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn estimates_and_what_nobody_was_asked_count_nowhere() {
        let metrics = GenAiMetrics::default();
        let call = ModelCall {
            agent: "chef",
            provider: "gemini",
            service: "gcp.gemini",
            server: Some(("[::1]", 8080)),
            model: "small",
            outcome: "answered",
            input_tokens: 100,
            output_tokens: 20,
            cached_tokens: 0,
            is_estimated: false,
            cost_micros: 0,
            elapsed: Duration::from_millis(30),
        };
        metrics.record(&call);
        metrics.record(&ModelCall { outcome: "canceled", is_estimated: true, ..call });
        metrics.record(&ModelCall { outcome: "budget", ..call });
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let of = "gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"gcp.gemini\",gen_ai_request_model=\"small\",\
                  server_address=\"::1\",server_port=\"8080\"";
        for line in [
            format!("gen_ai_client_operation_duration_seconds_count{{{of}}} 1"),
            format!("gen_ai_client_operation_duration_seconds_count{{{of},error_type=\"canceled\"}} 1"),
            format!("gen_ai_client_token_usage_sum{{{of},gen_ai_token_type=\"input\"}} 100.0"),
            format!("gen_ai_client_token_usage_count{{{of},gen_ai_token_type=\"output\"}} 1"),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }
        assert!(!text.contains("budget"), "{text}");
    }
}
