//! What people write of a proposal, as far as it is read: words, what they deny, what they say stays as it is, and
//! whose a property is.

use std::collections::{BTreeMap, BTreeSet};

use crate::meaning::Nouns;
use crate::meaning::words::{plain, singular, stem};

/// After these, what follows in the same part of a sentence is not wanted.
const DENY: [&str; 14] = [
    "not", "no", "never", "without", "nothing", "neither", "nor", "cannot", "instead", "rather", "except", "don",
    "doesn", "isn",
];
/// A part of a sentence with one of these says that something is as before.
const KEEP: [&str; 13] = [
    "stay",
    "stays",
    "remain",
    "remains",
    "untouched",
    "unchanged",
    "unaffected",
    "kept",
    "intact",
    "keep",
    "keeps",
    "leave",
    "leaves",
];

/// A word of a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// In lower case and in the singular.
    pub(crate) text: String,
    /// As it was written, in lower case.
    pub(crate) written: String,
    /// Whether it owns what follows: the supplier's.
    pub(super) owns: bool,
    /// Whether a comma or a full stop stands before it.
    pub(super) begins: bool,
    pub(crate) is_denied: bool,
    pub(crate) is_kept: bool,
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// What sentences say is done or touched.
#[derive(Debug, Default)]
pub(crate) struct SaidThings {
    pub(crate) entities: BTreeSet<String>,
    /// The stems of all words.
    pub(crate) stems: BTreeSet<String>,
}

/// A sentence, or several in a row.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    pub(crate) words: Vec<Word>,
}

