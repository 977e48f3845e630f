//! Metrics that OpenTelemetry's conventions name, back from the names that Prometheus has for them.

use opentelemetry_proto::tonic::common::v1::any_value::Value;

/// The family as it is exposed, its name in the conventions and its unit.
const METRICS: [(&str, &str, &str); 3] = [
    ("http_server_request_duration_seconds", "http.server.request.duration", "s"),
    ("gen_ai_client_operation_duration_seconds", "gen_ai.client.operation.duration", "s"),
    ("gen_ai_client_token_usage", "gen_ai.client.token.usage", "{token}"),
];

/// The labels of these families, their names in the conventions, and whether their values are numbers.
const ATTRIBUTES: [(&str, &str, bool); 12] = [
    ("http_request_method", "http.request.method", false),
    ("http_route", "http.route", false),
    ("http_response_status_code", "http.response.status_code", true),
    ("url_scheme", "url.scheme", false),
    ("network_protocol_version", "network.protocol.version", false),
    ("error_type", "error.type", false),
    ("gen_ai_operation_name", "gen_ai.operation.name", false),
    ("gen_ai_provider_name", "gen_ai.provider.name", false),
    ("gen_ai_request_model", "gen_ai.request.model", false),
    ("gen_ai_token_type", "gen_ai.token.type", false),
    ("server_address", "server.address", false),
    ("server_port", "server.port", true),
];

/// A metric that the conventions name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConventionalMetric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
}

impl ConventionalMetric {
    /// That of a family as it is exposed, if it is one.
    pub(super) fn find(family: &str) -> Option<Self> {
        METRICS.iter().find(|(exposed, ..)| *exposed == family).map(|(_, name, unit)| Self { name, unit })
    }

    /// The name and the value of a label of it.
    pub(super) fn attribute(self, label: &str, value: &str) -> (String, Value) {
        let text = || Value::StringValue(value.to_owned());
        match ATTRIBUTES.iter().find(|(exposed, ..)| *exposed == label) {
            Some((_, name, true)) => ((*name).to_owned(), value.parse().map_or_else(|_| text(), Value::IntValue)),
            Some((_, name, false)) => ((*name).to_owned(), text()),
            None => (label.to_owned(), text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_conventions_and_numbers_are_numbers() {
        let metric = ConventionalMetric::find("gen_ai_client_token_usage").unwrap();
        assert_eq!((metric.name, metric.unit), ("gen_ai.client.token.usage", "{token}"));
        assert_eq!(metric.attribute("server_port", "443"), ("server.port".to_owned(), Value::IntValue(443)));
        let (name, value) = metric.attribute("error_type", "500");
        assert_eq!((name.as_str(), value), ("error.type", Value::StringValue("500".to_owned())), "it is text");
        assert_eq!(ConventionalMetric::find("forecourt_http_requests"), None);
    }

    #[test]
    fn every_name_is_exposed_as_prometheus_writes_it() {
        for (exposed, name, unit) in METRICS {
            let suffix = if unit == "s" { "_seconds" } else { "" };
            assert_eq!(exposed, format!("{}{suffix}", name.replace('.', "_")));
        }
        for (exposed, name, _) in ATTRIBUTES {
            assert_eq!(exposed, name.replace('.', "_"));
        }
    }
}
