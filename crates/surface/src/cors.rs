//! This module writes the CORS fields: for agents that opt in, and for the sites that may embed the search box, with
//! exactly the listed values. REST 8.6. It decides for no origin by itself.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS,
};
use http::header::{ACCESS_CONTROL_MAX_AGE, VARY};
use http::{HeaderMap, HeaderValue};

/// What pages of other origins may do over one protocol. Each field is a comma-separated list, as it stands in the
/// header.
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
    /// Adds what lets pages of one origin read the response: one that the operator lists. No credentials allowed.
    pub fn admit(&self, head: &mut HeaderMap, origin: &HeaderValue) {
        self.open(head);
        head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        head.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }

    /// Marks a response as depending on `Origin`. Also where no origin is admitted, or a cache would give the answer
    /// for one origin to another.
    pub fn depends_on_origin(head: &mut HeaderMap) {
        head.append(VARY, HeaderValue::from_static("Origin"));
    }

    /// Adds what lets any page read the response. No origin is ever reflected, no credentials allowed.
    pub fn open(&self, head: &mut HeaderMap) {
        head.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        head.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(self.methods));
        head.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(self.fields));
        head.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(self.exposed));
    }
}
