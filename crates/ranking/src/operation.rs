//! This module knows what an operation does, as far as its words tell, and how well that is what a question asks for.

use crate::description::Description;
use crate::question::Question;
use crate::synonyms::{Action, Group, Thesaurus};
use crate::words::{Stems, is_plural, words};

/// What the score of an operation is multiplied by that does what is asked for, by the very kind of word.
const SAME_WORD: f32 = 1.45;
/// The same, for one that does something of that kind.
const SAME_ACTION: f32 = 1.1;
/// The same, for one that does something near to it: much is made by being changed or run.
const NEAR_ACTION: f32 = 0.75;
/// The same, for one that does something else.
const OTHER_ACTION: f32 = 0.35;
/// Words of a name in which its verb is looked for: the first may be the name of a server.
const VERB_WORDS: usize = 3;
/// Words at the end of a name in which its verb is looked for when there is none among the first: `users_messages_send`.
const LAST_VERB_WORDS: usize = 2;

/// What an operation does, as far as its name tells.
#[derive(Debug, Default)]
pub(crate) struct Operation {
    groups: Vec<Group>,
    actions: Vec<Action>,
    /// How much the words of its title tell, together.
    pub(crate) title_worth: f32,
    /// How much the words of its name tell, together.
    pub(crate) name_worth: f32,
}

impl Operation {
    pub(crate) fn of(description: &Description<'_>, stems: &mut Stems) -> Self {
        let thesaurus = Thesaurus::shipped();
        let mut operation = Self::default();
        let mut verb = |word: &str| {
            let stem = stems.stem(word);
            let (_, groups) = thesaurus.longest(&[stem])?;
            let groups: Vec<Group> =
                groups.iter().copied().filter(|group| thesaurus.action(*group).is_some()).collect();
            (!groups.is_empty()).then_some(groups)
        };
        let name: Vec<String> = words(description.name).collect();
        let of_name = name.iter().take(VERB_WORDS).chain(name.iter().rev().take(LAST_VERB_WORDS));
        operation
            .groups
            .extend(of_name.filter(|word| is_infinitive(word)).find_map(|word| verb(word)).into_iter().flatten());
        let of_headline = words(description.headline()).take(VERB_WORDS).find_map(|word| verb(&word));
        operation.groups.extend(of_headline.into_iter().flatten());
        operation.actions = operation.groups.iter().filter_map(|group| thesaurus.action(*group)).collect();
        if description.reads_only {
            operation.actions.retain(|action| *action == Action::Read);
            operation.actions.push(Action::Read);
        }
        operation
    }

    /// How well it does what is to be done.
    pub(crate) fn fit(&self, question: &Question) -> f32 {
        if question.actions.is_empty() || self.actions.is_empty() {
            return 1.0;
        }
        if question.action_groups.iter().any(|group| self.groups.contains(group)) {
            return SAME_WORD;
        }
        let pairs = question.actions.iter().flat_map(|wanted| self.actions.iter().map(|own| likeness(*wanted, *own)));
        let fit = pairs.fold(OTHER_ACTION, f32::max);
        if question.is_guessed { fit.sqrt() } else { fit }
    }
}

/// Whether a word of a name can say what is done: `reserved` and `records` are of things.
fn is_infinitive(word: &str) -> bool {
    !word.ends_with("ed") && !is_plural(word)
}

/// What two kinds of action make of a score.
fn likeness(wanted: Action, own: Action) -> f32 {
    match (wanted, own) {
        (wanted, own) if wanted == own => SAME_ACTION,
        (Action::Read, _) | (_, Action::Read) | (Action::Make, Action::Remove) | (Action::Remove, Action::Make) => {
            OTHER_ACTION
        }
        _ => NEAR_ACTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participles_and_plurals_in_names_are_no_verbs() {
        assert!(!is_infinitive("reserved") && !is_infinitive("records"));
        assert!(is_infinitive("process") && is_infinitive("reserve"));
    }
}
