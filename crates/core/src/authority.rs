//! This module computes which scopes may be used in a sender's name: what its proofs grant, what it claims for a
//! request, and what it may use at most. It verifies no proof.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::identity::IdentityEvidence;
use crate::limits::SCOPES_MAX;
use crate::scope::{Scope, ScopeSet};

/// The scopes that may be used in a sender's name. It begins as what the sender's proofs grant, and from then on only
/// narrows, also as the request is handed on to other agents. By default it is empty. AGTP base 7.
///
/// Its JSON is the ceiling alone: what is read again grants nothing until the sender has proven itself again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    granted: ScopeSet,
    claimed: Option<ScopeSet>,
    ceiling: Option<ScopeSet>,
}

impl Authority {
    /// An authority that holds all of `granted`. Only for code that has verified the proof; `tidy.rs` lists the
    /// callers.
    pub fn granted(granted: ScopeSet) -> Self {
        Self { granted, claimed: None, ceiling: None }
    }

    /// What verified evidence grants: its `scope`, as RFC 8693 section 4.2 has it or as a list. Texts that are
    /// no scope tokens grant nothing.
    pub fn of_evidence(identities: &[IdentityEvidence]) -> Self {
        let texts =
            identities.iter().filter_map(|evidence| evidence.claims.get("scope")).flat_map(|scope| match scope {
                // Tokens issued by OAuth servers have one text (RFC 8693 4.2), documents of agents a list.
                Value::String(text) => text.split(' ').collect::<Vec<_>>(),
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            });
        Self::granted(tokens(texts))
    }

    /// The scopes that the sender holds: those granted, within the ceiling.
    pub fn held(&self) -> ScopeSet {
        match &self.ceiling {
            None => self.granted.clone(),
            Some(ceiling) => self.granted.shared(ceiling),
        }
    }

    /// The scopes that the sender claims for this one request. `None` when it claimed none.
    pub fn claimed(&self) -> Option<&ScopeSet> {
        self.claimed.as_ref()
    }

    /// The scopes that may be used at most, whatever is granted. `None` when there is no such bound.
    pub fn ceiling(&self) -> Option<&ScopeSet> {
        self.ceiling.as_ref()
    }

    /// The claimed scopes that are not held, in the order of the claim.
    pub fn excess(&self) -> Vec<Scope> {
        self.claimed.as_ref().map(|claimed| self.held().missing(claimed.iter())).unwrap_or_default()
    }

    /// The scopes that this request may use: those claimed and held, or all that are held where nothing is claimed.
    pub fn in_use(&self) -> ScopeSet {
        let held = self.held();
        match &self.claimed {
            None => held,
            // The usual case: cloning counts a reference, where `shared` builds a list for each call.
            Some(claimed) if held.missing(claimed.iter()).is_empty() => claimed.clone(),
            Some(claimed) => claimed.shared(&held),
        }
    }

    /// This authority with the claim `claimed`; with `None`, without a claim.
    #[must_use]
    pub fn claiming(self, claimed: Option<ScopeSet>) -> Self {
        Self { claimed, ..self }
    }

    /// This authority with a claim of all that it holds.
    #[must_use]
    pub fn claiming_all(self) -> Self {
        let claimed = Some(self.held());
        self.claiming(claimed)
    }

    /// This authority, also bounded by `ceiling`. An earlier bound stays: the two are intersected.
    #[must_use]
    pub fn within(self, ceiling: &ScopeSet) -> Self {
        // Intersected, never replaced: a second ceiling that is wider must not lift the first one.
        let ceiling = Some(match &self.ceiling {
            None => ceiling.clone(),
            Some(own) => own.shared(ceiling),
        });
        Self { ceiling, ..self }
    }

    /// This authority, also bounded by the ceiling of `earlier`: resuming a task must not widen what the task may do.
    #[must_use]
    pub fn continuing(self, earlier: &Self) -> Self {
        match &earlier.ceiling {
            None => self,
            Some(ceiling) => self.within(ceiling),
        }
    }

    /// The authority for the next agent in the chain: the claim becomes its ceiling.
    #[must_use]
    pub fn handed_on(self) -> Self {
        match self.claimed {
            None => self,
            Some(_) => {
                let in_use = self.in_use();
                self.within(&in_use)
            }
        }
    }

    /// Whether there is no ceiling.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.ceiling.is_none()
    }
}

/// The texts that are scope tokens, at most the first [`SCOPES_MAX`].
fn tokens<'t>(texts: impl Iterator<Item = &'t str>) -> ScopeSet {
    // Other texts are left out: OAuth tokens also say `openid`. Cut here, so that the conversion below never fails.
    let tokens: Vec<Scope> = texts.filter_map(|text| Scope::parse(text).ok()).take(SCOPES_MAX).collect();
    ScopeSet::try_from(tokens).unwrap_or_default()
}

impl Serialize for Authority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Grants are not stored: a task that is resumed later must not have what its owner has lost since.
        self.ceiling.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Authority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Option::<Vec<String>>::deserialize(deserializer)?;
        // A ceiling without a readable scope stays `Some` of nothing, which allows nothing; `None` would lift it.
        let ceiling = texts.map(|texts| tokens(texts.iter().map(String::as_str)));
        Ok(Self { ceiling, ..Self::default() })
    }
}

#[cfg(test)]
mod tests;
