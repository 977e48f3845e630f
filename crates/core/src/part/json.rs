//! The JSON form of parts: Mentionable normalized-message, with both spellings of text.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Artifact, ArtifactContent, Data, File, FileSource, Link, Part, Text, ToolCall, ToolOutcome, UnknownPart};
use crate::lazy_json::LazyJson;
use crate::policy::PolicyPart;

/// Reads a part of any kind. Fails when a kind that we know lacks what it needs.
pub(super) fn read(mut fields: Map<String, Value>) -> Result<Part, String> {
    let kind = match fields.get("kind") {
        Some(Value::String(kind)) => kind.clone(),
        _ => return Err("a part needs a `kind`".to_owned()),
    };
    match kind.as_str() {
        "text" => read_text(&mut fields).map(Part::Text),
        "file" => read_file(&mut fields).map(Part::File),
        "link" => typed::<Link>(fields).map(Part::Link),
        "data" => typed::<Data>(fields).map(Part::Data),
        "artifact" => read_artifact(&mut fields).map(Part::Artifact),
        "tool_call" => read_tool_call(&mut fields).map(Part::ToolCall),
        kind if PolicyPart::knows(kind) => PolicyPart::from_json(fields).map(Part::Policy).map_err(|e| e.to_string()),
        _ => Ok(Part::Unknown(UnknownPart { kind, fields })),
    }
}

/// A data part as it is written, so that a text that was kept needs no reading.
#[derive(Serialize)]
pub(super) struct TaggedData<'a> {
    data: &'a LazyJson,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
}

impl<'a> TaggedData<'a> {
    pub(super) fn of(data: &'a Data) -> Self {
        Self { data: &data.data, kind: "data", mime: data.mime.as_deref() }
    }
}

/// Writes a part. Text carries `content` and `text`, since both spellings have readers.
pub(super) fn write(part: &Part) -> Value {
    match part {
        Part::Text(t) => json!({"kind": "text", "mime": t.mime, "content": t.content, "text": t.content}),
        Part::File(file) => write_file(file),
        Part::Link(link) => tagged("link", link),
        Part::Data(data) => tagged("data", data),
        Part::Artifact(artifact) => write_artifact(artifact),
        Part::ToolCall(call) => write_tool_call(call),
        Part::Policy(part) => Value::Object(part.to_json()),
        Part::Unknown(part) => Value::Object(part.fields.clone()),
    }
}

fn typed<T: serde::de::DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields)).map_err(|e| e.to_string())
}

fn tagged<T: serde::Serialize>(kind: &str, value: &T) -> Value {
    let mut value = serde_json::to_value(value).unwrap_or_default();
    value["kind"] = kind.into();
    value
}

