//! What another agent said, in the words of a tool. Everything in it is data.

use forecourt_core::clock::whole_seconds;
use forecourt_core::message::text_of;
use forecourt_core::part::ArtifactContent;
use forecourt_core::{CollectedReply, Ending, Error, File, FileSource, Link, Part, PolicyPart, ToolOutcome};
use serde_json::{Map, Value, json};

use super::limits::SIBLING_ANSWER_BYTES_MAX;
use forecourt_agents::siblings::Sibling;
use forecourt_agents::tool::ToolResult;

/// What the answer of `sibling` comes to. A refusal and a failure are told to the model, which then
/// has to do without.
pub(crate) fn outcome(sibling: &Sibling, answer: CollectedReply) -> ToolResult {
    tool_result(&format!("@{}", sibling.handle()), answer)
}

/// Turns a collected answer of `who` into a tool result: at most `SIBLING_ANSWER_BYTES_MAX` of JSON, or the reason.
pub(crate) fn tool_result(who: &str, answer: CollectedReply) -> ToolResult {
    let CollectedReply { parts, ending, .. } = answer;
    let told = match ending {
        Ending::Complete => Ok(answered(who, &parts, None)),
        Ending::Message(text) => Ok(answered(who, &[Part::markdown(text)], None)),
        Ending::Question(question) => Ok(answered(who, &parts, Some(&question.text))),
        Ending::SignIn(wanted) => Err(format!("{who} wants a sign-in first: {}", wanted.question.text)),
        Ending::Declined { reason } => Err(format!("{who} declined: {reason}")),
        Ending::Refused(refusal) => Err(refused(who, &refusal)),
        Ending::Failed { reason, .. } => Err(format!("{who} could not answer: {reason}")),
        Ending::Canceled => Err(format!("{who} stopped before its answer was whole")),
    };
    told.map_err(|message: String| cut(&message, SIBLING_ANSWER_BYTES_MAX).into())
}

/// Why the host carried nothing to `sibling`, and what to do instead.
pub(crate) fn delivery_error(sibling: &Sibling, error: &Error) -> String {
    let handle = sibling.handle();
    match error {
        Error::NotFound { .. } | Error::Gone { .. } => format!("@{handle} is not here any more; answer without it"),
        Error::Conflict { .. } | Error::Invalid { .. } | Error::Full { .. } => {
            format!("@{handle} was not asked: {error}")
        }
        Error::Unavailable { retry_after } => {
            format!("@{handle} is busy for the next {} s; answer without it, and say so", whole_seconds(*retry_after))
        }
        Error::Internal(cause) => {
            tracing::error!(%cause, agent = %handle, "a message between two agents was not carried");
            format!("@{handle} can't be asked at the moment; answer without it, and say so")
        }
    }
}

fn refused(who: &str, refusal: &PolicyPart) -> String {
    let url = refusal.url.as_deref().map_or_else(String::new, |url| format!(" The caller can act at {url}"));
    format!("{who} declined ({}): {}{url}", refusal.kind(), refusal.message)
}

/// The answer as JSON of at most [`SIBLING_ANSWER_BYTES_MAX`]: words first, then what still fits.
fn answered(who: &str, parts: &[Part], asks_back: Option<&str>) -> Value {
    let mut told = AnswerText::by(who);
    told.say("asks_back", asks_back.unwrap_or_default());
    told.say("text", &text_of(parts));
    told.attach(parts.iter().filter_map(in_json));
    told.finish()
}

/// An answer in the making.
struct AnswerText {
    answer: Map<String, Value>,
    /// Bytes that are left.
    room: usize,
    is_cut: bool,
}

impl AnswerText {
    /// Bytes for the names of all fields, for the handle, and for the mark that something is missing.
    const FRAME: usize = 512;

    fn by(who: &str) -> Self {
        // Those of this host by their handles, as the model knows them.
        let name = who.strip_prefix('@').filter(|name| !name.contains('@')).unwrap_or(who);
        let answer = Map::from_iter([("agent".to_owned(), name.into())]);
        Self { answer, room: SIBLING_ANSWER_BYTES_MAX - Self::FRAME, is_cut: false }
    }

    fn say(&mut self, key: &str, words: &str) {
        let kept = cut(words, self.room);
        self.room = self.room.saturating_sub(escaped(kept));
        self.is_cut |= kept.len() < words.len();
        if !kept.is_empty() {
            self.answer.insert(key.to_owned(), kept.into());
        }
    }

    fn attach(&mut self, parts: impl Iterator<Item = Value>) {
        let mut attached = Vec::new();
        for part in parts {
            // One more for the comma.
            match self.room.checked_sub(part.to_string().len() + 1) {
                Some(left) => {
                    self.room = left;
                    attached.push(part);
                }
                None => self.is_cut = true,
            }
        }
        if !attached.is_empty() {
            self.answer.insert("attached".to_owned(), attached.into());
        }
    }

    fn finish(mut self) -> Value {
        if self.is_cut {
            self.answer.insert("is_cut".to_owned(), true.into());
        }
        Value::Object(self.answer)
    }
}

