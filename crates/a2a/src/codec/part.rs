//! Parts: one member that says what it holds in 1.0, `kind` and nested objects in 0.3.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};
use bytes::Bytes;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::Dialect;
use super::limits::{LABEL_BYTES_MAX, MODE_BYTES_MAX};
use super::read::ObjectReader;
use super::write::{DialectValue, ObjectWriter};
use crate::model::{Content, Metadata, Part};

/// Reads one part. Of an agent, one that holds nothing is left out.
pub(super) fn read(fields: ObjectReader<'_>) -> Option<Part> {
    let is_0_3 = match fields.dialect() {
        Dialect::Json03 | Dialect::Proto03 => true,
        Dialect::Json10 => fields.lenient() && fields.has("kind"),
    };
    match is_0_3 {
        true => read_0_3(fields),
        false => read_1_0(fields),
    }
}

fn read_1_0(mut fields: ObjectReader<'_>) -> Option<Part> {
    let filename = fields.text("filename", LABEL_BYTES_MAX);
    let media_type = fields.text("mediaType", MODE_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    let (text, raw, url) = (fields.take("text"), fields.take("raw"), fields.take("url"));
    // Data is any JSON value in 1.0, so that `null` is data when it stands alone and absent beside another member.
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

fn read_0_3(mut fields: ObjectReader<'_>) -> Option<Part> {
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
        // The protocol buffers of 0.3 have no such field, and clients in the field leave it out of its JSON too: what
        // the part holds says the same.
        _ => {}
    }
    part.map(|part| Part { metadata, ..part })
}

/// `{uri | bytes, name?, mimeType?}`, or with the names of the protocol buffers.
fn read_file(mut fields: ObjectReader<'_>) -> Option<Part> {
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
fn read_data(fields: &ObjectReader<'_>, has_kind: bool, data: Value) -> Value {
    match data {
        Value::Object(mut part) if fields.dialect() == Dialect::Proto03 && !has_kind => {
            part.remove("data").unwrap_or(Value::Object(part))
        }
        value => value,
    }
}

fn address(fields: &ObjectReader<'_>, name: &'static str, value: Value) -> Option<Content> {
    match fields.string(name, value)? {
        url if url.is_empty() => {
            fields.wrong(name, "must not be empty");
            None
        }
        url => Some(Content::Url(url)),
    }
}

/// Base64 in either alphabet, with or without padding, as protocol buffers are read.
fn bytes(fields: &ObjectReader<'_>, name: &'static str, value: Value) -> Option<Content> {
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

impl Serialize for DialectValue<'_, Part> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = ObjectWriter::begin(serializer)?;
        match self.0 {
            Dialect::Json03 => write_json_0_3(&mut object, self.1)?,
            Dialect::Proto03 => write_proto_0_3(&mut object, self.1)?,
            Dialect::Json10 => write_1_0(&mut object, self.1)?,
        }
        object.end()
    }
}

fn write_1_0<S: Serializer>(object: &mut ObjectWriter<S>, part: &Part) -> Result<(), S::Error> {
    if let Content::Data(data) = &part.content {
        object.member("data", data)?;
    }
    object.some("filename", part.filename.as_deref())?;
    object.some("mediaType", part.media_type.as_deref())?;
    object.metadata(&part.metadata)?;
    match &part.content {
        Content::Text(text) => object.member("text", text),
        Content::Raw(bytes) => object.member("raw", &STANDARD.encode(bytes)),
        Content::Url(url) => object.member("url", url),
        Content::Data(_) => Ok(()),
    }
}

fn write_json_0_3<S: Serializer>(object: &mut ObjectWriter<S>, part: &Part) -> Result<(), S::Error> {
    let kind = match &part.content {
        Content::Text(_) => "text",
        Content::Data(data) => {
            object.member("data", &StructuredData(data))?;
            "data"
        }
        Content::Raw(_) | Content::Url(_) => {
            object.member("file", &JsonFile(part))?;
            "file"
        }
    };
    object.member("kind", kind)?;
    object.metadata(&part.metadata)?;
    match &part.content {
        Content::Text(text) => object.member("text", text),
        _ => Ok(()),
    }
}

fn write_proto_0_3<S: Serializer>(object: &mut ObjectWriter<S>, part: &Part) -> Result<(), S::Error> {
    match &part.content {
        Content::Text(_) => {}
        Content::Data(data) => object.member("data", &ProtoData(data))?,
        Content::Raw(_) | Content::Url(_) => object.member("file", &ProtoFile(part))?,
    }
    object.metadata(&part.metadata)?;
    match &part.content {
        Content::Text(text) => object.member("text", text),
        _ => Ok(()),
    }
}

/// A file in the JSON of 0.3.
struct JsonFile<'a>(&'a Part);

impl Serialize for JsonFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Part { content, filename, media_type, .. } = self.0;
        let mut object = ObjectWriter::begin(serializer)?;
        if let Content::Raw(bytes) = content {
            object.member("bytes", &STANDARD.encode(bytes))?;
        }
        object.some("mimeType", media_type.as_deref())?;
        object.some("name", filename.as_deref())?;
        if let Content::Url(url) = content {
            object.member("uri", url)?;
        }
        object.end()
    }
}

/// A file in the protocol buffers of 0.3. Its name is left out: those of 0.3.0 have no place for it, and
/// their parsers are strict.
struct ProtoFile<'a>(&'a Part);

impl Serialize for ProtoFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = ObjectWriter::begin(serializer)?;
        match &self.0.content {
            Content::Raw(bytes) => object.member("fileWithBytes", &STANDARD.encode(bytes))?,
            Content::Url(url) => object.member("fileWithUri", url)?,
            Content::Text(_) | Content::Data(_) => {}
        }
        object.some("mimeType", self.0.media_type.as_deref())?;
        object.end()
    }
}

/// Data in the protocol buffers of 0.3, which have a message around them.
struct ProtoData<'a>(&'a Value);

impl Serialize for ProtoData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("data", &StructuredData(self.0))?;
        object.end()
    }
}

/// Data as 0.3 has it: an object.
struct StructuredData<'a>(&'a Value);

impl Serialize for StructuredData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_object() {
            return self.0.serialize(serializer);
        }
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("value", self.0)?;
        object.end()
    }
}
