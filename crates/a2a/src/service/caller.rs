//! Who asks, and in which version: what a request says outside of its body.

use std::net::IpAddr;

use forecourt_core::{Address, Handle, Timestamp};
use forecourt_egress::hops;
use forecourt_surface::credentials;
use http::HeaderName;
use http::request::Parts;

use crate::card::names;
use crate::limits::EXTENSIONS_MAX;
use crate::model::Version;
use crate::policy::OfferOrder;
use crate::view::TaskDetail;

/// The fields with the URIs of extensions, of 1.0 and of 0.3.
pub(crate) static EXTENSION_FIELDS: [HeaderName; 2] =
    [HeaderName::from_static("a2a-extensions"), HeaderName::from_static("x-a2a-extensions")];
/// Extensions that can be at work here: those that cards name.
const EXTENSIONS: [&str; 3] = [names::POLICY, names::TOOL_EVENTS, names::MENTIONABLE];
const LAST_EVENT_ID: &str = "last-event-id";

/// One request, without its body's meaning.
pub(crate) struct Caller<'a> {
    /// The agent whose endpoint was called; `None` for the hub.
    pub(crate) agent: Option<Handle>,
    /// The version it speaks.
    pub(crate) version: Version,
    /// Its head.
    pub(crate) head: &'a Parts,
    /// Its raw body, which signatures cover.
    pub(crate) body: Option<&'a [u8]>,
}

impl<'a> Caller<'a> {
    /// What the request brings to prove its sender to the agent of `address`.
    pub(crate) fn proof(&self, address: &'a Address, now: Timestamp) -> credentials::Request<'a> {
        credentials::Request { head: self.head, body: self.body, agent: address, now }
    }

    /// The network address behind it, when a listener said so.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.head.extensions.get::<forecourt_core::ClientAddr>().map(|client| client.0)
    }

    /// Agents in line before this one.
    pub(crate) fn hop(&self) -> u32 {
        hops::read(&self.head.headers)
    }

    /// The extensions that it wants to be at work, under either name of the field.
    pub(crate) fn extensions(&self) -> Vec<String> {
        extensions(&self.head.headers)
    }

    /// Those of them that are at work here, `payments` among them, each once and as cards name it: the name that one
    /// had before is understood, and never written. PolicyPart 1.
    pub(crate) fn extensions_at_work(&self, payments: Vec<&'static str>) -> Vec<&'static str> {
        let asked = self.extensions();
        let asked: Vec<&str> =
            asked.iter().map(|uri| if uri == names::POLICY_ALIAS { names::POLICY } else { uri }).collect();
        EXTENSIONS.into_iter().chain(payments).filter(|known| asked.contains(known)).collect()
    }

    /// Everything of a task, as it is shown to this caller.
    pub(crate) fn detail(&self) -> TaskDetail {
        TaskDetail { offers: OfferOrder::of(&self.extensions()), ..TaskDetail::ALL }
    }

    /// The number of the last event that it has seen.
    pub(crate) fn last_event(&self) -> Option<u64> {
        self.head.headers.get(LAST_EVENT_ID)?.to_str().ok()?.trim().parse().ok()
    }
}

/// The URIs in the fields of extensions, each once, at most [`EXTENSIONS_MAX`].
fn extensions(headers: &http::HeaderMap) -> Vec<String> {
    let fields = EXTENSION_FIELDS.iter().flat_map(|name| headers.get_all(name));
    let uris = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(','));
    let mut found = Vec::new();
    for uri in uris.map(str::trim).filter(|uri| !uri.is_empty()).take(EXTENSIONS_MAX) {
        if !found.iter().any(|known| known == uri) {
            found.push(uri.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn extensions_are_read_under_both_names() {
        let mut headers = HeaderMap::new();
        headers.insert(&EXTENSION_FIELDS[0], HeaderValue::from_static("https://a.example/x, https://b.example/y"));
        headers.insert(&EXTENSION_FIELDS[1], HeaderValue::from_static("https://a.example/x,,https://c.example/z"));
        assert_eq!(extensions(&headers), ["https://a.example/x", "https://b.example/y", "https://c.example/z"]);
    }

    #[test]
    fn extensions_are_bounded() {
        let many = |count: usize| {
            let uris: Vec<String> = (0..count).map(|i| format!("https://a.example/{i}")).collect();
            let mut headers = HeaderMap::new();
            headers.insert(&EXTENSION_FIELDS[0], HeaderValue::from_str(&uris.join(",")).unwrap());
            extensions(&headers).len()
        };
        assert_eq!((many(EXTENSIONS_MAX), many(EXTENSIONS_MAX + 1)), (EXTENSIONS_MAX, EXTENSIONS_MAX));
    }
}
