//! In whose name something is tried out.

use forecourt_core::identity::{Audience, IdentityEvidence, Proof};
use forecourt_core::scope::Scope;
use forecourt_core::{Allowance, Authority, Sender, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api_error::ApiError;
use crate::limits::{TRIAL_CALLER_CHARS_MAX, TRIAL_SCOPES_MAX};

/// How an agent is told that nothing proved who asks: an operator tries it out.
const TRIED_OUT: &str = "tried-out";
/// Who has scopes and no name.
const NOBODY: &str = "tried-out:anybody";
/// The method and the assurance of people who sign in, unless others are named.
const METHOD: &str = "urn:mentionable:auth:oidc:v0.1";
const ASSURANCE: &str = "oauth";

/// A caller whose place an operator takes to see what it meets. Nothing of what it has is used up, nothing is asked of it,
/// and its consents and payments are neither given nor made.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialCaller {
    /// Who it is, such as `ann@example.com` or `@chef@example.com`. Nobody in particular without it.
    #[serde(default)]
    pub subject: Option<String>,
    /// Who says so; this host without it.
    #[serde(default)]
    pub issuer: Option<String>,
    /// How that was established, a URN; by signing in without it.
    #[serde(default)]
    pub method: Option<String>,
    /// How strong that is, such as `platform`, `domain`, `oauth` or `wallet`; `oauth` without it.
    #[serde(default)]
    pub assurance: Option<String>,
    /// The scopes that it was granted.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Whether it passes as if it had given every consent and made every payment that rules want.
    #[serde(default)]
    pub as_if_met: bool,
}

impl TrialCaller {
    /// The same with what is empty left out, and within its bounds.
    ///
    /// # Errors
    /// Something is too long, or no scope.
    pub(super) fn checked(self) -> Result<Self, ApiError> {
        let text = |name: &str, text: Option<String>| -> Result<Option<String>, ApiError> {
            let Some(text) = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
                return Ok(None);
            };
            let is_fine = text.chars().count() <= TRIAL_CALLER_CHARS_MAX && !text.chars().any(char::is_control);
            let wrong = || ApiError::invalid(format!("`{name}` has at most {TRIAL_CALLER_CHARS_MAX} characters"));
            is_fine.then_some(Some(text)).ok_or_else(wrong)
        };
        if self.scopes.len() > TRIAL_SCOPES_MAX {
            return Err(ApiError::invalid(format!("there are at most {TRIAL_SCOPES_MAX} `scopes`")));
        }
        if let Some(wrong) = self.scopes.iter().find(|scope| Scope::parse(scope).is_err()) {
            let shown = crate::nouns::shortened(wrong, TRIAL_CALLER_CHARS_MAX);
            return Err(ApiError::invalid(format!("`{shown}` is no scope")));
        }
        Ok(Self {
            subject: text("subject", self.subject)?,
            issuer: text("issuer", self.issuer)?,
            method: text("method", self.method)?,
            assurance: text("assurance", self.assurance)?,
            ..self
        })
    }

    /// What agents and rules are told of it; `audience` is whom it asks, and `host` this one.
    pub(super) fn sender(&self, audience: &str, host: &str, now: Timestamp) -> Sender {
        let allowance = Allowance::TriedOut { as_if_met: self.as_if_met };
        // Scopes are granted to somebody: without a name, to nobody whom a rule or a record could know.
        let nobody = || (!self.scopes.is_empty()).then(|| NOBODY.to_owned());
        let Some(subject) = self.subject.clone().or_else(nobody) else {
            return Sender { allowance, ..Sender::anonymous() };
        };
        let text = |text: &Option<String>, default: &str| text.clone().unwrap_or_else(|| default.to_owned());
        let evidence = IdentityEvidence {
            id: None,
            subject,
            issuer: text(&self.issuer, host),
            method: text(&self.method, METHOD),
            assurance: text(&self.assurance, ASSURANCE),
            audience: Audience::One(audience.to_owned()),
            issued_at: now,
            not_before: None,
            expires_at: None,
            on_behalf_of: Vec::new(),
            claims: Map::from_iter([("scope".to_owned(), Value::from(self.scopes.join(" ")))]),
            source: Map::new(),
            proof: Proof { kind: TRIED_OUT.to_owned(), fields: Map::from_iter([("by".to_owned(), json!("operator"))]) },
        };
        Sender {
            auth_method: TRIED_OUT.to_owned(),
            verified: true,
            authority: Authority::of_evidence(std::slice::from_ref(&evidence)),
            identities: vec![evidence],
            allowance,
            ..Sender::anonymous()
        }
    }

    /// Whether it is somebody in particular.
    pub(super) fn is_somebody(&self) -> bool {
        self.subject.is_some()
    }

    /// Who it is, as it is written down that an operator took its place; `None` for nobody in particular.
    pub(super) fn told(&self) -> Option<String> {
        let scopes = if self.scopes.is_empty() { String::new() } else { format!(" with {}", self.scopes.join(" ")) };
        let met = if self.as_if_met { ", as if all was agreed and paid" } else { "" };
        match &self.subject {
            Some(subject) => Some(format!("{subject}{scopes}{met}")),
            None if self.scopes.is_empty() && !self.as_if_met => None,
            None => Some(format!("anybody{scopes}{met}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_a_bound_or_no_scope_is_refused_by_name() {
        let named = |chars: usize| TrialCaller { subject: Some("a".repeat(chars)), ..TrialCaller::default() };
        assert!(named(TRIAL_CALLER_CHARS_MAX).checked().is_ok());
        assert!(named(TRIAL_CALLER_CHARS_MAX + 1).checked().is_err_and(|error| error.message.contains("`subject`")));
        let scoped = |scopes: Vec<String>| TrialCaller { scopes, ..TrialCaller::default() }.checked();
        assert!(scoped(vec!["orders:read".to_owned(); TRIAL_SCOPES_MAX]).is_ok());
        assert!(scoped(vec!["orders:read".to_owned(); TRIAL_SCOPES_MAX + 1]).is_err());
        assert!(scoped(vec!["a b".to_owned()]).is_err());
    }

    #[test]
    fn nobody_in_particular_has_proven_nothing() {
        let nobody = TrialCaller { subject: Some("  ".to_owned()), ..TrialCaller::default() }.checked().unwrap();
        let sender = nobody.sender("@a@demo.localhost", "demo.localhost", Timestamp::UNIX_EPOCH);
        assert_eq!((sender.owner(), sender.identities.len(), nobody.told()), (None, 0, None));
        assert!(sender.allowance.is_tried_out());
        let scoped = TrialCaller { scopes: vec!["orders:read".to_owned()], ..TrialCaller::default() };
        let sender = scoped.sender("@a@demo.localhost", "demo.localhost", Timestamp::UNIX_EPOCH);
        assert!(sender.verified && sender.authority.held().covers(&Scope::parse("orders:read").unwrap()));
        let ann = TrialCaller { subject: Some("ann@example.com".to_owned()), ..TrialCaller::default() };
        let sender = ann.sender("@a@demo.localhost", "demo.localhost", Timestamp::UNIX_EPOCH);
        assert_eq!((sender.owner(), sender.identities[0].proof.kind.as_str()), (Some("ann@example.com"), TRIED_OUT));
        assert_eq!(sender.auth_method, TRIED_OUT, "an agent can tell it from somebody who came");
    }
}
