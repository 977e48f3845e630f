//! Cards of others, in whatever form they come: 0.3, 1.0, or both in one. What is not understood is
//! passed over; what can't be used is no card.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Skill;
use serde_json::Value;

use super::binding::{Binding, is_reachable};
use super::limits::{AGENTS_READ_MAX, ENTRIES_READ_MAX, INTERFACES_READ_MAX, SIGNATURES_MAX};
use super::names::{AGENTS, DEFAULT_AGENT, MENTIONABLE, VIA, snake};
use super::shape::SCHEME_KINDS;
use super::validate::Problem;
use crate::model::Version;

/// What a card of somebody else says.
#[derive(Debug, Clone)]
pub struct RemoteCard {
    /// A name to show.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The version of the agent; may be empty.
    pub version: String,
    /// Where it can be reached, in the order of its preference; never empty.
    pub interfaces: Vec<Interface>,
    /// Whether it streams.
    pub streaming: bool,
    /// Whether it posts to webhooks.
    pub push: bool,
    /// Whether it shows more to callers that it knows.
    pub extended: bool,
    /// What it has beyond A2A.
    pub extensions: Vec<Extension>,
    /// What it can do.
    pub skills: Vec<Skill>,
    /// The media types that it takes; empty when it does not say.
    pub input_modes: Vec<String>,
    /// The media types that it gives; empty when it does not say.
    pub output_modes: Vec<String>,
    /// A picture; may be anything.
    pub icon: Option<String>,
    /// A page about it; may be anything.
    pub documentation: Option<String>,
    /// The hosts that it passes messages on to, the next one first; empty when it does not say.
    pub via: Vec<String>,
    /// Who takes messages without a mention, if it is a hub.
    pub default_agent: Option<String>,
    /// Who can be mentioned, if it is a hub.
    pub agents: Vec<AgentRef>,
    /// How callers may identify themselves.
    pub schemes: Vec<Scheme>,
    /// Its signatures, not verified.
    pub signatures: Vec<CardSignature>,
}

/// One way to reach an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Absolute: https, or http on loopback; for gRPC also `host:port`.
    pub url: String,
    /// Over what.
    pub binding: Binding,
    /// In which version.
    pub version: Version,
    /// What every request must then repeat.
    pub tenant: Option<String>,
}

/// Something that an agent has beyond A2A.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Names it.
    pub uri: String,
    /// Whether requests must name it.
    pub required: bool,
}

/// One agent of a hub, as the hub says. Hub card 6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRef {
    /// Its local part.
    pub handle: String,
    /// A name to show.
    pub name: String,
    /// Where its own card is.
    pub card_url: Option<String>,
    /// A paragraph about it.
    pub description: Option<String>,
}

/// One way for callers to identify themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheme {
    /// What requirements call it.
    pub name: String,
    /// `apiKey`, `http`, `oauth2`, `openIdConnect`, `mutualTLS`, or whatever else the card says; empty when it says
    /// nothing.
    pub kind: String,
}

/// One signature of a card, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSignature {
    /// The protected header, encoded.
    pub protected: String,
    /// The signature, encoded.
    pub signature: String,
    /// Which key it says it was made with.
    pub kid: Option<String>,
    /// Where it says the keys are. Whether that place is to be trusted is for the caller to say.
    pub jku: Option<String>,
}

impl RemoteCard {
    /// The first interface of a binding and version.
    pub fn interface(&self, binding: Binding, version: Version) -> Option<&Interface> {
        self.interfaces.iter().find(|one| one.binding == binding && one.version == version)
    }
}

/// Reads a card. Fails when it has no name or no interface that can be used: others' lies (URLs
/// without TLS, unknown bindings) are left out, and may leave nothing.
pub fn read(card: &Value) -> Result<RemoteCard, Vec<Problem>> {
    let name = text(card, "name").filter(|name| !name.is_empty());
    let interfaces = interfaces(card);
    let mut problems = Vec::new();
    if name.is_none() {
        problems.push(Problem::new("/name", "a card has a name"));
    }
    if interfaces.is_empty() {
        problems.push(Problem::new("/supportedInterfaces", "no interface of A2A 0.3 or 1.0 over https is named"));
    }
    let (Some(name), true) = (name, problems.is_empty()) else { return Err(problems) };
    let capabilities = field(card, "capabilities").unwrap_or(&Value::Null);
    let hub = Hub::of(card);
    Ok(RemoteCard {
        name: name.to_owned(),
        description: text(card, "description").unwrap_or_default().to_owned(),
        version: text(card, "version").unwrap_or_default().to_owned(),
        interfaces,
        streaming: flag(capabilities, "streaming"),
        push: flag(capabilities, "pushNotifications"),
        extended: flag(capabilities, "extendedAgentCard") || flag(card, "supportsAuthenticatedExtendedCard"),
        extensions: list(capabilities, "extensions").iter().take(ENTRIES_READ_MAX).filter_map(extension).collect(),
        skills: list(card, "skills").iter().take(ENTRIES_READ_MAX).filter_map(skill).collect(),
        input_modes: strings(card, "defaultInputModes"),
        output_modes: strings(card, "defaultOutputModes"),
        icon: text(card, "iconUrl").map(str::to_owned),
        documentation: text(card, "documentationUrl").map(str::to_owned),
        via: params(card, VIA).map(|params| strings(params, "hosts")).unwrap_or_default(),
        default_agent: hub.default_agent.map(str::to_owned),
        agents: hub.agents.iter().take(AGENTS_READ_MAX).filter_map(agent).collect(),
        schemes: schemes(card),
        signatures: list(card, "signatures").iter().take(SIGNATURES_MAX).filter_map(signature).collect(),
    })
}

