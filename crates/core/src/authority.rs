//! What may be done in a sender's name: what it holds, what it claims, and what it may at most use.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::identity::IdentityEvidence;
use crate::limits::SCOPES_MAX;
use crate::scope::{Scope, ScopeSet};

/// What may be done in a sender's name. It begins as what the sender's proofs grant, and from then on only ever
/// narrows, also as the sender's wish is handed on. By default it is nothing. AGTP base 7.
///
/// It is kept and told as its ceiling: whoever reads it again has to be granted anew what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    granted: ScopeSet,
    claimed: Option<ScopeSet>,
    ceiling: Option<ScopeSet>,
}

impl Authority {
    /// All of `granted`. For whoever has verified that it was granted.
    pub fn granted(granted: ScopeSet) -> Self {
        Self { granted, claimed: None, ceiling: None }
    }

    /// What verified evidence grants: its `scope`, as RFC 8693 section 4.2 has it or as a list. Texts that are
    /// no scope tokens grant nothing.
    pub fn of_evidence(identities: &[IdentityEvidence]) -> Self {
        let texts =
            identities.iter().filter_map(|evidence| evidence.claims.get("scope")).flat_map(|scope| match scope {
                Value::String(text) => text.split(' ').collect::<Vec<_>>(),
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            });
        Self::granted(tokens(texts))
    }

    /// What the sender holds: what was granted, within the ceiling.
    pub fn held(&self) -> ScopeSet {
        match &self.ceiling {
            None => self.granted.clone(),
            Some(ceiling) => self.granted.shared(ceiling),
        }
    }

    /// What it claims for this one wish. `None`: it said nothing.
    pub fn claimed(&self) -> Option<&ScopeSet> {
        self.claimed.as_ref()
    }

    /// What it may at most use, whatever is granted. `None`: nobody said so.
    pub fn ceiling(&self) -> Option<&ScopeSet> {
        self.ceiling.as_ref()
    }

    /// What is claimed beyond what is held.
    pub fn excess(&self) -> Vec<Scope> {
        self.claimed.as_ref().map(|claimed| self.held().missing(claimed.iter())).unwrap_or_default()
    }

    /// What may be used for this wish: what is claimed and held, or all that is held where nothing is claimed.
    pub fn in_use(&self) -> ScopeSet {
        let held = self.held();
        match &self.claimed {
            None => held,
            Some(claimed) if held.missing(claimed.iter()).is_empty() => claimed.clone(),
            Some(claimed) => claimed.shared(&held),
        }
    }

    /// The same, with this claim; `None`: without any.
    #[must_use]
    pub fn claiming(self, claimed: Option<ScopeSet>) -> Self {
        Self { claimed, ..self }
    }

    /// The same, claiming all that is held.
    #[must_use]
    pub fn claiming_all(self) -> Self {
        let claimed = Some(self.held());
        self.claiming(claimed)
    }

    /// The same, using no more than `ceiling` besides what bounds it already.
    #[must_use]
    pub fn within(self, ceiling: &ScopeSet) -> Self {
        let ceiling = Some(match &self.ceiling {
            None => ceiling.clone(),
            Some(own) => own.shared(ceiling),
        });
        Self { ceiling, ..self }
    }

    /// The same, held to what bounds `earlier`: whoever goes on with a wish does not widen it.
    #[must_use]
    pub fn continuing(self, earlier: &Self) -> Self {
        match &earlier.ceiling {
            None => self,
            Some(ceiling) => self.within(ceiling),
        }
    }

    /// What goes along as the wish is handed on: what was claimed bounds it from now on.
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

    /// Whether nobody said what may be used at most.
    pub(crate) fn is_unbounded(&self) -> bool {
        self.ceiling.is_none()
    }
}

/// The tokens among texts, at most [`SCOPES_MAX`].
fn tokens<'t>(texts: impl Iterator<Item = &'t str>) -> ScopeSet {
    let tokens: Vec<Scope> = texts.filter_map(|text| Scope::parse(text).ok()).take(SCOPES_MAX).collect();
    ScopeSet::try_from(tokens).unwrap_or_default()
}

impl Serialize for Authority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ceiling.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Authority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Option::<Vec<String>>::deserialize(deserializer)?;
        let ceiling = texts.map(|texts| tokens(texts.iter().map(String::as_str)));
        Ok(Self { ceiling, ..Self::default() })
    }
}

#[cfg(test)]
mod tests;
