//! What is said to a model, cut so that it fits what the model reads at once: the instructions, the tools and the
//! current message always, of the results of tools at least their beginnings, and of earlier turns the newest that
//! fit, each whole.
//!
//! The order is that in which things change, the steadiest first, and earlier turns are left out several at once, so
//! that providers find what they have read before.

use forecourt_completions::preset::{Quirks, SystemRole};
use forecourt_completions::window::{IMAGE_TOKENS, MESSAGE_TOKENS, Window};
use serde_json::{Value, json};

use super::limits::{HISTORY_STEP, TOOL_RESULT_SHORT_BYTES};

/// The messages of one request in the form of the chat completions API, before they are cut to the model's window.
pub(super) struct Conversation {
    pub(super) system: String,
    /// Earlier turns, oldest first.
    pub(super) history: Vec<Value>,
    /// The content of the current turn.
    pub(super) current: Value,
    /// Replies that asked for tools, and the results, in their order.
    pub(super) rounds: Vec<Value>,
}

/// A conversation that was cut to the model's window.
#[derive(Debug)]
pub(super) struct FittedConversation {
    pub(super) messages: Vec<Value>,
    /// Its estimated tokens, tools included.
    pub(super) tokens: u64,
    /// Bytes of it, images left out.
    pub(super) bytes: usize,
}

/// Instructions, tools and the current message alone are more than the model reads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    /// Tokens of it.
    pub(super) tokens: u64,
    /// Tokens that fit.
    pub(super) most: u64,
}

impl Conversation {
    /// As much of it as `most` tokens hold, with tools of so many bytes; all of it where nobody knows a bound.
    pub(super) fn fitted(
        &self,
        most: Option<u64>,
        tools_bytes: usize,
        window: &Window,
        quirks: &Quirks,
    ) -> Result<FittedConversation, TooLong> {
        let most = most.unwrap_or(u64::MAX);
        let weigh = |message: &Value| weight(message).tokens(window);
        let system = json!({"role": "system", "content": self.system});
        let current = json!({"role": "user", "content": self.current});
        let tools = Weight { bytes: tools_bytes, images: 0 }.tokens(window);
        let fixed = weigh(&system) + weigh(&current) + tools;
        let rounds = self.rounds_within(most.saturating_sub(fixed), window);
        let mut tokens = fixed + rounds.iter().map(weigh).sum::<u64>();
        if tokens > most {
            return Err(TooLong { tokens, most });
        }
        let mut kept = 0;
        for turn in self.history.iter().rev() {
            let more = weigh(turn);
            if tokens + more > most {
                // Cut in steps: a window that moved by one turn with each message would change the beginning of every
                // request, and the provider's prompt cache would never hit.
                kept = self.steady(kept);
                break;
            }
            tokens += more;
            kept += 1;
        }
        let history = &self.history[self.history.len() - kept..];
        let mut messages = Vec::with_capacity(2 + history.len() + rounds.len());
        messages.push(system);
        messages.extend_from_slice(history);
        messages.push(current);
        messages.extend(rounds);
        let bytes = tools_bytes + messages.iter().map(|message| weight(message).bytes).sum::<usize>();
        let tokens = tools + messages.iter().map(weigh).sum::<u64>();
        Ok(FittedConversation { messages: spoken(messages, history.len(), quirks), tokens, bytes })
    }

    /// Whether there is anything that could still be left out.
    pub(super) fn can_shrink(&self) -> bool {
        let is_long =
            |round: &Value| round["content"].as_str().is_some_and(|text| text.len() > TOOL_RESULT_SHORT_BYTES);
        !self.history.is_empty() || self.rounds.iter().any(is_long)
    }

    /// How many of the `kept` newest turns are kept so that the first one stays the same for several messages, and
    /// is the caller's.
    fn steady(&self, kept: usize) -> usize {
        let all = self.history.len();
        let left_out = (all - kept).next_multiple_of(HISTORY_STEP);
        let first = (left_out..all).find(|at| self.history[*at]["role"] == "user").unwrap_or(all);
        all - first
    }

    /// The rounds, with results shortened from the oldest on until they fit.
    fn rounds_within(&self, most: u64, window: &Window) -> Vec<Value> {
        let mut rounds = self.rounds.clone();
        let weigh = |rounds: &[Value]| rounds.iter().map(|round| weight(round).tokens(window)).sum::<u64>();
        for at in 0..rounds.len() {
            if weigh(&rounds) <= most {
                break;
            }
            let text = rounds[at]["content"].as_str().filter(|_| rounds[at]["role"] == "tool");
            if let Some(short) = text.filter(|text| text.len() > TOOL_RESULT_SHORT_BYTES).map(shortened) {
                rounds[at]["content"] = short.into();
            }
        }
        rounds
    }
}

/// The beginning of a result.
fn shortened(text: &str) -> String {
    let mut end = TOOL_RESULT_SHORT_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n[The rest was left out: it is more than you can read.]", &text[..end])
}

/// The size of a message, from which its tokens are estimated.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: usize,
    images: u64,
}

impl Weight {
    fn tokens(self, window: &Window) -> u64 {
        window.estimate(self.bytes) + self.images * IMAGE_TOKENS + MESSAGE_TOKENS
    }
}