/// Mentionable's part of a card: under its own keys, or in the extension that repeats them for
/// parsers that drop what they don't know.
struct Hub<'a> {
    default_agent: Option<&'a str>,
    agents: &'a [Value],
}

impl<'a> Hub<'a> {
    fn of(card: &'a Value) -> Self {
        let params = params(card, MENTIONABLE).unwrap_or(&Value::Null);
        let keys = list(card, AGENTS);
        Self {
            default_agent: text(card, DEFAULT_AGENT).or_else(|| text(params, "defaultAgent")),
            agents: if keys.is_empty() { list(params, "agents") } else { keys },
        }
    }
}

/// The key under which a hub's card says something else than in its extension. Signatures cover the extension, and not
/// the keys beside it.
pub(crate) fn contradiction(card: &Value) -> Option<&'static str> {
    let params = params(card, MENTIONABLE)?;
    let twice = [(DEFAULT_AGENT, "defaultAgent"), (AGENTS, "agents")].into_iter();
    let mut differing = twice.filter(|(key, param)| {
        let (own, repeated) = (card.get(key), params.get(param));
        own.is_some() && repeated.is_some() && own != repeated
    });
    differing.next().map(|(key, _)| key)
}

/// The parameters of an extension.
fn params<'a>(card: &'a Value, uri: &str) -> Option<&'a Value> {
    let extensions = list(field(card, "capabilities")?, "extensions");
    extensions.iter().find(|one| text(one, "uri") == Some(uri))?.get("params")
}

/// Those of 1.0 in their order, then what 0.3 says of itself.
fn interfaces(card: &Value) -> Vec<Interface> {
    let current = list(card, "supportedInterfaces").iter().map(|one| {
        let version = text(one, "protocolVersion").map_or(Some(Version::V1_0), version);
        (text(one, "url"), text(one, "protocolBinding").unwrap_or("JSONRPC"), version, text(one, "tenant"))
    });
    let own = text(card, "protocolVersion").map_or(Some(Version::V0_3), version);
    let main = (text(card, "url"), text(card, "preferredTransport").unwrap_or("JSONRPC"), own, None);
    let additional = list(card, "additionalInterfaces").iter();
    let additional = additional.map(|one| (text(one, "url"), text(one, "transport").unwrap_or_default(), own, None));
    let mut found: Vec<Interface> = Vec::new();
    for (url, name, version, tenant) in current.chain([main]).chain(additional).take(INTERFACES_READ_MAX) {
        let (Some(url), Some(binding), Some(version)) = (url, Binding::named(name), version) else { continue };
        // A card for both versions lists its main URL in `supportedInterfaces` and as `url`.
        let known = found.iter().any(|one| (one.url.as_str(), one.binding, one.version) == (url, binding, version));
        if !known && is_reachable(url, binding) {
            let tenant = tenant.filter(|tenant| !tenant.is_empty()).map(str::to_owned);
            found.push(Interface { url: url.to_owned(), binding, version, tenant });
        }
    }
    found
}

/// Patch numbers mean nothing on the wire. Versions before 0.3 are read as 0.3, whose shapes they had.
fn version(text: &str) -> Option<Version> {
    match text.split('.').next() {
        Some("0") => Some(Version::V0_3),
        Some("1") => Some(Version::V1_0),
        _ => None,
    }
}

fn extension(value: &Value) -> Option<Extension> {
    Some(Extension { uri: text(value, "uri")?.to_owned(), required: flag(value, "required") })
}

fn skill(value: &Value) -> Option<Skill> {
    let id = text(value, "id")?;
    Some(Skill {
        id: id.to_owned(),
        name: text(value, "name").unwrap_or(id).to_owned(),
        description: text(value, "description").unwrap_or_default().to_owned(),
        tags: strings(value, "tags"),
        examples: strings(value, "examples"),
    })
}

fn agent(value: &Value) -> Option<AgentRef> {
    let handle = text(value, "handle")?;
    Some(AgentRef {
        handle: handle.to_owned(),
        name: text(value, "name").unwrap_or(handle).to_owned(),
        card_url: text(value, "card_url").map(str::to_owned),
        description: text(value, "description").map(str::to_owned),
    })
}

fn schemes(card: &Value) -> Vec<Scheme> {
    let named = field(card, "securitySchemes").and_then(Value::as_object).into_iter().flatten();
    let kind = |scheme: &Value| {
        // 0.3 says the kind in `type`, 1.0 by the one member that is there.
        let member = SCHEME_KINDS.iter().find(|(_, member)| field(scheme, member).is_some());
        text(scheme, "type").or(member.map(|(kind, _)| *kind)).unwrap_or_default().to_owned()
    };
    named.take(ENTRIES_READ_MAX).map(|(name, scheme)| Scheme { name: name.clone(), kind: kind(scheme) }).collect()
}

fn signature(value: &Value) -> Option<CardSignature> {
    let protected = text(value, "protected")?;
    let header = URL_SAFE_NO_PAD.decode(protected).ok().and_then(|bytes| forecourt_core::json::parse(&bytes).ok());
    let claim = |name: &str| text(header.as_ref()?, name).map(str::to_owned);
    Some(CardSignature {
        protected: protected.to_owned(),
        signature: text(value, "signature")?.to_owned(),
        kid: claim("kid"),
        jku: claim("jku"),
    })
}

/// A member by its name, or by the name it has in the protocol buffers, which their JSON may use too.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).or_else(|| value.get(snake(name)))
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    field(value, name)?.as_str()
}

fn flag(value: &Value, name: &str) -> bool {
    field(value, name).and_then(Value::as_bool).unwrap_or(false)
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    field(value, name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn strings(value: &Value, name: &str) -> Vec<String> {
    list(value, name).iter().take(ENTRIES_READ_MAX).filter_map(|one| Some(one.as_str()?.to_owned())).collect()
}
