//! The forms of a card. Every field that is there says something: no null, no empty text, no empty
//! list, and never a second spelling of a field. Verifiers drop empties before they verify, and
//! parsers of protocol buffers take two spellings of one field for a fault.

use forecourt_identity::HostKeys;
use serde_json::{Map, Value, json};

use super::facts::{BearerTokens, Facts, ListedSkill};
use super::names::{
    AGENTS, AP2, CONTEXT, DEFAULT_AGENT, MENTIONABLE, MENTIONABLE_VERSION, POLICY, REST, ROUTER_TYPE, TOOL_EVENTS, VIA,
};
use super::shape::SignatureScope;
use super::sign::sign;
use crate::model::Version;

/// What 0.3 cards call their version; patch numbers appear nowhere else.
const VERSION_0_3: &str = "0.3.0";
/// The binding that knows no paths.
const GRPC: &str = "GRPC";
/// The name of the one security scheme.
const BEARER: &str = "bearer";

/// The card for who asks for 1.0, and the card for everybody else, signed. `jku` is where the keys
/// are.
pub(crate) fn write(facts: &Facts, version: Version, keys: &HostKeys, jku: &str) -> Value {
    let mut card = unsigned(facts, version);
    let covered: &[SignatureScope] = match version {
        Version::V1_0 => &[SignatureScope::V1_0],
        // Verifiers of 1.0 read this form too. Those of 0.3 accept only a signature over the fields of 0.3, so that
        // there are two.
        Version::V0_3 => &[SignatureScope::V1_0, SignatureScope::V0_3],
    };
    let signatures: Vec<Value> = covered.iter().filter_map(|&covered| sign(&card, covered, keys, jku)).collect();
    card["signatures"] = Value::Array(signatures);
    card
}

/// The same before it is signed.
pub(crate) fn unsigned(facts: &Facts, version: Version) -> Value {
    match version {
        Version::V1_0 => current(facts),
        Version::V0_3 => dual(facts),
    }
}

/// The fields of 1.0 and no others.
fn current(facts: &Facts) -> Value {
    let mut card = Map::new();
    for (name, text) in texts(facts) {
        card.insert(name.to_owned(), text.into());
    }
    card.insert("supportedInterfaces".to_owned(), interfaces(facts));
    card.insert("provider".to_owned(), json!({"organization": facts.organization, "url": facts.home}));
    card.insert("capabilities".to_owned(), capabilities(facts));
    card.insert("defaultInputModes".to_owned(), json!(facts.input_modes));
    card.insert("defaultOutputModes".to_owned(), json!(facts.output_modes));
    card.insert("skills".to_owned(), facts.skills.iter().map(skill).collect());
    if let Some(tokens) = &facts.bearer {
        let scheme = json!({"httpAuthSecurityScheme": http_scheme(tokens)});
        card.insert("securitySchemes".to_owned(), json!({BEARER: scheme}));
        if tokens.are_required {
            // No scope is named: what each endpoint wants of a token is told where it is refused.
            card.insert("securityRequirements".to_owned(), json!([{"schemes": {BEARER: {"list": []}}}]));
        }
    }
    Value::Object(card)
}

/// The fields of both versions, and Mentionable's.
fn dual(facts: &Facts) -> Value {
    let mut card = current(facts);
    card["@context"] = CONTEXT.into();
    card["protocolVersion"] = VERSION_0_3.into();
    card["url"] = facts.url.as_str().into();
    card["preferredTransport"] = "JSONRPC".into();
    let additional = bindings_0_3(facts).map(|(binding, url)| json!({"url": url, "transport": binding}));
    card["additionalInterfaces"] = additional.collect();
    if let Some(tokens) = &facts.bearer {
        // Both spellings in one object: parsers of either version find theirs, with equal values.
        let mut scheme = http_scheme(tokens);
        scheme["type"] = "http".into();
        scheme["httpAuthSecurityScheme"] = http_scheme(tokens);
        card["securitySchemes"] = json!({BEARER: scheme});
        if tokens.are_required {
            card["security"] = json!([{BEARER: []}]);
        }
    }
    if facts.has_extended {
        card["supportsAuthenticatedExtendedCard"] = true.into();
    }
    if let Some(hub) = &facts.hub {
        // Looks like a second spelling of `protocolVersion`, but at this level no parser of A2A takes it for one.
        card["protocol_version"] = MENTIONABLE_VERSION.into();
        card[DEFAULT_AGENT] = hub.default_agent.as_str().into();
        card[AGENTS] = json!(hub.agents);
        card[ROUTER_TYPE] = "logic".into();
    }
    card
}

