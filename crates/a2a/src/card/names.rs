//! The identifiers and paths of A2A discovery, and Mentionable's words in it.

/// Where the card of a domain is. Hub card 4.
pub(crate) const CARD_PATH: &str = "/.well-known/agent-card.json";
/// Its media type, as catalogs of agents name it.
pub const MEDIA_TYPE: &str = "application/a2a-agent-card+json";
/// Where it was before A2A 0.3; some clients still look there.
pub(crate) const OLD_CARD_PATH: &str = "/.well-known/agent.json";
/// The hub's endpoint; those of agents are below it. Hub card 4.
pub(crate) const HUB_PATH: &str = "/a2a";
/// Where the keys behind our signatures are.
pub const JWKS_PATH: &str = "/.well-known/jwks.json";
/// Where the Mentionable cards of agents are, each under its handle.
pub(crate) const MENTIONABLE_CARDS_PATH: &str = "/.well-known/agent-card/";

/// The extension that says who lives here and who is the default. Hub card 6.
pub const MENTIONABLE: &str = "https://mentionable.dev/ns/v1";
/// What the host calls the protocol of plain HTTP among the endpoints of an agent.
pub(crate) const REST_PROTOCOL: &str = "mentionable";
/// The extension of agents that can be asked over plain HTTP. REST 1.
pub const REST: &str = "https://mentionable.dev/ns/transport-rest/v0.1";
/// The extension of agents whose refusals are policy parts.
pub const POLICY: &str = "https://mentionable.dev/ns/policy/v0.1";
/// What the extension of refusals was called before: read, never written. PolicyPart 1.
pub(crate) const POLICY_ALIAS: &str = "https://mentionable.dev/spec/policy/v0.1";
/// The extension of payments by x402, as its own specification names it.
pub const X402: &str = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2";
/// The same as the transport documents of x402 name it, which most payers look for.
pub const X402_TRANSPORT: &str = "https://github.com/google-a2a/a2a-x402/v0.1";
/// The extension of payments by mandates. AP2 v0.1.
pub const AP2: &str = "https://github.com/google-agentic-commerce/ap2/tree/v0.1";
/// The extension of agents that show their tool calls.
pub const TOOL_EVENTS: &str = "https://mentionable.dev/ns/a2a-tool-events/v0.1";
/// Ours, of agents whose messages are passed on to other hosts: which, the next one first.
pub(crate) const VIA: &str = "urn:forecourt:a2a:via";

/// Who takes messages without a mention. Hub card 2.3.
pub const DEFAULT_AGENT: &str = "https://mentionable.dev/ns/v1#defaultAgent";
/// Who can be mentioned. Hub card 2.3.
pub const AGENTS: &str = "https://mentionable.dev/ns/v1#agents";
/// How messages find them. Hub card 3.6.
pub const ROUTER_TYPE: &str = "https://mentionable.dev/ns/v1#routerType";
/// The JSON-LD context of cards. Hub card 2.3.
pub const CONTEXT: &str = "https://a2a-protocol.org/2025-06-18";
/// The version of Mentionable's part of the card. Hub card 2.3.
pub(crate) const MENTIONABLE_VERSION: &str = "0.1";
/// The version of a hub that is nobody in particular: raised when its routing changes.
pub const HUB_VERSION: &str = "1.0.0";

/// `defaultInputModes` as `default_input_modes`.
pub(crate) fn snake(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}
