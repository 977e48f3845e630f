//! Chunks of an answer, put together. Reads what compatible servers really send: missing indexes,
//! `null` in place of text, text in parts, and answers in one piece.

use forecourt_core::Ending;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::WHO;
use crate::error::{ProviderError, reported};
use crate::filter::TextFilter;
use crate::limits::{TOOL_ARGUMENTS_BYTES_MAX, TOOL_CALLS_MAX};
use crate::metering::Usage;
use crate::tool_call::ToolCallRequest;
use forecourt_agents::upstream::UpstreamFailure;

/// One reply as far as its chunks have come in.
#[derive(Debug)]
pub struct ModelReplyDraft {
    /// All of its text, which goes back with the calls.
    text: String,
    calls: Vec<ToolCallRequest>,
    /// Takes out what is no answer.
    filter: TextFilter,
    /// The token counts that the provider reports.
    pub usage: Option<Usage>,
    /// Bytes that the model wrote, thoughts and calls included.
    pub written: usize,
    /// Why it ended, once the server said so.
    reason: Option<String>,
    /// Whether the server said that nothing follows.
    is_done: bool,
}

/// The part of one chunk that can be shown, and whether the model was thinking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkContent {
    /// The next words of the answer.
    pub text: String,
    /// Whether the model thought, which is no answer.
    pub is_thought: bool,
}

impl Default for ModelReplyDraft {
    fn default() -> Self {
        Self::new(false)
    }
}

/// The calls of one reply, with the text that came before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallRound {
    text: String,
    /// In the order in which they were asked for.
    pub calls: Vec<ToolCallRequest>,
}

/// How a reply ended.
#[derive(Debug, PartialEq, Eq)]
pub enum ReplyFinish {
    /// The model ended its reply by itself.
    Whole,
    /// The reply hit the bound of its tokens.
    Cut,
    /// The model asks for tools; the next request carries their results.
    Calls(ToolCallRound),
    /// The reply has neither text nor calls.
    Empty {
        /// Whether the model came to the bound of its reply before it said anything.
        was_cut: bool,
    },
}

impl ModelReplyDraft {
    /// A reply before its first word; some begin within a thought.
    pub fn new(starts_thinking: bool) -> Self {
        Self {
            text: String::new(),
            calls: Vec::new(),
            filter: TextFilter::new(starts_thinking),
            usage: None,
            written: 0,
            reason: None,
            is_done: false,
        }
    }

    /// The server said that nothing follows.
    pub fn done(&mut self) {
        self.is_done = true;
    }

