//! What a card says, whatever its form: gathered from the agents, the site and the settings.

use std::fmt::Write;

use forecourt_core::Site;
use forecourt_core::{AgentCard, ContentMode, Skill};
use forecourt_host::{Directory, HostedAgent};
use forecourt_identity::Verifier;
use forecourt_surface::BaseUrl;
use serde::Serialize;

use super::limits::{HANDLES_NAMED_MAX, ISSUERS_NAMED_MAX, SKILLS_LISTED_MAX};
use super::names::{self, HUB_PATH, HUB_VERSION, MENTIONABLE_CARDS_PATH};
use super::settings::CardSettings;

/// What every agent takes and gives unless it says otherwise.
const PLAIN_TEXT: &str = "text/plain";
/// What skills that are called by name take and give.
const DATA: &str = "application/json";
/// A list of links. RFC 2483 5.
const LINKS: &str = "text/uri-list";

/// The facts of one card.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) version: String,
    /// The endpoint of JSON-RPC, and the base of HTTP+JSON. Design 19.
    pub(crate) url: String,
    /// `host:port`, where gRPC is shown.
    pub(crate) grpc: Option<String>,
    /// Whom a call over gRPC is for, which knows no paths; absent on the hub. A2A 1.0 4.4.6.
    pub(crate) tenant: Option<String>,
    pub(crate) organization: String,
    /// The site's own page.
    pub(crate) home: String,
    pub(crate) documentation: Option<String>,
    pub(crate) icon: Option<String>,
    pub(crate) skills: Vec<ListedSkill>,
    /// Where it can be asked over plain HTTP; on a hub each of its agents, the default one first.
    pub(crate) rest: Vec<RestEndpoint>,
    pub(crate) input_modes: Vec<String>,
    pub(crate) output_modes: Vec<String>,
    pub(crate) uses_tools: bool,
    /// The extensions by which it may be paid.
    pub(crate) payments: Vec<&'static str>,
    /// What callers may identify themselves with; absent when nothing is looked at.
    pub(crate) bearer: Option<BearerTokens>,
    /// Whether callers who are known see more.
    pub(crate) has_extended: bool,
    /// Who lives behind it, on the card of a hub.
    pub(crate) hub: Option<Hub>,
    /// The hosts that messages are passed on to, on the card of an agent.
    pub(crate) via: Vec<String>,
}

/// The tokens that are taken.
#[derive(Debug, Clone)]
pub(crate) struct BearerTokens {
    /// Whose they are, in words.
    pub(crate) description: String,
    /// Whether they are signed tokens.
    pub(crate) are_jwt: bool,
    /// Whether nobody is answered without one.
    pub(crate) are_required: bool,
}

/// A skill with what it takes and gives.
#[derive(Debug, Clone)]
pub(crate) struct ListedSkill {
    pub(crate) skill: Skill,
    pub(crate) input_modes: Vec<String>,
    pub(crate) output_modes: Vec<String>,
}

/// Where an agent can be asked over plain HTTP.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RestEndpoint {
    handle: String,
    pub(crate) endpoint: String,
}

/// Who lives behind a hub. Hub card 6.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    pub(crate) default_agent: String,
    pub(crate) agents: Vec<Sibling>,
}

/// One agent of a hub. Hub card 6, `MentionableAgentRef`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sibling {
    handle: String,
    name: String,
    card_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
}

/// What all cards of one host share.
#[derive(Clone, Copy)]
pub(crate) struct CardContext<'a> {
    pub(crate) site: &'a Site,
    /// What its URLs begin with.
    pub(crate) base: BaseUrl<'a>,
    pub(crate) verifier: &'a Verifier,
    pub(crate) settings: &'a CardSettings,
    /// Whether this card names gRPC, where that is spoken.
    pub(crate) shows_grpc: bool,
}

