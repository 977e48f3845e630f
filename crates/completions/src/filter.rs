//! What a model writes among its text that is no answer: thoughts between tags, and calls of tools that its server
//! did not recognise. Tags may be cut anywhere.
//!
//! A thought is known by a tag at the beginning of a line, so that an answer may speak of such tags; neither kind is
//! looked for within a fence of code.

use serde_json::Value;

use crate::limits::{TOOL_ARGUMENTS_BYTES_MAX, TOOL_CALLS_MAX};
use crate::tool_call::ToolCallRequest;

/// Takes a model's text apart as it comes.
#[derive(Debug)]
pub(crate) struct TextFilter {
    /// What may be the beginning of a tag.
    held: String,
    is_line_start: bool,
    in_fence: bool,
    inside: Option<&'static Mark>,
    /// What stands between the tags, as far as it is wanted; of a thought, the last bytes.
    captured: String,
    is_too_long: bool,
    /// Whether anything was shown: what is only blank is no answer.
    has_begun: bool,
    /// Whether blanks are passed over, since what stood before them was taken out.
    skips_blanks: bool,
    /// Calls in the order in which they were written.
    pub(crate) calls: Vec<ToolCallRequest>,
    /// Whether something was thought, or taken out.
    pub(crate) has_thought: bool,
}

/// Between what something stands that is no answer.
#[derive(Debug)]
struct Mark {
    open: &'static str,
    /// `None`: to the end of the reply.
    close: Option<&'static str>,
    is_call: bool,
}

const fn thought(open: &'static str, close: &'static str) -> Mark {
    Mark { open, close: Some(close), is_call: false }
}

const fn call(open: &'static str, close: Option<&'static str>) -> Mark {
    Mark { open, close, is_call: true }
}

static THOUGHT: Mark = thought("<think>", "</think>");
static MARKS: [Mark; 8] = [
    thought("<think>", "</think>"),
    thought("<thinking>", "</thinking>"),
    thought("<reasoning>", "</reasoning>"),
    call("<tool_call>", Some("</tool_call>")),
    call("<|tool_call|>", Some("<|/tool_call|>")),
    call("<function=", Some("</function>")),
    call("[TOOL_CALLS]", None),
    call("<|python_tag|>", None),
];

const FENCE: &str = "```";
/// Bytes of blanks before the first word that are held back.
const BLANKS_HELD_MAX: usize = 1_024;

impl TextFilter {
    /// A filter before the first word of a reply, which may be within a thought already.
    pub(crate) fn new(starts_thinking: bool) -> Self {
        Self {
            held: String::new(),
            is_line_start: true,
            in_fence: false,
            inside: starts_thinking.then_some(&THOUGHT),
            captured: String::new(),
            is_too_long: false,
            has_begun: false,
            skips_blanks: false,
            calls: Vec::new(),
            has_thought: false,
        }
    }

