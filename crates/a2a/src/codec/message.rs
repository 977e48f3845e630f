//! Messages.

use serde_json::Value;

use super::limits::{CLIENT_ID_BYTES_MAX, EXTENSIONS_MAX, PARTS_MAX, REFERENCES_MAX, URL_BYTES_MAX};
use super::read::Fields;
use super::write::Object;
use super::{Dialect, part};
use crate::model::{Message, Part, Role};

/// Reads one message. A client's has an id, the role of a user and at least one part.
pub(super) fn read(mut fields: Fields<'_>) -> Option<Message> {
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
fn check_kind(fields: &mut Fields<'_>, kind: &str) {
    if fields.dialect() == Dialect::Json03 && fields.take("kind").is_some_and(|said| said != kind) {
        fields.odd("kind", &format!("must be {kind}"));
    }
}

fn read_role(fields: &mut Fields<'_>) -> Option<Role> {
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
fn read_parts(fields: &mut Fields<'_>) -> Vec<Part> {
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

/// Writes one message.
pub(super) fn write(dialect: Dialect, message: &Message) -> Value {
    let object = match dialect {
        Dialect::Json03 => Object::new().with("kind", "message"),
        Dialect::Proto03 | Dialect::Json10 => Object::new(),
    };
    let parts = message.parts.iter().map(|part| part::write(dialect, part)).collect::<Vec<_>>();
    let object = object
        .with("messageId", message.id.as_str())
        .with("role", dialect.role_name(message.role))
        .with_some("contextId", message.context.as_deref())
        .with_some("taskId", message.task.as_deref())
        .with_texts("extensions", &message.extensions)
        .with_metadata(&message.metadata);
    match dialect {
        Dialect::Json03 | Dialect::Json10 => {
            object.with("parts", parts).with_texts("referenceTaskIds", &message.references).into()
        }
        Dialect::Proto03 => object.with("content", parts).into(),
    }
}
