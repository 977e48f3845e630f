//! What a proposal says that an act would break: what it denies, what it says stays as it is, and what it orders
//! besides. An endpoint is held to all that is said of it, and not to its path alone.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::Catalog;

use super::host::TypedEndpoint;
use crate::meaning::words::{of_name, stem};
use crate::wanted::WantedChange;
use crate::wanted::verbs::{changing, ends, matches};

/// Holds acts against what is said of the proposal.
pub(super) struct Contradictions<'w> {
    pub(super) wanted: &'w WantedChange<'w>,
    /// Verbs that change something, by their stems.
    changes: BTreeMap<String, String>,
}

impl<'w> Contradictions<'w> {
    pub(super) fn of(wanted: &'w WantedChange<'w>, catalog: &Catalog) -> Contradictions<'w> {
        Contradictions { wanted, changes: changing(catalog) }
    }

    /// What the proposal says that this act would break.
    pub(super) fn find(&self, typed: &TypedEndpoint<'_>) -> Option<String> {
        let wanted = self.wanted;
        let method = typed.endpoint.method.as_str();
        if wanted.denied_parts.iter().any(|part| part.contains_key(&stem(method))) {
            return Some(format!("the proposal says not to {method}"));
        }
        let semantic = &typed.endpoint.semantic;
        let said = [semantic.intent.as_str(), &semantic.outcome, &typed.endpoint.description];
        let said = wanted.affirmed(&said, &self.changes);
        let touched = typed.entity.iter().chain(&said.entities).find(|entity| wanted.kept.contains(*entity));
        if let Some(entity) = touched {
            return Some(format!("the proposal says that the {entity} stays as it is"));
        }
        self.denied(typed, &said.stems).or_else(|| self.more(method, &said.stems))
    }

    /// What is denied and is said of an endpoint: a verb that changes something by itself, and any part of which it
    /// has half the words.
    fn denied(&self, typed: &TypedEndpoint<'_>, said: &BTreeSet<String>) -> Option<String> {
        let mut says = said.clone();
        says.extend(typed.outputs.iter().flat_map(|member| of_name(member.name())).map(|word| stem(&word)));
        self.wanted.denied_parts.iter().find_map(|part| {
            let words = part.iter().filter(|(_, word)| word.len() > 2 && !is_filler(word));
            let words: Vec<(&String, &String)> = words.collect();
            let broken = words.iter().filter(|(stem, _)| says.contains(*stem)).count();
            // An order is a thing that is named, whatever it is to order.
            let is_change = |(stem, word): &(&String, &String)| {
                self.changes.contains_key(*stem) && said.contains(*stem) && !self.wanted.names_entity(word)
            };
            let is_broken = (broken > 0 && broken * 2 >= words.len()) || words.iter().any(is_change);
            let denied: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
            is_broken.then(|| format!("it would do what the proposal denies ({})", denied.join(", ")))
        })
    }

    /// Changes that the proposal orders and that are neither this one nor a part of it.
    fn more(&self, method: &str, said: &BTreeSet<String>) -> Option<String> {
        let proposed = self.wanted.method.as_str();
        let is_own = |verb: &str| [proposed, method].iter().any(|own| matches(own, verb, None).is_some());
        self.wanted.orders.iter().find_map(|(order, is_first)| {
            let verb = self.changes.get(order).filter(|verb| !is_own(verb) && !said.contains(order))?;
            // The first verb of a sentence says the method in other words, unless it ends what the method does not.
            let is_other = !is_first || (ends(verb) && !ends(method));
            is_other.then(|| format!("the proposal says to {verb} as well, and a plan has one act"))
        })
    }
}

/// Changes that a proposal orders that names none: the verb of the first.
pub(super) fn ordered(wanted: &WantedChange<'_>, catalog: &Catalog) -> Option<String> {
    Contradictions::of(wanted, catalog)
        .more(wanted.method.as_str(), &BTreeSet::new())
        .map(|_| "its sentences order a change, and it is proposed as one that changes nothing".to_owned())
}

fn is_filler(word: &str) -> bool {
    [
        "the", "and", "any", "its", "will", "that", "this", "has", "have", "are", "was", "been", "being", "money",
        "need", "does",
    ]
    .contains(&word)
}
