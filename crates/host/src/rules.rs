//! Simple rules that an operator puts before an agent, in the order in which they are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_core::policy::{AuthChallenge, RefusalKind, Rule, RuleVerdict};
use forecourt_core::{AgentCard, IdentityEvidence, Message, PolicyPart, Sender};
use futures::future::BoxFuture;
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::directory::Site;

/// One rule. The first rule that refuses decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum RuleSettings {
    /// Nobody passes unless this host verified who it is.
    RequireIdentity {
        /// What a person reads.
        message: Option<String>,
        /// A page on this host where a person can sign in.
        url: Option<String>,
        /// Accepted methods of evidence; all when empty.
        #[serde(default)]
        methods: Vec<String>,
        /// Accepted levels of assurance; all when empty.
        #[serde(default)]
        assurance: Vec<String>,
    },
    /// Some callers do not pass.
    Deny {
        /// Verified subjects or addresses; a trailing `*` matches any ending, `*` everybody.
        #[serde(default)]
        subjects: Vec<String>,
        /// Networks, such as `203.0.113.0/24`.
        #[serde(default)]
        #[schemars(with = "Vec<String>")]
        networks: Vec<IpNet>,
        /// What a person reads.
        message: Option<String>,
    },
    /// A law forbids it.
    Legal {
        /// What a person reads.
        message: String,
        /// A page on this host that says who blocks this.
        url: Option<String>,
    },
    /// Closed for now.
    Maintenance {
        /// What a person reads.
        message: Option<String>,
        /// Seconds to wait, if known.
        retry_after_seconds: Option<u64>,
        /// Translations of the message by language tag.
        #[serde(default)]
        translations: BTreeMap<String, String>,
    },
}

/// Builds the rules of an agent. Fails with what is wrong when a URL is not on the canonical host.
pub fn rules(settings: &[RuleSettings], site: &Site) -> Result<Vec<Arc<dyn Rule>>, String> {
    settings.iter().map(|rule| build(rule, site)).collect()
}

fn build(settings: &RuleSettings, site: &Site) -> Result<Arc<dyn Rule>, String> {
    let refusal = refusal(settings, site);
    refusal.validate(site.canonical_host()).map_err(|fault| fault.to_string())?;
    Ok(Arc::new(Configured { settings: settings.clone(), refusal }))
}

/// A configured rule with the refusal that it gives.
struct Configured {
    settings: RuleSettings,
    refusal: PolicyPart,
}

impl Rule for Configured {
    fn judge<'a>(&'a self, _: &'a AgentCard, message: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let verdict = match passes(&self.settings, &message.sender) {
            true => Ok(()),
            // To have signed in once more would change nothing.
            false if self.is_refused_for_good(&message.sender) => Err(PolicyPart::new(
                RefusalKind::Forbidden,
                "This agent does not answer the account that is signed in.",
            )
            .into()),
            false => Err(self.refusal.clone().into()),
        };
        Box::pin(std::future::ready(verdict))
    }
}

impl Configured {
    /// Whether an identity is asked for, and is there by way of a sign-in.
    fn is_refused_for_good(&self, sender: &Sender) -> bool {
        let asks = matches!(self.settings, RuleSettings::RequireIdentity { .. });
        asks && sender.verified && sender.identities.iter().any(IdentityEvidence::is_of_session)
    }
}

fn passes(settings: &RuleSettings, sender: &Sender) -> bool {
    match settings {
        RuleSettings::RequireIdentity { methods, assurance, .. } => is_proven(sender, methods, assurance),
        RuleSettings::Deny { subjects, networks, .. } => !is_denied(sender, subjects, networks),
        RuleSettings::Legal { .. } | RuleSettings::Maintenance { .. } => false,
    }
}

fn is_proven(sender: &Sender, methods: &[String], assurance: &[String]) -> bool {
    let listed = |list: &[String], value: &str| list.is_empty() || list.iter().any(|entry| entry == value);
    let fits = |e: &IdentityEvidence| listed(methods, &e.method) && listed(assurance, &e.assurance);
    sender.verified && sender.identities.iter().any(fits)
}

/// Only what was verified counts, so that nobody is shut out, or let in, by a claim.
fn is_denied(sender: &Sender, subjects: &[String], networks: &[IpNet]) -> bool {
    let near = sender.peer.is_some_and(|peer| networks.iter().any(|net| net.contains(&peer.to_canonical())));
    let verified = sender.identities.iter().map(|e| e.subject.as_str());
    let named = verified.chain(sender.verified.then_some(sender.address.as_str()));
    near || subjects.iter().any(|p| p == "*") || named.into_iter().any(|s| subjects.iter().any(|p| matches(p, s)))
}

fn matches(pattern: &str, subject: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => subject.starts_with(prefix),
        None => pattern == subject,
    }
}

fn refusal(settings: &RuleSettings, site: &Site) -> PolicyPart {
    let text = |given: &Option<String>, own: &str| given.clone().unwrap_or_else(|| own.to_owned());
    match settings {
        RuleSettings::RequireIdentity { message, url, .. } => {
            let challenge = AuthChallenge::new("Bearer").with("realm", site.canonical_host());
            let kind = RefusalKind::Unauthorized { auth_challenges: vec![challenge] };
            let mut part =
                PolicyPart::new(kind, text(message, "This agent answers only callers that prove who they are."));
            part.url.clone_from(url);
            part.action_label = url.as_ref().map(|_| part.kind.action_label().to_owned());
            part
        }
        RuleSettings::Deny { message, .. } => {
            PolicyPart::new(RefusalKind::Forbidden, text(message, "This agent does not answer you."))
        }
        RuleSettings::Legal { message, url } => {
            let mut part = PolicyPart::new(RefusalKind::UnavailableForLegalReasons, message.clone());
            part.url.clone_from(url);
            part
        }
        RuleSettings::Maintenance { message, retry_after_seconds, translations } => {
            let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: *retry_after_seconds };
            let mut part = PolicyPart::new(kind, text(message, "This agent is closed for maintenance."));
            part.message_translations = translations.iter().map(|(tag, m)| (tag.clone(), translation(m))).collect();
            part
        }
    }
}

fn translation(message: &str) -> forecourt_core::policy::Translation {
    forecourt_core::policy::Translation { title: None, message: message.to_owned() }
}
