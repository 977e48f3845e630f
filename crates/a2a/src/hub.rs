//! Hubs elsewhere, read for whoever fronts their agents: a hub's card says which agents there are, and each agent's own
//! card what it is. Hub card 2, 6.
//!
//! | what | file |
//! |---|---|
//! | one look at a hub: which agents it lists, and which of them are taken | `look.rs` |
//! | one agent: its card is found and believed as far as its origin and its signature go | `cards.rs` |
//! | what of a card is kept, bounded | `listed.rs` |

mod cards;
mod listed;
mod look;

use std::sync::Arc;

use forecourt_agents::Context;
use forecourt_agents::hub::{HubChoice, HubDefinition, HubError, HubKind, HubList, HubLook, ListedAgent, RemoteHub};
use forecourt_core::Clock;
use forecourt_core::limits::HOPS_MAX;
use forecourt_egress::Egress;
use forecourt_settings::{Problem, Problems, Section};
use futures::future::BoxFuture;
use http::HeaderMap;
use serde_json::Value;
use tokio::time::timeout;
use url::{Origin, Url};

use crate::BACKEND;
use crate::address::url_of;
use crate::backend::settings;
use crate::client::discovery::{WELL_KNOWN, below, is_document};
use crate::limits::HUB_TIME_MAX;

/// What goes before keys of the backend, as problems with them name it.
const BY: &str = "the hub's list";
/// The key of a backend that says how far unsigned cards are believed.
const REQUIRE_SIGNATURE: &str = "require_signature";

/// Hubs of A2A agents, as the registry knows them.
pub const HUBS: HubKind = HubKind { open };

fn open(definition: &HubDefinition<'_>, context: &Context) -> Result<Arc<dyn RemoteHub>, Problems> {
    let url = card_url(definition.address).ok_or_else(|| bad_address(definition))?;
    let section = definition.backend;
    let mut problems = Problems::new();
    if section.has("url") {
        let problem = section.problem(Some("url"), "`url` is none of a hub's keys: the hub says where its agents are");
        problems.push(problem.hint("where the hub is stands in `address`"));
    }
    if section.text("kind").is_some_and(|kind| kind != BACKEND.kind) {
        let words = format!("the agents of a hub are asked over `{}`", BACKEND.kind);
        problems.push(section.problem(Some("kind"), words).hint("leave `kind` out"));
    }
    let checked = problems.absorb(settings::read(&placed(section, url.as_str()), context));
    let Some(checked) = checked else { return Err(problems) };
    let signatures = match (section.has(REQUIRE_SIGNATURE), checked.require_signature) {
        (false, _) => SignatureRule::Kept,
        (true, true) => SignatureRule::Required,
        (true, false) => SignatureRule::Waived,
    };
    problems.into_result(Arc::new(A2aHub {
        text: url.to_string(),
        url,
        section: section.clone(),
        headers: checked.headers,
        origins: checked.origins,
        signatures,
        egress: context.egress.clone(),
        clock: context.clock.clone(),
    }))
}

fn bad_address(definition: &HubDefinition<'_>) -> Problem {
    let message = format!("`{}` is neither a domain, nor the address of an agent, nor a URL", definition.address);
    let hint = "write example.com, or the URL of the hub's card";
    definition.section.problem(Some("address"), message).hint(hint)
}

/// The URL of the card of a hub: of a domain, of the domain of an address, or the one that was written.
fn card_url(address: &str) -> Option<Url> {
    let mut url = Url::parse(&url_of(address)?).ok()?;
    if !matches!(url.scheme(), "http" | "https") || is_document(&url) {
        return Some(url);
    }
    if !address.contains("://") {
        url.set_path("/");
    }
    Some(below(&url, WELL_KNOWN[0]))
}

/// A section of a backend with its kind and its place.
fn placed(section: &Section, url: &str) -> Section {
    let mut section = section.clone();
    section.overrule("kind", BACKEND.kind, BY);
    section.overrule("url", url, BY);
    section
}

/// How far cards without a signature are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignatureRule {
    /// Unless they had one before.
    Kept,
    /// Not at all.
    Required,
    /// Like any other.
    Waived,
}

impl SignatureRule {
    /// Why a card is not believed, if it is not.
    fn refusal(self, is_signed: bool, was_signed: bool) -> Option<&'static str> {
        match self {
            _ if is_signed => None,
            Self::Required => Some("its card is not signed by a key of its own origin"),
            Self::Kept if was_signed => Some(
                "its card was signed before and is not any more: `require_signature = false` in [backend] takes it \
                 without",
            ),
            Self::Kept | Self::Waived => None,
        }
    }
}

