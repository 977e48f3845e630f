//! How people ask for what items state in properties of their own, as data: `data/asked.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use forecourt_sentences::Sentences;
use forecourt_vocabulary::{LANGUAGES, folded};
use serde::Deserialize;

static ASKED: LazyLock<AskedData> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/asked.toml")).unwrap_or_else(|error| panic!("asked.toml: {error}"))
});

/// What is known of such questions.
pub(crate) fn asked() -> &'static AskedData {
    &ASKED
}

/// The words of such questions, and of the properties that answer them. All are folded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedData {
    /// Words that say of no property that it is meant.
    pub(crate) generic: Vec<String>,
    /// Words of questions, and the names of what answers them.
    pub(crate) asked: Vec<AskedGroup>,
    units: BTreeMap<String, String>,
    times: BTreeMap<String, Vec<String>>,
    for_time: BTreeMap<String, Vec<String>>,
    /// Words that ask for a fact, by its id.
    facts: BTreeMap<String, Vec<String>>,
}

/// Words that ask for the same.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedGroup {
    /// Words and phrases of questions.
    pub(crate) says: Vec<String>,
    /// Words and phrases of the names of properties.
    pub(crate) names: Vec<String>,
}

impl AskedData {
    /// The ids of facts of which a question has a word.
    pub(crate) fn facts_in(&self, question: &str) -> impl Iterator<Item = &str> {
        let text = folded(question);
        let said: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
        let asks = move |words: &Vec<String>| words.iter().any(|word| said.contains(word));
        self.facts.iter().filter(move |(_, words)| asks(words)).map(|(fact, _)| fact.as_str())
    }

    /// What a unit is called: itself, if it is no code.
    pub(crate) fn unit(&self, unit: &str, say: Sentences) -> String {
        let in_words = || in_language(self.times.get(unit)?, say);
        self.units.get(unit).map(String::as_str).or_else(in_words).unwrap_or(unit).to_owned()
    }

    /// In words, the time that a pay is for.
    pub(crate) fn for_time(&self, unit: &str, say: Sentences) -> Option<&str> {
        in_language(self.for_time.get(unit)?, say)
    }
}

fn in_language(words: &[String], say: Sentences) -> Option<&str> {
    let at = LANGUAGES.iter().position(|code| *code == say.language().code())?;
    words.get(at).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_they_are_compared() {
        let groups = asked().asked.iter().flat_map(|group| group.says.iter().chain(&group.names));
        for word in groups.chain(&asked().generic).chain(asked().facts.values().flatten()) {
            assert_eq!(&folded(word), word);
        }
        for text in ["is it open on Sunday?", "Ist der geschlossen?", "¿a qué hora cierra?", "ça ferme quand ?"] {
            assert_eq!(asked().facts_in(text).collect::<Vec<_>>(), ["hours"], "{text}");
        }
        assert_eq!(asked().facts_in("gibt es noch Karten?").collect::<Vec<_>>(), ["availability"]);
        assert_eq!(asked().facts_in("how old is it?").count() + asked().facts_in("").count(), 0);
        assert_eq!(LANGUAGES, ["en", "de", "fr", "es"]);
        for words in asked().times.values().chain(asked().for_time.values()) {
            assert_eq!(words.len(), LANGUAGES.len());
        }
    }
}
