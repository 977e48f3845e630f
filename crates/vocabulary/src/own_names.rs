//! Names that a deployment's files give to classes, diets, kinds, properties and values. They go before the same names
//! of the program, and whoever operates the deployment is told.

use forecourt_settings::{Problem, Section};

use crate::class::WordsByLanguage;
use crate::file::{DeclaredTable, VocabularyFile};
use crate::vocabulary::Vocabulary;
use crate::words::compared;

/// What has names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    Class,
    Diet,
    Kind,
    Property,
    Value,
}

/// A name, what has it, and where that is declared.
pub(crate) struct OwnName {
    pub(crate) section: Section,
    pub(crate) kind: NameKind,
    pub(crate) id: String,
    pub(crate) language: String,
    pub(crate) name: String,
}

impl OwnName {
    /// That something of the program has this name, too, in a sentence with both places.
    pub(crate) fn collision(&self) -> Option<String> {
        let shipped = Vocabulary::shipped();
        let Self { section, kind, id, language, name } = self;
        let wanted = compared(name, language);
        let has = |names: &WordsByLanguage| {
            names.get(language).is_some_and(|names| names.iter().any(|name| compared(name, language) == wanted))
        };
        let (noun, other) = match kind {
            NameKind::Class => ("class", find(&shipped.classes, |one| (one.id.clone(), &one.names), id, has)),
            NameKind::Diet => ("diet", find(&shipped.diets, |one| (one.id.clone(), &one.names), id, has)),
            NameKind::Kind => ("kind", find(&shipped.kinds, |one| (one.types.join(", "), &one.names), id, has)),
            NameKind::Property => ("property", find(&shipped.properties, |one| (one.id.clone(), &one.names), id, has)),
            NameKind::Value => ("value", find(&shipped.values, |one| (one.id.clone(), &one.names), id, has)),
        };
        let message = format!(
            "`{name}` is the {noun} `{id}` here, and `{}` in what comes with the program: questions mean this one first",
            other?
        );
        Some(notice(&section.problem(Some(language), message)))
    }
}

/// What is told of a place in a file, though nothing is wrong with it.
pub(crate) fn notice(told: &Problem) -> String {
    let line = told.line().map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {}", told.file().display(), told.message())
}

/// The id of another entry that has a name.
fn find<'v, T>(
    all: &'v [T],
    of: impl Fn(&'v T) -> (String, &'v WordsByLanguage),
    id: &str,
    has: impl Fn(&WordsByLanguage) -> bool,
) -> Option<String> {
    let found = all.iter().map(of).find(|(other, names)| other != id && has(names));
    found.map(|(other, _)| other)
}

/// The names that a file gives.
pub(crate) fn own_names(file: &VocabularyFile) -> Vec<OwnName> {
    let mut all = Vec::new();
    let mut add = |section: &Section, kind: NameKind, id: &str, language: &str, names: &[String]| {
        all.extend(names.iter().map(|name| OwnName {
            section: section.clone(),
            kind,
            id: id.to_owned(),
            language: language.to_owned(),
            name: name.clone(),
        }));
    };
    for DeclaredTable { section, value } in &file.classes {
        value.words.iter().for_each(|(code, words)| add(section, NameKind::Class, &value.id, code, &words.names));
    }
    for DeclaredTable { section, value } in &file.diets {
        value.words.iter().for_each(|(code, words)| add(section, NameKind::Diet, &value.id, code, &words.names));
    }
    for DeclaredTable { section, value } in &file.kinds {
        let types = value.types.join(", ");
        value.words.iter().for_each(|(code, words)| add(section, NameKind::Kind, &types, code, &words.names));
    }
    for DeclaredTable { section, value } in &file.properties {
        value.words.iter().for_each(|(code, words)| add(section, NameKind::Property, &value.id, code, &words.names));
    }
    for DeclaredTable { section, value } in &file.values {
        value.words.iter().for_each(|(code, words)| add(section, NameKind::Value, &value.id, code, &words.names));
    }
    all
}

/// Adds words. Those of a deployment come first, also where the program has them further behind.
pub(crate) fn add_words(all: &mut Vec<String>, words: Vec<String>, is_own: bool) {
    let before = std::mem::take(all);
    let (first, last) = if is_own { (words, before) } else { (before, words) };
    for word in first.into_iter().chain(last) {
        if !all.contains(&word) {
            all.push(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_deployment_come_first() {
        let added = |is_own| {
            let mut all = vec!["a".to_owned(), "b".to_owned()];
            add_words(&mut all, vec!["c".to_owned(), "b".to_owned()], is_own);
            all.join(" ")
        };
        assert_eq!((added(true), added(false)), ("c b a".to_owned(), "a b c".to_owned()));
    }
}
