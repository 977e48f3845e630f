//! Fields in which a message over HTTP says beside its body what it is. MCP 2026-07-28, transports.

use http::HeaderName;

/// The revision that is spoken.
pub(crate) static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a request.
pub(crate) static METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a request is for: the name of a tool, say.
pub(crate) static NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session, in revisions that have them.
pub(crate) static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The method that calls a tool.
pub(crate) const CALL_TOOL: &str = "tools/call";
