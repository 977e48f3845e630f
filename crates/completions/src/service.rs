//! Who answers for a model, in the words that OpenTelemetry's conventions have for providers, so that spans and metrics
//! are found where those of every other program are.

use http::Uri;

use crate::preset::{OTHER, PRESETS, Preset};

/// Providers that are no preset, by the end of the name of their host.
const BY_HOST: [(&str, &str); 11] = [
    (".openai.azure.com", "azure.ai.openai"),
    (".services.ai.azure.com", "azure.ai.inference"),
    (".inference.ai.azure.com", "azure.ai.inference"),
    (".amazonaws.com", "aws.bedrock"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    (".ml.cloud.ibm.com", "ibm.watsonx.ai"),
    ("api.cohere.ai", "cohere"),
    ("api.cohere.com", "cohere"),
    ("api.moonshot.ai", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
];

/// Where the API of a provider is, as traces and metrics tell it: from settings, never from a caller or a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// The provider: the word of the conventions, else that of its preset, else [`OTHER`].
    pub provider: &'static str,
    /// The host and the port.
    pub server: Option<(String, u16)>,
}

impl Service {
    /// That of a preset, if it is one, with its API at `url`.
    pub fn of(preset: Option<&Preset>, url: &str) -> Self {
        let server = server(url);
        let host = server.as_ref().map(|(host, _)| host.as_str());
        let provider = match preset {
            Some(preset) => conventional(preset.name),
            None => host.and_then(by_host).unwrap_or(OTHER),
        };
        Self { provider, server }
    }
}

/// The word of the conventions for a preset, or its own.
fn conventional(preset: &'static str) -> &'static str {
    match preset {
        "azure" => "azure.ai.openai",
        "gemini" => "gcp.gemini",
        "mistral" => "mistral_ai",
        own => own,
    }
}

fn by_host(host: &str) -> Option<&'static str> {
    let is_of = |preset: &&Preset| {
        // The addresses of one's own machine are everybody's.
        preset.key_variable.is_some() && preset.base_url.and_then(server).is_some_and(|(own, _)| own == host)
    };
    let preset = PRESETS.iter().find(is_of).map(|preset| conventional(preset.name));
    preset.or_else(|| BY_HOST.iter().find(|(end, _)| host.ends_with(end)).map(|(_, name)| *name))
}

fn server(url: &str) -> Option<(String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    Some((uri.host()?.to_ascii_lowercase(), uri.port_u16().unwrap_or(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_called_as_the_conventions_call_them() {
        for (preset, provider) in [
            ("openai", "openai"),
            ("anthropic", "anthropic"),
            ("azure", "azure.ai.openai"),
            ("gemini", "gcp.gemini"),
            ("mistral", "mistral_ai"),
            ("groq", "groq"),
            ("deepseek", "deepseek"),
            ("ollama", "ollama"),
        ] {
            assert_eq!(Service::of(Preset::find(preset), "http://127.0.0.1:9/v1").provider, provider);
        }
    }

    #[test]
    fn without_a_preset_the_address_tells() {
        let of = |url| Service::of(None, url);
        assert_eq!(of("https://API.openai.com/v1/chat/completions").provider, "openai");
        assert_eq!(of("https://mine.openai.azure.com/openai").provider, "azure.ai.openai");
        assert_eq!(of("https://api.x.ai/v1").provider, "x_ai");
        assert_eq!(of("https://llm.example:8443/v1").server, Some(("llm.example".to_owned(), 8443)));
        assert_eq!(of("http://127.0.0.1:11434/v1").provider, OTHER, "anything may listen there");
        assert_eq!(of("http://llm.example/v1").server.map(|(_, port)| port), Some(80));
        assert_eq!(of(""), Service { provider: OTHER, server: None });
    }
}
