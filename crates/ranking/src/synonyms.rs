//! This module knows words that mean the same, and which words say what kind of thing is done.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::limits::PHRASE_WORDS_MAX;
use crate::words::{Stems, words};

/// Words that mean the same, a group in each line.
const SHIPPED: &str = include_str!("synonyms.txt");

/// The kind of thing that an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    Read,
    Make,
    Change,
    Remove,
    Run,
}

/// Names a group: its line.
pub(crate) type Group = u16;

/// A group of words that mean the same.
#[derive(Debug)]
struct Synonyms {
    action: Option<Action>,
    /// The single words, as stems.
    stems: Vec<String>,
    /// The words of the phrases of things, as stems.
    of_phrases: Vec<String>,
}

/// All groups.
#[derive(Debug)]
pub(crate) struct Thesaurus {
    groups: Vec<Synonyms>,
    /// The groups of a word or a phrase: its stems, with a space between them.
    named: HashMap<String, Vec<Group>>,
}

impl Thesaurus {
    /// What comes with the program.
    pub(crate) fn shipped() -> &'static Self {
        static READ: LazyLock<Thesaurus> = LazyLock::new(|| Thesaurus::read(SHIPPED));
        &READ
    }

    fn read(text: &str) -> Self {
        let mut stems = Stems::new();
        let (mut groups, mut named) = (Vec::new(), HashMap::<String, Vec<Group>>::new());
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (action, phrases) = match line.split_once(':') {
                Some((word, phrases)) => (Action::named(word), phrases),
                None => (None, line),
            };
            let group = Group::try_from(groups.len()).unwrap_or(Group::MAX);
            let (mut single, mut of_phrases) = (Vec::new(), Vec::new());
            for phrase in phrases.split(',') {
                let spelled: Vec<String> = words(phrase).map(|word| stems.stem(&word).to_owned()).collect();
                named.entry(spelled.join(" ")).or_default().push(group);
                match <[String; 1]>::try_from(spelled) {
                    Ok(word) => single.extend(word),
                    // `give back` is no word for giving; `rate limit` is one for limits.
                    Err(words) if action.is_none() => of_phrases.extend(words),
                    Err(_) => {}
                }
            }
            groups.push(Synonyms { action, stems: single, of_phrases });
        }
        Self { groups, named }
    }

    /// The groups of the longest phrase that stems begin with, and of how many it is.
    pub(crate) fn longest(&self, stems: &[&str]) -> Option<(usize, &[Group])> {
        let lengths = (1..=stems.len().min(PHRASE_WORDS_MAX)).rev();
        let mut found = lengths.filter_map(|length| Some((length, self.named.get(&stems[..length].join(" "))?)));
        found.next().map(|(length, groups)| (length, groups.as_slice()))
    }

    /// The single words of a group, as stems.
    pub(crate) fn stems(&self, group: Group) -> impl Iterator<Item = &str> {
        self.groups.get(usize::from(group)).into_iter().flat_map(|group| group.stems.iter().map(String::as_str))
    }

    /// The words of its phrases, as stems; none of a group of actions.
    pub(crate) fn phrase_stems(&self, group: Group) -> impl Iterator<Item = &str> {
        self.groups.get(usize::from(group)).into_iter().flat_map(|group| group.of_phrases.iter().map(String::as_str))
    }

    /// The action of a group. `None`: it is of things.
    pub(crate) fn action(&self, group: Group) -> Option<Action> {
        self.groups.get(usize::from(group)).and_then(|group| group.action)
    }
}

impl Action {
    fn named(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "make" => Some(Self::Make),
            "change" => Some(Self::Change),
            "remove" => Some(Self::Remove),
            "run" => Some(Self::Run),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_has_as_many_words_as_are_looked_for() {
        for line in SHIPPED.lines().filter(|line| !line.starts_with('#')) {
            let phrases = line.split_once(':').map_or(line, |(action, phrases)| {
                assert!(Action::named(action).is_some(), "{line}");
                phrases
            });
            assert!(phrases.split(',').all(|phrase| words(phrase).count() <= PHRASE_WORDS_MAX), "{line}");
        }
    }

    #[test]
    fn the_longest_phrase_counts() {
        let thesaurus = Thesaurus::read("remove: delete, get rid of\nread: get, show\nrepo, repository");
        assert_eq!(thesaurus.longest(&["get", "rid", "of", "it"]), Some((3, &[0][..])));
        assert_eq!(thesaurus.longest(&["get", "it"]), Some((1, &[1][..])));
        assert_eq!(thesaurus.longest(&["it"]), None);
        assert_eq!((thesaurus.action(0), thesaurus.action(2)), (Some(Action::Remove), None));
        assert_eq!(thesaurus.stems(0).collect::<Vec<_>>(), ["delet"]);
    }
}