    /// Adds a chunk, or an answer in one piece; gives what there is to show of it.
    pub fn take(&mut self, chunk: &Value) -> Result<ChunkContent, ProviderError> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(reported(error));
        }
        if let Some(usage) = Usage::read(chunk) {
            self.usage = Some(usage);
        }
        // A chunk without choices tells of usage, or of nothing.
        let Some(choice) = chunk["choices"].as_array().and_then(|choices| choices.first()) else {
            return Ok(ChunkContent::default());
        };
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.reason = Some(reason.to_owned());
        }
        for call in said["tool_calls"].as_array().into_iter().flatten() {
            self.take_call(call).map_err(ProviderError::Other)?;
        }
        let thought: usize = REASONING.iter().map(|key| text(&said[*key]).len()).sum();
        // A refusal of the model comes in a field of its own; for the caller it is the answer.
        let text = [text(&said["content"]), text(&said["refusal"])].concat();
        self.written += thought + text.len();
        let before = self.filter.has_thought;
        let shown = self.filter.push(&text);
        let is_filtered = shown.len() < text.len() && (self.filter.has_thought != before || self.filter.is_inside());
        self.text.push_str(&shown);
        Ok(ChunkContent { text: shown, is_thought: thought > 0 || is_filtered })
    }

    /// The last words, which might have been the beginning of something else, now that nothing follows.
    pub fn rest(&mut self) -> String {
        let rest = self.filter.end();
        self.text.push_str(&rest);
        rest
    }

    fn take_call(&mut self, piece: &Value) -> Result<(), Ending> {
        let (index, id) = (piece["index"].as_u64(), piece["id"].as_str().unwrap_or_default());
        let function = &piece["function"];
        self.written += function["arguments"].as_str().map_or(0, str::len);
        let call = self.call_of(index, id)?;
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        // Names may come in pieces, as arguments do; an id comes whole and may be repeated, so the first one counts.
        call.name.push_str(function["name"].as_str().unwrap_or_default());
        match &function["arguments"] {
            Value::String(text) => call.arguments.push_str(text),
            Value::Null => {}
            // Some servers write the arguments as JSON, and not as its text.
            other => call.arguments.push_str(&other.to_string()),
        }
        match call.arguments.len() + call.name.len() + call.id.len() <= TOOL_ARGUMENTS_BYTES_MAX {
            true => Ok(()),
            false => Err(UpstreamFailure::TooLarge.ending(WHO)),
        }
    }

    /// The call that a piece belongs to: that of its index, else of its id, else the last one.
    fn call_of(&mut self, index: Option<u64>, id: &str) -> Result<&mut ToolCallRequest, Ending> {
        let at = match index {
            Some(_) => self.calls.iter().position(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().position(|call| call.id == id),
            None => self.calls.len().checked_sub(1),
        };
        let at = at.unwrap_or(self.calls.len());
        if at == self.calls.len() {
            if at == TOOL_CALLS_MAX {
                return Err(Ending::failed("The model asked for too many tools at once."));
            }
            self.calls.push(ToolCallRequest { index, ..ToolCallRequest::default() });
        }
        Ok(&mut self.calls[at])
    }

    /// Whether the server has said that it is at its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.reason.is_some() || self.is_done
    }

    /// What the reply comes to, now that nothing follows. Without any word of its end it broke off.
    pub fn finish(mut self) -> Result<ReplyFinish, Ending> {
        if !self.has_ended() {
            return Err(UpstreamFailure::Broken.ending(WHO));
        }
        self.rest();
        // Calls in the text count only where the server recognised none: it may hand on both, and the tool would run
        // twice.
        if self.calls.is_empty() {
            self.calls = std::mem::take(&mut self.filter.calls);
        }
        if !self.calls.is_empty() {
            self.calls.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()).for_each(|(at, call)| {
                // The API wants every result to name its call.
                call.id = format!("call_{at}");
            });
            return Ok(ReplyFinish::Calls(ToolCallRound { text: self.text, calls: self.calls }));
        }
        let is_empty = self.text.trim().is_empty();
        match self.reason.as_deref() {
            Some("content_filter") => Err(Ending::failed("The model provider declined to answer this.")),
            Some("length" | "max_tokens") if is_empty => Ok(ReplyFinish::Empty { was_cut: true }),
            Some("length" | "max_tokens") => Ok(ReplyFinish::Cut),
            _ if is_empty => Ok(ReplyFinish::Empty { was_cut: false }),
            _ => Ok(ReplyFinish::Whole),
        }
    }
}

impl ToolCallRound {
    /// The words before the calls, as they were shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The reply, as the model reads it in the next round.
    pub fn message(&self) -> Value {
        let calls = self.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        let content = if self.text.is_empty() { Value::Null } else { self.text.as_str().into() };
        json!({"role": "assistant", "content": content, "tool_calls": calls.collect::<Vec<_>>()})
    }
}

