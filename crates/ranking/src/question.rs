//! This module reads a question: the words that are looked for, each with others that mean the same, and what kind of
//! thing is to be done.

use crate::asking::{asked_for, asks, is_empty, names};
use crate::limits::QUESTION_WORDS_MAX;
use crate::synonyms::{Action, Group, Thesaurus};
use crate::words::{Stems, words};

/// The second words of phrases that others may stand before: `take it off`.
const PARTICLES: [&str; 8] = ["away", "back", "down", "off", "on", "out", "over", "up"];
/// Words between the two of such a phrase.
const BETWEEN_MAX: usize = 5;

/// How much a word that means the same counts, of the word itself.
const SYNONYM: f32 = 0.95;
/// How much a word counts that says what to do, of one that says with what.
const ACTION_WORD: f32 = 0.9;
/// How much a word of a phrase that says what to do counts by itself: `get` says little of `get rid of`.
const VERB_OF_PHRASE: f32 = 0.2;
/// The same, of a phrase for a thing: `phone number` is of phones.
const THING_OF_PHRASE: f32 = 0.3;
/// How much a word of a phrase counts that means the same.
const PHRASE_SYNONYM: f32 = 0.3;
/// How much a word counts that says little of what is looked for: whoever `somebody` is.
const EMPTY_WORD: f32 = 0.5;
/// How much two words count that the descriptions write as one.
const JOINED: f32 = 0.9;

/// A verb with its particle further on, of which both are one phrase: how far on, and what it means.
fn parted<'a>(stems: &[&str], thesaurus: &'a Thesaurus) -> Option<(usize, &'a [Group])> {
    let (verb, others) = stems.split_first()?;
    let further = others.iter().take(BETWEEN_MAX + 1).enumerate().filter(|(_, word)| PARTICLES.contains(word));
    further.skip_while(|(at, _)| *at == 0).find_map(|(at, particle)| {
        let (length, groups) = thesaurus.longest(&[verb, particle])?;
        (length == 2).then_some((at + 1, groups))
    })
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) terms: Vec<Term>,
    /// The groups of words of the first action in it, and the kinds of that.
    pub(crate) action_groups: Vec<Group>,
    pub(crate) actions: Vec<Action>,
    /// Whether the actions are only a guess.
    pub(crate) is_guessed: bool,
}

/// One word of a question, or a phrase: all stems that stand for it, with how much each counts.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) stems: Vec<(String, f32)>,
    /// Whether it says what to do, and not with what.
    pub(crate) is_action: bool,
}

/// What a word does in a question.
#[derive(Clone, Copy)]
struct Use {
    /// Whether it may say what to do.
    is_command: bool,
    /// Whether it says little of what is looked for.
    is_empty: bool,
}

impl Question {
    /// Reads the first [`QUESTION_WORDS_MAX`] words.
    pub(crate) fn read(text: &str) -> Self {
        let thesaurus = Thesaurus::shipped();
        let mut stems = Stems::new();
        let written: Vec<String> = words(text).take(QUESTION_WORDS_MAX).collect();
        let stemmed: Vec<String> = written.iter().map(|word| stems.stem(word).to_owned()).collect();
        let all: Vec<&str> = stemmed.iter().map(String::as_str).collect();
        let mut question =
            Self { terms: Vec::new(), action_groups: Vec::new(), actions: Vec::new(), is_guessed: false };
        let asks = asks(&written);
        let mut used = Vec::new();
        let mut at = 0;
        while at < all.len() {
            if let Some((further, groups)) = parted(&all[at..], thesaurus) {
                question.take(
                    &[all[at], all[at + further]],
                    groups,
                    Use { is_command: !asks, is_empty: false },
                    thesaurus,
                );
                used.push(at + further);
                at += 1;
                continue;
            }
            if used.contains(&at) {
                at += 1;
                continue;
            }
            let (length, groups) = thesaurus.longest(&all[at..]).unwrap_or((1, &[]));
            let is_empty = length == 1 && is_empty(&written[at]);
            if !is_empty || groups.iter().any(|group| thesaurus.action(*group).is_none()) {
                // No command ends like that: in `a starred one` it is an adjective.
                let is_command = !asks && (length > 1 || !written[at].ends_with("ed"));
                question.take(&all[at..at + length], groups, Use { is_command, is_empty }, thesaurus);
            }
            at += length;
        }
        if question.terms.is_empty() {
            // Nothing but empty words: then they are what is looked for.
            all.iter().for_each(|stem| {
                question.terms.push(Term { stems: vec![((*stem).to_owned(), 1.0)], is_action: false })
            });
        }
        question.join(&all);
        if asks {
            question.actions = vec![Action::Read];
            let does = stems.stem(asked_for(&written)).to_owned();
            question.action_groups = thesaurus.longest(&[&does]).map_or_else(Vec::new, |(_, groups)| groups.to_vec());
        } else if question.actions.is_empty() && written.first().is_some_and(|word| names(word)) {
            (question.actions, question.is_guessed) = (vec![Action::Read], true);
        }
        question
    }

