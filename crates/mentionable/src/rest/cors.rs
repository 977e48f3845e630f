//! Pages of other origins: opt-in per agent, with exactly the listed values. REST 8.6.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
};
use http::{HeaderMap, HeaderValue};

const HEADERS: &str = "Content-Type, Accept, Accept-Language, Authorization, Signature, Signature-Input, \
                       Mentionable-Identity-Evidence, Mentionable-Identity, X-Mentionable-Identity, X-Mentionable-From";
const EXPOSED: &str = "X-Mentionable-Agent, X-Mentionable-Session, Content-Language";

/// Adds what lets any page read the response. No origin is ever reflected, no credentials allowed.
pub(crate) fn open(head: &mut HeaderMap) {
    head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    head.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
}
