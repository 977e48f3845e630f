//! The JSON in which programs answer: over a webhook ([`crate::http`]) and over their standard
//! output ([`crate::command`]), the same words as in a script.
//!
//! An answer is made of objects. Each has one of these keys, or several, which are then taken in
//! this order:
//!
//! | key | value | what happens |
//! |---|---|---|
//! | `progress`, `note` | a number between 0 and 1, a sentence | shown while waiting |
//! | `tool_call` | `{id, name, args, result or error}` | shown where a protocol has tool calls |
//! | `text` | markdown | the next fragment of the answer |
//! | `parts`, `part` | a list of parts, or one | files, links, data; text parts are text |
//! | `link`, `data` | `{url, title}`, any JSON | short for such parts |
//! | `message` | markdown | ends the answer, with no task where a protocol has the choice |
//! | `question` | `{text, questions}` | ends the answer and asks back |
//! | `policy` | a refusal, see Mentionable PolicyPart v0.1 | ends the answer by declining |
//! | `declined` | a sentence, or `{message}` | ends the answer: the agent won't, and nothing changes that |
//! | `error` | a sentence, or `{message}` | ends the answer: it failed |
//! | `end` | anything | ends the answer: it is whole |
//!
//! A refusal that asks for a consent or a payment may leave `state`, `return_to` and `url` out: then the host mints
//! a state, shows the page, and asks the agent again, with `policy_resolution` in the message, once it is done.
//!
//! Parts are those of Mentionable's normalized message, such as
//! `{"kind": "file", "mime": "image/png", "name": "a.png", "bytes_ref": {"kind": "inline", "data": "…base64…"}}`.
//! Further keys are warned about, each once, and ignored ([`crate::program`]).

use forecourt_core::part::ArtifactContent;
use forecourt_core::{Ending, Event, File, FileSource, Link, Part, PolicyPart, Progress, Question, ToolCall};
use forecourt_process::printable;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::limits::STDERR_LINE_BYTES_MAX;

/// Characters of a reason that a program gives for its failure.
const REASON_CHARS_MAX: usize = 500;

/// Why a value is no answer. For the log: it tells of the inside.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AnswerDecodeError(String);