fn string(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn read_text(fields: &mut Map<String, Value>) -> Result<Text, String> {
    let spare = string(fields, "text");
    // The specification's schema says `content` and its examples `text`; `content` wins where both are there.
    let content = string(fields, "content").or(spare).ok_or("a text part needs `content`")?;
    Ok(Text { mime: string(fields, "mime").unwrap_or_else(|| "text/plain".to_owned()), content })
}

fn read_file(fields: &mut Map<String, Value>) -> Result<File, String> {
    let source = read_source(fields)?.ok_or("a file part needs `bytes_ref` or `url`")?;
    // `size` is what REST 5.6 calls it in the file parts of a task.
    let declared = fields.get("size_bytes").or_else(|| fields.get("size")).and_then(Value::as_u64);
    let size = match &source {
        // Counted, not believed: a declared size would pass bounds that the bytes themselves break.
        FileSource::Inline(bytes) => Some(bytes.len() as u64),
        FileSource::Url { .. } | FileSource::Kept => declared,
    };
    Ok(File {
        id: string(fields, "id"),
        name: string(fields, "name"),
        mime: string(fields, "mime").unwrap_or_else(|| "application/octet-stream".to_owned()),
        size_bytes: size,
        source,
    })
}

fn read_source(fields: &mut Map<String, Value>) -> Result<Option<FileSource>, String> {
    let Some(Value::Object(mut bytes_ref)) = fields.remove("bytes_ref") else {
        return Ok(string(fields, "url").map(|url| FileSource::Url { url, expires_at: None }));
    };
    if let Some(data) = string(&mut bytes_ref, "data") {
        let bytes = STANDARD.decode(data).map_err(|_| "`bytes_ref.data` is not base64")?;
        return Ok(Some(FileSource::Inline(bytes.into())));
    }
    if bytes_ref.get("kind").and_then(Value::as_str) == Some("kept") {
        return Ok(Some(FileSource::Kept));
    }
    let url = string(&mut bytes_ref, "url").ok_or("`bytes_ref` needs `url` or `data`")?;
    let expires_at = string(&mut bytes_ref, "expires_at").and_then(|t| t.parse().ok());
    Ok(Some(FileSource::Url { url, expires_at }))
}

fn read_artifact(fields: &mut Map<String, Value>) -> Result<Artifact, String> {
    let content = match string(fields, "content") {
        Some(text) => ArtifactContent::Text(text),
        None => ArtifactContent::Bytes(read_source(fields)?.ok_or("an artifact part needs `content` or `bytes_ref`")?),
    };
    Ok(Artifact {
        mime: string(fields, "mime").ok_or("an artifact part needs `mime`")?,
        artifact_type: string(fields, "artifact_type"),
        name: string(fields, "name"),
        content,
    })
}

/// Reads a tool call. Both `result` and `error` is a contradiction. A `null` error is none; a `null`
/// result alone is an answer without content.
pub(super) fn read_tool_call(fields: &mut Map<String, Value>) -> Result<ToolCall, String> {
    let error = fields.get("error").filter(|error| !error.is_null()).map(error_text);
    // Writers that always write both fields say `null` twice for a call that still runs; `result: null` alone is a
    // result.
    let both_null = fields.contains_key("error") && fields.get("result").is_some_and(Value::is_null);
    let outcome = match (fields.remove("result").filter(|_| !both_null), error) {
        (Some(_), Some(_)) => return Err("a tool call has `result` or `error`, not both".to_owned()),
        (Some(result), None) => ToolOutcome::Result(result),
        (None, Some(error)) => ToolOutcome::Error(error),
        (None, None) => ToolOutcome::Running,
    };
    Ok(ToolCall {
        id: string(fields, "id").ok_or("a tool call needs `id`")?,
        name: string(fields, "name").ok_or("a tool call needs `name`")?,
        args: fields.remove("args").unwrap_or_default(),
        outcome,
    })
}

fn error_text(error: &Value) -> String {
    let message = error.get("message").unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}

fn write_file(file: &File) -> Value {
    let mut value = json!({"kind": "file", "mime": file.mime});
    set(&mut value, "id", file.id.as_deref());
    set(&mut value, "name", file.name.as_deref());
    if let Some(size) = file.size_bytes {
        value["size_bytes"] = size.into();
    }
    value["bytes_ref"] = write_source(&file.source);
    value
}

fn write_source(source: &FileSource) -> Value {
    match source {
        FileSource::Inline(bytes) => json!({"kind": "inline", "data": STANDARD.encode(bytes)}),
        FileSource::Kept => json!({"kind": "kept"}),
        FileSource::Url { url, expires_at: None } => json!({"kind": "url", "url": url}),
        FileSource::Url { url, expires_at: Some(at) } => {
            json!({"kind": "url", "url": url, "expires_at": at.to_string()})
        }
    }
}

fn write_artifact(artifact: &Artifact) -> Value {
    let mut value = json!({"kind": "artifact", "mime": artifact.mime});
    set(&mut value, "artifact_type", artifact.artifact_type.as_deref());
    set(&mut value, "name", artifact.name.as_deref());
    match &artifact.content {
        ArtifactContent::Text(text) => value["content"] = text.as_str().into(),
        ArtifactContent::Bytes(source) => value["bytes_ref"] = write_source(source),
    }
    value
}

/// Writes a tool call; one that runs has neither `result` nor `error`.
pub(super) fn write_tool_call(call: &ToolCall) -> Value {
    let mut value = json!({"kind": "tool_call", "id": call.id, "name": call.name, "args": call.args});
    match &call.outcome {
        ToolOutcome::Running => {}
        ToolOutcome::Result(result) => value["result"] = result.clone(),
        ToolOutcome::Error(message) => value["error"] = json!({"message": message}),
    }
    value
}

fn set(value: &mut Value, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        value[key] = text.into();
    }
}
