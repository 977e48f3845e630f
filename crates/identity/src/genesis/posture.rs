//! How far an agent is vouched for, put together from what the operator says and what its genesis document says.
//! AGTP trust: precedence is field by field, explicit before genesis before default.

use serde::{Deserialize, Serialize};

use super::Genesis;

/// The warning of a second-tier agent whose documents give none.
const INCOMPLETE: &str = "verification-incomplete";
/// The warning of an agent whose `verification_path` is not one of AGTP trust.
const UNSUPPORTED: &str = "verification-path-unsupported";
/// The paths by which a first-tier agent can be verified.
const FIRST_TIER_PATHS: [&str; 3] = ["dns-anchored", "log-anchored", "hybrid"];
/// The path of an agent that only its own organisation vouches for.
const ORG_ASSERTED: &str = "org-asserted";

/// How well an agent is vouched for. A smaller number is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum TrustTier {
    /// Verified by somebody else.
    Verified = 1,
    /// Asserted by its own organisation.
    OrgAsserted = 2,
    /// Experimental: an agent that is being tried out.
    Experimental = 3,
}

impl TryFrom<u8> for TrustTier {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            1 => Ok(Self::Verified),
            2 => Ok(Self::OrgAsserted),
            3 => Ok(Self::Experimental),
            _ => Err("a trust tier is 1, 2 or 3"),
        }
    }
}

impl From<TrustTier> for u8 {
    fn from(tier: TrustTier) -> Self {
        tier as Self
    }
}

/// The operator's statements about an agent, from its identity document; each goes before the genesis document's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OperatorStatement {
    /// The trust tier.
    pub trust_tier: Option<TrustTier>,
    /// The verification path, such as `dns-anchored`.
    pub verification_path: Option<String>,
    /// The trust warning, a word for callers.
    pub trust_warning: Option<String>,
    /// The owner who answers for the agent.
    pub owner_id: Option<String>,
}

/// The resolved trust posture of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustPosture {
    /// The trust tier.
    pub trust_tier: TrustTier,
    /// The verification path, such as `dns-anchored`.
    pub verification_path: String,
    /// The trust warning, a word for callers. A second-tier agent always has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_warning: Option<String>,
    /// The owner who answers for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_id: Option<String>,
}

impl TrustPosture {
    /// The posture of an agent: each field from the statement, else the genesis document, else the default (tier 2,
    /// `org-asserted`).
    pub fn resolve(stated: &OperatorStatement, genesis: Option<&Genesis>) -> Self {
        let tier = stated.trust_tier.or_else(|| genesis?.trust_tier()).unwrap_or(TrustTier::OrgAsserted);
        let path = stated.verification_path.as_deref().or_else(|| genesis?.verification_path());
        let path = path.unwrap_or(ORG_ASSERTED).to_owned();
        let owner_id = stated.owner_id.as_deref().or_else(|| genesis?.owner()).map(str::to_owned);
        let is_supported = is_known_path(&path);
        // A claim to be verified by what nobody knows, or by nothing, is worth no more than the
        // organisation's word.
        let trust_tier = if is_first_tier_path(&path) { tier } else { tier.max(TrustTier::OrgAsserted) };
        let warning = match trust_tier {
            TrustTier::OrgAsserted if is_supported => Some(INCOMPLETE),
            TrustTier::OrgAsserted => Some(UNSUPPORTED),
            TrustTier::Verified | TrustTier::Experimental => None,
        };
        let trust_warning = stated.trust_warning.clone().or_else(|| warning.map(str::to_owned));
        Self { trust_tier, verification_path: path, trust_warning, owner_id }
    }

    /// The resolved values and the source of each, as a line for the log.
    pub(crate) fn told(&self, stated: &OperatorStatement, genesis: Option<&Genesis>) -> String {
        let from = |is_stated: bool, is_lifted: bool| match (is_stated, is_lifted) {
            (true, _) => "document",
            (false, true) => "genesis document",
            (false, false) => "default",
        };
        let tier = from(stated.trust_tier.is_some(), genesis.and_then(Genesis::trust_tier).is_some());
        let path = from(stated.verification_path.is_some(), genesis.and_then(Genesis::verification_path).is_some());
        let owner = from(stated.owner_id.is_some(), genesis.and_then(Genesis::owner).is_some());
        let (number, owner_id) = (self.trust_tier as u8, self.owner_id.as_deref().unwrap_or("unknown"));
        let path_found = &self.verification_path;
        format!("trust_tier {number} ({tier}), verification_path {path_found} ({path}), owner_id {owner_id} ({owner})")
    }

    /// Whether it is vouched for at least as well as `min`.
    pub fn is_at_least(&self, min: TrustTier) -> bool {
        self.trust_tier <= min
    }
}

/// Whether a first-tier agent can be verified by this path.
pub(crate) fn is_first_tier_path(path: &str) -> bool {
    FIRST_TIER_PATHS.contains(&path)
}

/// Whether AGTP trust defines this path.
pub(crate) fn is_known_path(path: &str) -> bool {
    path == ORG_ASSERTED || is_first_tier_path(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(tier: u8, path: &str) -> OperatorStatement {
        let trust_tier = Some(TrustTier::try_from(tier).unwrap());
        OperatorStatement { trust_tier, verification_path: Some(path.to_owned()), ..OperatorStatement::default() }
    }

    #[test]
    fn the_second_tier_always_warns() {
        let nothing = TrustPosture::resolve(&OperatorStatement::default(), None);
        assert_eq!((nothing.trust_tier, nothing.verification_path.as_str()), (TrustTier::OrgAsserted, "org-asserted"));
        assert_eq!(nothing.trust_warning.as_deref(), Some("verification-incomplete"));
        assert_eq!(nothing.owner_id, None);
        assert_eq!(TrustPosture::resolve(&stated(1, "dns-anchored"), None).trust_warning, None);
        assert_eq!(TrustPosture::resolve(&stated(3, "org-asserted"), None).trust_warning, None);
        let own = OperatorStatement { trust_warning: Some("under-review".to_owned()), ..stated(2, "org-asserted") };
        assert_eq!(TrustPosture::resolve(&own, None).trust_warning.as_deref(), Some("under-review"));
    }

    #[test]
    fn a_path_that_nobody_knows_verifies_nothing() {
        let posture = TrustPosture::resolve(&stated(1, "blockchain"), None);
        assert_eq!(posture.trust_tier, TrustTier::OrgAsserted);
        assert_eq!(posture.trust_warning.as_deref(), Some("verification-path-unsupported"));
        assert_eq!(TrustPosture::resolve(&stated(3, "blockchain"), None).trust_tier, TrustTier::Experimental);
        let word = TrustPosture::resolve(&stated(1, "org-asserted"), None);
        assert_eq!((word.trust_tier, word.trust_warning.as_deref()), (TrustTier::OrgAsserted, Some(INCOMPLETE)));
    }

    #[test]
    fn a_smaller_number_is_stronger() {
        let posture = TrustPosture::resolve(&stated(2, "org-asserted"), None);
        let at_least = [TrustTier::Verified, TrustTier::OrgAsserted, TrustTier::Experimental];
        assert_eq!(at_least.map(|min| posture.is_at_least(min)), [false, true, true]);
        assert!(serde_json::from_str::<TrustTier>("0").is_err() && serde_json::from_str::<TrustTier>("4").is_err());
    }
}
