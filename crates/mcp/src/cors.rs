//! Pages of other origins: the ones that may connect, and no other.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
};
use http::{HeaderMap, HeaderValue};

const HEADERS: &str = "Content-Type, Accept, Accept-Language, Authorization, Last-Event-ID, Mcp-Session-Id, \
                       MCP-Protocol-Version, Mcp-Method, Mcp-Name";
const EXPOSED: &str = "WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, Retry-After";

/// Lets pages of `origin`, which is allowed, read the response. Cookies have no part in it.
pub(crate) fn open(head: &mut HeaderMap, origin: HeaderValue) {
    head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    head.append(VARY, HeaderValue::from_static("Origin"));
    head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}

/// What a browser asks before it lets such a page make a request.
pub(crate) fn preflight(head: &mut HeaderMap, asked: &HeaderMap) {
    head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    // Tools may name fields of their own (`Mcp-Param-…`), so what is asked for is allowed.
    let usual = HeaderValue::from_static(HEADERS);
    head.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned().unwrap_or(usual));
    head.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}