/// The events of one value: an object with the keys above, a string (which is text), or a list of
/// these. `host` is what the URLs of a refusal are bound to. An ending is the last event.
pub(crate) fn events(value: Value, host: &str) -> Result<Vec<Event>, AnswerDecodeError> {
    match value {
        Value::String(text) => Ok(vec![Event::Text(text)]),
        Value::Object(fields) => object(fields, host),
        Value::Array(values) => {
            let mut all = Vec::new();
            for value in values {
                match value {
                    Value::Object(fields) => all.extend(object(fields, host)?),
                    Value::String(text) => all.push(Event::Text(text)),
                    _ => return Err(malformed("a list in an answer holds something else than objects and strings")),
                }
                if is_ended(&all) {
                    break;
                }
            }
            Ok(all)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(malformed("an answer is an object, a string or a list")),
    }
}

/// The events of a value, or the ending that it comes to when it can't be read.
pub(crate) fn read(value: Value, host: &str) -> Vec<Event> {
    match events(value, host) {
        Ok(events) => events,
        Err(error) => vec![Event::Ending(unreadable(&error.0))],
    }
}

/// The ending of an answer that can't be read. The reason is for the log: it tells of the inside.
pub(crate) fn unreadable(reason: &str) -> Ending {
    let reason = for_log(reason);
    tracing::warn!(reason, "an agent's program answered something unreadable");
    unreadable_ending()
}

/// How answers end that can't be read, where the log has the reason already.
pub(crate) fn unreadable_ending() -> Ending {
    Ending::failed("The agent's program gave an answer that could not be read.")
}

/// The first characters of what a program wrote, without those that control how it is shown.
pub(crate) fn plain(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(chars_max).collect()
}

/// What a program wrote, or an error that quotes it, as a line of the log: cut, and without what could forge another.
pub(crate) fn for_log(text: &str) -> String {
    printable(&text.as_bytes()[..text.len().min(STDERR_LINE_BYTES_MAX)])
}

/// Whether a key means something in an answer.
pub(crate) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Whether fields end an answer, by the word of who wrote them: a refusal does as a part, too.
pub(crate) fn ends(fields: &Map<String, Value>) -> bool {
    let has = |key: &&str| fields.get(*key).is_some_and(|value| !value.is_null());
    let parts = fields.get("parts").and_then(Value::as_array).into_iter().flatten();
    fields.contains_key("end")
        || ["message", "question", "policy", "declined", "error"].iter().any(has)
        || parts.chain(fields.get("part")).any(is_refusal)
}

/// Whether a part is a refusal.
fn is_refusal(part: &Value) -> bool {
    part.get("kind").and_then(Value::as_str).is_some_and(PolicyPart::knows)
}

fn is_ended(events: &[Event]) -> bool {
    matches!(events.last(), Some(Event::Ending(_)))
}

fn malformed(reason: impl Into<String>) -> AnswerDecodeError {
    AnswerDecodeError(reason.into())
}

/// The keys by which a program says its answer.
pub(crate) const KEYS: [&str; 14] = [
    "progress",
    "note",
    "tool_call",
    "text",
    "parts",
    "part",
    "link",
    "data",
    "message",
    "question",
    "policy",
    "declined",
    "error",
    "end",
];

fn object(mut fields: Map<String, Value>, host: &str) -> Result<Vec<Event>, AnswerDecodeError> {
    // Keys beside the known ones are ignored, so an object with none of them is a typing error that would go unseen.
    if !KEYS.iter().any(|key| fields.contains_key(*key)) {
        return Err(malformed("an object in an answer has none of the keys that mean something"));
    }
    let mut events = Vec::new();
    events.extend(progress(&mut fields)?);
    if let Some(call) = take(&mut fields, "tool_call") {
        events.push(Event::ToolCall(typed::<ToolCall>("tool_call", call)?));
    }
    if let Some(text) = take(&mut fields, "text") {
        events.push(Event::Text(typed("text", text)?));
    }
    for part in all_parts(&mut fields)? {
        push_part(&mut events, part, host)?;
        if is_ended(&events) {
            return Ok(events);
        }
    }
    // Last, as an ending closes the answer: an object may hold text and its end.
    events.extend(ending(&mut fields, host)?.map(Event::Ending));
    Ok(events)
}

fn progress(fields: &mut Map<String, Value>) -> Result<Option<Event>, AnswerDecodeError> {
    let fraction = take(fields, "progress").map(|value| typed::<f64>("progress", value)).transpose()?;
    let note = take(fields, "note").map(|value| typed::<String>("note", value)).transpose()?;
    let is_given = fraction.is_some() || note.is_some();
    Ok(is_given.then_some(Event::Progress(Progress { fraction, note })))
}

fn all_parts(fields: &mut Map<String, Value>) -> Result<Vec<Part>, AnswerDecodeError> {
    let values: Vec<Value> = take(fields, "parts").map(|parts| typed("parts", parts)).transpose()?.unwrap_or_default();
    let mut parts = values.into_iter().map(|value| read_part("parts", value)).collect::<Result<Vec<Part>, _>>()?;
    if let Some(part) = take(fields, "part") {
        parts.push(read_part("part", part)?);
    }
    if let Some(link) = take(fields, "link") {
        parts.push(Part::Link(typed::<Link>("link", link)?));
    }
    parts.extend(take(fields, "data").map(Part::data));
    Ok(parts)
}

/// A part of an answer. A refusal may leave its state to the host.
fn read_part(key: &str, value: Value) -> Result<Part, AnswerDecodeError> {
    match value {
        value if is_refusal(&value) => read_policy(key, typed(key, value)?).map(Part::Policy),
        value => typed(key, value),
    }
}

fn read_policy(key: &str, fields: Map<String, Value>) -> Result<PolicyPart, AnswerDecodeError> {
    PolicyPart::from_agent(fields).map_err(|error| malformed(format!("`{key}`: {error}")))
}

/// Adds a part as the event that it is: text is text, a refusal is an ending.
fn push_part(events: &mut Vec<Event>, part: Part, host: &str) -> Result<(), AnswerDecodeError> {
    let event = match part {
        Part::Text(text) => match events.last_mut() {
            // As in messages, text parts are joined by a newline.
            Some(Event::Text(before)) => {
                before.push('\n');
                before.push_str(&text.content);
                return Ok(());
            }
            _ => Event::Text(text.content),
        },
        Part::ToolCall(call) => Event::ToolCall(call),
        Part::Policy(policy) => Event::Ending(refusal(policy, host)?),
        // `Kept` refers to bytes that the host has stored: only the host may name them.
        part if is_kept(&part) => return Err(malformed("a part refers to a kept file, which only the host can")),
        part => Event::Part(part),
    };
    events.push(event);
    Ok(())
}

fn is_kept(part: &Part) -> bool {
    match part {
        Part::File(File { source, .. }) => *source == FileSource::Kept,
        Part::Artifact(artifact) => artifact.content == ArtifactContent::Bytes(FileSource::Kept),
        _ => false,
    }
}

fn ending(fields: &mut Map<String, Value>, host: &str) -> Result<Option<Ending>, AnswerDecodeError> {
    if let Some(text) = take(fields, "message") {
        return Ok(Some(Ending::Message(typed("message", text)?)));
    }
    if let Some(question) = take(fields, "question") {
        return Ok(Some(Ending::Question(typed::<Question>("question", question)?)));
    }
    if let Some(policy) = take(fields, "policy") {
        return refusal(read_policy("policy", typed("policy", policy)?)?, host).map(Some);
    }
    if let Some(declined) = take(fields, "declined") {
        return Ok(Some(Ending::declined(reason(&declined, "The agent declined."))));
    }
    if let Some(error) = take(fields, "error") {
        return Ok(Some(Ending::failed(reason(&error, "The agent's program failed."))));
    }
    // `end` may hold anything, `null` included: its presence is what counts.
    Ok(fields.contains_key("end").then_some(Ending::Complete))
}

fn refusal(policy: PolicyPart, host: &str) -> Result<Ending, AnswerDecodeError> {
    policy.validate_of_agent(host).map_err(|error| malformed(format!("a malformed refusal: {error}")))?;
    Ok(Ending::Refused(Box::new(policy)))
}

fn reason(said: &Value, otherwise: &str) -> String {
    let text = said.get("message").unwrap_or(said).as_str().unwrap_or(otherwise);
    // Bounded and without control characters: callers are shown it.
    plain(text, REASON_CHARS_MAX)
}

/// Takes a key out; `null` counts as absent.
fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.remove(key).filter(|value| !value.is_null())
}

