//! What all tests of the codecs share: the dialects, an example of everything, and short ways to read.

mod agents;
mod bounds;
mod hostile;
mod plain;
mod push_shapes;
mod refusals;
mod round_trips;
mod shapes;

use serde_json::{Map, Value};

use super::{Dialect, Method};
use crate::model::{Content, Message, Operation, OperationError, Part, Role, Send};

const DIALECTS: [Dialect; 3] = [Dialect::Json03, Dialect::Proto03, Dialect::Json10];

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        id: "m-1".into(),
        role,
        parts,
        context: None,
        task: None,
        references: Vec::new(),
        extensions: Vec::new(),
        metadata: Map::new(),
    }
}

/// The message of a send that must be readable.
fn sent(dialect: Dialect, params: Value) -> Send {
    match dialect.read_params(Method::Send, params) {
        Ok(Operation::Send(send)) => *send,
        other => panic!("{dialect:?}: {other:?}"),
    }
}

/// The fields that a refusal names.
fn refused(dialect: Dialect, method: Method, params: Value) -> Vec<String> {
    match dialect.read_params(method, params.clone()) {
        Err(OperationError::InvalidParams(violations)) => violations.into_iter().map(|v| v.field).collect(),
        other => panic!("{dialect:?} {params}: {other:?}"),
    }
}

fn named(content: Content, filename: &str, media_type: &str) -> Part {
    Part { filename: Some(filename.into()), media_type: Some(media_type.into()), ..Part::of(content) }
}
