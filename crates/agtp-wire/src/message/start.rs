//! This module has the start lines of requests and responses. What a method or a path must be is checked elsewhere.

/// The first line of a request, as it was sent: neither the method nor the target is checked beyond
/// what keeps the line one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLine {
    /// The method, in the case in which it was sent.
    pub method: String,
    /// Path and query. `None`: the line ends with the method, which means `/` and tells a question to
    /// the server from one to its root. Base 2.1, 2.6.
    pub target: Option<String>,
}

impl RequestLine {
    /// A method on a target.
    pub fn new(method: impl Into<String>, target: impl Into<String>) -> Self {
        Self { method: method.into(), target: Some(target.into()) }
    }

    /// The path: everything before the first `?`. AGTP-API 5.5.
    pub fn path(&self) -> &str {
        let target = self.target.as_deref().unwrap_or("/");
        target.split_once('?').map_or(target, |(path, _)| path)
    }

    /// The query: everything behind the first `?`. AGTP-API 5.5.
    pub fn query(&self) -> Option<&str> {
        Some(self.target.as_deref()?.split_once('?')?.1)
    }
}

/// The first line of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    /// Three digits.
    pub code: u16,
    /// What they mean, for people.
    pub reason: String,
}

impl StatusLine {
    /// A code with its meaning.
    pub fn new(code: u16, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}
