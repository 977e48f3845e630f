//! What models use: tokens as providers count them, and what they cost.

use serde_json::Value;

/// Tokens of one or several calls of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that the model read.
    pub input: u64,
    /// How many of them the provider had read before and took from its cache.
    pub cached: u64,
    /// Tokens that the model wrote, those of its thinking included.
    pub output: u64,
    /// Whether the provider said nothing of them, so that they were estimated from bytes.
    pub is_estimated: bool,
}

impl Usage {
    /// What a provider says of a reply, in the words of any API that is compatible with chat completions. `None`
    /// when it says nothing.
    pub fn read(chunk: &Value) -> Option<Self> {
        // Groq puts the usage of a stream into `x_groq`.
        let said = [&chunk["usage"], &chunk["x_groq"]["usage"]].into_iter().find(|said| said.is_object())?;
        let first = |keys: &[&str]| keys.iter().find_map(|key| said.pointer(key).and_then(Value::as_u64));
        let input = first(&["/prompt_tokens", "/input_tokens"]);
        let output = first(&["/completion_tokens", "/output_tokens"]);
        let cached =
            first(&["/prompt_tokens_details/cached_tokens", "/cache_read_input_tokens", "/prompt_cache_hit_tokens"]);
        match (input, output) {
            (None, None) => None,
            (input, output) => {
                let input = input.unwrap_or_default();
                // A part of the input: more than that would be paid for twice.
                let cached = cached.unwrap_or_default().min(input);
                Some(Self { input, cached, output: output.unwrap_or_default(), is_estimated: false })
            }
        }
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What tokens cost, in millionths of a unit of money for each token: which is the price of a million tokens in
/// units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// For a million tokens that the model reads.
    pub input: f64,
    /// For a million of those that the provider had read before.
    pub cached: f64,
    /// For a million tokens that the model writes.
    pub output: f64,
}

impl Price {
    /// What `usage` costs, in millionths of a unit, rounded up.
    pub fn micros(&self, usage: &Usage) -> u64 {
        let fresh = usage.input.saturating_sub(usage.cached);
        let parts = [(fresh, self.input), (usage.cached, self.cached), (usage.output, self.output)];
        #[expect(clippy::cast_precision_loss, reason = "no reply has 2^52 tokens")]
        let micros: f64 = parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float that is cast saturates")]
        let whole = micros.ceil().max(0.0) as u64;
        whole
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn providers_count_in_several_words() {
        let usage = |input, cached, output| Some(Usage { input, cached, output, is_estimated: false });
        for (chunk, wanted) in [
            (json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2}}), usage(10, 0, 2)),
            (
                json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}}),
                usage(10, 8, 2),
            ),
            (json!({"usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 99}}), usage(10, 10, 0)),
            (json!({"x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}}), usage(1, 0, 1)),
            (json!({"usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 1}}), usage(3, 1, 4)),
            (json!({"usage": null}), None),
            (json!({"usage": {"prompt_tokens": "many"}}), None),
            (json!({"choices": []}), None),
        ] {
            assert_eq!(Usage::read(&chunk), wanted, "{chunk}");
        }
    }

    #[test]
    fn a_cost_is_exact_and_cached_tokens_have_their_own_price() {
        let price = Price { input: 2.5, cached: 0.25, output: 10.0 };
        let usage = Usage { input: 1_000_000, cached: 400_000, output: 100_000, is_estimated: false };
        assert_eq!(price.micros(&usage), 1_500_000 + 100_000 + 1_000_000);
        assert_eq!(price.micros(&Usage { input: 1, ..Usage::default() }), 3, "what is begun counts");
    }
}