fn weight(message: &Value) -> Weight {
    let mut weight = Weight::default();
    match &message["content"] {
        Value::String(text) => weight.bytes += text.len(),
        Value::Array(parts) => {
            for part in parts {
                match part["text"].as_str() {
                    Some(text) => weight.bytes += text.len(),
                    // Parts without text are images: their base64 says nothing about the tokens that they cost.
                    None => weight.images += 1,
                }
            }
        }
        _ => {}
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        weight.bytes += call.to_string().len();
    }
    weight
}

/// The messages as an API wants them, of which those behind the first are the earlier turns.
fn spoken(mut messages: Vec<Value>, earlier: usize, quirks: &Quirks) -> Vec<Value> {
    match quirks.system_role {
        SystemRole::System => {}
        SystemRole::Developer => messages[0]["role"] = "developer".into(),
        SystemRole::User => {
            let system = messages.remove(0)["content"].take();
            let first = messages.iter_mut().find(|message| message["role"] == "user");
            if let (Some(first), Some(system)) = (first, system.as_str()) {
                put_before(system, &mut first["content"]);
            }
            return messages;
        }
    }
    if quirks.cache_control {
        mark(&mut messages[0]);
        // The last earlier turn, or the instructions where there is none: the next request of this conversation is the
        // same up to here.
        mark(&mut messages[earlier]);
    }
    messages
}

fn put_before(words: &str, content: &mut Value) {
    match content {
        Value::String(text) => *text = format!("{words}\n\n---\n\n{text}"),
        Value::Array(parts) => parts.insert(0, json!({"type": "text", "text": words})),
        _ => {}
    }
}

/// Sets `cache_control` on a message: the provider may cache the request up to here.
fn mark(message: &mut Value) {
    if let Some(text) = message["content"].as_str() {
        let part = json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        message["content"] = json!([part]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(turns: usize, bytes: usize) -> Conversation {
        let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
        let history =
            (0..turns).map(|n| json!({"role": role(n), "content": format!("{n:04}{}", "x".repeat(bytes - 4))}));
        Conversation { system: "s".repeat(30), history: history.collect(), current: "now".into(), rounds: Vec::new() }
    }

    fn kept(conversation: &Conversation, most: u64) -> Result<usize, TooLong> {
        let fitted = conversation.fitted(Some(most), 0, &Window::new(None), &Quirks::default())?;
        assert!(fitted.tokens <= most, "{} of {most}", fitted.tokens);
        Ok(fitted.messages.len() - 2)
    }

    #[test]
    fn the_newest_turns_that_fit_are_kept_whole_and_begin_with_the_caller() {
        let whole = conversation(12, 300);
        assert_eq!(kept(&whole, u64::MAX), Ok(12));
        for most in [40, 200, 500, 900, 1_200, 1_250] {
            let count = kept(&whole, most).unwrap();
            assert!(count < 12 && count.is_multiple_of(2), "{count} of {most}");
            assert!((12 - count).is_multiple_of(HISTORY_STEP) || count == 0, "{count}");
        }
        assert_eq!(kept(&whole, 40), Ok(0));
    }

    #[test]
    fn what_can_not_be_left_out_has_to_fit_to_the_last_token() {
        let alone = conversation(0, 10);
        let window = Window::new(None);
        let needs = alone.fitted(None, 0, &window, &Quirks::default()).unwrap().tokens;
        assert!(alone.fitted(Some(needs), 0, &window, &Quirks::default()).is_ok());
        let error = alone.fitted(Some(needs - 1), 0, &window, &Quirks::default()).unwrap_err();
        assert_eq!(error, TooLong { tokens: needs, most: needs - 1 });
        assert!(alone.fitted(Some(needs), 100, &window, &Quirks::default()).is_err(), "tools count");
        assert!(!alone.can_shrink());
    }

    #[test]
    fn results_of_tools_are_shortened_from_the_oldest_on() {
        let mut long = conversation(2, 30);
        let result = |letter: &str| json!({"role": "tool", "content": letter.repeat(8 * TOOL_RESULT_SHORT_BYTES)});
        long.rounds = vec![json!({"role": "assistant", "content": null}), result("a"), result("b")];
        let fitted = |most: u64| long.fitted(Some(most), 0, &Window::new(None), &Quirks::default());
        let whole = fitted(u64::MAX).unwrap().tokens;
        let messages = fitted(whole - 100).unwrap().messages;
        assert!(messages[5]["content"].as_str().unwrap_or_default().contains("left out"), "{messages:?}");
        assert_eq!(messages.last().unwrap()["content"], long.rounds[2]["content"]);
        assert!(fitted(300).is_err() && long.can_shrink());
    }

    #[test]
    fn apis_have_their_own_ways() {
        let own = conversation(2, 30);
        let spoken = |quirks: Quirks| own.fitted(None, 0, &Window::new(None), &quirks).unwrap().messages;
        let developer = spoken(Quirks { system_role: SystemRole::Developer, ..Quirks::default() });
        assert_eq!(developer[0]["role"], "developer");
        let user = spoken(Quirks { system_role: SystemRole::User, ..Quirks::default() });
        assert_eq!((user.len(), &user[0]["role"]), (3, &json!("user")));
        assert!(user[0]["content"].as_str().unwrap().starts_with("sss"));
        let marked = spoken(Quirks { cache_control: true, ..Quirks::default() });
        let is_marked = |at: usize| marked[at]["content"][0]["cache_control"]["type"] == "ephemeral";
        assert_eq!((is_marked(0), is_marked(1), is_marked(2), is_marked(3)), (true, false, true, false));
    }
}