/// The hub's card: a host of one agent is that agent, a host of several is their router.
/// Hub card 2.1, 2.2.
pub(crate) fn hub(place: CardContext<'_>, directory: &Directory) -> Facts {
    let default = &directory.default_agent().card;
    let mut facts = of_agent(place, default, place.base.url(HUB_PATH));
    if directory.iter().nth(1).is_some() {
        facts.name.clone_from(&place.site.name);
        facts.description = routing(directory, default);
        facts.version = place.settings.hub_version.as_deref().unwrap_or(HUB_VERSION).to_owned();
        facts.documentation = None;
        facts.icon = None;
    }
    let wants_token = directory.iter().all(|resident| resident.card.wants_token);
    facts.bearer = bearer(place.verifier, wants_token);
    facts.uses_tools = directory.iter().any(|resident| resident.card.uses_tools);
    facts.rest = directory.iter().filter_map(|resident| rest(place, &resident.card)).collect();
    if !place.settings.skills.is_empty() {
        facts.skills.extend(place.settings.skills.iter().map(called_by_name));
        facts.skills.truncate(SKILLS_LISTED_MAX);
        [&mut facts.input_modes, &mut facts.output_modes].into_iter().for_each(add_data);
    }
    // A hub is nobody's front: it has each of its agents where that one is.
    facts.via = Vec::new();
    facts.hub = Some(Hub {
        default_agent: default.handle().to_string(),
        agents: directory.iter().map(|resident| sibling(place.base, resident)).collect(),
    });
    facts
}

/// The hub's card for callers that are known: the skills of everybody, each under its agent's handle.
pub(crate) fn extended_hub(place: CardContext<'_>, directory: &Directory) -> Facts {
    let mut facts = hub(place, directory);
    let all = directory.iter().flat_map(|resident| {
        let handle = resident.card.handle();
        skills(&resident.card).into_iter().map(move |mut listed| {
            listed.skill.id = format!("{handle}/{}", listed.skill.id);
            listed
        })
    });
    // The default agent's own come first, under the names that strangers know.
    facts.skills.extend(all);
    facts.skills.truncate(SKILLS_LISTED_MAX);
    facts
}

/// The card of one agent at its own endpoint. Hub card 4.
pub(crate) fn agent(place: CardContext<'_>, card: &AgentCard) -> Facts {
    let facts = of_agent(place, card, place.base.url(&format!("{HUB_PATH}/{}", card.handle())));
    Facts { tenant: Some(card.handle().to_string()), ..facts }
}

fn of_agent(place: CardContext<'_>, card: &AgentCard, url: String) -> Facts {
    Facts {
        name: card.name.clone(),
        description: or(&card.description, || format!("{} at {}.", card.name, card.address)),
        version: card.version.clone(),
        url,
        grpc: place.settings.grpc.as_deref().filter(|_| place.shows_grpc).map(|host| {
            // The plain listener carries gRPC as well as the one with TLS does.
            place.base.plain().map_or_else(|| with_port(host), |_| with_port(place.base.authority()))
        }),
        tenant: None,
        organization: place.settings.organization.as_ref().unwrap_or(&place.site.name).clone(),
        home: place.base.url("/"),
        documentation: card.homepage.clone(),
        icon: card.icon.as_ref().map(|icon| icon.url.clone()),
        skills: skills(card),
        rest: rest(place, card).into_iter().collect(),
        input_modes: media_types(&card.input_modes),
        output_modes: media_types(&card.output_modes),
        uses_tools: card.uses_tools,
        payments: place.settings.payments.clone(),
        bearer: bearer(place.verifier, card.wants_token),
        has_extended: place.verifier.token_issuers().next().is_some(),
        hub: None,
        via: card.via.clone(),
    }
}

fn sibling(base: BaseUrl<'_>, resident: &HostedAgent) -> Sibling {
    let card = &resident.card;
    Sibling {
        handle: card.handle().to_string(),
        name: card.name.clone(),
        card_url: base.url(&format!("{MENTIONABLE_CARDS_PATH}{}", card.handle())),
        description: card.description.clone(),
    }
}

