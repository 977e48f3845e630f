//! This module has the refusal and the rules by which one is valid. PolicyPart 3.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::challenge::check_challenges;
use super::kind::RefusalKind;
use super::malformed::PolicyPartError;
use super::sanitize::is_prefixed;
use crate::ids::StateToken;
use crate::language::Language;
use crate::origin::is_bound_to;
use crate::task_state::TaskState;

/// The key of `data` under which a refusal that another host made keeps its links as it is passed on. The person acts
/// on that host, and this host issues no state for it.
pub const RELAYED: &str = "mentionable.relayed";

/// A refusal as content: its kind, words for a person, and where the person can act. PolicyPart 3.2.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyPart {
    /// The kind, with its own fields.
    pub kind: RefusalKind,
    /// The finer reason, namespaced, such as `oauth:consent_required`.
    pub code: Option<String>,
    /// A short summary.
    pub title: Option<String>,
    /// The detail that a person reads.
    pub message: String,
    /// Translations of title and message by BCP 47 tag.
    pub message_translations: BTreeMap<String, Translation>,
    /// The https URL at which a person can act, on the canonical host.
    pub url: Option<String>,
    /// The accessible name of that action.
    pub action_label: Option<String>,
    /// Values that the normalized shape does not model, by prefixed keys.
    pub data: Map<String, Value>,
    /// Fields of later versions, kept.
    pub more: Map<String, Value>,
}

/// The key of `data` under which a `payment_required` carries its state: PolicyPart has no field for it.
pub const STATE_KEY: &str = "mentionable.state";

/// Title and message in another language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The short summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The detail.
    pub message: String,
}

impl PolicyPart {
    /// A refusal of `kind` that says `message`.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
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
        RefusalKind::NAMES.contains(&kind)
    }

    /// The state in which this refusal leaves a task. PolicyPart 4.2.
    pub fn task_state(&self) -> TaskState {
        match self.kind {
            RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. } => TaskState::InputRequired,
            RefusalKind::Unauthorized { .. } => TaskState::AuthRequired,
            RefusalKind::Forbidden | RefusalKind::UnavailableForLegalReasons => TaskState::Rejected,
            RefusalKind::TooManyRequests { .. } | RefusalKind::ServiceUnavailable { .. } | RefusalKind::Other(_) => {
                TaskState::Failed
            }
        }
    }

    /// The state by which its caller goes on: that of a consent, or of a payment, which has it among its data.
    /// `None` for other kinds, and for states that can't be one of ours. PolicyPart 3.3.4, 5.4.
    pub fn state(&self) -> Option<StateToken> {
        let state = match &self.kind {
            RefusalKind::ConsentRequired { state, .. } => state,
            // Only `consent_required` has a field for a state (3.3.4).
            RefusalKind::PaymentRequired { .. } => self.data.get(STATE_KEY)?.as_str()?,
            _ => return None,
        };
        StateToken::parse(state)
    }

    /// Title and message in the language that suits best: the exact tag, else the nearest shorter
    /// one (RFC 4647 3.4), else the part's own. PolicyPart 3.2.
    pub fn in_language(&self, language: Option<&Language>) -> (&str, &str) {
        let own = self.title.as_deref().unwrap_or_else(|| self.kind.title());
        match language.and_then(|language| self.translation(language)) {
            Some(translation) => (translation.title.as_deref().unwrap_or(own), &translation.message),
            None => (own, &self.message),
        }
    }

    fn translation(&self, language: &Language) -> Option<&Translation> {
        let tagged = |range: &str| self.message_translations.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(range));
        language.ranges().find_map(tagged).map(|(_, translation)| translation)
    }

    /// Checks everything that makes a refusal malformed: what its kind demands, prefixed keys in
    /// `data`, and every URL https and bound to `canonical_host`. A part that was put together by
    /// hand or by configuration goes through here before it is sent. PolicyPart 3.6.
    pub fn validate(&self, canonical_host: &str) -> Result<(), PolicyPartError> {
        self.check_shape()?;
        // Reading drops such keys silently; a part of our own that has one is a mistake to be told.
        if !self.data.keys().all(|key| is_prefixed(key)) {
            return Err(PolicyPartError::Wrong("data", "an object with prefixed keys, such as `oauth.error`"));
        }
        if self.url.as_deref().is_some_and(|url| !is_bound_to(url, canonical_host)) {
            return Err(PolicyPartError::ForeignUrl("url"));
        }
        match &self.kind {
            // Where the browser goes after consent: a foreign page there would be an open redirect with the state in
            // hand.
            RefusalKind::ConsentRequired { return_to, .. } if !is_bound_to(return_to, canonical_host) => {
                Err(PolicyPartError::ForeignUrl("return_to"))
            }
            _ => Ok(()),
        }
    }

    /// Whether it asks for a consent or a payment and leaves it to the host to give it a state and a page. Not so, if it
    /// was made by another host.
    pub fn is_bare(&self) -> bool {
        match &self.kind {
            RefusalKind::ConsentRequired { state, .. } => state.is_empty(),
            RefusalKind::PaymentRequired { .. } => {
                let has_own = |key: &str| self.data.contains_key(key);
                // Each of these shows that another host issued it: the person pays there, and a state of ours would ask
                // for it again.
                self.url.is_none() && !has_own(RELAYED) && !has_own(STATE_KEY)
            }
            _ => false,
        }
    }

    /// [`Self::validate`] for a refusal out of an agent's hands, which may be [bare](Self::is_bare): what the host
    /// fills in is valid by itself.
    pub fn validate_of_agent(&self, canonical_host: &str) -> Result<(), PolicyPartError> {
        match &self.kind {
            RefusalKind::ConsentRequired { state, .. } if state.is_empty() => {
                // The kind alone demands `state` and `return_to`, which the host fills in. Everything else is checked
                // under a kind that demands nothing.
                Self { kind: RefusalKind::Forbidden, ..self.clone() }.validate(canonical_host)
            }
            _ => self.validate(canonical_host),
        }
    }

    /// Checks what can be checked without knowing the agent's host.
    pub(super) fn check_shape(&self) -> Result<(), PolicyPartError> {
        match &self.kind {
            RefusalKind::ConsentRequired { state, .. } if state.is_empty() => Err(PolicyPartError::Missing("state")),
            RefusalKind::ConsentRequired { return_to, .. } if return_to.is_empty() => {
                Err(PolicyPartError::Missing("return_to"))
            }
            RefusalKind::Unauthorized { auth_challenges } => check_challenges(auth_challenges, self.code.as_deref()),
            RefusalKind::PaymentRequired { accepted_payments } if accepted_payments.is_empty() => {
                Err(PolicyPartError::Wrong("accepted_payments", "one or more ways to pay"))
            }
            RefusalKind::PaymentRequired { accepted_payments }
                if accepted_payments.iter().any(|p| p.scheme.is_empty()) =>
            {
                Err(PolicyPartError::Wrong("accepted_payments", "ways to pay that each name their scheme"))
            }
            _ => Ok(()),
        }
    }
}
