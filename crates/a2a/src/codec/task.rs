//! Tasks, their status and their artifacts. Only agents write them.

use forecourt_core::TaskState;
use serde::ser::{Serialize, Serializer};

use super::limits::{ANSWER_ITEMS_MAX, EXTENSIONS_MAX, LABEL_BYTES_MAX, PARTS_MAX, URL_BYTES_MAX};
use super::read::ObjectReader;
use super::write::{DialectValue, Moment, ObjectWriter};
use super::{Dialect, message, part};
use crate::model::{Artifact, Status, Task};

/// Reads a task. `None`, with the reason noted, without an id or a status.
pub(super) fn read(mut fields: ObjectReader<'_>) -> Option<Task> {
    let id = fields.required_id("id");
    let context = fields.expected_id("contextId");
    let status = fields.required("status", read_status);
    let artifacts = fields.objects("artifacts", ANSWER_ITEMS_MAX, read_artifact);
    let history = fields.objects("history", ANSWER_ITEMS_MAX, message::read);
    let metadata = fields.metadata("metadata");
    Some(Task { id: id?, context: context?, status: status?, artifacts, history, metadata })
}

/// Reads where a task stands. What is not known is taken for working.
pub(super) fn read_status(mut fields: ObjectReader<'_>) -> Option<Status> {
    let state = fields.take("state").and_then(|state| Dialect::state_in_any(&state));
    let message = match fields.object("message", message::read) {
        None if fields.dialect() == Dialect::Proto03 => fields.object("update", message::read),
        message => message,
    };
    let timestamp = fields.timestamp("timestamp");
    Some(Status { state: state.unwrap_or(TaskState::Working), message, timestamp })
}

/// Reads one artifact.
pub(super) fn read_artifact(mut fields: ObjectReader<'_>) -> Option<Artifact> {
    let id = fields.expected_id("artifactId");
    let name = fields.text("name", LABEL_BYTES_MAX);
    let description = fields.text("description", LABEL_BYTES_MAX);
    let parts = fields.objects("parts", PARTS_MAX, part::read);
    let extensions = fields.texts("extensions", EXTENSIONS_MAX, URL_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    Some(Artifact { id: id?, name, description, parts, extensions, metadata })
}

impl Serialize for DialectValue<'_, Task> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, task) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.when(!task.artifacts.is_empty(), "artifacts", DialectValue(dialect, task.artifacts.as_slice()))?;
        object.member("contextId", &task.context)?;
        object.when(!task.history.is_empty(), "history", DialectValue(dialect, task.history.as_slice()))?;
        object.member("id", &task.id)?;
        object.when(dialect == Dialect::Json03, "kind", "task")?;
        object.metadata(&task.metadata)?;
        object.member("status", &DialectValue(dialect, &task.status))?;
        object.end()
    }
}

impl Serialize for DialectValue<'_, Status> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, status) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.some("message", status.message.as_ref().map(|message| DialectValue(dialect, message)))?;
        object.member("state", dialect.state_name(status.state))?;
        object.some("timestamp", status.timestamp.map(Moment))?;
        object.end()
    }
}

impl Serialize for DialectValue<'_, Artifact> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, artifact) = *self;
        let mut object = ObjectWriter::begin(serializer)?;
        object.member("artifactId", &artifact.id)?;
        object.some("description", artifact.description.as_deref())?;
        object.texts("extensions", &artifact.extensions)?;
        object.metadata(&artifact.metadata)?;
        object.some("name", artifact.name.as_deref())?;
        object.member("parts", &DialectValue(dialect, artifact.parts.as_slice()))?;
        object.end()
    }
}