    /// Takes the next words; gives those of the answer.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut shown = String::new();
        text.chars().for_each(|c| self.take(c, &mut shown));
        shown
    }

    /// Whether what comes now is no answer.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// The rest of the answer, now that nothing follows. What no tag closed stays out of it.
    pub(crate) fn end(&mut self) -> String {
        if let Some(mark) = self.inside.take() {
            self.close(mark);
            return String::new();
        }
        let rest = std::mem::take(&mut self.held);
        if rest.trim().is_empty() { String::new() } else { rest }
    }

    fn take(&mut self, c: char, shown: &mut String) {
        if let Some(mark) = self.inside {
            return self.take_inside(c, mark);
        }
        if self.skips_blanks && c.is_whitespace() {
            return;
        }
        self.skips_blanks = false;
        let may_begin = self.is_line_start || (!self.in_fence && matches!(c, '<' | '['));
        if self.held.is_empty() && !may_begin {
            shown.push(c);
            self.is_line_start = c == '\n';
            return;
        }
        self.held.push(c);
        let word = self.held.trim_start();
        if word.is_empty() && !self.has_begun && self.held.len() < BLANKS_HELD_MAX {
            return;
        }
        self.has_begun = true;
        let is_line_start = self.is_line_start;
        let mut marks = MARKS.iter().filter(|mark| !self.in_fence && (mark.is_call || is_line_start));
        if let Some(mark) = marks.clone().find(|mark| mark.open == word) {
            self.held.clear();
            self.inside = Some(mark);
            return;
        }
        let may_be_mark = marks.any(|mark| mark.open.starts_with(word));
        let may_be_fence = is_line_start && word.len() < FENCE.len() && FENCE.starts_with(word);
        if c != '\n' && (may_be_mark || may_be_fence) {
            return;
        }
        if is_line_start && word.starts_with(FENCE) {
            self.in_fence = !self.in_fence;
        }
        // What was no mark after all may end in the beginning of one.
        let again = !word.is_empty() && word.len() > c.len_utf8() && !self.in_fence && matches!(c, '<' | '[');
        if again {
            self.held.pop();
        }
        shown.push_str(&std::mem::take(&mut self.held));
        self.is_line_start = c == '\n';
        if again {
            self.take(c, shown);
        }
    }

    fn take_inside(&mut self, c: char, mark: &'static Mark) {
        self.captured.push(c);
        // A thought may be long and is thrown away: only as many bytes are kept as its closing tag has.
        let max = if mark.is_call { TOOL_ARGUMENTS_BYTES_MAX } else { mark.close.map_or(0, str::len) };
        if self.captured.len() > max {
            self.is_too_long = true;
            let keep = mark.close.map_or(0, str::len);
            let mut from = self.captured.len().saturating_sub(keep);
            while !self.captured.is_char_boundary(from) {
                from += 1;
            }
            self.captured.drain(..from);
        }
        if mark.close.is_some_and(|close| self.captured.ends_with(close)) {
            self.inside = None;
            self.close(mark);
        }
    }

    fn close(&mut self, mark: &'static Mark) {
        let captured = std::mem::take(&mut self.captured);
        let is_whole = !std::mem::take(&mut self.is_too_long);
        (self.has_thought, self.skips_blanks, self.is_line_start) = (true, true, true);
        if mark.is_call && is_whole {
            let inner = mark.close.and_then(|close| captured.strip_suffix(close)).unwrap_or(&captured);
            self.read_calls(mark, inner.trim());
        }
    }

    /// The calls that a text holds, where it is JSON in a form that is known. Anything else is passed over.
    fn read_calls(&mut self, mark: &Mark, text: &str) {
        // `<function=NAME>ARGUMENTS</function>`: the name stands in the tag, so the whole is not JSON.
        if mark.open == "<function=" {
            if let Some((name, arguments)) = text.split_once('>') {
                self.add_call(name.trim(), arguments.trim().to_owned());
            }
            return;
        }
        let Ok(value) = forecourt_core::json::parse(text.as_bytes()) else { return };
        let all = match value {
            Value::Array(all) => all,
            one => vec![one],
        };
        for one in all {
            let arguments = [&one["arguments"], &one["parameters"]].into_iter().find(|given| !given.is_null());
            let arguments = match arguments {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            if let Some(name) = one["name"].as_str() {
                self.add_call(name, arguments);
            }
        }
    }

    fn add_call(&mut self, name: &str, arguments: String) {
        // 64 is the bound of a tool's name: a longer one names no tool, and would go back to the provider with the
        // result.
        if self.calls.len() < TOOL_CALLS_MAX && !name.is_empty() && name.len() <= 64 {
            self.calls.push(ToolCallRequest { name: name.to_owned(), arguments, ..ToolCallRequest::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The answer in `text`, the same however it is cut, and the calls in it.
    fn filtered(text: &str) -> (String, Vec<(String, String)>) {
        let whole = |size: usize| {
            let mut filter = TextFilter::new(false);
            let chars: Vec<char> = text.chars().collect();
            let mut shown: String =
                chars.chunks(size).map(|piece| filter.push(&piece.iter().collect::<String>())).collect();
            shown.push_str(&filter.end());
            (shown, filter.calls.into_iter().map(|call| (call.name, call.arguments)).collect::<Vec<_>>())
        };
        let first = whole(1);
        for size in [2, 3, 5, 7, 1_000] {
            assert_eq!(whole(size), first, "in pieces of {size}");
        }
        first
    }

    fn shown(text: &str) -> String {
        filtered(text).0
    }

    #[test]
    fn thoughts_are_no_answer() {
        assert_eq!(shown("<think>hm\n</think>\n\nFour."), "Four.");
        assert_eq!(shown("  <thinking>hm</thinking>Four."), "Four.");
        assert_eq!(shown("<think></think>Four."), "Four.");
        assert_eq!(shown("Two.\n<think>hm</think>\nFour."), "Two.\nFour.");
        assert_eq!(shown("<think>one</think>\n<think>two</think>\nFour."), "Four.");
        assert_eq!(shown("<think>never closed, and long"), "");
        assert_eq!(shown(" \n\t\n"), "");
        assert_eq!(shown("<think>a </thin </think>Four."), "Four.");
    }

    #[test]
    fn what_only_looks_like_a_thought_is_an_answer() {
        for text in [
            "Use `<think>` for it.",
            "a < b and c <d",
            "<thin",
            "```\n<think>x</think>\n```\n",
            "<b>bold</b>",
            "[link](x) [TOOL",
            "  indented\n    more\n",
            "",
            "``",
            "<<<",
            "\n\n  begins late",
        ] {
            assert_eq!(shown(text), text, "{text}");
        }
    }

    #[test]
    fn a_reply_may_begin_within_a_thought() {
        let mut filter = TextFilter::new(true);
        assert_eq!(filter.push("hm, two and two</thi"), "");
        assert_eq!(filter.push("nk>\n\nFour."), "Four.");
    }

    #[test]
    fn calls_that_were_written_as_text_are_read_and_not_shown() {
        let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
        let (text, calls) =
            filtered("Let me see. <tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}\n</tool_call>");
        assert_eq!((text.as_str(), calls), ("Let me see. ", vec![call("add", "{\"a\":1}")]));
        let (text, calls) = filtered("[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {}}, {\"name\": \"sub\"}]");
        assert_eq!((text.as_str(), calls), ("", vec![call("add", "{}"), call("sub", "")]));
        let (text, calls) = filtered("<function=add>{\"a\": 1}</function> Done.");
        assert_eq!((text.as_str(), calls), ("Done.", vec![call("add", "{\"a\": 1}")]));
        assert_eq!(filtered("<tool_call>no json</tool_call>Done."), ("Done.".to_owned(), Vec::new()));
        assert_eq!(filtered("<tool_call>{\"name\": \"add\""), (String::new(), Vec::new()));
    }

    #[test]
    fn what_is_taken_out_is_bounded() {
        let mut filter = TextFilter::new(false);
        let long = "x".repeat(2 * TOOL_ARGUMENTS_BYTES_MAX);
        assert_eq!(filter.push(&format!("<think>{long}")), "");
        assert!(filter.captured.len() < 64);
        assert_eq!(filter.push("</think>Four."), "Four.");
        assert_eq!(filter.push(&format!("<tool_call>{long}</tool_call>!")), "!");
        assert!(filter.calls.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_shown_the_same_however_it_is_cut(text in "(<think>|</think>|```|\n|<tool_call>|\\[TOOL|[ -~ä]){0,12}") {
            filtered(&text);
        }

        #[test]
        fn text_without_marks_is_shown_whole(text in "[a-z .\n]{0,60}[a-z]") {
            assert_eq!(shown(&text), text);
        }
    }
}