/// The texts that both versions have under the same name.
fn texts(facts: &Facts) -> impl Iterator<Item = (&'static str, &str)> {
    let always = [("name", &facts.name), ("description", &facts.description), ("version", &facts.version)];
    let sometimes = [("documentationUrl", &facts.documentation), ("iconUrl", &facts.icon)];
    let sometimes = sometimes.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    always.into_iter().chain(sometimes).map(|(name, text)| (name, text.as_str()))
}

/// The bindings and where they are, the preferred one first.
fn bindings(facts: &Facts) -> impl Iterator<Item = (&'static str, &str)> {
    let http = [("JSONRPC", facts.url.as_str()), ("HTTP+JSON", facts.url.as_str())];
    http.into_iter().chain(facts.grpc.as_deref().map(|url| (GRPC, url)))
}

/// The same in 0.3, where a call over gRPC can't say which agent it is for: only the hub has it.
fn bindings_0_3(facts: &Facts) -> impl Iterator<Item = (&'static str, &str)> {
    bindings(facts).filter(|(binding, _)| *binding != GRPC || facts.tenant.is_none())
}

/// Every binding in every version, the newest version first.
fn interfaces(facts: &Facts) -> Value {
    let newest = bindings(facts).map(|(binding, url)| {
        let mut interface = interface(binding, url, "1.0");
        if let (GRPC, Some(tenant)) = (binding, &facts.tenant) {
            interface["tenant"] = tenant.as_str().into();
        }
        interface
    });
    newest.chain(bindings_0_3(facts).map(|(binding, url)| interface(binding, url, "0.3"))).collect()
}

fn interface(binding: &str, url: &str, version: &str) -> Value {
    json!({"url": url, "protocolBinding": binding, "protocolVersion": version})
}

/// What the surface can do for every agent, whether it streams by itself or not.
fn capabilities(facts: &Facts) -> Value {
    let mut capabilities = json!({"streaming": true, "pushNotifications": true, "extensions": extensions(facts)});
    if facts.has_extended {
        capabilities["extendedAgentCard"] = true.into();
    }
    capabilities
}

/// Hub card 2.3: the union of what the agents have. None is required: clients that know none of them
/// are served too.
fn extensions(facts: &Facts) -> Value {
    let hub = facts.hub.as_ref().map(|hub| {
        let params = json!({"defaultAgent": hub.default_agent, "agents": hub.agents});
        json!({"uri": MENTIONABLE, "description": "Who can be mentioned here.", "params": params})
    });
    let rest = (!facts.rest.is_empty()).then(|| {
        let params = match (facts.rest.as_slice(), &facts.hub) {
            ([only], None) => json!({"endpoint": only.endpoint}),
            (all, _) => json!({"endpoint": all[0].endpoint, "endpoints": all}),
        };
        json!({"uri": REST, "description": "Plain HTTP: ask with GET ?user=… or POST multipart/form-data.", "params": params})
    });
    let policy = json!({"uri": POLICY, "description": "Refusals say what to do next."});
    let tools = json!({"uri": TOOL_EVENTS, "description": "Tool calls are shown as they happen."});
    let paid = facts.payments.iter().map(|uri| match *uri {
        AP2 => json!({"uri": uri, "description": "Payments by mandates.", "params": {"roles": ["merchant"]}, "required": false}),
        uri => json!({"uri": uri, "description": "Payments by x402.", "required": false}),
    });
    let via = (!facts.via.is_empty()).then(|| {
        let params = json!({"hosts": facts.via});
        json!({"uri": VIA, "description": "Messages are passed on to another host.", "params": params})
    });
    let tools = facts.uses_tools.then_some(tools);
    hub.into_iter().chain(rest).chain([policy]).chain(tools).chain(paid).chain(via).collect()
}

fn skill(listed: &ListedSkill) -> Value {
    let ListedSkill { skill, input_modes, output_modes } = listed;
    let mut value = json!({
        "id": skill.id, "name": skill.name, "description": skill.description, "tags": skill.tags,
        "inputModes": input_modes, "outputModes": output_modes,
    });
    if !skill.examples.is_empty() {
        value["examples"] = json!(skill.examples);
    }
    value
}

fn http_scheme(tokens: &BearerTokens) -> Value {
    let mut scheme = json!({"scheme": "Bearer", "description": tokens.description});
    if tokens.are_jwt {
        scheme["bearerFormat"] = "JWT".into();
    }
    scheme
}
