//! Parts: one member that says what it holds in 1.0, `kind` and nested objects in 0.3.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::Dialect;
use super::limits::{LABEL_BYTES_MAX, MODE_BYTES_MAX};
use super::read::Fields;
use super::write::Object;
use crate::model::{Content, Metadata, Part};

/// Reads one part. Of an agent, one that holds nothing is left out.
pub(super) fn read(fields: Fields<'_>) -> Option<Part> {
    let is_0_3 = match fields.dialect() {
        Dialect::Json03 | Dialect::Proto03 => true,
        Dialect::Json10 => fields.lenient() && fields.has("kind"),
    };
    match is_0_3 {
        true => read_0_3(fields),
        false => read_1_0(fields),
    }
}

fn read_1_0(mut fields: Fields<'_>) -> Option<Part> {
    let filename = fields.text("filename", LABEL_BYTES_MAX);
    let media_type = fields.text("mediaType", MODE_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    let (text, raw, url) = (fields.take("text"), fields.take("raw"), fields.take("url"));
    let content = match (text, raw, url, fields.take_nullable("data")) {
        (Some(text), None, None, None | Some(Value::Null)) => fields.string("text", text).map(Content::Text),
        (None, Some(raw), None, None | Some(Value::Null)) => bytes(&fields, "raw", raw),
        (None, None, Some(url), None | Some(Value::Null)) => address(&fields, "url", url),
        (None, None, None, Some(data)) => Some(Content::Data(data)),
        _ => {
            fields.odd_here("must hold exactly one of text, raw, url and data");
            None
        }
    };
    Some(Part { content: content?, filename, media_type, metadata })
}

fn read_0_3(mut fields: Fields<'_>) -> Option<Part> {
    let kind = fields.text("kind", MODE_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    let (holds, part) = match (fields.take("text"), fields.take("file"), fields.take("data")) {
        (Some(text), None, None) => ("text", fields.string("text", text).map(Part::text)),
        (None, Some(file), None) => ("file", fields.nested("file", file, read_file)),
        (None, None, Some(data)) => ("data", Some(Part::data(read_data(&fields, kind.is_some(), data)))),
        _ => {
            fields.odd_here("must hold exactly one of text, file and data");
            return None;
        }
    };
    match kind {
        Some(kind) if kind != holds => {
            fields.odd("kind", &format!("must be {holds}, which is what the part holds"));
        }
        // The protocol buffers of 0.3 have no such field; its JSON tells parts apart by nothing else.
        None if part.is_some() && fields.dialect() == Dialect::Json03 => {
            fields.odd("kind", &format!("is required: {holds}"));
        }
        _ => {}
    }
    part.map(|part| Part { metadata, ..part })
}

/// `{uri | bytes, name?, mimeType?}`, or with the names of the protocol buffers.
fn read_file(mut fields: Fields<'_>) -> Option<Part> {
    let filename = fields.text("name", LABEL_BYTES_MAX);
    let media_type = fields.text("mimeType", MODE_BYTES_MAX);
    let uri = fields.take("uri").or_else(|| fields.take("fileWithUri"));
    let content = match (uri, fields.take("bytes").or_else(|| fields.take("fileWithBytes"))) {
        (Some(uri), None) => address(&fields, "uri", uri),
        (None, Some(encoded)) => bytes(&fields, "bytes", encoded),
        _ => {
            fields.odd_here("must hold either uri or bytes");
            None
        }
    };
    Some(Part { content: content?, filename, media_type, metadata: Metadata::new() })
}

/// The value itself, or what a `DataPart` of the protocol buffers has around it.
fn read_data(fields: &Fields<'_>, has_kind: bool, data: Value) -> Value {
    match data {
        Value::Object(mut part) if fields.dialect() == Dialect::Proto03 && !has_kind => {
            part.remove("data").unwrap_or(Value::Object(part))
        }
        value => value,
    }
}

fn address(fields: &Fields<'_>, name: &'static str, value: Value) -> Option<Content> {
    match fields.string(name, value)? {
        url if url.is_empty() => {
            fields.wrong(name, "must not be empty");
            None
        }
        url => Some(Content::Url(url)),
    }
}

/// Base64 in either alphabet, with or without padding, as protocol buffers are read.
fn bytes(fields: &Fields<'_>, name: &'static str, value: Value) -> Option<Content> {
    const INDIFFERENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    const PLAIN: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, INDIFFERENT);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, INDIFFERENT);
    let text = fields.string(name, value)?;
    let engine = match text.contains(['-', '_']) {
        true => &URL_SAFE,
        false => &PLAIN,
    };
    let decoded = engine.decode(&text);
    if decoded.is_err() {
        fields.wrong(name, "must be base64");
    }
    decoded.ok().map(|bytes| Content::Raw(Bytes::from(bytes)))
}

/// Writes one part.
pub(super) fn write(dialect: Dialect, part: &Part) -> Value {
    match dialect {
        Dialect::Json03 => write_json_0_3(part),
        Dialect::Proto03 => write_proto_0_3(part),
        Dialect::Json10 => write_1_0(part),
    }
}

fn write_1_0(part: &Part) -> Value {
    let object = match &part.content {
        Content::Text(text) => Object::new().with("text", text.as_str()),
        Content::Raw(bytes) => Object::new().with("raw", STANDARD.encode(bytes)),
        Content::Url(url) => Object::new().with("url", url.as_str()),
        Content::Data(value) => Object::new().with("data", value.clone()),
    };
    let object = object.with_some("filename", part.filename.as_deref());
    object.with_some("mediaType", part.media_type.as_deref()).with_metadata(&part.metadata).into()
}

fn write_json_0_3(part: &Part) -> Value {
    let file = |member: &str, value: Value| {
        let file = Object::new().with(member, value).with_some("name", part.filename.as_deref());
        Object::new().with("kind", "file").with("file", file.with_some("mimeType", part.media_type.as_deref()))
    };
    let object = match &part.content {
        Content::Text(text) => Object::new().with("kind", "text").with("text", text.as_str()),
        Content::Raw(bytes) => file("bytes", STANDARD.encode(bytes).into()),
        Content::Url(url) => file("uri", url.as_str().into()),
        Content::Data(value) => Object::new().with("kind", "data").with("data", structured(value)),
    };
    object.with_metadata(&part.metadata).into()
}

/// File names are left out: the protocol buffers of 0.3.0 have no place for them, and their parsers are strict.
fn write_proto_0_3(part: &Part) -> Value {
    let file = |member: &str, value: Value| {
        let file = Object::new().with(member, value).with_some("mimeType", part.media_type.as_deref());
        Object::new().with("file", file)
    };
    let object = match &part.content {
        Content::Text(text) => Object::new().with("text", text.as_str()),
        Content::Raw(bytes) => file("fileWithBytes", STANDARD.encode(bytes).into()),
        Content::Url(url) => file("fileWithUri", url.as_str().into()),
        Content::Data(value) => Object::new().with("data", Object::new().with("data", structured(value))),
    };
    object.with_metadata(&part.metadata).into()
}

/// Data as 0.3 has it: an object.
fn structured(value: &Value) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        other => Value::Object(Map::from_iter([("value".to_owned(), other.clone())])),
    }
}
