//! Results of calls, as MCP writes them: content, structured content, `isError` and `_meta`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{File, FileSource, Language, Part, PolicyPart};
use forecourt_surface::endpoint::DEPRECATION;
use forecourt_surface::tool::ToolOutput;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::{Map, Value, json};

use crate::limits::INLINE_FILE_BYTES_MAX;

/// The key of our own metadata, as on the other wires. PolicyPart 4.1.
const NAMESPACE: &str = "mentionable";
/// The version of the envelope of refusals.
const POLICY_VERSION: &str = "v0.1";

/// The result of a call. The words come first, then what programs read, once more as text: many
/// clients pass nothing else on.
pub(crate) fn result(called: ToolOutput, language: Option<&Language>) -> CallToolResult {
    let ToolOutput { structured, text, parts, mut meta, is_error, refusal, .. } = called;
    let mut content: Vec<ContentBlock> = text.into_iter().map(ContentBlock::text).collect();
    if let Some(part) = &refusal {
        content.push(ContentBlock::text(words(part, language)));
        note(&mut meta, "policy", json!({"v": POLICY_VERSION, "part": part}));
    }
    if let Some(notice) = meta.remove(DEPRECATION) {
        note(&mut meta, DEPRECATION, notice);
    }
    content.extend(parts.into_iter().filter_map(block));
    if content.is_empty() {
        // Some hosts pass `content` on and nothing else.
        content.push(ContentBlock::text(structured.to_string()));
    }
    // Written either way: some clients take a result without `isError` for a good one.
    let failed = is_error || refusal.is_some();
    let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = (!structured.is_null()).then_some(structured);
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    result
}

/// Puts something beside a result, under our own name.
pub(crate) fn note(meta: &mut Map<String, Value>, key: &str, value: Value) {
    let own = meta.entry(NAMESPACE).or_insert_with(|| json!({}));
    own[key] = value;
}

/// A failure that the caller can do something about.
pub(crate) fn failed(words: impl Into<String>) -> ToolOutput {
    ToolOutput { text: vec![words.into()], is_error: true, ..ToolOutput::default() }
}

/// A refusal in words, with where to act.
pub(crate) fn words(part: &PolicyPart, language: Option<&Language>) -> String {
    let (title, message) = part.in_language(language);
    let mut words = format!("{title}: {message}");
    if let Some(url) = &part.url {
        let label = part.action_label.as_deref().unwrap_or_else(|| part.kind.action_label());
        words.push_str(&format!("\n\n{label}: {url}"));
    }
    words
}

/// A file, link or artifact. What has no form here is left to the structured answer.
pub(crate) fn block(part: Part) -> Option<ContentBlock> {
    match part {
        Part::File(file) => Some(of_file(file)),
        Part::Artifact(artifact) => Some(of_artifact(artifact)),
        Part::Link(link) => {
            let name = link.title.clone().unwrap_or_else(|| link.url.clone());
            let mut resource = Resource::new(link.url, name);
            resource.title = link.title;
            resource.description = link.description;
            Some(ContentBlock::resource_link(resource))
        }
        Part::Text(text) => Some(ContentBlock::text(text.content)),
        Part::Data(_) | Part::ToolCall(_) | Part::Policy(_) | Part::Unknown(_) => None,
    }
}

fn of_artifact(artifact: Artifact) -> ContentBlock {
    let name = artifact.name;
    match artifact.content {
        ArtifactContent::Text(text) => {
            let uri = uri_of(name.as_deref().unwrap_or("artifact"));
            let contents = json!({"uri": uri, "mimeType": artifact.mime, "text": text});
            embedded(contents).unwrap_or_else(|| ContentBlock::text(text))
        }
        ArtifactContent::Bytes(source) => {
            of_file(File { id: None, name, mime: artifact.mime, size_bytes: None, source })
        }
    }
}

