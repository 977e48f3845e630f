//! Mentionable REST: a question as a multipart form, an answer in typed parts. Sections 3.2 and 4.4.

use serde_json::Value;

use super::{Conversation, refusal_in, take_data, text_of};
use crate::answer::{Answer, Ending, ToolUse};

/// What separates the fields of a form, unless somebody says just that.
const BOUNDARY: &str = "forecourt-test";

pub(super) async fn say(conversation: &mut Conversation, words: &str) -> Result<Answer, String> {
    let session = conversation.session.as_deref();
    let fields: Vec<(&str, &str)> =
        session.map(|session| ("session", session)).into_iter().chain([("user", words)]).collect();
    let (boundary, form) = form(&fields);
    let (path, media_type) =
        (format!("/~{}", conversation.peer.agent), format!("multipart/form-data; boundary={boundary}"));
    let reply = conversation.post(&path, &media_type, &[("accept", "application/json")], form).await?;
    if let Some(session) = reply.body["session"].as_str() {
        conversation.session = Some(session.to_owned());
    }
    Ok(read(reply.status, &reply.body))
}

/// A form, and what separates its fields.
fn form(fields: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut boundary = BOUNDARY.to_owned();
    while fields.iter().any(|(_, text)| text.contains(&boundary)) {
        boundary.push('x');
    }
    let part = |(name, text): &(&str, &str)| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let body: String = fields.iter().map(part).collect();
    (boundary.clone(), format!("{body}--{boundary}--\r\n").into_bytes())
}

pub(super) fn read(status: u16, body: &Value) -> Answer {
    let mut answer = Answer { status: Some(status), ..Answer::default() };
    let mut asked = None;
    for part in body["parts"].as_array().into_iter().flatten() {
        match part["kind"].as_str().unwrap_or_default() {
            "text" => answer.text.push_str(part["content"].as_str().or(part["text"].as_str()).unwrap_or_default()),
            "data" => asked = take_data(&part["data"], &mut answer.items).or(asked),
            "file" | "artifact" => answer.files.push(text_of(part, "name")),
            "tool_call" => {
                answer.calls.push(ToolUse { tool: text_of(part, "name"), arguments: part["args"].clone() });
            }
            _ => {}
        }
    }
    answer.ending = match (refusal_in(body, 0), asked) {
        (Some(refusal), _) => refusal,
        (None, _) if body.get("error").is_some() || status >= 400 => {
            Ending::Failure { code: text_of(body, "code"), message: text_of(body, "error") }
        }
        // The words of the question stand in the text.
        (None, Some(questions)) => Ending::Question(format!("{}\n{questions}", answer.text)),
        (None, None) => Ending::Complete,
    };
    answer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn s4_4_parts_are_words_items_files_and_calls() {
        let body = json!({"v": "v0.1", "parts": [
            {"kind": "text", "content": "One. "}, {"kind": "text", "content": "Two."},
            {"kind": "data", "data": {"@type": "Recipe", "name": "Soup"}},
            {"kind": "file", "name": "a.csv"},
            {"kind": "tool_call", "id": "1", "name": "search", "args": {"q": "x"}, "result": 3},
        ]});
        let answer = read(200, &body);
        assert_eq!((answer.text.as_str(), answer.items.len(), answer.ending), ("One. Two.", 1, Ending::Complete));
        assert_eq!((answer.files, answer.calls[0].tool.as_str()), (vec!["a.csv".to_owned()], "search"));
        let question =
            json!({"parts": [{"kind": "data", "data": {"questions": [{"text": "Which size?", "options": ["S", 2]}]}}]});
        assert_eq!(read(200, &question).ending, Ending::Question("\nWhich size? S, 2".to_owned()));
        let failed = read(502, &json!({"error": "It broke.", "code": "agent-failed"}));
        assert_eq!(failed.ending, Ending::Failure { code: "agent-failed".to_owned(), message: "It broke.".to_owned() });
        let refused = read(403, &json!({"policy": {"kind": "forbidden", "message": "No."}}));
        assert!(matches!(refused.ending, Ending::Refusal { kind, .. } if kind == "forbidden"));
    }

    #[test]
    fn s3_2_nobody_ends_a_field_with_words() {
        let (boundary, body) = form(&[("session", "t"), ("user", "--forecourt-test--\r\n")]);
        assert_eq!(boundary, "forecourt-testx");
        assert_eq!(String::from_utf8(body).unwrap().matches("--forecourt-testx").count(), 3);
    }
}