fn typed<T: DeserializeOwned>(key: &str, value: Value) -> Result<T, AnswerDecodeError> {
    serde_json::from_value(value).map_err(|error| malformed(format!("`{key}`: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HOST: &str = "demo.localhost";

    fn all(value: Value) -> Vec<Event> {
        events(value, HOST).unwrap()
    }

    #[test]
    fn what_means_nothing_is_unreadable() {
        let kept = json!({"part": {"kind": "file", "mime": "a/b", "bytes_ref": {"kind": "kept"}}});
        let foreign = json!({"policy": {"kind": "forbidden", "message": "no", "url": "https://evil.example/"}});
        let malformed = json!({"policy": {"kind": "unauthorized", "message": "no"}});
        for value in [
            json!(7),
            json!(null),
            json!({}),
            json!({"txet": "typo"}),
            json!([[]]),
            json!({"text": 7}),
            json!({"parts": {"kind": "text"}}),
            json!({"tool_call": {"id": "1"}}),
            json!({"question": "what?"}),
            kept,
            foreign,
            malformed,
        ] {
            assert!(events(value.clone(), HOST).is_err(), "{value}");
        }
    }

    #[test]
    fn one_object_may_hold_a_whole_answer() {
        let value = json!({"text": "Here.", "parts": [{"kind": "link", "url": "https://a.example"}], "end": null});
        let [Event::Text(text), Event::Part(Part::Link(_)), Event::Ending(Ending::Complete)] = &all(value)[..] else {
            panic!("text, part and ending")
        };
        assert_eq!(text, "Here.");
    }

    #[test]
    fn text_parts_are_joined_by_a_newline() {
        let parts = json!({"parts": [{"kind": "text", "text": "a"}, {"kind": "text", "content": "b"}]});
        assert_eq!(all(parts), [Event::Text("a\nb".to_owned())]);
    }

    #[test]
    fn nothing_follows_a_refusal() {
        let refusal = json!({"kind": "forbidden", "message": "no"});
        let after = json!([{"parts": [refusal, {"kind": "text", "text": "late"}], "text": "early"}, "later"]);
        let [Event::Text(early), Event::Ending(Ending::Refused(part))] = &all(after)[..] else { panic!("a refusal") };
        assert_eq!((early.as_str(), part.kind()), ("early", "forbidden"));
    }

    #[test]
    fn what_ends_an_answer_is_known_before_it_is_read() {
        let refusal = json!({"kind": "forbidden", "message": "no"});
        let text = json!({"kind": "text", "text": "a"});
        for (value, is_end) in [
            (json!({"part": refusal}), true),
            (json!({"parts": [text, refusal]}), true),
            (json!({"parts": [text], "part": text}), false),
            (json!({"text": "a", "message": null}), false),
            (json!({"end": null}), true),
            (json!({"declined": "no"}), true),
        ] {
            assert_eq!((ends(value.as_object().unwrap()), is_ended(&all(value.clone()))), (is_end, is_end), "{value}");
        }
    }

    #[test]
    fn what_the_log_is_told_of_a_program_is_one_line_within_its_bound() {
        assert_eq!(for_log("a\nb"), "a\u{fffd}b");
        for (bytes, told) in
            [(STDERR_LINE_BYTES_MAX, STDERR_LINE_BYTES_MAX), (STDERR_LINE_BYTES_MAX + 1, STDERR_LINE_BYTES_MAX)]
        {
            assert_eq!(for_log(&"x".repeat(bytes)).len(), told);
        }
    }

    #[test]
    fn a_failure_says_its_reason_and_no_more() {
        let long = "x".repeat(REASON_CHARS_MAX + 1);
        for (error, wanted) in [
            (json!("no luck\n"), "no luck".to_owned()),
            (json!({"message": "no luck", "stack": "secret"}), "no luck".to_owned()),
            (json!(long), "x".repeat(REASON_CHARS_MAX)),
        ] {
            assert_eq!(all(json!({"error": error})), [Event::Ending(Ending::failed(wanted))]);
        }
    }

    #[test]
    fn tool_calls_and_progress_pass() {
        let call = json!({"tool_call": {"id": "1", "name": "add", "args": {"a": 1}}, "progress": 0.5, "note": "half"});
        let [Event::Progress(progress), Event::ToolCall(call)] = &all(call)[..] else { panic!("two events") };
        assert_eq!((progress.fraction, call.name.as_str()), (Some(0.5), "add"));
    }
}
