//! The refusal itself, read and written as JSON. PolicyPart 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::challenge::AuthChallenge;
use super::kind::{AcceptedPayment, Kind};
use super::sanitize::sanitize_map;
use crate::language::Language;
use crate::origin::is_bound_to;
use crate::task::TaskState;

/// A refusal: why, in words and in data, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyPart {
    /// Why.
    pub kind: Kind,
    /// The finer reason, namespaced, such as `oauth:consent_required`.
    pub code: Option<String>,
    /// A short summary.
    pub title: Option<String>,
    /// The detail that a person reads.
    pub message: String,
    /// Translations of title and message by BCP 47 tag.
    pub message_translations: BTreeMap<String, Translation>,
    /// Where a person can act. On the canonical host, https.
    pub url: Option<String>,
    /// The accessible name of that action.
    pub action_label: Option<String>,
    /// What the normalized shape does not model, by prefixed keys.
    pub data: Map<String, Value>,
    /// Fields of later versions, kept.
    pub more: Map<String, Value>,
}

/// Title and message in another language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The short summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The detail.
    pub message: String,
}

/// Why a refusal is malformed. PolicyPart 3.6.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// A required field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field has another shape than the specification gives it.
    #[error("`{0}` must be {1}")]
    Wrong(&'static str, &'static str),
    /// A URL is not https on the agent's canonical host. PolicyPart 3.2.
    #[error("`{0}` must be an https URL on the agent's own host")]
    ForeignUrl(&'static str),
}

impl PolicyPart {
    /// A refusal of `kind` that says `message`.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: None,
            title: None,
            message: message.into(),
            message_translations: BTreeMap::new(),
            url: None,
            action_label: None,
            data: Map::new(),
            more: Map::new(),
        }
    }

    /// The kind's name on the wire.
    pub fn kind(&self) -> &str {
        self.kind.name()
    }

    /// Whether `kind` is one of the seven.
    pub fn knows(kind: &str) -> bool {
        Kind::NAMES.contains(&kind)
    }

    /// The state in which this refusal leaves a task. PolicyPart 4.2.
    pub fn task_state(&self) -> TaskState {
        match self.kind {
            Kind::ConsentRequired { .. } | Kind::PaymentRequired { .. } => TaskState::InputRequired,
            Kind::Unauthorized { .. } => TaskState::AuthRequired,
            Kind::Forbidden | Kind::UnavailableForLegalReasons => TaskState::Rejected,
            Kind::TooManyRequests { .. } | Kind::ServiceUnavailable { .. } | Kind::Other(_) => TaskState::Failed,
        }
    }

    /// Title and message in the language that suits best. PolicyPart 3.2.
    pub fn in_language(&self, language: Option<&Language>) -> (&str, &str) {
        let exact =
            |l: &Language| self.message_translations.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(l.as_str()));
        let primary =
            |l: &Language| self.message_translations.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(l.primary()));
        let found = language.and_then(|l| exact(l).or_else(|| primary(l)));
        let own = self.title.as_deref().unwrap_or_else(|| self.kind.title());
        match found {
            Some((_, translation)) => (translation.title.as_deref().unwrap_or(own), &translation.message),
            None => (own, &self.message),
        }
    }

    /// Checks what only the agent's canonical host decides: every URL is https and bound to it.
    /// PolicyPart 3.2, 3.3.4.
    pub fn validate(&self, canonical_host: &str) -> Result<(), PolicyFault> {
        if self.url.as_deref().is_some_and(|url| !is_bound_to(url, canonical_host)) {
            return Err(PolicyFault::ForeignUrl("url"));
        }
        match &self.kind {
            Kind::ConsentRequired { return_to, .. } if !is_bound_to(return_to, canonical_host) => {
                Err(PolicyFault::ForeignUrl("return_to"))
            }
            Kind::Unauthorized { auth_challenges } => match auth_challenges.iter().all(AuthChallenge::is_valid) {
                true => Ok(()),
                false => Err(PolicyFault::Wrong("auth_challenges", "tokens and quotable text")),
            },
            _ => Ok(()),
        }
    }

    /// Reads a refusal, sanitized; fails when the kind lacks what it must have. An unknown kind is
    /// kept as [`Kind::Other`]. PolicyPart 3.6.
    pub fn from_json(mut fields: Map<String, Value>) -> Result<Self, PolicyFault> {
        let name = take_text(&mut fields, "kind")?.ok_or(PolicyFault::Missing("kind"))?;
        let kind = read_kind(name, &mut fields)?;
        let message = match (take_text(&mut fields, "message")?, &kind) {
            (Some(message), _) => message,
            (None, Kind::Other(_)) => "This agent declined for a reason that is not known here.".to_owned(),
            (None, _) => return Err(PolicyFault::Missing("message")),
        };
        Ok(Self {
            kind,
            code: take_text(&mut fields, "code")?,
            title: take_text(&mut fields, "title")?,
            message,
            message_translations: read_translations(&mut fields)?,
            url: take_text(&mut fields, "url")?,
            action_label: take_text(&mut fields, "action_label")?,
            data: read_data(&mut fields)?,
            more: fields,
        })
    }

    /// Writes the refusal; absent fields are left out. PolicyPart 3.7.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut fields = self.more.clone();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value);
            }
        };
        set("kind", Some(self.kind().into()));
        set("code", self.code.as_deref().map(Value::from));
        set("title", self.title.as_deref().map(Value::from));
        set("message", Some(self.message.as_str().into()));
        set("message_translations", (!self.message_translations.is_empty()).then(|| json!(self.message_translations)));
        set("url", self.url.as_deref().map(Value::from));
        set("action_label", self.action_label.as_deref().map(Value::from));
        set("data", (!self.data.is_empty()).then(|| Value::Object(self.data.clone())));
        match &self.kind {
            Kind::ConsentRequired { state, return_to } => {
                set("state", Some(state.as_str().into()));
                set("return_to", Some(return_to.as_str().into()));
            }
            Kind::Unauthorized { auth_challenges } => set("auth_challenges", Some(json!(auth_challenges))),
            Kind::PaymentRequired { accepted_payments } => set("accepted_payments", Some(json!(accepted_payments))),
            Kind::TooManyRequests { retry_after_seconds } | Kind::ServiceUnavailable { retry_after_seconds } => {
                set("retry_after_seconds", retry_after_seconds.map(Value::from));
            }
            Kind::Forbidden | Kind::UnavailableForLegalReasons | Kind::Other(_) => {}
        }
        fields
    }
}

