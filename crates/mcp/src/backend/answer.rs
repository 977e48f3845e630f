//! The result of a tool as an agent's answer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use forecourt_agents::relay;
use forecourt_core::limits::PARTS_MAX;
use forecourt_core::reply::Question;
use forecourt_core::{Ending, Event, File, FileSource, Handle, Link, Part, PolicyPart, SignIn};
use forecourt_surface::ending::read_challenges;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};

use super::wrapped::{says, unwrapped};

/// What a refusal of another version, or one that breaks the rules, comes to. PolicyPart 3.6, 4.1.
const MALFORMED: &str = "The server behind this agent declined in a form that is not known here.";
/// The version of the envelope that is understood. PolicyPart 4.1.
const POLICY_VERSION: &str = "v0.1";

/// The words, files, links and items of a result, and how it ended, as `agent` of `host` tells it.
pub(super) fn events(result: CallToolResult, host: &str, agent: &Handle) -> Vec<Event> {
    // Whether it is wrapped is told by the result itself: no list of tools was asked for.
    let (structured, is_bare) = match unwrapped(&result, None).or_else(|| listed(&result)) {
        Some(value) => (value, true),
        None => (result.structured_content.unwrap_or_default(), false),
    };
    let mut said = Words::default();
    let mut parts = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Text(text) => said.add(text.text, &structured, is_bare),
            other => parts.extend(part(other)),
        }
    }
    let policy = result.meta.as_ref().and_then(|meta| meta.0.get("mentionable")?.get("policy"));
    // Before `isError`, which a result with a refusal has too: it would be read as a failure.
    let (words, ending) = if let Some(policy) = policy {
        (before(&structured), refused(policy, host, agent))
    } else if result.is_error == Some(true) {
        let meta = result.meta.as_ref().map(|meta| &meta.0);
        let (words, ending) = failed(said, &structured);
        (words, challenged(ending, meta.unwrap_or(&Map::new())))
    } else if let Some(question) = asked(&structured) {
        (said.before(&question), Ending::Question(question))
    } else {
        (said.answer(&structured), Ending::Complete)
    };
    let is_answer = matches!(ending, Ending::Complete | Ending::Question(_));
    let items = if is_answer { items(structured) } else { Vec::new() };
    let mut events = Vec::new();
    events.extend((!words.is_empty()).then_some(Event::Text(words)));
    events.extend(items.into_iter().map(|item| Event::Part(Part::data(item))));
    events.extend(parts.into_iter().map(Event::Part));
    events.push(Event::Ending(ending));
    events
}

/// The texts of a result.
#[derive(Default)]
struct Words {
    own: Vec<String>,
    /// Those that say the structure once more, for clients that read nothing else.
    repeated: Vec<String>,
}

impl Words {
    fn add(&mut self, text: String, structured: &Value, is_bare: bool) {
        match repeats(&text, structured) || (is_bare && is_of(&text, structured)) {
            true => self.repeated.push(text),
            false => self.own.push(text),
        }
    }

    /// The words of an answer. What repeats the structure is left out, unless nothing else is there to see.
    fn answer(self, structured: &Value) -> String {
        match (self.own.is_empty(), structured["summary"].as_str()) {
            (false, _) => self.own.join("\n\n"),
            (true, None) if !structured.is_object() => in_words(structured),
            (true, Some(summary)) => summary.to_owned(),
            (true, None) if items(structured.clone()).is_empty() && before(structured).is_empty() => {
                self.repeated.join("\n\n")
            }
            (true, None) => before(structured),
        }
    }

    /// The words before a question, which is in the texts once more.
    fn before(self, question: &Question) -> String {
        let is_before = |text: &String| !text.trim_start().starts_with(question.text.trim());
        self.own.into_iter().filter(is_before).collect::<Vec<_>>().join("\n\n")
    }
}

/// Whether a text is a structure, or some of its fields, in JSON.
fn repeats(text: &str, structured: &Value) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    match (serde_json::from_str::<Value>(text), structured) {
        (Ok(Value::Object(some)), Value::Object(all)) => some.iter().all(|(key, value)| all.get(key) == Some(value)),
        (Ok(value), structured) => value == *structured,
        (Err(_), _) => false,
    }
}

/// Whether a text is a bare value, or an element of one that is a list.
fn is_of(text: &str, value: &Value) -> bool {
    says(text, value) || value.as_array().is_some_and(|elements| elements.iter().any(|element| says(text, element)))
}

