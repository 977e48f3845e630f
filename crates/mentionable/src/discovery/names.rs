//! The identifiers of Mentionable: what we write, and what we still understand.

use serde_json::Value;

/// An identifier, and the one that it had before, which is accepted and never written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// What we write.
    pub canonical: &'static str,
    /// What we also read.
    pub legacy: &'static str,
}

/// The extension of agents that can be reached over plain HTTP. REST 1.
pub const TRANSPORT_REST: Name = Name {
    canonical: "https://mentionable.dev/ns/transport-rest/v0.1",
    legacy: "https://mentionable.dev/spec/transport-rest/v0.1",
};
/// The extension of agents whose refusals are policy parts.
pub const POLICY: Name =
    Name { canonical: "https://mentionable.dev/ns/policy/v0.1", legacy: "https://mentionable.dev/spec/policy/v0.1" };
/// The extension of agents that show their tool calls.
pub const TOOL_EVENTS: Name = Name {
    canonical: "https://mentionable.dev/ns/a2a-tool-events/v0.1",
    legacy: "https://mentionable.dev/spec/a2a-tool-events/v0.1",
};
/// The link from an address to its card.
pub const REL_AGENT_CARD: Name =
    Name { canonical: "https://mentionable.dev/ns/rel/agent-card", legacy: "https://mentionable.dev/agent-card" };
/// The link from an address to a page for people.
pub const REL_PROFILE_PAGE: &str = "http://webfinger.net/rel/profile-page";
/// From an address to its actor. WebFinger 2.3.
pub const REL_SELF: &str = "self";
/// From an address to its mailbox. WebFinger 2.3.
pub const REL_MAILTO: &str = "mailto";
/// The key of a contact's protocols in a directory.
pub const TERM_PROTOCOLS: &str = "https://mentionable.dev/ns/v1#protocols";
/// The key of a contact's lookup URL in a directory.
pub const TERM_WEBFINGER: &str = "https://mentionable.dev/ns/v1#webfinger";
/// The version of the card's shape.
pub const PROTOCOL_VERSION: &str = "0.1";
/// What this transport is called where cards and directories list protocols.
pub const REST: &str = "rest";

/// Where addresses are looked up. RFC 7033 4.
pub const WEBFINGER_PATH: &str = "/.well-known/webfinger";
/// Where cards are, each under its local part.
pub const CARDS_PATH: &str = "/.well-known/agent-card/";
/// Where the agents of a domain are listed.
pub const DIRECTORY_PATH: &str = "/.well-known/mentionable-agents.json";
/// Where the keys of a domain are.
pub const JWKS_PATH: &str = "/.well-known/jwks.json";

impl Name {
    /// The first entry whose `key` is this name; one with the name of today goes before one with the
    /// name of yesterday.
    pub(crate) fn pick<'a>(self, entries: &'a [Value], key: &str) -> Option<(usize, &'a Value)> {
        let named = |name: &str| entries.iter().enumerate().find(|(_, entry)| entry[key] == *name);
        named(self.canonical).or_else(|| named(self.legacy))
    }
}