fn take_text(fields: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, PolicyFault> {
    match fields.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(PolicyFault::Wrong(key, "a string")),
    }
}

fn read_kind(name: String, fields: &mut Map<String, Value>) -> Result<Kind, PolicyFault> {
    Ok(match name.as_str() {
        "consent_required" => Kind::ConsentRequired {
            state: take_text(fields, "state")?.ok_or(PolicyFault::Missing("state"))?,
            return_to: take_text(fields, "return_to")?.ok_or(PolicyFault::Missing("return_to"))?,
        },
        "unauthorized" => Kind::Unauthorized { auth_challenges: read_challenges(fields)? },
        "payment_required" => Kind::PaymentRequired { accepted_payments: read_payments(fields)? },
        "forbidden" => Kind::Forbidden,
        "too_many_requests" => Kind::TooManyRequests { retry_after_seconds: read_seconds(fields)? },
        "unavailable_for_legal_reasons" => Kind::UnavailableForLegalReasons,
        "service_unavailable" => Kind::ServiceUnavailable { retry_after_seconds: read_seconds(fields)? },
        _ => Kind::Other(name),
    })
}

fn read_challenges(fields: &mut Map<String, Value>) -> Result<Vec<AuthChallenge>, PolicyFault> {
    const KEY: &str = "auth_challenges";
    let value = fields.remove(KEY).ok_or(PolicyFault::Missing(KEY))?;
    let challenges: Vec<AuthChallenge> =
        serde_json::from_value(value).map_err(|_| PolicyFault::Wrong(KEY, "a list of scheme and params"))?;
    match challenges.is_empty() || !challenges.iter().all(AuthChallenge::is_valid) {
        true => Err(PolicyFault::Wrong(KEY, "one or more challenges of tokens and quotable text")),
        false => Ok(challenges),
    }
}

fn read_payments(fields: &mut Map<String, Value>) -> Result<Vec<AcceptedPayment>, PolicyFault> {
    const KEY: &str = "accepted_payments";
    let value = fields.remove(KEY).ok_or(PolicyFault::Missing(KEY))?;
    let mut payments: Vec<AcceptedPayment> =
        serde_json::from_value(value).map_err(|_| PolicyFault::Wrong(KEY, "a list of scheme and payload"))?;
    if payments.is_empty() {
        return Err(PolicyFault::Wrong(KEY, "one or more ways to pay"));
    }
    for payment in &mut payments {
        sanitize_map(&mut payment.payload);
    }
    Ok(payments)
}

fn read_seconds(fields: &mut Map<String, Value>) -> Result<Option<u64>, PolicyFault> {
    const KEY: &str = "retry_after_seconds";
    match fields.remove(KEY) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or(PolicyFault::Wrong(KEY, "a whole number of seconds")),
    }
}

fn read_translations(fields: &mut Map<String, Value>) -> Result<BTreeMap<String, Translation>, PolicyFault> {
    const KEY: &str = "message_translations";
    match fields.remove(KEY) {
        None => Ok(BTreeMap::new()),
        Some(value) => serde_json::from_value(value).map_err(|_| PolicyFault::Wrong(KEY, "messages by language tag")),
    }
}

fn read_data(fields: &mut Map<String, Value>) -> Result<Map<String, Value>, PolicyFault> {
    match fields.remove("data") {
        None => Ok(Map::new()),
        Some(Value::Object(mut data)) => {
            sanitize_map(&mut data);
            Ok(data)
        }
        Some(_) => Err(PolicyFault::Wrong("data", "an object")),
    }
}

impl Serialize for PolicyPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PolicyPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
