//! The rules, one function for each part of a card.

use std::collections::HashSet;

use forecourt_core::Handle;
use serde_json::{Map, Value};

use super::Problem;
use crate::card::binding::{Binding, is_reachable};
use crate::card::limits::PROBLEMS_MAX;
use crate::card::names::{AGENTS, DEFAULT_AGENT, MENTIONABLE, snake};
use crate::card::shape::SCHEME_KINDS;

/// Fields of A2A of more than one word, by level: a second spelling of one of these in the same
/// object makes parsers of protocol buffers refuse the card, or lose what it says.
const CARD_FIELDS: &[&str] = &[
    "supportedInterfaces",
    "documentationUrl",
    "securitySchemes",
    "securityRequirements",
    "defaultInputModes",
    "defaultOutputModes",
    "iconUrl",
    "preferredTransport",
    "additionalInterfaces",
    "supportsAuthenticatedExtendedCard",
];
const CAPABILITY_FIELDS: &[&str] = &["pushNotifications", "extendedAgentCard", "stateTransitionHistory"];
const SKILL_FIELDS: &[&str] = &["inputModes", "outputModes", "securityRequirements"];
const INTERFACE_FIELDS: &[&str] = &["protocolBinding", "protocolVersion"];

/// What was found so far.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) problems: Vec<Problem>,
}

/// Whether the card says anything of what only hubs say.
pub(super) fn claims_to_be_a_hub(card: &Value) -> bool {
    card.get(DEFAULT_AGENT).is_some() || card.get(AGENTS).is_some() || params(card).is_some()
}

/// What the Mentionable extension of a card says.
fn params(card: &Value) -> Option<&Value> {
    let extensions = card.get("capabilities")?.get("extensions")?.as_array()?;
    extensions.iter().find(|one| one["uri"] == MENTIONABLE)?.get("params")
}

