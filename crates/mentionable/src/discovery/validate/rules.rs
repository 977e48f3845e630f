//! The rules, section by section of the card.

use std::collections::HashSet;

use forecourt_core::origin;
use forecourt_egress::CheckedUrl;
use forecourt_identity::{Algorithm, VerifyKey};
use serde_json::Value;

use super::{CardError, CardProblem, ExpectedCard};
use crate::discovery::acct::Acct;
use crate::discovery::https_host::https_host;
use crate::discovery::names::{PROTOCOL_VERSION, TRANSPORT_REST};

/// The transports that there are. Agent card 3.2.
const TRANSPORTS: [&str; 3] = ["https+json", "https+sse", "https+jsonrpc"];

/// A check of one card, with the problems that were found so far.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) problems: Vec<CardProblem>,
}

/// The types that fields have.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
    List,
    Bool,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::Bool => value.is_boolean(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Object => "an object",
            Self::List => "a list",
            Self::Bool => "true or false",
        }
    }
}

impl Rules {
    /// Checks the top level of a card, and from there all its sections. Agent card 3.1.
    pub(super) fn card(&mut self, card: &Value, expected: ExpectedCard<'_>) {
        if !card.is_object() {
            return self.report(CardError::WrongType, "", "a card is a JSON object");
        }
        self.address(card, expected.acct);
        for key in ["name", "version"] {
            self.required(card, "", key, Kind::Text);
        }
        let version = self.required(card, "", "protocol_version", Kind::Text);
        if version.is_some_and(|version| version != PROTOCOL_VERSION) {
            self.report(CardError::ProtocolVersion, "/protocol_version", "must be `0.1`");
        }
        self.optional(card, "", "description", Kind::Text);
        for key in ["activitypub", "ext"] {
            self.optional(card, "", key, Kind::Object);
        }
        if let Some(icon) = self.optional(card, "", "icon", Kind::Object) {
            self.https(icon, "/icon", "url");
        }
        if let Some(a2a) = self.required(card, "", "a2a", Kind::Object) {
            self.a2a(a2a, expected.canonical_host);
        }
        if let Some(section) = self.required(card, "", "mentionable", Kind::Object) {
            self.mentionable(section);
        }
    }

    fn address(&mut self, card: &Value, expected: Option<&Acct>) {
        let Some(text) = self.required(card, "", "address", Kind::Text).and_then(Value::as_str) else { return };
        match (Acct::parse(text), expected) {
            (Ok(acct), Some(expected)) if acct != *expected => {
                self.report(CardError::AddressMismatch, "/address", format!("must be {expected}"));
            }
            (Ok(acct), _) if acct.to_string() == text => {}
            _ => self.report(CardError::Address, "/address", "must be canonical: @local@domain in lower case"),
        }
    }

    /// Checks the section `a2a`: endpoint, transport, capabilities, skills, modes. Agent card 3.2.
    fn a2a(&mut self, a2a: &Value, canonical_host: Option<&str>) {
        let endpoint = self.https(a2a, "/a2a", "endpoint");
        let transport = self.required(a2a, "/a2a", "transport", Kind::Text);
        if transport.is_some_and(|name| TRANSPORTS.iter().all(|known| name != *known)) {
            let message = format!("must be one of {}", TRANSPORTS.join(", "));
            self.report(CardError::Transport, "/a2a/transport", message);
        }
        let own = endpoint.and_then(https_host);
        if let Some(capabilities) = self.optional(a2a, "/a2a", "capabilities", Kind::Object) {
            self.capabilities(capabilities, canonical_host.or(own.as_deref()));
        }
        self.skills(a2a);
        for key in ["input_modes", "output_modes"] {
            for (at, mode) in self.entries(a2a, "/a2a", key).iter().enumerate() {
                self.required(mode, &format!("/a2a/{key}/{at}"), "kind", Kind::Text);
            }
        }
        // A scheme that we don't know means that we can't authenticate, and nothing worse.
        if let Some(auth) = self.required(a2a, "/a2a", "auth", Kind::Object) {
            self.required(auth, "/a2a/auth", "scheme", Kind::Text);
        }
    }

