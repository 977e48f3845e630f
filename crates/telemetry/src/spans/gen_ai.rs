//! Spans of agents, models and tools. OpenTelemetry's conventions for generative AI. Of what is said nothing is told.

use opentelemetry::{Array, StringValue, Value};
use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::http::bare;
use crate::TARGET;
use crate::outgoing::is_recorded;

/// Bytes of a word of a provider, such as the name of a model. A longer one is not told.
const WORD_BYTES_MAX: usize = 128;

/// The rules before an agent.
pub fn gate(agent: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(target: TARGET, "gate", gen_ai.agent.name = agent, forecourt.outcome = Empty)
}

/// An agent at work on an answer.
pub fn invoke_agent(agent: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "invoke_agent",
        otel.name = format!("invoke_agent {agent}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = "forecourt",
        gen_ai.agent.name = agent,
        forecourt.outcome = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// A tool that a model called. `tool` is one that it was offered, `call` the model's own name of the call.
pub fn execute_tool(tool: &str, call: &str) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {tool}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        "gen_ai.tool.type" = "function",
        gen_ai.tool.call.id = word(call),
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// What a model is asked with, as far as settings decide it.
#[derive(Debug, Default)]
pub struct ChatRequest<'a> {
    /// The provider, by the word that the conventions have for it if they have one.
    pub provider: &'a str,
    /// The model as its provider knows it.
    pub model: &'a str,
    /// Where the provider is, and the port.
    pub server: Option<(&'a str, u16)>,
    /// Whether the reply is asked for piece by piece.
    pub is_streamed: bool,
    /// Tokens that it may have.
    pub max_tokens: Option<i64>,
    /// How much chance there is in it.
    pub temperature: Option<f64>,
    /// From which share of the likeliest tokens is chosen.
    pub top_p: Option<f64>,
    /// How much what was said often is avoided.
    pub frequency_penalty: Option<f64>,
    /// How much what was said at all is avoided.
    pub presence_penalty: Option<f64>,
    /// What chance is made from.
    pub seed: Option<i64>,
    /// Whether the reply is to be JSON.
    pub is_json: bool,
}

/// A request to a model, until its answer is at its end. What the reply says is recorded by [`record_tokens`] and
/// its like.
pub fn chat<'a>(request: impl FnOnce() -> ChatRequest<'a>) -> Span {
    if !is_recorded() {
        return Span::none();
    }
    let request = request();
    let (address, port) = request.server.unzip();
    info_span!(
        target: TARGET,
        "chat",
        otel.name = format!("chat {}", request.model),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = request.provider,
        gen_ai.request.model = request.model,
        gen_ai.request.stream = request.is_streamed.then_some(true),
        gen_ai.request.max_tokens = request.max_tokens,
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.top_p = request.top_p,
        gen_ai.request.frequency_penalty = request.frequency_penalty,
        gen_ai.request.presence_penalty = request.presence_penalty,
        gen_ai.request.seed = request.seed,
        "gen_ai.output.type" = request.is_json.then_some("json"),
        server.address = address.map(bare),
        server.port = port.map(i64::from),
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.time_to_first_chunk = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Records in the span of [`chat`] which model answered, and what it calls its reply. Words that are no such names
/// are left out.
pub fn record_reply_names(span: &Span, id: Option<&str>, model: Option<&str>) {
    if let Some(id) = id.and_then(word) {
        span.record("gen_ai.response.id", id);
    }
    if let Some(model) = model.and_then(word) {
        span.record("gen_ai.response.model", model);
    }
}

/// Records after how many seconds the first piece of a reply came.
pub fn record_first_chunk(span: &Span, seconds: f64) {
    span.record("gen_ai.response.time_to_first_chunk", seconds);
}

/// Records tokens as a provider counts them: read, of those from its cache, and written.
pub fn record_tokens(span: &Span, input: u64, cached: u64, output: u64) {
    let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    span.record("gen_ai.usage.input_tokens", number(input));
    span.record("gen_ai.usage.output_tokens", number(output));
    if cached > 0 {
        span.record("gen_ai.usage.cache_read.input_tokens", number(cached));
    }
}

/// Records why a reply ended, in the provider's word.
pub fn record_finish(span: &Span, reason: &str) {
    if span.is_disabled() {
        return;
    }
    // A list, which fields of spans can't be: there is one for each reply that was asked for.
    let reasons = word(reason).into_iter().map(|reason| StringValue::from(reason.to_owned())).collect();
    span.set_attribute("gen_ai.response.finish_reasons", Value::Array(Array::String(reasons)));
}

/// Text that can be a name or a code, and no sentence.
fn word(text: &str) -> Option<&str> {
    let is_word = (1..=WORD_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_word.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_up_to_its_bound() {
        let longest = "x".repeat(WORD_BYTES_MAX);
        assert_eq!(word(&longest), Some(longest.as_str()));
        assert_eq!(word("org/model:7b-q4"), Some("org/model:7b-q4"));
        for none in ["", "two words", "l\u{e9}", &format!("{longest}x")] {
            assert_eq!(word(none), None, "{none}");
        }
    }
}