impl Sentence {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Sentence {
        let mut words: Vec<Word> = Vec::new();
        let mut begins = true;
        for piece in text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')) {
            let end = piece.chars().next_back().filter(|c| !c.is_alphanumeric());
            let written: String = piece.to_lowercase().replace('’', "'");
            let written = written.trim_matches(|c: char| !(c.is_alphanumeric() || c == '\'')).trim_start_matches('\'');
            if !written.is_empty() {
                words.extend(word(written, begins));
                begins = false;
            }
            begins |= end.is_some_and(|c| ".,;:!?()".contains(c));
        }
        let mut sentence = Sentence { words: joined(words) };
        sentence.deny();
        sentence.keep();
        sentence
    }

    fn deny(&mut self) {
        let mut is_denied = false;
        for word in &mut self.words {
            if word.begins || matches!(word.written.as_str(), "and" | "but" | "then") {
                is_denied = false;
            }
            word.is_denied = is_denied;
            is_denied |= DENY.contains(&word.written.as_str());
        }
    }

    fn keep(&mut self) {
        let starts: Vec<usize> = (0..self.words.len())
            .filter(|at| self.words[*at].begins || matches!(self.words[*at].written.as_str(), "but" | "while"))
            .collect();
        for (nth, start) in starts.iter().enumerate() {
            let end = starts.get(nth + 1).copied().unwrap_or(self.words.len());
            let part = &mut self.words[*start..end];
            let is_kept = part.iter().any(|word| KEEP.contains(&word.written.as_str()) && !word.is_denied);
            part.iter_mut().for_each(|word| word.is_kept = is_kept);
        }
    }

    /// The entities that it names, with whether each is denied or said to stay.
    pub(crate) fn named(&self, nouns: &Nouns) -> Vec<(String, bool, bool)> {
        let found = nouns.named(&self.words).into_iter();
        found.map(|(at, _, entity)| (entity, self.words[at].is_denied, self.words[at].is_kept)).collect()
    }

    /// What it denies, each part by itself: words by their stems. Of "neither cancelled nor sent" there are two.
    pub(crate) fn denied_parts(&self) -> Vec<BTreeMap<String, String>> {
        let mut parts: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
        for word in &self.words {
            let is_word = word.is_denied && !DENY.contains(&word.written.as_str()) && word.written != "or";
            match (is_word, parts.last_mut()) {
                (true, Some(part)) if !word.begins => drop(part.insert(stem(&word.written), word.written.clone())),
                _ => parts.push(BTreeMap::new()),
            }
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// What it says is done or touched: the entities, and the stems of all words. Without what it denies, and without
    /// clauses that only say that something stays; in these no verb of `changes` (by its stem) stands.
    pub(crate) fn affirmed(&self, changes: &BTreeMap<String, String>, nouns: &Nouns) -> SaidThings {
        let named = nouns.named(&self.words);
        let is_noun = |at: usize| named.iter().any(|(first, end, _)| (*first..*end).contains(&at));
        let begins = |at: &usize| {
            self.words[*at].begins || matches!(self.words[*at].written.as_str(), "but" | "while" | "and" | "then")
        };
        let starts: Vec<usize> = (0..self.words.len()).filter(|at| *at == 0 || begins(at)).collect();
        let mut affirmed = SaidThings::default();
        for (nth, start) in starts.iter().enumerate() {
            let clause = *start..starts.get(nth + 1).copied().unwrap_or(self.words.len());
            let open = || clause.clone().filter(|at| !self.words[*at].is_denied);
            let keeps = open().any(|at| KEEP.contains(&self.words[at].written.as_str()));
            let changes_too = open().any(|at| !is_noun(at) && changes.contains_key(&stem(&self.words[at].written)));
            if keeps && !changes_too {
                continue;
            }
            affirmed.stems.extend(open().map(|at| stem(&self.words[at].written)));
            let here = named.iter().filter(|(first, ..)| clause.contains(first) && !self.words[*first].is_denied);
            affirmed.entities.extend(here.map(|(.., entity)| entity.clone()));
        }
        affirmed
    }

    /// What its verb is done to, where the host knows that, and what that is of, outwards: an order, of "Call an order
    /// off". `verbs`: stems that say what is done; without one of them the first verb counts.
    pub(crate) fn objects(&self, verbs: &[String], nouns: &Nouns) -> Vec<String> {
        let said = self.words.iter().position(|word| !word.is_denied && verbs.contains(&stem(&word.written)));
        self.phrase(said.unwrap_or(0) + 1, nouns).chain
    }

    /// Whether it says that somebody is in a role: the doctor from whom, and to the family doctor. `own`: the role
    /// that the value has where it comes from.
    pub(crate) fn says_role(&self, role: &str, entity: &str, own: Option<&str>, nouns: &Nouns) -> bool {
        let at = |at: usize| self.words.get(at).map_or("", |word| word.written.as_str());
        let mut places = (0..self.words.len()).filter(|place| at(*place) == role);
        places.any(|place| match own {
            None => matches!(at(place + 1), "whom" | "which"),
            Some(own) => {
                let behind = (place + 1..self.words.len().min(place + 4))
                    .find_map(|first| Some((first, nouns.at_start(&self.words[first..])?.1)));
                behind.is_some_and(|(first, named)| named == entity && at(first - 1) == own)
            }
        })
    }

    /// The verbs that it begins a part with, as orders to somebody: their stems. After "and" only where what the
    /// verb is done to follows at once, since "orders and returns" has none.
    pub(crate) fn orders(&self) -> Vec<String> {
        const OBJECTS: [&str; 9] = ["it", "them", "the", "a", "an", "its", "their", "this", "that"];
        let at = |at: usize| self.words.get(at).map_or("", |word| word.written.as_str());
        let begins = |place: usize| {
            let after_and = place > 0 && matches!(at(place - 1), "and" | "then");
            (self.words[place].begins || after_and) && (place == 0 || OBJECTS.contains(&at(place + 1)))
        };
        let found = (0..self.words.len()).filter(|place| begins(*place) && !self.words[*place].is_denied);
        found.map(|place| stem(at(place))).collect()
    }
}

/// A written word, or two where a negation hangs on one: `doesn't`.
fn word(written: &str, begins: bool) -> Vec<Word> {
    let made = |written: &str, owns: bool| Word {
        text: singular(written),
        written: written.to_owned(),
        owns,
        begins,
        is_denied: false,
        is_kept: false,
    };
    if let Some(owner) = written.strip_suffix("'s") {
        return vec![made(owner, true)];
    }
    if let Some(owners) = written.strip_suffix('\'') {
        return vec![made(owners, true)];
    }
    match written.strip_suffix("n't") {
        Some(verb) => vec![made(verb, false), made("not", false)],
        None => vec![made(written, false)],
    }
}

/// Two words that are one thing, as one: an email address is an email.
fn joined(words: Vec<Word>) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let pair = found.last().map(|before| plain(vec![before.text.clone(), word.text.clone()]));
        match (pair, found.last_mut()) {
            (Some(pair), Some(before)) if pair.len() == 1 && !word.begins => {
                before.text.clone_from(&pair[0]);
                before.owns = word.owns;
            }
            _ => {
                let text = plain(vec![word.text.clone()]).remove(0);
                found.push(Word { text, ..word });
            }
        }
    }
    found
}