/// The list of objects that a result without a structure is, in JSON: what servers give that promise none.
fn listed(result: &CallToolResult) -> Option<Value> {
    let (None, [ContentBlock::Text(text)]) = (&result.structured_content, &result.content[..]) else { return None };
    let is_list =
        |value: &Value| value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object));
    text.text.starts_with('[').then(|| serde_json::from_str(&text.text).ok()).flatten().filter(is_list)
}

/// A value that is no object as people read it; nothing where it has items.
fn in_words(value: &Value) -> String {
    match value {
        Value::Array(elements) if !is_words(elements) => String::new(),
        Value::Array(elements) => {
            elements.iter().map(|element| format!("- {}", in_words(element))).collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Whether a list is one of words and numbers alone.
fn is_words(elements: &[Value]) -> bool {
    elements.iter().all(|element| element.is_string() || element.is_number() || element.is_boolean())
}

/// The words that hosts like ours said before they stopped.
fn before(structured: &Value) -> String {
    structured["text"].as_str().unwrap_or_default().to_owned()
}

/// A failure: what was said before it, and why.
fn failed(said: Words, structured: &Value) -> (String, Ending) {
    // Only hosts like this one write both fields.
    if let (Some(error), Some(_)) = (structured["error"].as_str(), structured["text"].as_str()) {
        let told = structured["code"].as_str().and_then(|code| Ending::from_code(code, error));
        return (before(structured), told.unwrap_or_else(|| Ending::failed(error)));
    }
    let words = if said.own.is_empty() { said.repeated } else { said.own };
    let reason = if words.is_empty() { "The server behind this agent failed.".to_owned() } else { words.join("\n") };
    (String::new(), Ending::failed(reason))
}

/// A sign-in with what a host like this one says that its agent's server challenges with.
fn challenged(ending: Ending, meta: &Map<String, Value>) -> Ending {
    match ending {
        Ending::SignIn(wanted) => Ending::SignIn(Box::new(SignIn { challenges: read_challenges(meta), ..*wanted })),
        ending => ending,
    }
}

/// A refusal as an agent of ours gives it. What can't be believed is a failure, and never success.
fn refused(policy: &Value, host: &str, agent: &Handle) -> Ending {
    let part = match (&policy["v"], &policy["part"]) {
        (Value::String(version), Value::Object(part)) if version == POLICY_VERSION => {
            PolicyPart::from_json(part.clone()).ok()
        }
        _ => None,
    };
    let relayed = part.map(|part| relay::relayed(part, host, agent)).filter(|part| part.validate(host).is_ok());
    relayed.map_or_else(|| Ending::failed(MALFORMED), |part| Ending::Refused(Box::new(part)))
}

/// The items of a structure: its list of results, or itself, or its elements where it is a list. What only carries
/// words has none.
fn items(structured: Value) -> Vec<Value> {
    for key in ["results", "items"] {
        if let Some(items) = structured[key].as_array() {
            return each(items.clone());
        }
    }
    let known =
        ["state", "text", "context_id", "task_id", "question", "elicitation", "refusal", "error", "code", "_meta"];
    match structured {
        Value::Array(elements) if !is_words(&elements) => each(elements),
        Value::Object(ref fields) if fields.keys().all(|key| known.contains(&key.as_str())) => Vec::new(),
        Value::Object(_) => vec![structured],
        _ => Vec::new(),
    }
}

/// An item for each element; one that holds them all where they are more than an answer may have parts.
fn each(elements: Vec<Value>) -> Vec<Value> {
    if elements.len() > PARTS_MAX { vec![elements.into()] } else { elements }
}

/// What the server would like to know, in our words or those of NLWeb.
fn asked(structured: &Value) -> Option<Question> {
    let found = [&structured["question"], &structured["elicitation"]].into_iter().find(|value| value.is_object())?;
    serde_json::from_value(found.clone()).ok()
}

fn part(block: ContentBlock) -> Option<Part> {
    match block {
        ContentBlock::Image(image) => file(None, image.mime_type, &image.data),
        ContentBlock::Audio(audio) => file(None, audio.mime_type, &audio.data),
        ContentBlock::ResourceLink(link) => {
            let title = link.title.or(Some(link.name));
            Some(Part::Link(Link { url: link.uri, title, description: link.description }))
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                let mime = mime_type.unwrap_or_else(|| "text/plain".to_owned());
                Some(Part::File(File::inline(mime, name(&uri), Bytes::from(text))))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                file(name(&uri), mime_type.unwrap_or_else(|| "application/octet-stream".to_owned()), &blob)
            }
            _ => None,
        },
        _ => None,
    }
}

fn file(name: Option<String>, mime: String, base64: &str) -> Option<Part> {
    let bytes = STANDARD.decode(base64).ok()?;
    let size_bytes = Some(bytes.len() as u64);
    Some(Part::File(File { id: None, name, mime, size_bytes, source: FileSource::Inline(bytes.into()) }))
}

/// The last piece of an address.
fn name(uri: &str) -> Option<String> {
    let last = uri.rsplit(['/', ':']).next()?;
    (!last.is_empty()).then(|| last.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(result: Value) -> Vec<Event> {
        let result = serde_json::from_value(result).expect("a result");
        events(result, "near.example", &Handle::parse("front").unwrap())
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    #[test]
    fn text_that_happens_to_be_json_is_an_answer() {
        for said in ["{\"a\": 1}", "[]", "[1, 2]", "{}"] {
            let answer = of(json!({"content": [text(said)]}));
            assert_eq!(answer, [Event::Text(said.to_owned()), Event::Ending(Ending::Complete)]);
            let beside = of(json!({"content": [text(said)], "structuredContent": {"items": [{"name": "Soup"}]}}));
            let is_there = beside.contains(&Event::Text(said.to_owned()));
            assert_eq!(is_there, said != "{}", "{beside:?}");
        }
        // The structure once more is not said twice, and an empty one is still something.
        let twice = of(json!({"content": [text("{\"a\":1}")], "structuredContent": {"a": 1}}));
        assert_eq!(twice, [Event::Part(Part::data(json!({"a": 1}))), Event::Ending(Ending::Complete)]);
        let empty = of(json!({"content": [text("{\"results\":[]}")], "structuredContent": {"results": []}}));
        assert_eq!(empty, [Event::Text("{\"results\":[]}".into()), Event::Ending(Ending::Complete)]);
    }

    #[test]
    fn what_servers_wrap_is_given_once_and_as_what_it_is() {
        let wrapped = |value: Value, texts: &[&str]| {
            let content: Vec<Value> = texts.iter().map(|said| text(said)).collect();
            let mut events = of(json!({"content": content, "structuredContent": {"result": value}}));
            assert_eq!(events.pop(), Some(Event::Ending(Ending::Complete)));
            events
        };
        let words = |said: &str| vec![Event::Text(said.to_owned())];
        assert_eq!(wrapped(json!("Soup."), &["Soup."]), words("Soup."));
        assert_eq!(wrapped(json!("{\"a\": 1}"), &["{\"a\": 1}"]), words("{\"a\": 1}"));
        assert_eq!(wrapped(json!(42), &["42"]), words("42"));
        assert_eq!(wrapped(json!(["pea", "leek"]), &["[\"pea\",\"leek\"]"]), words("- pea\n- leek"));
        assert_eq!(wrapped(json!([]), &[]), []);
        assert_eq!(wrapped(json!(null), &["null"]), []);
        let items = || vec![json!({"title": "Pea soup"}), json!({"title": "Leek tart"})];
        let data: Vec<Event> = items().into_iter().map(|item| Event::Part(Part::data(item))).collect();
        let texts: Vec<String> = items().iter().map(Value::to_string).collect();
        assert_eq!(wrapped(items().into(), &[&Value::from(items()).to_string()]), data);
        assert_eq!(wrapped(items().into(), &[&texts[0], &texts[1]]), data);
        assert_eq!(wrapped(json!({"items": items()}), &[&json!({"items": items()}).to_string()]), data);
        for (count, parts) in [(PARTS_MAX, PARTS_MAX), (PARTS_MAX + 1, 1)] {
            let many = of(json!({"content": [], "structuredContent": {"items": vec![json!({"n": 1}); count]}}));
            assert_eq!(many.len() - 1, parts, "{count}");
        }
        // Without a structure the text is all there is.
        let loose = of(json!({"content": [text(&Value::from(items()).to_string())]}));
        assert_eq!(loose[..2], data[..]);
    }

    #[test]
    fn words_before_a_question_a_failure_and_a_refusal_are_kept() {
        let asked = of(json!({
            "content": [text("Soup, then."), text("Which one?\n- Kind? (pea, leek)"), text("{\"state\":\"input_required\"}")],
            "structuredContent": {"state": "input_required", "text": "Soup, then.",
                "question": {"text": "Which one?", "questions": []}},
        }));
        let [Event::Text(words), Event::Ending(Ending::Question(question))] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!((words.as_str(), question.text.as_str()), ("Soup, then.", "Which one?"));
        let broke = of(json!({"content": [text("Soup is"), text("No gas.")], "isError": true,
            "structuredContent": {"state": "failed", "text": "Soup is", "error": "No gas."}}));
        assert_eq!(broke, [Event::Text("Soup is".into()), Event::Ending(Ending::failed("No gas."))]);
        let challenge = json!({"scheme": "Bearer", "params": {"realm": "far"}});
        let sign_in = of(json!({"content": [text("In?")], "isError": true,
            "structuredContent": {"state": "auth_required", "text": "", "error": "In?", "code": "sign-in-needed"},
            "_meta": {"forecourt/ending": {"code": "sign-in-needed", "challenges": [challenge]}}}));
        let [Event::Ending(Ending::SignIn(wanted))] = &sign_in[..] else { panic!("{sign_in:?}") };
        assert_eq!((wanted.question.text.as_str(), wanted.challenges.len()), ("In?", 1));
    }

    #[test]
    fn words_items_and_files_of_a_result() {
        let events = of(json!({
            "content": [
                {"type": "text", "text": "Two."},
                {"type": "text", "text": "{\"items\":[{\"name\":\"Soup\"}]}"},
                {"type": "image", "data": "cG5n", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "https://example.com/a", "name": "A"},
            ],
            "structuredContent": {"items": [{"name": "Soup"}], "text": "Two."},
            "isError": false,
        }));
        assert_eq!(events.len(), 5);
        assert_eq!(events[0], Event::Text("Two.".into()));
        assert_eq!(events[1], Event::Part(Part::data(json!({"name": "Soup"}))));
        assert!(matches!(&events[2], Event::Part(Part::File(file)) if file.mime == "image/png"));
        assert_eq!(events[4], Event::Ending(Ending::Complete));
    }

    #[test]
    fn results_of_a_search_are_items_and_metadata_of_others_is_passed_over() {
        let results = json!({"results": [{"name": "Soup"}], "_meta": {"response_type": "answer"}});
        let events = of(json!({
            "content": [{"type": "text", "text": results.to_string()}],
            "structuredContent": results,
            "_meta": {"response_type": "answer"},
        }));
        assert_eq!(events, [Event::Part(Part::data(json!({"name": "Soup"}))), Event::Ending(Ending::Complete)]);
    }

    #[test]
    fn failures_questions_and_refusals() {
        let failed = of(json!({"content": [{"type": "text", "text": "No gas."}], "isError": true}));
        assert_eq!(failed, [Event::Ending(Ending::failed("No gas."))]);
        let asked =
            of(json!({"content": [], "structuredContent": {"elicitation": {"text": "Which?", "questions": []}}}));
        assert!(matches!(&asked[..], [Event::Ending(Ending::Question(question))] if question.text == "Which?"));
    }

    /// What a refusal comes to, in an envelope of this version.
    fn refusal(version: &str, part: Value) -> Ending {
        let result = json!({"content": [text("No.")], "isError": true,
            "_meta": {"mentionable": {"policy": {"v": version, "part": part}}}});
        match of(result).pop() {
            Some(Event::Ending(ending)) => ending,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn s3_refusals_of_every_kind_are_passed_on_with_their_links_in_words() {
        let more = |kind: &str| match kind {
            "consent_required" => json!({"state": "s", "return_to": "https://far.example/back"}),
            "unauthorized" => json!({"auth_challenges": [{"scheme": "Bearer"}]}),
            "payment_required" => json!({"accepted_payments": [{"scheme": "x402.exact", "payload": {}}]}),
            _ => json!({}),
        };
        for kind in forecourt_core::policy::RefusalKind::NAMES {
            let mut part = json!({"kind": kind, "message": "No.", "url": "https://far.example/do"});
            part.as_object_mut().unwrap().extend(more(kind).as_object().cloned().unwrap());
            let Ending::Refused(part) = refusal("v0.1", part) else { panic!("{kind} is a refusal") };
            assert_eq!((part.kind(), part.url.as_deref()), (kind, None));
            assert!(part.message.contains("https://far.example/do"), "{}", part.message);
        }
    }

    #[test]
    fn s3_6_a_refusal_that_can_not_be_believed_is_a_failure() {
        let forbidden = json!({"kind": "forbidden", "message": "No."});
        assert_eq!(refusal("v9", forbidden), Ending::failed(MALFORMED));
        assert_eq!(refusal("v0.1", json!({"kind": "consent_required", "message": "No."})), Ending::failed(MALFORMED));
        assert_eq!(refusal("v0.1", json!(7)), Ending::failed(MALFORMED));
    }
}