impl Rules {
    fn wrong(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::new(path, message));
        }
    }

    /// Hub card 7: the body satisfies A2A, in the form of either version or of both.
    pub(super) fn agent_card(&mut self, card: &Value) {
        for name in ["name", "description", "version"] {
            self.text(card, "", name);
        }
        self.endpoints(card);
        self.capabilities(card);
        for name in ["defaultInputModes", "defaultOutputModes"] {
            self.media_types(card, "", name, true);
        }
        self.skills(card);
        self.schemes(card);
        self.twins(card, "", CARD_FIELDS);
        self.empties(card, "");
    }

    /// Hub card 2.3, 3.4, 7: who lives here, and one of them takes what names nobody.
    pub(super) fn hub(&mut self, card: &Value) {
        let inside = params(card);
        let default = card.get(DEFAULT_AGENT).or_else(|| inside?.get("defaultAgent"));
        let agents = card.get(AGENTS).or_else(|| inside?.get("agents"));
        self.repeated(card, inside);
        let default = default.and_then(Value::as_str).filter(|handle| Handle::parse(handle).is_ok());
        if default.is_none() {
            self.wrong(
                pointer("", DEFAULT_AGENT),
                "names the handle of the agent that takes messages without a mention",
            );
        }
        let handles = self.agents(agents);
        if let Some(default) = default
            && !handles.contains(&default.to_ascii_lowercase())
        {
            self.wrong(pointer("", DEFAULT_AGENT), "names an agent that is not among the agents");
        }
    }

    /// What stands in both places must be the same.
    fn repeated(&mut self, card: &Value, inside: Option<&Value>) {
        for (key, param) in [(DEFAULT_AGENT, "defaultAgent"), (AGENTS, "agents")] {
            if let (Some(own), Some(repeated)) = (card.get(key), inside.and_then(|params| params.get(param)))
                && own != repeated
            {
                self.wrong(pointer("", key), "says something else than the extension of the same name");
            }
        }
    }

    /// The handles of the agents, in lower case.
    fn agents(&mut self, agents: Option<&Value>) -> HashSet<String> {
        let path = pointer("", AGENTS);
        let mut handles = HashSet::new();
        let list = agents.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if list.is_empty() {
            self.wrong(&path, "lists the agents of this host, at least one");
        }
        for (index, agent) in list.iter().enumerate() {
            let path = format!("{path}/{index}");
            self.text(agent, &path, "name");
            match agent.get("handle").and_then(Value::as_str).and_then(|text| Handle::parse(text).ok()) {
                None => self.wrong(format!("{path}/handle"), "is a handle: 1 to 30 of a-z, 0-9, _ and -"),
                Some(handle) => {
                    if !handles.insert(handle.to_string()) {
                        self.wrong(format!("{path}/handle"), "occurs twice");
                    }
                }
            }
            if agent.get("card_url").is_some_and(|url| !is_web_url(url)) {
                self.wrong(format!("{path}/card_url"), "is an absolute https URL");
            }
            if agent.get("description").is_some_and(|text| !text.is_string()) {
                self.wrong(format!("{path}/description"), "is a text");
            }
        }
        handles
    }

    /// At least one place to talk to it, and none that would give the talk away.
    fn endpoints(&mut self, card: &Value) {
        let current = self.interfaces(card, "supportedInterfaces", "protocolBinding");
        self.interfaces(card, "additionalInterfaces", "transport");
        match card.get("url") {
            None if current == 0 => {
                self.wrong("/url", "a card says where the agent is: `url` or `supportedInterfaces`")
            }
            None => {}
            Some(url) => {
                let binding = card.get("preferredTransport").and_then(Value::as_str).unwrap_or("JSONRPC");
                self.reachable(url, binding, "/url");
                // `url` makes this a card of 0.3, which requires the version.
                self.text(card, "", "protocolVersion");
            }
        }
    }

    /// Checks a list of interfaces, and counts them. `binding` is the name of the field that says over what.
    fn interfaces(&mut self, card: &Value, name: &str, binding: &str) -> usize {
        let Some(list) = card.get(name) else { return 0 };
        let Some(list) = list.as_array() else {
            self.wrong(pointer("", name), "is a list of interfaces");
            return 0;
        };
        let mut seen = HashSet::new();
        for (index, interface) in list.iter().enumerate() {
            let path = format!("/{name}/{index}");
            self.text(interface, &path, binding);
            if name == "supportedInterfaces" {
                self.text(interface, &path, "protocolVersion");
            }
            let over = interface.get(binding).and_then(Value::as_str).unwrap_or_default();
            self.reachable(interface.get("url").unwrap_or(&Value::Null), over, &format!("{path}/url"));
            self.twins(interface, &path, INTERFACE_FIELDS);
            if !seen.insert(interface.to_string()) {
                self.wrong(path, "occurs twice");
            }
        }
        list.len()
    }

    fn reachable(&mut self, url: &Value, binding: &str, path: &str) {
        // A binding that is unknown here is no fault; but only gRPC may leave the scheme of its URL out.
        let binding = Binding::named(binding).unwrap_or(Binding::HttpJson);
        if !url.as_str().is_some_and(|url| is_reachable(url, binding)) {
            self.wrong(path, "is an absolute https URL, or http on this machine, without user and fragment");
        }
    }

    fn capabilities(&mut self, card: &Value) {
        let Some(capabilities) = card.get("capabilities").filter(|value| value.is_object()) else {
            return self.wrong("/capabilities", "a card has an object of capabilities");
        };
        for name in ["streaming", "pushNotifications", "extendedAgentCard", "stateTransitionHistory"] {
            if capabilities.get(name).is_some_and(|value| !value.is_boolean()) {
                self.wrong(format!("/capabilities/{name}"), "is true or false");
            }
        }
        self.twins(capabilities, "/capabilities", CAPABILITY_FIELDS);
        let extensions = capabilities.get("extensions");
        if extensions.is_some_and(|value| !value.is_array()) {
            self.wrong("/capabilities/extensions", "is a list");
        }
        let mut seen = HashSet::new();
        for (index, extension) in extensions.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let path = format!("/capabilities/extensions/{index}");
            self.text(extension, &path, "uri");
            if extension.get("required").is_some_and(|value| !value.is_boolean()) {
                self.wrong(format!("{path}/required"), "is true or false");
            }
            if extension.get("uri").and_then(Value::as_str).is_some_and(|uri| !seen.insert(uri)) {
                self.wrong(format!("{path}/uri"), "occurs twice");
            }
        }
    }

    fn skills(&mut self, card: &Value) {
        let skills = card.get("skills").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if skills.is_empty() {
            self.wrong("/skills", "a card lists at least one skill");
        }
        let mut seen = HashSet::new();
        for (index, skill) in skills.iter().enumerate() {
            let path = format!("/skills/{index}");
            for name in ["id", "name", "description"] {
                self.text(skill, &path, name);
            }
            self.strings(skill.get("tags").unwrap_or(&Value::Null), &format!("{path}/tags"));
            if let Some(examples) = skill.get("examples") {
                self.strings(examples, &format!("{path}/examples"));
            }
            for name in ["inputModes", "outputModes"] {
                self.media_types(skill, &path, name, false);
            }
            self.twins(skill, &path, SKILL_FIELDS);
            if skill.get("id").and_then(Value::as_str).is_some_and(|id| !seen.insert(id)) {
                self.wrong(format!("{path}/id"), "occurs twice");
            }
        }
    }

    /// A scheme has the spelling of one version or of both, and then they say the same: one version's
    /// parser would otherwise take it for something else.
    fn schemes(&mut self, card: &Value) {
        let Some(schemes) = card.get("securitySchemes") else { return };
        let Some(schemes) = schemes.as_object() else {
            return self.wrong("/securitySchemes", "is an object of schemes by their names");
        };
        for (name, scheme) in schemes {
            let path = pointer("/securitySchemes", name);
            let kind = scheme.get("type").and_then(Value::as_str);
            let members: Vec<_> = SCHEME_KINDS.iter().filter(|(_, member)| scheme.get(*member).is_some()).collect();
            let known = kind.is_none_or(|kind| SCHEME_KINDS.iter().any(|(known, _)| *known == kind));
            match (kind, members.as_slice()) {
                (None, [_]) | (Some(_), []) if known => {}
                (Some(kind), [(own, _)]) if kind == *own => {}
                _ => self.wrong(path, "is one kind of security scheme, spelled as 0.3 or 1.0 does, or both alike"),
            }
        }
    }

    /// A list of media types; plain texts, whatever else Mentionable's own card has under that name.
    fn media_types(&mut self, within: &Value, path: &str, name: &str, required: bool) {
        match within.get(name) {
            None if !required => {}
            Some(Value::Array(items)) if !items.is_empty() && items.iter().all(is_media_type) => {}
            _ => self.wrong(pointer(path, name), "is a list of media types such as text/plain"),
        }
    }

    fn strings(&mut self, value: &Value, path: &str) {
        let fits = value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_filled));
        if !fits {
            self.wrong(path, "is a list of texts");
        }
    }

    fn text(&mut self, within: &Value, path: &str, name: &str) {
        if !within.get(name).is_some_and(is_filled) {
            self.wrong(pointer(path, name), "is a text that is not empty");
        }
    }

    fn twins(&mut self, within: &Value, path: &str, fields: &[&str]) {
        for name in fields.iter().map(|name| snake(name)).filter(|name| within.get(name).is_some()) {
            self.wrong(pointer(path, &name), "is a second spelling of a field of A2A: parsers refuse the card for it");
        }
    }

    /// Empties are not there for some verifiers and are there for others. What an extension has as its
    /// parameters is its own matter.
    fn empties(&mut self, value: &Value, path: &str) {
        match value {
            Value::Null => self.wrong(path, "is null: leave it out"),
            Value::Object(fields) => self.empties_in(fields, path),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| self.empties(item, &format!("{path}/{index}")));
            }
            _ => {}
        }
    }

    fn empties_in(&mut self, fields: &Map<String, Value>, path: &str) {
        for (name, value) in fields.iter().filter(|(name, _)| name.as_str() != "params") {
            self.empties(value, &pointer(path, name));
        }
    }
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_media_type(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.split_once('/').is_some_and(|(kind, sub)| !kind.is_empty() && !sub.is_empty()))
}

fn is_web_url(value: &Value) -> bool {
    value.as_str().is_some_and(|url| is_reachable(url, Binding::HttpJson))
}

/// A JSON pointer to a member. RFC 6901 3.
fn pointer(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}
