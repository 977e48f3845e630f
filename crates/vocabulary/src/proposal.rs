//! Entries that a vocabulary lacks, by what items say and by what people asked, as a file to edit.

use std::fmt;

use crate::fold::folded;
use crate::limits::{PHRASE_CHARS_MAX, PHRASE_WORDS_MAX};
use crate::words::LANGUAGES;

/// An entry that a vocabulary lacks, and what speaks for it. As text it is a table of a file in `vocabulary/`, with the
/// evidence in comments before it and lines to fill in behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordProposal {
    entry: ProposedEntry,
    /// The code of the language of its words.
    language: &'static str,
    evidence: Vec<String>,
}

/// What is proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedEntry {
    /// Names for a property of items.
    Property {
        /// Its path, as a file gives it.
        path: String,
        /// What it calls itself.
        name: String,
    },
    /// Names for a value of a property.
    Value {
        /// The value, as items write it.
        value: String,
    },
    /// Names for a kind of items.
    Kind {
        /// The type.
        name: String,
        /// The type, in words.
        words: String,
    },
    /// Words that mean the same.
    Synonym {
        /// Two at least.
        words: Vec<String>,
    },
    /// A word of questions that no item has.
    UnknownWord {
        /// The word.
        word: String,
        /// Words of items that it may mean.
        nearest: Vec<String>,
    },
}

impl WordProposal {
    /// A proposal with words in one of [`LANGUAGES`], else in English. `None`: its words can't be those of a vocabulary,
    /// because they are too long, have no letters, or would be no id.
    pub fn new(entry: ProposedEntry, language: &str, evidence: Vec<String>) -> Option<Self> {
        let language = LANGUAGES.into_iter().find(|code| *code == language).unwrap_or(LANGUAGES[0]);
        let fits = match &entry {
            ProposedEntry::Property { path, name } => is_phrase(path) && is_phrase(name) && id(name).is_some(),
            ProposedEntry::Value { value } => is_phrase(value) && id(value).is_some(),
            ProposedEntry::Kind { name, words } => is_phrase(name) && is_phrase(words),
            ProposedEntry::Synonym { words } => words.len() > 1 && words.iter().all(|word| is_phrase(word)),
            ProposedEntry::UnknownWord { word, nearest } => {
                is_phrase(word) && nearest.iter().all(|word| is_phrase(word))
            }
        };
        let evidence = evidence.iter().map(|line| line.split(char::is_control).collect::<Vec<_>>().join(" ")).collect();
        fits.then_some(Self { entry, language, evidence })
    }

    /// What is proposed.
    pub fn entry(&self) -> &ProposedEntry {
        &self.entry
    }
}

/// Whether a text can be a phrase of a file.
fn is_phrase(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
        && !text.chars().any(char::is_control)
        && text.chars().count() <= PHRASE_CHARS_MAX
        && folded(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
            <= PHRASE_WORDS_MAX
        && folded(text).chars().any(char::is_alphanumeric)
}

/// Letters of an id.
const ID_LETTERS_MAX: usize = 32;

/// The id of what is called so. `None`: nothing of the name can be in one.
fn id(name: &str) -> Option<String> {
    let plain: String = folded(name).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let whole = parts.join("-");
    let id = whole.get(..ID_LETTERS_MAX).unwrap_or(&whole).trim_end_matches('-');
    (!id.is_empty()).then(|| id.to_owned())
}

/// A text as a file writes it, where `${` would begin the name of a value from elsewhere.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${"))
}

fn list(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for WordProposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, language, evidence } = self;
        evidence.iter().try_for_each(|line| writeln!(f, "# {line}"))?;
        let others = LANGUAGES.into_iter().filter(|code| code != language);
        let named = |f: &mut fmt::Formatter<'_>, name: &str| {
            writeln!(f, "{language}.names = [{}]", quoted(name))?;
            others.clone().try_for_each(|code| writeln!(f, "# {code}.names = [\"\"]"))
        };
        match entry {
            ProposedEntry::Property { path, name } => {
                let id = id(name).unwrap_or_default();
                writeln!(f, "[[property]]\nid = \"{id}\"\npaths = [{}]", quoted(path))?;
                named(f, name)
            }
            ProposedEntry::Value { value } => {
                let id = id(value).unwrap_or_default();
                writeln!(f, "[[value]]\nid = \"{id}\"\nvalues = [{}]", quoted(value))?;
                named(f, &value.to_lowercase())
            }
            ProposedEntry::Kind { name, words } => {
                writeln!(f, "[[kind]]\ntypes = [{}]", quoted(name))?;
                named(f, words)
            }
            ProposedEntry::Synonym { words } => writeln!(f, "[[synonym]]\n{language} = [{}]", list(words)),
            // Without what it means it is no entry: whoever edits the file knows.
            ProposedEntry::UnknownWord { word, nearest } if nearest.is_empty() => {
                writeln!(f, "# [[synonym]]\n# {language} = [{}, \"\"]", quoted(word))
            }
            ProposedEntry::UnknownWord { word, nearest } => {
                writeln!(f, "# [[synonym]]\n# {language} = [{}, {}]", quoted(word), list(nearest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use forecourt_settings::Problems;
    use proptest::prelude::*;

    use super::*;
    use crate::file::VocabularyFile;

    fn entries(text: &str) -> [ProposedEntry; 5] {
        let text = || text.to_owned();
        [
            ProposedEntry::Property { path: text(), name: text() },
            ProposedEntry::Value { value: text() },
            ProposedEntry::Kind { name: text(), words: text() },
            ProposedEntry::Synonym { words: vec![text(), "another one".to_owned()] },
            ProposedEntry::UnknownWord { word: text(), nearest: vec![text()] },
        ]
    }

    #[test]
    fn a_proposal_is_a_table_with_its_evidence_and_lines_to_fill_in() {
        let entry = ProposedEntry::Property { path: "fillPower".into(), name: "fill power".into() };
        let told = WordProposal::new(entry, "de", vec!["34 of 60 items\nstate it".into()]).unwrap().to_string();
        assert_eq!(
            told,
            "# 34 of 60 items state it\n[[property]]\nid = \"fill-power\"\npaths = [\"fillPower\"]\n\
             de.names = [\"fill power\"]\n# en.names = [\"\"]\n# fr.names = [\"\"]\n# es.names = [\"\"]\n"
        );
        assert!(WordProposal::new(ProposedEntry::Value { value: "1234".into() }, "en", vec![]).is_none());
        assert!(
            WordProposal::new(ProposedEntry::Value { value: "x".repeat(PHRASE_CHARS_MAX) }, "en", vec![]).is_some()
        );
        let long = ProposedEntry::Value { value: "x".repeat(PHRASE_CHARS_MAX + 1) };
        assert!(WordProposal::new(long, "en", vec![]).is_none());
    }

    proptest! {
        #[test]
        fn what_is_proposed_can_be_read(text in any::<String>(), evidence in any::<String>()) {
            for entry in entries(&text) {
                let Some(proposal) = WordProposal::new(entry, "fr", vec![evidence.clone()]) else { continue };
                let mut problems = Problems::new();
                let read = VocabularyFile::read(Path::new("x.toml"), &proposal.to_string(), &mut problems);
                prop_assert!(read.is_some() && problems.is_empty(), "{}\n{:?}", proposal, problems);
            }
        }
    }
}
