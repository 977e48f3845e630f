//! Messages as they are on the wire: a start line, fields and a body.

mod fields;
mod start;

use bytes::Bytes;

pub use fields::{BadField, Fields};
pub use start::{RequestLine, StatusLine};

/// What every start line begins with.
pub const VERSION: &str = "AGTP/1.0";

/// A request: `AGTP/1.0 METHOD [target]`.
pub type Request = Message<RequestLine>;
/// A response: `AGTP/1.0 CODE reason`.
pub type Response = Message<StatusLine>;

/// A message with a start line of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<S> {
    /// The first line.
    pub start: S,
    /// The fields, in order. `Content-Length` is among those that were read, and is written by itself.
    pub fields: Fields,
    /// The body; empty when there is none.
    pub body: Bytes,
}

impl<S> Message<S> {
    /// A message without fields and body.
    pub fn new(start: S) -> Self {
        Self { start, fields: Fields::default(), body: Bytes::new() }
    }

    /// The value of a field, whatever the case of its name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)
    }
}
