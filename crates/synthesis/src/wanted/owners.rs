//! Of what entity each member of the output is wanted. The same name at two entities is two things, so that what is
//! said counts, from the surest to the weakest, and nothing is guessed after that.

use std::collections::BTreeSet;

use super::WantedChange;
use crate::meaning::{Meaning, TypedMember};

/// What says of which entity a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OwnerSource {
    /// Its own name or schema.
    Itself,
    /// A sentence.
    Sentence,
    /// The path ends in it.
    Path,
    /// It is what the act gives.
    Act,
    /// It is named somewhere.
    Named,
    /// It is what an endpoint works out, and no other does.
    Computed,
}

/// What a member may mean, by what says so.
#[derive(Clone, Debug)]
pub(crate) struct OwnedMeaning {
    pub(crate) meaning: Meaning,
    pub(crate) source: OwnerSource,
    /// What that is of, further out: the product whose supplier it is.
    pub(crate) chain: Vec<String>,
}

impl WantedChange<'_> {
    /// What a member of the output means: more than one where the proposal leaves that open. `has`: whether the host
    /// knows such a property of an entity; `act`: whether the act gives it, and of what; `computed`: what endpoints work out of whatever they are
    /// given.
    pub(crate) fn owners(
        &self,
        member: &TypedMember<'_>,
        has: &dyn Fn(&str, &Meaning) -> bool,
        act: Option<&str>,
        computed: &BTreeSet<&str>,
    ) -> Vec<OwnedMeaning> {
        let of = |entity: &str, source: OwnerSource, chain: &[String]| OwnedMeaning {
            meaning: Meaning { entity: Some(entity.to_owned()), ..member.meaning.clone() },
            source,
            chain: chain.to_vec(),
        };
        let said = self.said_owners(member);
        if member.is_explicit {
            let entity = member.meaning.entity.as_deref().unwrap_or_default();
            let chain = said.iter().find(|chain| chain.first().is_some_and(|head| head == entity));
            let chain = chain.map_or(&[][..], |chain| &chain[1..]);
            return vec![of(entity, OwnerSource::Itself, chain)];
        }
        let mut found: Vec<OwnedMeaning> = Vec::new();
        for chain in said {
            let Some((head, rest)) = chain.split_first() else { continue };
            if !self.denied.contains(head) && !found.iter().any(|known| known.meaning.entity.as_ref() == Some(head)) {
                found.push(of(head, OwnerSource::Sentence, rest));
            }
        }
        // "The state of an order" of which the host knows no state is another thing: what an act says of its own result
        // has the name that the act gives it.
        if !found.is_empty() && (act.is_none() || found.iter().any(|one| self.is_known(one, has))) {
            return found;
        }
        if let Some(act) = act {
            return vec![of(act, OwnerSource::Act, &[])];
        }
        if let Some(target) = &self.target
            && has(target, &member.meaning)
        {
            return vec![of(target, OwnerSource::Path, &[])];
        }
        let named = self.named.iter().filter(|entity| !self.denied.contains(*entity) && has(entity, &member.meaning));
        let named: Vec<OwnedMeaning> = named.map(|entity| of(entity, OwnerSource::Named, &[])).collect();
        if !named.is_empty() {
            return named;
        }
        let computed = computed.iter().filter(|entity| has(entity, &member.meaning));
        computed.map(|entity| of(entity, OwnerSource::Computed, &[])).collect()
    }

    fn is_known(&self, owned: &OwnedMeaning, has: &dyn Fn(&str, &Meaning) -> bool) -> bool {
        owned.meaning.entity.as_deref().is_some_and(|entity| has(entity, &owned.meaning))
    }

    /// What sentences say owns a member.
    pub(super) fn said_owners(&self, member: &TypedMember<'_>) -> &[Vec<String>] {
        match member.meaning.is_id() {
            true => &[],
            false => self.said.get(&member.own).map_or(&[], Vec::as_slice),
        }
    }
}
