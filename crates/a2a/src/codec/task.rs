//! Tasks, their status and their artifacts. Only agents write them.

use forecourt_core::TaskState;
use serde_json::Value;

use super::limits::{ANSWER_ITEMS_MAX, EXTENSIONS_MAX, LABEL_BYTES_MAX, PARTS_MAX, URL_BYTES_MAX};
use super::read::Fields;
use super::write::{Object, moment};
use super::{Dialect, message, part};
use crate::model::{Artifact, Status, Task};

/// Reads one task.
pub(super) fn read(mut fields: Fields<'_>) -> Option<Task> {
    let id = fields.required_id("id");
    let context = fields.expected_id("contextId");
    let status = fields.required("status", read_status);
    let artifacts = fields.objects("artifacts", ANSWER_ITEMS_MAX, read_artifact);
    let history = fields.objects("history", ANSWER_ITEMS_MAX, message::read);
    let metadata = fields.metadata("metadata");
    Some(Task { id: id?, context: context?, status: status?, artifacts, history, metadata })
}

/// Reads where a task stands. What is not known is taken for working.
pub(super) fn read_status(mut fields: Fields<'_>) -> Option<Status> {
    let state = fields.take("state").and_then(|state| Dialect::state_in_any(&state));
    let message = match fields.object("message", message::read) {
        None if fields.dialect() == Dialect::Proto03 => fields.object("update", message::read),
        message => message,
    };
    let timestamp = fields.timestamp("timestamp");
    Some(Status { state: state.unwrap_or(TaskState::Working), message, timestamp })
}

/// Reads one artifact.
pub(super) fn read_artifact(mut fields: Fields<'_>) -> Option<Artifact> {
    let id = fields.expected_id("artifactId");
    let name = fields.text("name", LABEL_BYTES_MAX);
    let description = fields.text("description", LABEL_BYTES_MAX);
    let parts = fields.objects("parts", PARTS_MAX, part::read);
    let extensions = fields.texts("extensions", EXTENSIONS_MAX, URL_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    Some(Artifact { id: id?, name, description, parts, extensions, metadata })
}

/// Writes one task.
pub(super) fn write(dialect: Dialect, task: &Task) -> Value {
    let object = match dialect {
        Dialect::Json03 => Object::new().with("kind", "task"),
        Dialect::Proto03 | Dialect::Json10 => Object::new(),
    };
    object
        .with("id", task.id.as_str())
        .with("contextId", task.context.as_str())
        .with("status", write_status(dialect, &task.status))
        .with_list("artifacts", &task.artifacts, |artifact| write_artifact(dialect, artifact))
        .with_list("history", &task.history, |message| message::write(dialect, message))
        .with_metadata(&task.metadata)
        .into()
}

/// Writes where a task stands.
pub(super) fn write_status(dialect: Dialect, status: &Status) -> Value {
    Object::new()
        .with("state", dialect.state_name(status.state))
        .with_some("message", status.message.as_ref().map(|message| message::write(dialect, message)))
        .with_some("timestamp", status.timestamp.map(moment))
        .into()
}

/// Writes one artifact.
pub(super) fn write_artifact(dialect: Dialect, artifact: &Artifact) -> Value {
    Object::new()
        .with("artifactId", artifact.id.as_str())
        .with_some("name", artifact.name.as_deref())
        .with_some("description", artifact.description.as_deref())
        .with("parts", artifact.parts.iter().map(|part| part::write(dialect, part)).collect::<Vec<_>>())
        .with_texts("extensions", &artifact.extensions)
        .with_metadata(&artifact.metadata)
        .into()
}