    /// Takes a word or a phrase.
    fn take(&mut self, phrase: &[&str], groups: &[Group], used: Use, thesaurus: &Thesaurus) {
        let is_action = |group: &Group| thesaurus.action(*group).is_some();
        let does = groups.iter().any(is_action);
        if used.is_command {
            self.narrow(groups, thesaurus);
        }
        let is_action = does && groups.iter().all(is_action);
        let weight = match () {
            () if is_action => ACTION_WORD,
            () if used.is_empty => EMPTY_WORD,
            () => 1.0,
        };
        let own = phrase.iter().map(|stem| ((*stem).to_owned(), if phrase.len() == 1 { weight } else { 0.0 }));
        let mut stems: Vec<(String, f32)> = own.filter(|(_, weight)| *weight > 0.0).collect();
        for stem in groups.iter().flat_map(|group| thesaurus.stems(*group)) {
            if !stems.iter().any(|(known, _)| known == stem) {
                stems.push((stem.to_owned(), weight * if phrase.len() == 1 { SYNONYM } else { 1.0 }));
            }
        }
        for stem in groups.iter().flat_map(|group| thesaurus.phrase_stems(*group)) {
            if !stems.iter().any(|(known, _)| known == stem) {
                stems.push((stem.to_owned(), weight * PHRASE_SYNONYM));
            }
        }
        self.terms.push(Term { stems, is_action });
        // The words of a phrase are looked for as well: `text message` is two words in most descriptions.
        if phrase.len() > 1 {
            let by_itself = if is_action { VERB_OF_PHRASE } else { THING_OF_PHRASE };
            for stem in phrase.iter().filter(|stem| !is_empty(stem)) {
                self.terms.push(Term { stems: vec![((*stem).to_owned(), weight * by_itself)], is_action });
            }
        }
    }

    /// The first action says what to do; others say which of its meanings that has: `open a new one` makes it. In
    /// `delete a starred repo` the second is an adjective.
    fn narrow(&mut self, groups: &[Group], thesaurus: &Thesaurus) {
        let is_action = |group: &&Group| thesaurus.action(**group).is_some();
        let mut actions: Vec<Action> = groups.iter().filter_map(|group| thesaurus.action(*group)).collect();
        match self.actions.as_slice() {
            [] => self.action_groups.extend(groups.iter().filter(is_action)),
            [_] => return,
            known => actions.retain(|action| known.contains(action)),
        }
        if !actions.is_empty() {
            actions.sort_unstable();
            actions.dedup();
            self.actions = actions;
            self.action_groups
                .retain(|group| thesaurus.action(*group).is_some_and(|action| self.actions.contains(&action)));
        }
    }

    /// Neighbours as one word: `web hook` finds `webhook`.
    fn join(&mut self, all: &[&str]) {
        for pair in all.windows(2) {
            let joined = pair.concat();
            let of_first = |term: &&mut Term| term.stems.first().is_some_and(|(stem, _)| stem == pair[0]);
            if let Some(term) = self.terms.iter_mut().find(of_first) {
                term.stems.push((joined, JOINED));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(text: &str) -> Vec<Action> {
        Question::read(text).actions
    }

    fn stems(text: &str) -> Vec<String> {
        Question::read(text).terms.into_iter().flat_map(|term| term.stems.into_iter().map(|(stem, _)| stem)).collect()
    }

    #[test]
    fn lists_are_sorted() {
        assert!(PARTICLES.is_sorted());
    }

    #[test]
    fn a_question_says_what_is_to_be_done() {
        assert_eq!(actions("get rid of a key"), [Action::Remove]);
        assert_eq!(actions("throw the old key away"), [Action::Remove]);
        assert_eq!(actions("who has starred this"), [Action::Read]);
        assert_eq!(actions("which files have been uploaded"), [Action::Read]);
        assert_eq!(actions("which messages did we send"), [Action::Read]);
        assert_eq!(actions("how do I delete a key"), [Action::Remove]);
        assert_eq!(actions("open a new ticket"), [Action::Make]);
        assert!(actions("weather in Paris").is_empty());
        assert!(Question::read("the weather in Paris").is_guessed && actions("all my orders") == [Action::Read]);
    }

    #[test]
    fn words_that_say_nothing_are_left_out_unless_there_are_no_others() {
        assert!(!stems("the weather in Paris").contains(&"the".to_owned()));
        assert!(stems("weather").contains(&"forecast".to_owned()));
        assert_eq!(stems("this of"), ["this", "thisof", "of"]);
    }

    #[test]
    fn words_beyond_the_bound_are_not_looked_for() {
        let text = |before: usize| format!("{}zebra", "the ".repeat(before));
        assert!(stems(&text(QUESTION_WORDS_MAX - 1)).contains(&"zebra".to_owned()));
        assert!(!stems(&text(QUESTION_WORDS_MAX)).contains(&"zebra".to_owned()));
    }
}
