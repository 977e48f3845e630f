//! What the outside calls a place.

use crate::address::{Address, Domain, Handle};

/// What the outside calls this place. Comes from configuration, never from a request.
#[derive(Debug, Clone)]
pub struct Site {
    /// The domain of every address here; its name is the canonical host.
    pub domain: Domain,
    /// A name to show.
    pub name: String,
    /// The base of every published URL, `https://host[:port]`, without a trailing slash.
    pub origin: String,
}

impl Site {
    /// The canonical host with its port, when that is not 443: what URLs of refusals are bound to.
    pub fn canonical_host(&self) -> &str {
        self.origin.strip_prefix("https://").unwrap_or(&self.origin)
    }

    /// The address of an agent here.
    pub fn address(&self, handle: &Handle) -> Address {
        Address::new(handle.clone(), self.domain.clone())
    }

    /// An absolute URL for a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}
