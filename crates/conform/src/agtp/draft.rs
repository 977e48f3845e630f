//! This module writes requests, wrong ones too. Base 2.1.

use serde_json::Value;

/// A request in the making. Nothing is judged: a tester sends what nobody else would.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) method: String,
    target: Option<String>,
    pub(crate) fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Draft {
    /// A method at a path.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { target: Some(target.to_owned()), ..Self::without_target(method) }
    }

    /// A method at no path at all, which is the server itself.
    pub(crate) fn without_target(method: &str) -> Self {
        Self { method: method.to_owned(), target: None, fields: Vec::new(), body: Vec::new() }
    }

    /// Another field.
    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A field in place of the one of that name.
    pub(crate) fn instead(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.field(name, value)
    }

    /// Whether it has a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// A body in JSON.
    pub(crate) fn json(self, body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        Self { body, ..self.field("Content-Type", "application/vnd.agtp+json") }
    }

    /// The request as it goes over the wire.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = format!("AGTP/1.0 {}", self.method);
        if let Some(target) = &self.target {
            head.push_str(&format!(" {target}"));
        }
        head.push_str("\r\n");
        for (name, value) in &self.fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        [head.into_bytes(), self.body.clone()].concat()
    }
}
