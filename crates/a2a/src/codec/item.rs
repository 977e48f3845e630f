//! Items of streams: bare with `kind` in the JSON of 0.3, else the only member of an object.

use serde::ser::{Serialize, Serializer};

use super::limits::MODE_BYTES_MAX;
use super::read::ObjectReader;
use super::write::{DialectValue, ObjectWriter};
use super::{Dialect, message, task};
use crate::model::{ArtifactUpdate, Item, Message, StatusUpdate};

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
pub(super) fn read(mut fields: ObjectReader<'_>) -> Option<Item> {
    if let Some(shape) = bare_shape(&mut fields) {
        return read_as(shape, fields);
    }
    let mut wrapped = WRAPPERS.iter().filter_map(|(name, shape)| fields.take(name).map(|v| (*name, *shape, v)));
    // Exactly one member says which item it is; two would be two items in one frame.
    match (wrapped.next(), wrapped.next()) {
        (Some((name, shape, value)), None) => {
            drop(wrapped);
            fields.nested(name, value, |fields| read_as(shape, fields))
        }
        _ => None,
    }
}

/// What a bare item says that it is, or what its members make it.
fn bare_shape(fields: &mut ObjectReader<'_>) -> Option<Shape> {
    match fields.text("kind", MODE_BYTES_MAX).as_deref() {
        Some("task") => Some(Shape::Task),
        Some("message") => Some(Shape::Message),
        Some("status-update") => Some(Shape::Status),
        Some("artifact-update") => Some(Shape::Artifact),
        // Agents that leave `kind` out are met: each of these members belongs to one item alone.
        _ if fields.has("artifact") => Some(Shape::Artifact),
        _ if fields.has("messageId") => Some(Shape::Message),
        _ if fields.has("status") && fields.has("id") => Some(Shape::Task),
        _ if fields.has("status") && fields.has("taskId") => Some(Shape::Status),
        _ => None,
    }
}

fn read_as(shape: Shape, fields: ObjectReader<'_>) -> Option<Item> {
    match shape {
        Shape::Task => task::read(fields).map(Item::Task),
        Shape::Message => message::read(fields).map(Item::Message),
        Shape::Status => read_status_update(fields).map(Item::Status),
        Shape::Artifact => read_artifact_update(fields).map(Item::Artifact),
    }
}

fn read_status_update(mut fields: ObjectReader<'_>) -> Option<StatusUpdate> {
    let task = fields.required_id("taskId");
    let context = fields.expected_id("contextId");
    let status = fields.required("status", task::read_status);
    let is_final = fields.flag("final").unwrap_or(false);
    let metadata = fields.metadata("metadata");
    Some(StatusUpdate { task: task?, context: context?, status: status?, is_final, metadata })
}

fn read_artifact_update(mut fields: ObjectReader<'_>) -> Option<ArtifactUpdate> {
    let task = fields.required_id("taskId");
    let context = fields.expected_id("contextId");
    let artifact = fields.required("artifact", task::read_artifact);
    let append = fields.flag("append").unwrap_or(false);
    let last_chunk = fields.flag("lastChunk").unwrap_or(false);
    let metadata = fields.metadata("metadata");
    Some(ArtifactUpdate { task: task?, context: context?, artifact: artifact?, append, last_chunk, metadata })
}

/// A message as the item that it would be.
pub(crate) struct MessageItem<'a>(pub(crate) &'a Message);

impl Serialize for DialectValue<'_, MessageItem<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_wrapped(serializer, self.0, "message", DialectValue(self.0, self.1.0))
    }
}

/// As a stream carries it, which is also how a send answers.
impl Serialize for DialectValue<'_, Item> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, item) = *self;
        match item {
            Item::Task(task) => write_wrapped(serializer, dialect, "task", DialectValue(dialect, task)),
            Item::Message(message) => write_wrapped(serializer, dialect, "message", DialectValue(dialect, message)),
            Item::Status(update) => write_wrapped(serializer, dialect, "statusUpdate", DialectValue(dialect, update)),
            Item::Artifact(update) => {
                write_wrapped(serializer, dialect, "artifactUpdate", DialectValue(dialect, update))
            }
        }
    }
}

fn write_wrapped<S: Serializer>(
    serializer: S,
    dialect: Dialect,
    wrapper: &'static str,
    value: impl Serialize,
) -> Result<S::Ok, S::Error> {
    match dialect {
        Dialect::Json03 => value.serialize(serializer),
        Dialect::Proto03 | Dialect::Json10 => {
            let mut object = ObjectWriter::begin(serializer)?;
            object.member(wrapper, &value)?;
            object.end()
        }
    }
}

impl Serialize for DialectValue<'_, StatusUpdate> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, update) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("contextId", &update.context)?;
        object.when(dialect != Dialect::Json10, "final", update.is_final)?;
        object.when(dialect == Dialect::Json03, "kind", "status-update")?;
        object.metadata(&update.metadata)?;
        object.member("status", &DialectValue(dialect, &update.status))?;
        object.member("taskId", &update.task)?;
        object.end()
    }
}

/// The JSON of 0.3 says its flags aloud; protocol buffers leave out what is false.
impl Serialize for DialectValue<'_, ArtifactUpdate> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, update) = *self;
        let is_json_0_3 = dialect == Dialect::Json03;
        let mut object = ObjectWriter::begin(serializer)?;
        object.when(update.append || is_json_0_3, "append", update.append)?;
        object.member("artifact", &DialectValue(dialect, &update.artifact))?;
        object.member("contextId", &update.context)?;
        object.when(is_json_0_3, "kind", "artifact-update")?;
        object.when(update.last_chunk || is_json_0_3, "lastChunk", update.last_chunk)?;
        object.metadata(&update.metadata)?;
        object.member("taskId", &update.task)?;
        object.end()
    }
}