/// How a message finds its agent, in words that people and models understand. Hub card 2.3: MUST.
fn routing(directory: &Directory, default: &AgentCard) -> String {
    let mut text = String::from("Mentionable router. Mention @<handle> in messages to address a specific agent (");
    for (index, resident) in directory.iter().take(HANDLES_NAMED_MAX).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{}", resident.card.handle());
    }
    let more = directory.iter().count().saturating_sub(HANDLES_NAMED_MAX);
    if more > 0 {
        let _ = write!(text, ", and {more} more");
    }
    let _ = write!(text, "). Without a mention, messages route to {}.", default.handle());
    text
}

/// The skills of an agent, complete as 0.3 wants them. One without any can be talked to.
fn skills(card: &AgentCard) -> Vec<ListedSkill> {
    let (input_modes, output_modes) = (media_types(&card.input_modes), media_types(&card.output_modes));
    let listed = |skill| ListedSkill { skill, input_modes: input_modes.clone(), output_modes: output_modes.clone() };
    if card.skills.is_empty() {
        return vec![listed(Skill {
            id: "chat".to_owned(),
            name: "chat".to_owned(),
            description: format!("Natural-language chat with {}.", card.name),
            tags: vec!["chat".to_owned()],
            examples: card.examples.clone(),
        })];
    }
    card.skills.iter().map(complete).map(listed).collect()
}

/// A skill that is called by its name with data.
fn called_by_name(skill: &Skill) -> ListedSkill {
    ListedSkill { skill: complete(skill), input_modes: vec![DATA.to_owned()], output_modes: vec![DATA.to_owned()] }
}

/// Where an agent can be asked over plain HTTP, if that is spoken here.
fn rest(place: CardContext<'_>, card: &AgentCard) -> Option<RestEndpoint> {
    let endpoint = card.endpoint(names::REST_PROTOCOL)?;
    Some(RestEndpoint { handle: card.handle().to_string(), endpoint: place.base.rebase(endpoint).into_owned() })
}

fn complete(skill: &Skill) -> Skill {
    let mut skill = skill.clone();
    skill.description = or(&skill.description, || skill.name.clone());
    skill.tags.retain(|tag| !tag.is_empty());
    skill.examples.retain(|example| !example.is_empty());
    if skill.tags.is_empty() {
        // Tags are required: the Python SDK of 0.3 refuses a card with a skill that has none.
        skill.tags.push(skill.id.clone());
    }
    skill
}

/// Modes as media types, in order and without repetition; plain text when there are none.
fn media_types(modes: &[ContentMode]) -> Vec<String> {
    let mut types: Vec<String> = Vec::with_capacity(modes.len().max(1));
    for mode in modes {
        let name = match mode {
            ContentMode::Text { mime } | ContentMode::File { mime } | ContentMode::Artifact { mime } => mime.as_str(),
            ContentMode::Link => LINKS,
        };
        if !types.iter().any(|known| known == name) {
            types.push(name.to_owned());
        }
    }
    if types.is_empty() {
        types.push(PLAIN_TEXT.to_owned());
    }
    types
}

/// Data is taken and given too.
fn add_data(modes: &mut Vec<String>) {
    if !modes.iter().any(|mode| mode == DATA) {
        modes.push(DATA.to_owned());
    }
}

/// The tokens that are taken. All of them travel in the same field, so they are one scheme.
fn bearer(verifier: &Verifier, are_required: bool) -> Option<BearerTokens> {
    let issuers: Vec<_> = verifier.token_issuers().take(ISSUERS_NAMED_MAX).map(|issuer| issuer.issuer).collect();
    let are_jwt = !issuers.is_empty();
    let description = match are_jwt {
        true => format!("A signed token (JWT) of {}.", issuers.join(" or ")),
        // Without an issuer the operator hands them out.
        false => "An API key of this host.".to_owned(),
    };
    (are_jwt || are_required).then_some(BearerTokens { description, are_jwt, are_required })
}

/// gRPC is dialled by host and port, which nothing implies.
fn with_port(host: &str) -> String {
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { host.to_owned() } else { format!("{host}:443") }
}

fn or(text: &str, otherwise: impl FnOnce() -> String) -> String {
    if text.is_empty() { otherwise() } else { text.to_owned() }
}