fn of_file(file: File) -> ContentBlock {
    let name = file.name.unwrap_or_else(|| "file".to_owned());
    match file.source {
        FileSource::Inline(bytes) if bytes.len() <= INLINE_FILE_BYTES_MAX => {
            if let Some(text) = written_out(&file.mime, &bytes) {
                let contents = json!({"uri": uri_of(&name), "mimeType": file.mime, "text": text});
                return embedded(contents).unwrap_or_else(|| left_out(&name, &file.mime));
            }
            let data = STANDARD.encode(&bytes);
            match file.mime.split('/').next() {
                Some("image") => ContentBlock::image(data, file.mime),
                Some("audio") => ContentBlock::audio(data, file.mime),
                _ => {
                    let contents = json!({"uri": uri_of(&name), "mimeType": file.mime, "blob": data});
                    embedded(contents).unwrap_or_else(|| left_out(&name, &file.mime))
                }
            }
        }
        FileSource::Url { url, .. } => {
            let mut resource = Resource::new(url, name).with_mime_type(file.mime);
            resource.size = file.size_bytes;
            ContentBlock::resource_link(resource)
        }
        FileSource::Inline(_) | FileSource::Kept => left_out(&name, &file.mime),
    }
}

/// A file that is text, as text: models read that, and few of them read Base64.
fn written_out<'a>(mime: &str, bytes: &'a [u8]) -> Option<&'a str> {
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json");
    is_text.then(|| std::str::from_utf8(bytes).ok()).flatten()
}

fn embedded(contents: Value) -> Option<ContentBlock> {
    serde_json::from_value::<ResourceContents>(contents).ok().map(ContentBlock::resource)
}

fn left_out(name: &str, mime: &str) -> ContentBlock {
    ContentBlock::text(format!("[{name}, {mime}: too large to be shown here]"))
}

/// A name for content that has no address.
fn uri_of(name: &str) -> String {
    let safe = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let mut uri = "attachment:".to_owned();
    for byte in name.bytes() {
        match safe(byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// An object of JSON, empty when it is none.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use forecourt_core::policy::RefusalKind;

    use super::*;

    fn written(called: ToolOutput) -> Value {
        serde_json::to_value(result(called, None)).expect("a result is JSON")
    }

    #[test]
    fn failures_say_so_and_answers_say_that_they_are_none() {
        assert_eq!(written(failed("No."))["isError"], true);
        let answer = ToolOutput { text: vec!["Yes.".to_owned()], ..ToolOutput::default() };
        assert_eq!(written(answer)["isError"], false);
    }

    #[test]
    fn an_answer_without_words_is_its_structure_as_text() {
        let called = ToolOutput { structured: json!({"a": 1}), ..ToolOutput::default() };
        let result = written(called);
        assert_eq!(result["content"][0]["text"], "{\"a\":1}");
        assert_eq!(result["structuredContent"], json!({"a": 1}));
    }

    #[test]
    fn s4_a_refusal_is_an_error_with_its_words_and_its_part() {
        let part = PolicyPart {
            url: Some("https://demo.localhost/pay".into()),
            ..PolicyPart::new(RefusalKind::Forbidden, "No.")
        };
        let result = written(ToolOutput { refusal: Some(Box::new(part)), ..ToolOutput::default() });
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "Not allowed: No.\n\nContinue: https://demo.localhost/pay");
        assert_eq!(result["_meta"]["mentionable"]["policy"]["part"]["kind"], "forbidden");
    }

    #[test]
    fn text_that_is_not_utf_8_stays_bytes() {
        let part = |bytes: &'static [u8]| Part::File(File::inline("text/csv", None, Bytes::from_static(bytes)));
        let of =
            |bytes| written(ToolOutput { parts: vec![part(bytes)], ..ToolOutput::default() })["content"][0].clone();
        assert_eq!(of("name;prix\ncafé;2".as_bytes())["resource"]["text"], "name;prix\ncafé;2");
        assert_eq!(of(b"caf\xe9")["resource"]["blob"], "Y2Fm6Q==");
    }

    #[test]
    fn files_are_shown_by_their_kind_up_to_the_limit() {
        let file = |mime: &str, bytes: usize| {
            let part = Part::File(File::inline(mime, Some("a b.bin".into()), Bytes::from(vec![0; bytes])));
            written(ToolOutput { parts: vec![part], ..ToolOutput::default() })["content"][0].clone()
        };
        assert_eq!(file("image/png", 3)["type"], "image");
        assert_eq!(file("audio/wav", 3)["type"], "audio");
        assert_eq!(file("application/pdf", 3)["resource"]["uri"], "attachment:a%20b.bin");
        assert_eq!(file("text/csv; charset=utf-8", 3)["resource"]["text"], "\0\0\0");
        assert_eq!(file("image/svg+xml", 3)["type"], "image");
        assert_eq!(file("image/png", INLINE_FILE_BYTES_MAX)["type"], "image");
        assert_eq!(file("image/png", INLINE_FILE_BYTES_MAX + 1)["type"], "text");
    }
}
