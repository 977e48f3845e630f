//! This module has the request as it arrived, which proofs are checked against.

use forecourt_core::{Address, Timestamp};
use http::HeaderMap;

/// A request, as far as proofs speak of it.
#[derive(Debug, Clone, Copy)]
pub struct RequestProof<'a> {
    /// The method, as sent.
    pub method: &'a str,
    /// The whole URL as the client wrote it: https, the host from configuration, path and query.
    pub target_uri: &'a str,
    /// Host and port, without the default port.
    pub authority: &'a str,
    /// The path, still encoded.
    pub path: &'a str,
    /// The query without its question mark, still encoded.
    pub query: Option<&'a str>,
    /// All fields.
    pub headers: &'a HeaderMap,
    /// The raw body; `None` when there is none.
    pub body: Option<&'a [u8]>,
    /// The agent that is spoken to: the audience of evidence.
    pub agent: &'a Address,
    /// When it arrived.
    pub now: Timestamp,
}

impl RequestProof<'_> {
    /// The body, empty when there is none.
    pub(crate) fn body(&self) -> &[u8] {
        self.body.unwrap_or_default()
    }
}
