//! Items of streams: bare with `kind` in the JSON of 0.3, else the only member of an object.

use serde_json::Value;

use super::limits::MODE_BYTES_MAX;
use super::read::Fields;
use super::write::Object;
use super::{Dialect, message, task};
use crate::model::{ArtifactUpdate, Item, StatusUpdate};

/// Which of the four an item is.
#[derive(Clone, Copy)]
enum Shape {
    Task,
    Message,
    Status,
    Artifact,
}

/// What items are wrapped in, in the spellings that are met.
const WRAPPERS: [(&str, Shape); 11] = [
    ("task", Shape::Task),
    ("Task", Shape::Task),
    ("message", Shape::Message),
    ("Message", Shape::Message),
    ("msg", Shape::Message),
    ("statusUpdate", Shape::Status),
    ("StatusUpdate", Shape::Status),
    ("TaskStatusUpdate", Shape::Status),
    ("artifactUpdate", Shape::Artifact),
    ("ArtifactUpdate", Shape::Artifact),
    ("TaskArtifactUpdate", Shape::Artifact),
];

/// Reads an item of an agent, wrapped or bare whatever the dialect: agents that mix versions are met.
pub(super) fn read(mut fields: Fields<'_>) -> Option<Item> {
    if let Some(shape) = bare_shape(&mut fields) {
        return read_as(shape, fields);
    }
    let mut wrapped = WRAPPERS.iter().filter_map(|(name, shape)| fields.take(name).map(|v| (*name, *shape, v)));
    match (wrapped.next(), wrapped.next()) {
        (Some((name, shape, value)), None) => {
            drop(wrapped);
            fields.nested(name, value, |fields| read_as(shape, fields))
        }
        _ => None,
    }
}

/// What a bare item says that it is, or what its members make it.
fn bare_shape(fields: &mut Fields<'_>) -> Option<Shape> {
    match fields.text("kind", MODE_BYTES_MAX).as_deref() {
        Some("task") => Some(Shape::Task),
        Some("message") => Some(Shape::Message),
        Some("status-update") => Some(Shape::Status),
        Some("artifact-update") => Some(Shape::Artifact),
        _ if fields.has("artifact") => Some(Shape::Artifact),
        _ if fields.has("messageId") => Some(Shape::Message),
        _ if fields.has("status") && fields.has("id") => Some(Shape::Task),
        _ if fields.has("status") && fields.has("taskId") => Some(Shape::Status),
        _ => None,
    }
}

fn read_as(shape: Shape, fields: Fields<'_>) -> Option<Item> {
    match shape {
        Shape::Task => task::read(fields).map(Item::Task),
        Shape::Message => message::read(fields).map(Item::Message),
        Shape::Status => read_status_update(fields).map(Item::Status),
        Shape::Artifact => read_artifact_update(fields).map(Item::Artifact),
    }
}

fn read_status_update(mut fields: Fields<'_>) -> Option<StatusUpdate> {
    let task = fields.required_id("taskId");
    let context = fields.expected_id("contextId");
    let status = fields.required("status", task::read_status);
    let is_final = fields.flag("final").unwrap_or(false);
    let metadata = fields.metadata("metadata");
    Some(StatusUpdate { task: task?, context: context?, status: status?, is_final, metadata })
}

fn read_artifact_update(mut fields: Fields<'_>) -> Option<ArtifactUpdate> {
    let task = fields.required_id("taskId");
    let context = fields.expected_id("contextId");
    let artifact = fields.required("artifact", task::read_artifact);
    let append = fields.flag("append").unwrap_or(false);
    let last_chunk = fields.flag("lastChunk").unwrap_or(false);
    let metadata = fields.metadata("metadata");
    Some(ArtifactUpdate { task: task?, context: context?, artifact: artifact?, append, last_chunk, metadata })
}

/// Writes an item as a stream carries it, which is also how a send answers.
pub(super) fn write(dialect: Dialect, item: &Item) -> Value {
    let (wrapper, value) = match item {
        Item::Task(task) => ("task", task::write(dialect, task)),
        Item::Message(message) => ("message", message::write(dialect, message)),
        Item::Status(update) => ("statusUpdate", write_status_update(dialect, update)),
        Item::Artifact(update) => ("artifactUpdate", write_artifact_update(dialect, update)),
    };
    match dialect {
        Dialect::Json03 => value,
        Dialect::Proto03 | Dialect::Json10 => Object::new().with(wrapper, value).into(),
    }
}

fn write_status_update(dialect: Dialect, update: &StatusUpdate) -> Value {
    let object = match dialect {
        Dialect::Json03 => Object::new().with("kind", "status-update").with("final", update.is_final),
        Dialect::Proto03 => Object::new().with("final", update.is_final),
        Dialect::Json10 => Object::new(),
    };
    object
        .with("taskId", update.task.as_str())
        .with("contextId", update.context.as_str())
        .with("status", task::write_status(dialect, &update.status))
        .with_metadata(&update.metadata)
        .into()
}

/// The JSON of 0.3 says its flags aloud; protocol buffers leave out what is false.
fn write_artifact_update(dialect: Dialect, update: &ArtifactUpdate) -> Value {
    let object = match dialect {
        Dialect::Json03 => Object::new()
            .with("kind", "artifact-update")
            .with("append", update.append)
            .with("lastChunk", update.last_chunk),
        Dialect::Proto03 | Dialect::Json10 => {
            Object::new().with_true("append", update.append).with_true("lastChunk", update.last_chunk)
        }
    };
    object
        .with("taskId", update.task.as_str())
        .with("contextId", update.context.as_str())
        .with("artifact", task::write_artifact(dialect, &update.artifact))
        .with_metadata(&update.metadata)
        .into()
}