    fn capabilities(&mut self, capabilities: &Value, canonical_host: Option<&str>) {
        let base = "/a2a/capabilities";
        for key in ["streaming", "push_notifications", "state_transition_history"] {
            self.optional(capabilities, base, key, Kind::Bool);
        }
        if self.optional(capabilities, base, "extensions", Kind::List).is_none() {
            return;
        }
        let extensions = self.entries(capabilities, base, "extensions");
        for (at, extension) in extensions.iter().enumerate() {
            self.https(extension, &format!("{base}/extensions/{at}"), "uri");
        }
        if let Some((at, rest)) = TRANSPORT_REST.pick(extensions, "uri") {
            self.rest(rest, &format!("{base}/extensions/{at}"), canonical_host);
        }
    }

    /// Checks the REST extension: it names an https endpoint on the canonical host. REST 2.
    fn rest(&mut self, entry: &Value, base: &str, canonical_host: Option<&str>) {
        if entry["endpoint"].is_null() {
            let message = "the REST extension needs the URL of the endpoint";
            return self.report(CardError::RestEndpointMissing, format!("{base}/endpoint"), message);
        }
        let Some(endpoint) = self.https(entry, base, "endpoint") else { return };
        if let Some(host) = canonical_host.filter(|host| !origin::is_bound_to(endpoint, host)) {
            let message = format!("must be on {host}, where the agent is published");
            self.report(CardError::ForeignEndpoint, format!("{base}/endpoint"), message);
        }
    }

    fn skills(&mut self, a2a: &Value) {
        let mut seen = HashSet::new();
        for (at, skill) in self.entries(a2a, "/a2a", "skills").iter().enumerate() {
            let base = format!("/a2a/skills/{at}");
            self.required(skill, &base, "name", Kind::Text);
            let id = self.required(skill, &base, "id", Kind::Text).and_then(Value::as_str);
            if id.is_some_and(|id| !seen.insert(id)) {
                self.report(CardError::DuplicateSkill, format!("{base}/id"), "two skills have this id");
            }
        }
    }

    /// Checks the section `mentionable`: protocols, homepage, signing key. Agent card 3.4.
    fn mentionable(&mut self, section: &Value) {
        let base = "/mentionable";
        if self.entries(section, base, "supported_inbound").iter().any(|name| !name.is_string()) {
            self.report(CardError::WrongType, format!("{base}/supported_inbound"), "must be a list of strings");
        }
        if self.optional(section, base, "homepage", Kind::Text).is_some() {
            self.https(section, base, "homepage");
        }
        if let Some(key) = self.optional(section, base, "signing_key", Kind::Object) {
            self.signing_key(key, &format!("{base}/signing_key"));
        }
    }

    fn signing_key(&mut self, key: &Value, base: &str) {
        let alg = self.required(key, base, "alg", Kind::Text).and_then(Value::as_str);
        let pem = self.required(key, base, "pem", Kind::Text).and_then(Value::as_str);
        let (Some(alg), Some(pem)) = (alg, pem) else { return };
        if alg != "Ed25519" || VerifyKey::from_pem(pem, Some(Algorithm::Ed25519)).is_err() {
            self.report(CardError::SigningKey, base, "must be an Ed25519 public key in PEM");
        }
    }

    fn report(&mut self, code: CardError, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(CardProblem { code, path: path.into(), message: message.into() });
    }

    /// A field that must be there. `null` counts as absent.
    fn required<'v>(&mut self, object: &'v Value, base: &str, key: &str, kind: Kind) -> Option<&'v Value> {
        match &object[key] {
            Value::Null => {
                self.report(CardError::Missing, format!("{base}/{key}"), format!("is missing; it is {}", kind.name()));
                None
            }
            _ => self.optional(object, base, key, kind),
        }
    }

    fn optional<'v>(&mut self, object: &'v Value, base: &str, key: &str, kind: Kind) -> Option<&'v Value> {
        match &object[key] {
            Value::Null => None,
            value if kind.fits(value) => Some(value),
            _ => {
                self.report(CardError::WrongType, format!("{base}/{key}"), format!("must be {}", kind.name()));
                None
            }
        }
    }

    /// The entries of a list that must be there.
    fn entries<'v>(&mut self, object: &'v Value, base: &str, key: &str) -> &'v [Value] {
        self.required(object, base, key, Kind::List).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// An https URL that must be there.
    fn https<'v>(&mut self, object: &'v Value, base: &str, key: &str) -> Option<&'v str> {
        let text = self.required(object, base, key, Kind::Text)?.as_str()?;
        if CheckedUrl::parse(text).is_ok_and(|target| target.is_https()) {
            return Some(text);
        }
        self.report(CardError::NotHttps, format!("{base}/{key}"), "must be an absolute https URL without userinfo");
        None
    }
}