/// What a part other than text says. Bytes stay where they are.
fn in_json(part: &Part) -> Option<Value> {
    match part {
        Part::Data(data) => Some(json!({"data": data.data})),
        Part::Link(Link { url, title, .. }) => Some(json!({"link": url, "title": title})),
        Part::File(File { name, mime, source, .. }) => {
            let url = match source {
                FileSource::Url { url, .. } => Some(url),
                FileSource::Inline(_) | FileSource::Kept => None,
            };
            Some(json!({"file": name, "mime": mime, "url": url}))
        }
        Part::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) => Some(json!({"artifact": artifact.name, "text": text})),
            ArtifactContent::Bytes(_) => Some(json!({"artifact": artifact.name, "mime": artifact.mime})),
        },
        Part::ToolCall(call) => match &call.outcome {
            ToolOutcome::Error(message) => Some(json!({"tool": call.name, "error": message})),
            ToolOutcome::Running | ToolOutcome::Result(_) => None,
        },
        Part::Text(_) | Part::Policy(_) | Part::Unknown(_) => None,
    }
}

/// The longest beginning of `text` that takes at most `room` bytes within a JSON string.
fn cut(text: &str, room: usize) -> &str {
    let mut used = 0;
    let over = text.char_indices().find(|(_, c)| {
        used += weight(*c);
        used > room
    });
    over.map_or(text, |(at, _)| &text[..at])
}

/// Bytes of `text` within a JSON string.
fn escaped(text: &str) -> usize {
    text.chars().map(weight).sum()
}

fn weight(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => "\\u0000".len(),
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use forecourt_core::policy::RefusalKind;
    use forecourt_core::{Address, Question};

    use super::*;

    fn pantry() -> Sibling {
        let address = Address::parse("@pantry@demo.localhost").unwrap();
        Sibling { address, name: "Pantry".to_owned(), description: String::new() }
    }

    fn of(parts: Vec<Part>, ending: Ending) -> ToolResult {
        outcome(&pantry(), CollectedReply::new(parts, ending))
    }

    #[test]
    fn words_data_and_links_are_told_and_bytes_are_not() {
        let file = File::inline("image/png", Some("a.png".to_owned()), Bytes::from_static(b"secret bytes"));
        let parts = vec![Part::markdown("Two eggs."), Part::data(json!({"eggs": 2})), Part::File(file)];
        let wanted = json!({
            "agent": "pantry", "text": "Two eggs.",
            "attached": [{"data": {"eggs": 2}}, {"file": "a.png", "mime": "image/png", "url": null}],
        });
        assert_eq!(of(parts, Ending::Complete), Ok(wanted));
        let whole = of(Vec::new(), Ending::Message("Whole.".to_owned()));
        assert_eq!(whole, Ok(json!({"agent": "pantry", "text": "Whole."})));
    }

    #[test]
    fn a_question_goes_to_the_model() {
        let question = Question { text: "Which shelf?".to_owned(), questions: Vec::new() };
        let asked = of(vec![Part::markdown("Hm.")], Ending::Question(question));
        assert_eq!(asked, Ok(json!({"agent": "pantry", "asks_back": "Which shelf?", "text": "Hm."})));
    }

    #[test]
    fn a_refusal_names_its_kind_its_words_and_where_to_act() {
        let mut refusal = PolicyPart::new(RefusalKind::Forbidden, "Not you.");
        refusal.url = Some("https://demo.localhost/why".to_owned());
        let said = of(vec![Part::markdown("half")], Ending::Refused(Box::new(refusal))).unwrap_err();
        assert_eq!(
            said.words(),
            "@pantry declined (forbidden): Not you. The caller can act at https://demo.localhost/why"
        );
    }

    #[test]
    fn what_went_wrong_is_said_without_the_inside() {
        assert_eq!(
            of(Vec::new(), Ending::failed("No shelf.")).unwrap_err().words(),
            "@pantry could not answer: No shelf."
        );
        assert!(delivery_error(&pantry(), &Error::invalid("hops", "at most 8")).contains("at most 8"));
        assert!(!delivery_error(&pantry(), &Error::internal("disk /dev/sda")).contains("disk"));
        let busy = Error::Unavailable { retry_after: std::time::Duration::from_secs(5) };
        assert!(delivery_error(&pantry(), &busy).contains("5 s"));
    }

    #[test]
    fn an_answer_is_cut_at_its_bound() {
        for filler in ["x", "\"", "\n", "\u{1}", "ä", "🍲"] {
            let told = of(vec![Part::markdown(filler.repeat(SIBLING_ANSWER_BYTES_MAX))], Ending::Complete).unwrap();
            let bytes = told.to_string().len();
            assert!((SIBLING_ANSWER_BYTES_MAX - 600..=SIBLING_ANSWER_BYTES_MAX).contains(&bytes), "{filler:?} {bytes}");
            assert_eq!(told["is_cut"], true);
        }
        let reason = of(Vec::new(), Ending::failed("x".repeat(SIBLING_ANSWER_BYTES_MAX + 1))).unwrap_err();
        assert_eq!(reason.words().len(), SIBLING_ANSWER_BYTES_MAX);
        let data = || Part::data(json!("x".repeat(SIBLING_ANSWER_BYTES_MAX / 4)));
        let told = of(vec![data(), data(), data(), data(), data(), Part::data(json!(1))], Ending::Complete).unwrap();
        assert_eq!(
            (told["attached"].as_array().unwrap().len(), &told["is_cut"]),
            (4, &json!(true)),
            "the small one fits"
        );
        assert!(told.to_string().len() <= SIBLING_ANSWER_BYTES_MAX);
    }

    #[test]
    fn a_text_that_just_fits_is_whole() {
        assert_eq!((cut("ab\"", 4), cut("ab\"", 3), cut("ä", 1), cut("", 0)), ("ab\"", "ab", "", ""));
    }
}
