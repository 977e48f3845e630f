//! Pages of other origins: opt-in per agent, with exactly the listed values. REST 8.6.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
};
use http::{HeaderMap, HeaderValue};

/// What pages of other origins may do over one protocol. Each is a list with commas.
#[derive(Debug, Clone, Copy)]
pub struct Cors {
    /// The methods they may use.
    pub methods: &'static str,
    /// The request fields they may set.
    pub fields: &'static str,
    /// The response fields they may read beside the usual ones.
    pub exposed: &'static str,
}

impl Cors {
    /// Adds what lets any page read the response. No origin is ever reflected, no credentials allowed.
    pub fn open(&self, head: &mut HeaderMap) {
        head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(self.methods));
        head.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(self.fields));
        head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(self.exposed));
    }
}
