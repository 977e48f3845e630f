//! This module has the settings of an agent's own file about its identity.

use forecourt_contract::scope::ScopeSet;
use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::genesis::{Archetype, Genesis, GenesisDraft, TrustTier, is_first_tier_path, is_known_path};

/// What an agent may do whose operator did not say: look things up. It is also the most that an agent
/// on its organisation's word alone should have. AGTP base 6.5.
pub(crate) const DEFAULT_SCOPES: [&str; 2] = ["documents:query", "knowledge:query"];

/// Who an agent is when it calls others, and how it is vouched for. All but `wildcards` goes into the
/// genesis document that is made for it at its first start, which is never made again: later changes need a new
/// genesis document, and with it another agent id.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentIdentitySettings {
    /// What it may do, as tokens such as `booking:room`; `*` stands for one part, at the end for any
    /// that follow. The default is `documents:query` and `knowledge:query`.
    #[schemars(with = "Option<Vec<String>>")]
    pub scopes: Option<ScopeSet>,
    /// How well it is vouched for: 1 verified, 2 on its organisation's word (the default), 3 an
    /// experiment.
    #[schemars(with = "Option<u8>")]
    pub trust_tier: Option<TrustTier>,
    /// By what it is vouched for: `org-asserted` (the default); for tier 1 `dns-anchored`,
    /// `log-anchored` or `hybrid`.
    pub verification_path: Option<String>,
    /// Whether it consents to methods that it did not declare. Leave it off unless you know why not.
    pub wildcards: bool,
    /// What kind of work it does: `assistant` (the default), `analyst`, `executor`, `orchestrator` or
    /// `monitor`.
    pub archetype: Option<Archetype>,
    /// Under whose rules it runs. The default is the domain.
    pub governance_zone: Option<String>,
    /// Who answers for it. The default is the domain.
    pub owner: Option<String>,
}

impl AgentIdentitySettings {
    /// What is wrong with values that fit their types one by one: the key, and what would be right.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        let path = self.verification_path.as_deref().unwrap_or("org-asserted");
        let is_empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
        if !is_known_path(path) {
            return Some(("verification_path", "must be org-asserted, dns-anchored, log-anchored or hybrid"));
        }
        if self.trust_tier == Some(TrustTier::Verified) && !is_first_tier_path(path) {
            let right = "tier 1 needs a `verification_path`: dns-anchored, log-anchored or hybrid";
            return Some(("trust_tier", right));
        }
        if is_empty(&self.owner) {
            return Some(("owner", "must not be empty"));
        }
        is_empty(&self.governance_zone).then_some(("governance_zone", "must not be empty"))
    }

    /// The genesis document of an agent with these settings, called `name` on this domain.
    pub fn draft(&self, name: &str, domain: &str, now: Timestamp) -> GenesisDraft {
        let or_domain = |text: &Option<String>| text.clone().unwrap_or_else(|| domain.to_owned());
        GenesisDraft {
            name: Some(name.to_owned()),
            owner: or_domain(&self.owner),
            archetype: self.archetype.unwrap_or(Archetype::Assistant),
            governance_zone: or_domain(&self.governance_zone),
            scope: match &self.scopes {
                Some(scopes) => scopes.iter().map(ToString::to_string).collect(),
                None => DEFAULT_SCOPES.map(str::to_owned).to_vec(),
            },
            trust_tier: self.trust_tier.unwrap_or(TrustTier::OrgAsserted),
            verification_path: self.verification_path.clone().unwrap_or_else(|| "org-asserted".to_owned()),
            issued_at: now,
        }
    }

    /// The keys that are set to something else than a genesis document says: they have no effect.
    pub(crate) fn differing(&self, genesis: &Genesis) -> Vec<&'static str> {
        let text = |name| genesis.document().get(name).and_then(|value| value.as_str());
        let stated = |found: Option<&str>, wanted: &Option<String>| wanted.is_some() && found != wanted.as_deref();
        let scopes =
            self.scopes.as_ref().is_some_and(|scopes| !scopes.iter().map(|scope| scope.as_str()).eq(genesis.scope()));
        let archetype = self.archetype.map(|archetype| archetype.as_str().to_owned());
        let checks = [
            ("scopes", scopes),
            ("trust_tier", self.trust_tier.is_some() && self.trust_tier != genesis.trust_tier()),
            ("verification_path", stated(genesis.verification_path(), &self.verification_path)),
            ("archetype", stated(text("archetype"), &archetype)),
            ("governance_zone", stated(genesis.governance_zone(), &self.governance_zone)),
            ("owner", stated(genesis.owner(), &self.owner)),
        ];
        checks.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}
