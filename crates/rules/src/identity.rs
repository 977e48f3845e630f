//! The rule `require_identity` lets only callers pass that proved who they are. PolicyPart 3.3.1.

use std::collections::BTreeMap;

use forecourt_core::policy::{AuthChallenge, Objection, RefusalKind};
use forecourt_core::{IdentityEvidence, Sender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::any_matches;
use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid, rule};

/// Which proofs count. A proof has to fit every list that is not empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityRule {
    /// Accepted issuers; all when empty. A trailing `*` matches any ending.
    pub issuers: Vec<String>,
    /// Accepted methods of evidence; all when empty. A trailing `*` matches any ending.
    pub methods: Vec<String>,
    /// Accepted levels of assurance; all when empty.
    pub assurance: Vec<String>,
    /// Verified subjects or addresses; all when empty. A trailing `*` matches any ending.
    pub subjects: Vec<String>,
    /// How to prove it, the preferred way first. Default: a bearer token for this host.
    pub challenges: Vec<ChallengeSettings>,
}

/// One way to prove who one is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChallengeSettings {
    /// Such as `Bearer`.
    pub scheme: String,
    /// Its parameters, unquoted.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

impl IdentityRule {
    /// Whether a bearer token is a way to pass: the only one that every protocol's description has words for.
    pub(crate) fn wants_token(&self) -> bool {
        self.challenges.is_empty() || self.challenges.iter().any(|way| way.scheme.eq_ignore_ascii_case("Bearer"))
    }

    /// Which proofs count, in a few words.
    pub(crate) fn summary(&self) -> String {
        let lists = [&self.issuers, &self.methods, &self.assurance, &self.subjects];
        lists.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let given =
            self.challenges.iter().map(|c| AuthChallenge { scheme: c.scheme.clone(), params: c.params.clone() });
        let mut auth_challenges: Vec<AuthChallenge> = given.collect();
        if auth_challenges.is_empty() {
            auth_challenges.push(AuthChallenge::new("Bearer").with("realm", context.site.canonical_host()));
        }
        let own = "This agent answers only callers that prove who they are.";
        let mut unproven = words.refusal(RefusalKind::Unauthorized { auth_challenges }, own);
        if unproven.url.is_none() {
            unproven.url.clone_from(&context.sign_in);
        }
        if unproven.action_label.is_none() && unproven.url.is_some() {
            unproven.action_label = Some(unproven.kind.action_label().to_owned());
        }
        let mut other = words.refusal(RefusalKind::Forbidden, "This agent does not answer callers with your identity.");
        other.code = Some("mentionable:identity_not_accepted".to_owned());
        refused_unless_valid(&unproven, context.site)?;
        let settings = self.clone();
        Ok(rule(move |_, message| {
            let sender = &message.sender;
            match settings.is_met(sender) {
                true => Ok(()),
                // Proving the same identity again would not help: forbidden, and no challenge. PolicyPart 3.3.1.
                false if sender.verified => Err(Objection::from(other.clone())),
                false => Err(unproven.clone().into()),
            }
        }))
    }

    fn is_met(&self, sender: &Sender) -> bool {
        sender.verified && sender.identities.iter().any(|evidence| self.accepts(evidence, sender))
    }

    fn accepts(&self, evidence: &IdentityEvidence, sender: &Sender) -> bool {
        let listed = |list: &[String], value: &str| list.is_empty() || any_matches(list, value);
        listed(&self.issuers, &evidence.issuer)
            && listed(&self.methods, &evidence.method)
            && listed(&self.assurance, &evidence.assurance)
            && (listed(&self.subjects, &evidence.subject) || listed(&self.subjects, &sender.address))
    }
}
