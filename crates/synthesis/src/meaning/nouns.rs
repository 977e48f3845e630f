//! The entities that a host knows: what its paths are named by, and what its ids are ids of.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::path::Segment;
use forecourt_contract::{Dispatcher, Endpoint, Template};

use super::fields::names;
use super::words::{is_identifying, of_name, plain};
use crate::limits::NAME_WORDS_MAX;

/// Names that say what something is, and not of what.
const GENERIC: [&str; 26] = [
    "name",
    "type",
    "kind",
    "status",
    "state",
    "value",
    "data",
    "result",
    "item",
    "text",
    "content",
    "title",
    "description",
    "url",
    "code",
    "key",
    "message",
    "count",
    "total",
    "date",
    "number",
    "format",
    "version",
    "page",
    "email",
    "phone",
];

/// The entities of a host, by name: `order`, `lab_test`.
#[derive(Debug, Default)]
pub(crate) struct Nouns {
    known: BTreeSet<String>,
    /// Parameters of paths that tell which one something is without being named an id, with what they tell it of.
    /// None: of several things.
    keys: BTreeMap<String, Option<String>>,
    /// Entities that a parameter of a path is named by.
    bare: BTreeSet<String>,
    /// Roles that ids stand in, with the entity: `family` of `family_doctor_id`.
    roles: BTreeSet<(String, String)>,
    /// Other words for entities.
    also: BTreeMap<String, String>,
}

impl Nouns {
    /// Those of all endpoints of a host.
    pub(crate) fn of(dispatcher: &Dispatcher) -> Nouns {
        let endpoints = || dispatcher.registry.iter().map(|registered| &*registered.endpoint);
        let mut nouns = Nouns { also: dispatcher.meanings.nouns().clone(), ..Nouns::default() };
        nouns.known.extend(nouns.also.values().cloned());
        for endpoint in endpoints() {
            nouns.known.extend(literals(&endpoint.path).map(|(_, words)| words.join("_")));
        }
        // After all paths, since what an id is the id of is known by them: `latest_order_id` is an order's.
        for endpoint in endpoints() {
            nouns.learn_ids(endpoint);
            nouns.learn_keys(&endpoint.path);
        }
        nouns
    }

    /// These alone.
    #[cfg(test)]
    pub(crate) fn named_only<'e>(entities: impl IntoIterator<Item = &'e str>) -> Nouns {
        Nouns { known: entities.into_iter().map(str::to_owned).collect(), ..Nouns::default() }
    }

    fn learn_ids(&mut self, endpoint: &Endpoint) {
        for name in names(&endpoint.input).into_iter().chain(names(&endpoint.output)) {
            let mut words = plain(of_name(name));
            if words.len() < 2 || !words.pop().is_some_and(|last| is_identifying(&last)) {
                continue;
            }
            match self.suffix(&words) {
                None => drop(self.known.insert(words.join("_"))),
                Some((Some(role), entity)) => drop(self.roles.insert((role, entity))),
                Some((None, _)) => {}
            }
        }
    }

    fn learn_keys(&mut self, path: &Template) {
        let mut entity: Option<String> = None;
        for segment in path.segments() {
            match segment {
                Segment::Literal(text) => entity = literal(text).map(|words| words.join("_")).or(entity),
                Segment::Parameter(name) => {
                    let words = plain(of_name(name));
                    let joined = words.join("_");
                    if self.known.contains(&joined) {
                        self.bare.insert(joined);
                    } else if let Some(entity) = &entity
                        && !words.last().is_some_and(|last| is_identifying(last))
                        && !(words.len() == 1 && is_generic(&joined))
                        && self.prefix(&words).is_none()
                    {
                        let of = self.keys.entry(joined).or_insert_with(|| Some(entity.clone()));
                        if of.as_ref() != Some(entity) {
                            *of = None;
                        }
                    }
                }
            }
        }
    }

    /// The entity that a word is another word for, or is itself.
    fn entity(&self, joined: &str) -> Option<String> {
        self.also.get(joined).cloned().or_else(|| self.known.contains(joined).then(|| joined.to_owned()))
    }

    /// The entity that words end in, with what stands before it.
    pub(crate) fn suffix(&self, words: &[String]) -> Option<(Option<String>, String)> {
        (0..words.len()).find_map(|at| {
            let entity = self.entity(&plain(words[at..].to_vec()).join("_"))?;
            Some(((at > 0).then(|| words[..at].join("_")), entity))
        })
    }

    /// The entity that words begin with, with what stands behind it.
    pub(crate) fn prefix<'w>(&self, words: &'w [String]) -> Option<(String, &'w [String])> {
        (1..words.len()).rev().find_map(|at| Some((self.entity(&plain(words[..at].to_vec()).join("_"))?, &words[at..])))
    }

    /// A role that words begin with, and the entity behind it, with what stands behind that: `to_doctor_name`.
    pub(crate) fn role<'w>(&self, words: &'w [String]) -> Option<(String, String, &'w [String])> {
        (1..words.len()).find_map(|at| {
            let role = words[..at].join("_");
            let (entity, rest) = self.prefix(&words[at..])?;
            self.roles.contains(&(role.clone(), entity.clone())).then_some((role, entity, rest))
        })
    }

    /// The entities that words name, the longest names first where several begin at one word, each with the places
    /// of its first word and of the word behind it.
    pub(crate) fn named(&self, words: &[impl AsRef<str>]) -> Vec<(usize, usize, String)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            match self.at_start(&words[at..]) {
                Some((length, entity)) => {
                    found.push((at, at + length, entity));
                    at += length;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The entity that words begin with the longest name of, and how many words that has.
    pub(crate) fn at_start(&self, words: &[impl AsRef<str>]) -> Option<(usize, String)> {
        (1..=words.len().min(NAME_WORDS_MAX)).rev().find_map(|length| {
            let name = words[..length].iter().map(|word| word.as_ref().to_owned()).collect();
            Some((length, self.entity(&plain(name).join("_"))?))
        })
    }

    /// What a name that is no id tells which one of it is.
    pub(super) fn key(&self, joined: &str) -> Option<&String> {
        self.keys.get(joined)?.as_ref()
    }

    /// Whether a plain value of that name is the id of what it is named by.
    pub(super) fn is_bare(&self, entity: &str) -> bool {
        self.bare.contains(entity)
    }

    /// Whether there is such an entity.
    pub(crate) fn has(&self, entity: &str) -> bool {
        self.known.contains(entity)
    }
}

/// Whether a property says nothing without its entity.
pub(crate) fn is_generic(property: &str) -> bool {
    GENERIC.contains(&property)
}

/// What the literal segments of a path are named by, with their places; without versions.
pub(crate) fn literals(path: &Template) -> impl Iterator<Item = (usize, Vec<String>)> {
    path.segments().iter().enumerate().filter_map(|(at, segment)| match segment {
        Segment::Literal(text) => Some((at, literal(text)?)),
        Segment::Parameter(_) => None,
    })
}

fn literal(text: &str) -> Option<Vec<String>> {
    let mut words = plain(of_name(text.strip_suffix(".json").unwrap_or(text)));
    words.retain(|word| !is_version(word));
    (!words.is_empty() && words != ["api"]).then_some(words)
}

/// `v2`, and the parts of `2010-04-01`.
fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
