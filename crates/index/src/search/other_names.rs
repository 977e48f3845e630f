//! Other names of what words of a query name: words of the vocabulary, and compounds of them.

use std::collections::BTreeSet;

use forecourt_retrieval::limits::TERMS_MAX;
use forecourt_retrieval::{Predicate, TermField};
use forecourt_vocabulary::{LANGUAGES, NamedSubject, Synonym, Vocabulary};

use crate::analysis::{LanguageAnalyzer, Words, content_words};
use crate::limits::{COMPOSED_MAX, SUBJECTS_MAX};
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// The language that makes one word of two.
pub(super) const GERMAN: &str = "de";
/// What German puts between the parts of a compound.
pub(super) const LINKS: &[&str] = &["", "s", "n", "en", "es", "er"];

fn is_german(synonym: &Synonym<'_>) -> bool {
    LANGUAGES[synonym.language] == GERMAN && synonym.parts.len() == 1
}

/// Another name of what words of a query name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OtherName {
    /// The stems of its words: what has all of them has the name.
    pub(super) stems: Vec<String>,
    /// Whether it is something narrower: a parka, where a jacket was asked for.
    pub(super) is_narrower: bool,
}

impl OtherName {
    /// What has the name.
    pub(super) fn predicate(&self) -> Predicate {
        Predicate::All(self.stems.iter().map(|stem| Predicate::Term(TermField::Words, stem.clone())).collect())
    }
}

/// Names that items in these languages may have for what words of a query name, whether any item has them or not, each
/// once: those that mean the same first, and of several subjects the first ones of each. At most [`TERMS_MAX`]: no more are
/// asked for.
pub(super) fn possible_names(vocabulary: &Vocabulary, tongues: &[LanguageAnalyzer], words: &[&str]) -> Vec<OtherName> {
    let mut read = Words::default();
    let named = vocabulary.subjects_in(&words[..words.len().min(QUERY_WORDS_MAX)]);
    let in_language = |language| named.iter().filter(move |subject| subject.language == language).take(SUBJECTS_MAX);
    let named: Vec<&NamedSubject<'_>> = (0..LANGUAGES.len()).flat_map(in_language).collect();
    let mut all: Vec<(usize, OtherName)> = Vec::new();
    for subject in &named {
        let synonyms = subject.synonyms.iter().filter_map(|Synonym { parts, language, is_narrower }| {
            let tongue = LanguageAnalyzer::of(LANGUAGES[*language]);
            let stems = if tongues.contains(&tongue) { stems(&mut read, &parts.join(" "), tongue) } else { Vec::new() };
            (!stems.is_empty()).then_some(OtherName { stems, is_narrower: *is_narrower })
        });
        all.extend(synonyms.take(TERMS_MAX).enumerate());
    }
    let german = LanguageAnalyzer::of(GERMAN);
    let neighbours = named.iter().flat_map(|first| named.iter().map(move |second| (first, second)));
    let compounds = neighbours.filter(|_| tongues.contains(&german)).flat_map(|(one, other)| compounds(one, other));
    let compounds = compounds.map(|word| OtherName { stems: stems(&mut read, &word, german), is_narrower: false });
    all.extend(compounds.enumerate());
    all.sort_by_key(|(rank, name)| (name.is_narrower, *rank));
    let mut seen = BTreeSet::new();
    let names = all.into_iter().map(|(_, name)| name).filter(|name| seen.insert(name.stems.clone()));
    names.take(TERMS_MAX).collect()
}

/// The stems of the words of a phrase that say something, each once.
pub(super) fn stems(read: &mut Words, phrase: &str, tongue: LanguageAnalyzer) -> Vec<String> {
    read.read(&content_words(phrase, tongue), tongue);
    let stems: BTreeSet<&str> = read.iter().collect();
    stems.into_iter().map(str::to_owned).collect()
}

/// German compounds of what two neighbours name: "bike helmet" is "Fahrradhelm". At most [`COMPOSED_MAX`].
pub(super) fn compounds(first: &NamedSubject<'_>, second: &NamedSubject<'_>) -> Vec<String> {
    if first.words.end != second.words.start {
        return Vec::new();
    }
    let german = |subject: &NamedSubject<'_>| -> Vec<String> {
        let same = subject.synonyms.iter().filter(|synonym| !synonym.is_narrower && is_german(synonym));
        let words = same.filter_map(|synonym| synonym.parts.first());
        words.filter(|word| !word.contains(' ')).map(|word| (*word).to_owned()).collect()
    };
    let (begins, ends) = (german(first), german(second));
    let pairs = begins.iter().flat_map(|begin| ends.iter().map(move |end| (begin, end)));
    let words = pairs.flat_map(|(begin, end)| LINKS.iter().map(move |link| format!("{begin}{link}{end}")));
    words.take(COMPOSED_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, codes: &[&str]) -> Vec<String> {
        let tongues: Vec<LanguageAnalyzer> = codes.iter().map(|code| LanguageAnalyzer::of(code)).collect();
        let words: Vec<&str> = text.split(' ').collect();
        let names = possible_names(&Vocabulary::shipped(), &tongues, &words);
        names.into_iter().map(|name| name.stems.join(" ")).collect()
    }

    #[test]
    fn names_are_those_in_the_languages_of_items_and_what_is_narrower_comes_last() {
        let at = |all: &[String], name: &str| all.iter().position(|one| one == name);
        let german = names("red hat", &["de"]);
        assert!(at(&german, "hut").is_some() && at(&german, "rothut").is_some(), "{german:?}");
        assert_eq!(at(&names("red hat", &["en"]), "rothut"), None);
        let jackets = names("jacket", &["en"]);
        assert!(at(&jackets, "parka").is_some() && at(&jackets, "jacket") < at(&jackets, "parka"), "{jackets:?}");
    }

    #[test]
    fn no_more_names_are_given_than_are_asked_for() {
        let question = "jacket helmet tent stove boots backpack hat gloves bike canoe cake soup bread beans lamp sofa";
        assert_eq!(names(question, &["en", "de", "fr", "es"]).len(), TERMS_MAX);
    }
}
