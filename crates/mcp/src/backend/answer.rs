//! The result of a tool as an agent's answer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use forecourt_core::policy::Kind;
use forecourt_core::reply::Question;
use forecourt_core::{Ending, Event, File, FileSource, Link, Part, PolicyPart};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::end;

/// The words, files, links and items of a result, and how it ended.
pub(super) fn events(result: CallToolResult) -> Vec<Event> {
    let structured = result.structured_content.unwrap_or_default();
    let refusal = result.meta.as_ref().and_then(|meta| believed(&meta.0.get("mentionable")?["policy"]["part"]));
    let mut words: Vec<String> = Vec::new();
    let mut parts = Vec::new();
    for block in result.content {
        match block {
            // The structure once more, for clients that read nothing else.
            ContentBlock::Text(text) if is_json(&text.text) => {}
            ContentBlock::Text(text) => words.push(text.text),
            other => parts.extend(part(other)),
        }
    }
    let question = asked(&structured);
    if result.is_error == Some(true) {
        let reason = if words.is_empty() { "the server behind this agent failed".to_owned() } else { words.join("\n") };
        return vec![end(refusal.map_or(Ending::failed(reason), |part| Ending::Refused(Box::new(part))))];
    }
    let mut events = Vec::new();
    if question.is_none() {
        let text = if words.is_empty() {
            structured["summary"].as_str().unwrap_or_default().to_owned()
        } else {
            words.join("\n\n")
        };
        events.extend((!text.is_empty()).then_some(Event::Text(text)));
    }
    events.extend(items(structured).into_iter().map(|item| Event::Part(Part::data(item))));
    events.extend(parts.into_iter().map(Event::Part));
    events.push(end(question.map_or(Ending::Complete, Ending::Question)));
    events
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
}

/// The items of a structure: its list of results, or itself. What only carries words has none.
fn items(structured: Value) -> Vec<Value> {
    for key in ["results", "items"] {
        if let Some(items) = structured[key].as_array() {
            return items.clone();
        }
    }
    let known = ["state", "text", "context_id", "task_id", "question", "elicitation", "_meta"];
    match &structured {
        Value::Null => Vec::new(),
        Value::Object(fields) if fields.keys().all(|key| known.contains(&key.as_str())) => Vec::new(),
        _ => vec![structured],
    }
}

/// What the server would like to know, in our words or those of NLWeb.
fn asked(structured: &Value) -> Option<Question> {
    let found = [&structured["question"], &structured["elicitation"]].into_iter().find(|value| value.is_object())?;
    serde_json::from_value(found.clone()).ok()
}

/// A refusal of a kind that leads nobody elsewhere. Others are told in words: a link of another host is
/// no button of ours (PolicyPart 3.2).
fn believed(part: &Value) -> Option<PolicyPart> {
    let part: PolicyPart = serde_json::from_value(part.clone()).ok()?;
    let plain = matches!(
        part.kind,
        Kind::Forbidden
            | Kind::TooManyRequests { .. }
            | Kind::ServiceUnavailable { .. }
            | Kind::UnavailableForLegalReasons
    );
    plain.then_some(PolicyPart { url: None, ..part })
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
        events(serde_json::from_value(result).expect("a result"))
    }

    #[test]
    fn words_items_and_files_of_a_result() {
        let events = of(json!({
            "content": [
                {"type": "text", "text": "Two."},
                {"type": "text", "text": "{\"items\":[]}"},
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
        let refusal = |kind: &str| {
            let part = json!({"kind": kind, "message": "No.", "url": "https://elsewhere.example/",
                "accepted_payments": [{"scheme": "x", "payload": {}}]});
            of(json!({"content": [{"type": "text", "text": "No."}], "isError": true,
                "_meta": {"mentionable": {"policy": {"v": "v0.1", "part": part}}}}))
        };
        assert!(matches!(&refusal("forbidden")[..], [Event::Ending(Ending::Refused(part))] if part.url.is_none()));
        assert!(matches!(&refusal("payment_required")[..], [Event::Ending(Ending::Failed { .. })]));
    }
}