/// Where providers put what a model thinks before it answers.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// The text of a `content`: itself, or its parts of text.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"delta": delta}]})
    }

    fn calls(pieces: &[Value]) -> Vec<(String, String, String)> {
        let mut draft = ModelReplyDraft::default();
        for piece in pieces {
            draft.take(&delta(json!({"tool_calls": [piece]}))).unwrap();
        }
        draft.done();
        match draft.finish().unwrap() {
            ReplyFinish::Calls(asked) => {
                asked.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn owned(wanted: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        wanted
            .iter()
            .map(|(id, name, arguments)| ((*id).to_owned(), (*name).to_owned(), (*arguments).to_owned()))
            .collect()
    }

    #[test]
    fn calls_are_put_together_by_index_by_id_or_by_order() {
        let by_index = [
            json!({"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "add", "arguments": "{"}}),
            json!({"index": 0, "function": {"arguments": "{\"q\":"}}),
            json!({"index": 1, "function": {"arguments": "}"}}),
            json!({"index": 0, "id": "a", "function": {"name": null, "arguments": "1}"}}),
        ];
        assert_eq!(calls(&by_index), owned(&[("a", "search", "{\"q\":1}"), ("b", "add", "{}")]));
        let by_id = [
            json!({"id": "a", "function": {"name": "search", "arguments": "{"}}),
            json!({"function": {"arguments": "}"}}),
            json!({"id": "b", "function": {"name": "add", "arguments": {"x": 1}}}),
        ];
        assert_eq!(calls(&by_id), owned(&[("a", "search", "{}"), ("b", "add", "{\"x\":1}")]));
        assert_eq!(calls(&[json!({"function": {"name": "add"}})]), owned(&[("call_0", "add", "")]));
    }

    #[test]
    fn a_reply_has_bounds() {
        let call = |n: usize| delta(json!({"tool_calls": [{"index": n, "function": {"name": "a"}}]}));
        let mut draft = ModelReplyDraft::default();
        (0..TOOL_CALLS_MAX).for_each(|n| assert!(draft.take(&call(n)).is_ok()));
        assert!(draft.take(&call(TOOL_CALLS_MAX)).is_err());
        let arguments =
            |bytes: usize| delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "x".repeat(bytes)}}]}));
        assert!(ModelReplyDraft::default().take(&arguments(TOOL_ARGUMENTS_BYTES_MAX)).is_ok());
        assert!(ModelReplyDraft::default().take(&arguments(TOOL_ARGUMENTS_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn a_reply_ends_when_the_server_says_so() {
        let ended = |reason: Option<&str>, is_done: bool| {
            let mut draft = ModelReplyDraft { is_done, ..ModelReplyDraft::default() };
            draft.take(&json!({"choices": [{"delta": {"content": "x"}, "finish_reason": reason}]})).unwrap();
            draft.finish()
        };
        let silent = |reason: &str, delta: Value| {
            let mut draft = ModelReplyDraft::default();
            draft.take(&json!({"choices": [{"delta": delta, "finish_reason": reason}]})).unwrap();
            draft.finish()
        };
        for delta in [json!({}), json!({"content": " \n"}), json!({"content": "<think>hm</think>\n"})] {
            assert_eq!(silent("stop", delta.clone()), Ok(ReplyFinish::Empty { was_cut: false }));
            assert_eq!(silent("length", delta), Ok(ReplyFinish::Empty { was_cut: true }));
        }
        assert_eq!(ended(Some("stop"), false), Ok(ReplyFinish::Whole));
        assert_eq!(ended(None, true), Ok(ReplyFinish::Whole));
        assert_eq!(ended(Some("length"), true), Ok(ReplyFinish::Cut));
        assert!(ended(Some("content_filter"), true).is_err());
        assert!(ended(None, false).is_err(), "without [DONE] and without a reason it broke off");
    }

    #[test]
    fn text_comes_in_many_forms() {
        for (chunk, wanted) in [
            (delta(json!({"content": "a"})), "a"),
            (delta(json!({"content": null})), ""),
            (delta(json!({"role": "assistant"})), ""),
            (delta(json!({"content": [{"type": "text", "text": "a"}, {"type": "other"}, {"text": "b"}]})), "ab"),
            (delta(json!({"refusal": "no"})), "no"),
            (json!({"choices": [{"message": {"content": "whole"}}]}), "whole"),
            (json!({"choices": []}), ""),
            (json!({"usage": {"total_tokens": 3}}), ""),
            (json!({"choices": [], "error": null}), ""),
        ] {
            assert_eq!(ModelReplyDraft::default().take(&chunk).unwrap().text, wanted, "{chunk}");
        }
        assert!(ModelReplyDraft::default().take(&json!({"error": {"message": "secret"}})).is_err());
    }

    #[test]
    fn thoughts_are_told_and_never_kept() {
        let mut draft = ModelReplyDraft::default();
        for (said, text, is_thought) in [
            (json!({"reasoning_content": "hm", "content": ""}), "", true),
            (json!({"reasoning": "hm"}), "", true),
            (json!({"content": "<think>secret"}), "", true),
            (json!({"content": " more</think>Four."}), "Four.", true),
            (json!({"content": " Five."}), " Five.", false),
        ] {
            let taken = draft.take(&delta(said.clone())).unwrap();
            assert_eq!((taken.text.as_str(), taken.is_thought), (text, is_thought), "{said}");
        }
        assert_eq!(draft.text, "Four. Five.");
        assert!(draft.written > draft.text.len());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let key = prop_oneof![
            Just("choices"),
            Just("delta"),
            Just("message"),
            Just("content"),
            Just("tool_calls"),
            Just("function"),
            Just("name"),
            Just("arguments"),
            Just("index"),
            Just("id"),
            Just("finish_reason"),
            Just("error"),
        ];
        let leaf =
            prop_oneof![Just(Value::Null), any::<u8>().prop_map(Value::from), "[a-z\\[{\"]{0,4}".prop_map(Value::from)];
        leaf.prop_recursive(6, 40, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::vec((key.clone(), inner), 0..4).prop_map(|fields| {
                    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_chunks_come_to_something(chunks in proptest::collection::vec(any_json(), 0..6)) {
            let mut draft = ModelReplyDraft::default();
            for chunk in &chunks {
                let _ = draft.take(chunk);
            }
            let _ = draft.finish();
        }
    }
}
