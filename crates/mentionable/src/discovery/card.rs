//! The card of an agent, from how the agent describes itself.

use forecourt_core::{AgentCard, Timestamp};
use forecourt_identity::{HostKeys, PublicKey, Verifier};

use super::names::{POLICY, PROTOCOL_VERSION, REST, TOOL_EVENTS, TRANSPORT_REST};
use super::webfinger::ACTOR;
use super::wire::{A2a, Actor, Auth, Capabilities, Card, Extension, Icon, Mentionable, Skill};
use crate::NAME;

/// The protocol whose endpoint stands in `a2a.endpoint`, where the host speaks it.
const A2A: &str = "a2a";

/// The card of an agent as the world sees it at `now`. Agent card 3.
pub(crate) fn card<'a>(card: &'a AgentCard, keys: &HostKeys, verifier: &'a Verifier, now: Timestamp) -> Card<'a> {
    Card {
        address: card.address.to_string(),
        name: &card.name,
        description: &card.description,
        icon: card.icon.as_ref().map(|icon| Icon { url: &icon.url, mime: icon.mime.as_deref() }),
        version: &card.version,
        protocol_version: PROTOCOL_VERSION,
        a2a: a2a(card, auth(verifier)),
        activitypub: card.endpoint(ACTOR).map(|url| actor(card, url)),
        mentionable: Mentionable {
            supported_inbound: protocols(card),
            homepage: card.homepage.as_deref(),
            signing_key: keys.current().public().to_card(),
            previous_signing_keys: keys.previous(now).map(PublicKey::to_card).collect(),
        },
    }
}

/// The actor of an agent, with its boxes below it.
fn actor<'a>(card: &AgentCard, url: &'a str) -> Actor<'a> {
    Actor {
        kind: "Service",
        actor: url,
        inbox: format!("{url}/inbox"),
        outbox: format!("{url}/outbox"),
        preferred_username: card.handle().to_string(),
    }
}

/// The protocols over which an agent can be reached, in the order of the host, as cards and
/// directories name them.
pub(crate) fn protocols(card: &AgentCard) -> Vec<&'static str> {
    let mut names = Vec::with_capacity(card.endpoints.len());
    for endpoint in &card.endpoints {
        let name = if endpoint.protocol == NAME { REST } else { endpoint.protocol };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// An agent that has no endpoint of that protocol can still be reached: at its REST endpoint.
fn a2a<'a>(card: &'a AgentCard, auth: Auth<'a>) -> A2a<'a> {
    let rest = card.endpoint(NAME);
    let own = card.endpoint(A2A);
    let transport = match (card.streams, own) {
        (true, _) => "https+sse",
        (false, Some(_)) => "https+jsonrpc",
        (false, None) => "https+json",
    };
    A2a {
        endpoint: own.or(rest).unwrap_or_default(),
        transport,
        capabilities: Capabilities {
            streaming: card.streams,
            // Webhooks and callbacks are the host's, whatever the agent. REST 5.4, 5.5.
            push_notifications: true,
            state_transition_history: false,
            extensions: extensions(card, rest),
        },
        skills: card.skills.iter().map(skill).collect(),
        input_modes: &card.input_modes,
        output_modes: &card.output_modes,
        auth,
    }
}

fn extensions<'a>(card: &AgentCard, rest: Option<&'a str>) -> Vec<Extension<'a>> {
    let extension = |uri, description| Extension { uri, description, required: false, endpoint: None };
    let rest = rest.map(|endpoint| Extension {
        endpoint: Some(endpoint),
        ..extension(TRANSPORT_REST.canonical, "Plain HTTP: ask with GET ?user=… or POST multipart/form-data.")
    });
    let policy = extension(POLICY.canonical, "Refusals say what to do next.");
    let tools = extension(TOOL_EVENTS.canonical, "Tool calls are shown as they happen.");
    rest.into_iter().chain([policy]).chain(card.uses_tools.then_some(tools)).collect()
}

fn skill(skill: &forecourt_core::Skill) -> Skill<'_> {
    Skill { id: &skill.id, name: &skill.name, description: &skill.description, examples: &skill.examples }
}

/// The first issuer whose tokens are taken; nobody has to bring one unless the agent's policy asks.
fn auth(verifier: &Verifier) -> Auth<'_> {
    match verifier.token_issuers().next() {
        None => Auth::None,
        Some(issuer) => Auth::BearerJwt { issuer: issuer.issuer, jwks_uri: issuer.jwks_url, audience: issuer.audience },
    }
}
