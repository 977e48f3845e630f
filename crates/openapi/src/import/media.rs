//! Which of several representations is taken: JSON before forms, forms before texts, texts before bytes.

use forecourt_contract::endpoint::{AnswerKind, BodyMedia};
use serde_json::Value;

use super::ANYTHING;

/// What is sent where a document names a group of media types, such as `image/*`.
const ANY_BYTES: &str = "application/octet-stream";

/// A representation of a body.
#[derive(Debug)]
pub(super) struct Representation<'a> {
    /// Its media type as it is written, but without parameters.
    pub(super) media: &'a str,
    /// How a body of it is written.
    pub(super) kind: BodyMedia,
    /// Its schema; anything when there is none.
    pub(super) schema: &'a Value,
    /// How its fields are written, by their names. Null when nothing is said.
    pub(super) encoding: &'a Value,
}

impl Representation<'_> {
    /// Whether it is JSON of a media type that services name, other than the plain one.
    pub(super) fn own_media(&self) -> Option<String> {
        (self.media != "application/json" && !self.media.contains('*')).then(|| self.media.to_owned())
    }

    /// What an answer of it is read as.
    pub(super) fn answer(&self) -> AnswerKind {
        match self.kind {
            BodyMedia::Json(_) | BodyMedia::Nothing => AnswerKind::Json,
            BodyMedia::Form | BodyMedia::Text(_) => AnswerKind::Text,
            BodyMedia::Multipart | BodyMedia::Bytes(_) => AnswerKind::Bytes,
        }
    }
}

/// The best representation of a body. `None`: it has none.
pub(super) fn best(body: &Value) -> Option<Representation<'_>> {
    let content = body["content"].as_object()?;
    let all = content.iter().map(|(media, value)| {
        let schema = value.get("schema").unwrap_or(&ANYTHING);
        // Parameters such as `charset` do not tell representations apart here.
        let media = media.split(';').next().unwrap_or_default().trim();
        Representation { media, kind: kind(media, schema), schema, encoding: &value["encoding"] }
    });
    all.min_by_key(rank)
}

/// How a media type is written. A group of them is JSON unless it says that it is bytes.
fn kind(media: &str, schema: &Value) -> BodyMedia {
    let json = || BodyMedia::Json("application/json".to_owned());
    match media.to_ascii_lowercase().as_str() {
        "*/*" | "application/*" | "" if !is_text(schema) => json(),
        "text/*" => BodyMedia::Text("text/plain".to_owned()),
        group if group.ends_with("/*") => BodyMedia::Bytes(ANY_BYTES.to_owned()),
        plain => BodyMedia::read(plain).unwrap_or_else(json),
    }
}

/// Whether a schema of a group is that of a text, which may be any bytes.
fn is_text(schema: &Value) -> bool {
    schema["type"] == "string" || schema["format"] == "binary"
}

fn rank(found: &Representation<'_>) -> u8 {
    match &found.kind {
        BodyMedia::Json(_) if found.media == "application/json" => 0,
        BodyMedia::Json(_) if !found.media.contains('*') => 1,
        BodyMedia::Json(_) | BodyMedia::Nothing => 2,
        BodyMedia::Form => 3,
        BodyMedia::Multipart => 4,
        BodyMedia::Text(_) => 5,
        BodyMedia::Bytes(_) => 6,
    }
}
