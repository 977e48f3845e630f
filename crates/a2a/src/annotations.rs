//! Annotations keep what history shows of a message beside its text: metadata, extensions, the tasks it refers to, and
//! the metadata of its parts. They are stored with the turn under A2A's names, and only this module reads them.

use serde_json::{Map, Value};

use crate::NAME;
use crate::model::{Message, Metadata, Part};

const METADATA: &str = "metadata";
const EXTENSIONS: &str = "extensions";
const REFERENCES: &str = "referenceTaskIds";
/// The metadata of parts, by their place.
const PARTS: &str = "parts";

/// The annotations of a message, to be stored with its turn; empty when it has nothing beside its parts. The caller has
/// taken out of `metadata` what only a host may say.
pub(crate) fn of(
    metadata: &Metadata,
    extensions: &[String],
    references: &[String],
    parts: &[Part],
) -> Map<String, Value> {
    // Most messages have nothing beside their parts, and need no map to say so.
    let is_plain = metadata.is_empty() && extensions.is_empty() && references.is_empty();
    if is_plain && parts.iter().all(|part| part.metadata.is_empty()) {
        return Map::new();
    }
    let annotated = parts.iter().enumerate().filter(|(_, part)| !part.metadata.is_empty());
    let parts: Map<_, _> = annotated.map(|(at, part)| (at.to_string(), part.metadata.clone().into())).collect();
    let kept = [
        (METADATA, Value::Object(metadata.clone())),
        (EXTENSIONS, extensions.into()),
        (REFERENCES, references.into()),
        (PARTS, Value::Object(parts)),
    ];
    let kept: Map<_, _> =
        kept.into_iter().filter(|(_, value)| !is_empty(value)).map(|(key, value)| (key.to_owned(), value)).collect();
    match kept.is_empty() {
        true => kept,
        false => Map::from_iter([(NAME.to_owned(), Value::Object(kept))]),
    }
}

/// Puts back what was kept, into a message whose parts stand where they stood.
pub(crate) fn restore(message: &mut Message, annotations: &Map<String, Value>) {
    let Some(Value::Object(kept)) = annotations.get(NAME) else { return };
    let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    message.metadata = object(kept.get(METADATA));
    message.extensions = texts(kept.get(EXTENSIONS));
    message.references = texts(kept.get(REFERENCES));
    for (at, metadata) in object(kept.get(PARTS)) {
        let part = at.parse().ok().and_then(|at: usize| message.parts.get_mut(at));
        if let (Some(part), Value::Object(metadata)) = (part, metadata) {
            part.metadata.extend(metadata);
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
