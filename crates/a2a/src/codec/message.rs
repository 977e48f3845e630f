//! Messages.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::limits::{CLIENT_ID_BYTES_MAX, EXTENSIONS_MAX, PARTS_MAX, REFERENCES_MAX, URL_BYTES_MAX};
use super::read::ObjectReader;
use super::write::{DialectValue, ObjectWriter};
use super::{Dialect, part};
use crate::model::{Message, Part, Role};

/// Reads one message. A client's has an id, the role of a user and at least one part.
pub(super) fn read(mut fields: ObjectReader<'_>) -> Option<Message> {
    check_kind(&mut fields, "message");
    let id = fields.expected_id("messageId");
    let role = read_role(&mut fields);
    let parts = read_parts(&mut fields);
    let context = fields.id("contextId");
    let task = fields.id("taskId");
    let references = fields.texts("referenceTaskIds", REFERENCES_MAX, CLIENT_ID_BYTES_MAX);
    let extensions = fields.texts("extensions", EXTENSIONS_MAX, URL_BYTES_MAX);
    let metadata = fields.metadata("metadata");
    Some(Message { id: id?, role: role?, parts, context, task, references, extensions, metadata })
}

/// In 0.3 an object that says what it is must say the truth. 1.0 has no such field.
fn check_kind(fields: &mut ObjectReader<'_>, kind: &str) {
    if fields.dialect() == Dialect::Json03 && fields.take("kind").is_some_and(|said| said != kind) {
        fields.odd("kind", &format!("must be {kind}"));
    }
}

fn read_role(fields: &mut ObjectReader<'_>) -> Option<Role> {
    if fields.lenient() {
        return Some(fields.take("role").and_then(|role| Dialect::role_in_any(&role)).unwrap_or(Role::Agent));
    }
    let dialect = fields.dialect();
    let role = dialect.role(&fields.demand("role")?);
    if role != Some(Role::User) {
        fields.wrong("role", &format!("must be {}", dialect.role_name(Role::User)));
    }
    role
}

/// The parts; the protocol buffers of 0.3 call them content.
fn read_parts(fields: &mut ObjectReader<'_>) -> Vec<Part> {
    let name = match fields.dialect() {
        Dialect::Proto03 if fields.has("content") || !fields.has("parts") => "content",
        _ => "parts",
    };
    if fields.lenient() {
        return fields.objects(name, PARTS_MAX, part::read);
    }
    match fields.demand(name) {
        Some(Value::Array(none)) if none.is_empty() => {
            fields.wrong(name, "must have at least one item");
            Vec::new()
        }
        Some(list) => fields.objects_in(name, list, PARTS_MAX, part::read),
        None => Vec::new(),
    }
}

impl Serialize for DialectValue<'_, Message> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(dialect, message) = *self;
        let is_proto_0_3 = dialect == Dialect::Proto03;
        let parts = DialectValue(dialect, message.parts.as_slice());
        let mut object = ObjectWriter::begin(serializer)?;
        object.when(is_proto_0_3, "content", parts)?;
        object.some("contextId", message.context.as_deref())?;
        object.texts("extensions", &message.extensions)?;
        object.when(dialect == Dialect::Json03, "kind", "message")?;
        object.member("messageId", &message.id)?;
        object.metadata(&message.metadata)?;
        object.when(!is_proto_0_3, "parts", parts)?;
        // The protocol buffers of 0.3 have no references.
        object.when(!is_proto_0_3 && !message.references.is_empty(), "referenceTaskIds", &message.references)?;
        object.member("role", dialect.role_name(message.role))?;
        object.some("taskId", message.task.as_deref())?;
        object.end()
    }
}