struct A2aHub {
    text: String,
    url: Url,
    /// What the backends of its agents are built from.
    section: Section,
    headers: HeaderMap,
    /// Origins beside the hub's own that its agents may be on.
    origins: Vec<Origin>,
    signatures: SignatureRule,
    egress: Egress,
    clock: Arc<dyn Clock>,
}

impl RemoteHub for A2aHub {
    fn url(&self) -> &str {
        &self.text
    }

    fn look<'a>(
        &'a self,
        choice: &'a HubChoice,
        known: Option<&'a HubList>,
    ) -> BoxFuture<'a, Result<HubLook, HubError>> {
        let late = || HubError::new(format!("was not read within {} seconds", HUB_TIME_MAX.as_secs()));
        Box::pin(async move { timeout(HUB_TIME_MAX, self.read(choice, known)).await.unwrap_or_else(|_| Err(late())) })
    }

    fn admits(&self, agent: &ListedAgent, choice: &HubChoice) -> bool {
        let is_near = Url::parse(&agent.url).is_ok_and(|url| self.is_near(&url));
        // What was signed before is not in question: the list says what was believed.
        is_near && self.signatures.refusal(agent.is_signed, false).is_none() && objection(&agent.via, choice).is_none()
    }

    fn backend(&self, agent: &ListedAgent) -> Section {
        let mut section = placed(&self.section, &agent.url);
        if agent.is_signed && self.signatures == SignatureRule::Kept {
            // The backend reads the card again by itself, so it has to insist as well.
            section.overrule(REQUIRE_SIGNATURE, Value::Bool(true), BY);
        }
        section
    }
}

impl A2aHub {
    /// Whether a card may be there: on the hub's own origin, or on one that the operator named.
    fn is_near(&self, url: &Url) -> bool {
        let origin = url.origin();
        origin == self.url.origin() || self.origins.contains(&origin)
    }
}

/// What is to be said against fronting an agent that is passed on to the hosts of `via`, behind its handle. Refuses what
/// would go in circles: agents that lead back here, and, unless they are asked for, those that the hub itself has from
/// elsewhere.
fn objection(via: &[String], choice: &HubChoice) -> Option<String> {
    let is_own = |host: &String| choice.own_hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
    if via.iter().any(is_own) {
        return Some("leads back to this host".to_owned());
    }
    if via.len() >= HOPS_MAX as usize {
        return Some(format!("is behind {} hosts, and a chain has {HOPS_MAX}", via.len()));
    }
    let host = via.first().filter(|_| !choice.takes_fronted)?;
    Some(format!("is passed on to {host} there: front it from there, or set `fronted = true`"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_domain_an_address_and_a_url_lead_to_the_card_of_a_hub() {
        for (written, url) in [
            ("example.com", "https://example.com/.well-known/agent-card.json"),
            ("@chef@example.com", "https://example.com/.well-known/agent-card.json"),
            ("demo.localhost:8081", "http://demo.localhost:8081/.well-known/agent-card.json"),
            ("https://example.com", "https://example.com/.well-known/agent-card.json"),
            ("https://example.com/agents/", "https://example.com/agents/.well-known/agent-card.json"),
            ("https://example.com/hub.json", "https://example.com/hub.json"),
        ] {
            assert_eq!(card_url(written).map(String::from).as_deref(), Some(url), "{written}");
        }
        assert_eq!(card_url("not a domain"), None);
    }

    #[test]
    fn who_signed_once_has_to_go_on_unless_the_operator_says_otherwise() {
        use SignatureRule::{Kept, Required, Waived};
        for (rule, was_signed, is_refused) in
            [(Kept, false, false), (Kept, true, true), (Required, false, true), (Waived, true, false)]
        {
            assert_eq!(rule.refusal(false, was_signed).is_some(), is_refused, "{rule:?} {was_signed}");
            assert_eq!(rule.refusal(true, was_signed), None);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_leads_to_a_url_or_to_nothing(text in "[@a-z0-9.:/-]{0,30}|https?://\\PC{0,20}") {
            if let Some(url) = card_url(&text) {
                prop_assert!(url.path().ends_with(".json") || !matches!(url.scheme(), "http" | "https"), "{} {}", text, url);
            }
        }
    }
}
