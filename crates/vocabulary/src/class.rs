//! Classes of things, and diets.

use std::collections::BTreeMap;

/// The words of one class in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClassWords {
    /// What people call the class; the first one is how it is said back.
    pub(crate) names: Vec<String>,
    /// Words of items that are of it.
    pub(crate) members: Vec<String>,
}

/// Things that one word stands for: "nuts".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Class {
    /// The same in all languages: lower case letters, digits and hyphens.
    pub id: String,
    /// By the code of the language.
    pub(crate) words: BTreeMap<String, ClassWords>,
}

impl Class {
    /// What the class is called in a language, else in English, else by its id.
    pub fn name(&self, language: &str) -> &str {
        let named = [language, "en"].into_iter().find_map(|code| self.words.get(code)?.names.first());
        named.map_or(self.id.as_str(), String::as_str)
    }

    /// The words of items of this class, in one language.
    pub fn members(&self, language: &str) -> &[String] {
        self.words.get(language).map_or(&[], |words| &words.members)
    }
}

/// A way to eat, and what it leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diet {
    /// The same in all languages.
    pub id: String,
    /// Ids of the classes that it leaves out.
    pub without: Vec<String>,
    /// Words of an item's name that promise as much.
    pub promised_by: Vec<String>,
    /// What people call it, by the code of the language.
    pub(crate) names: BTreeMap<String, Vec<String>>,
}

impl Diet {
    /// What the diet is called in a language, else in English, else by its id.
    pub fn name(&self, language: &str) -> &str {
        let named = [language, "en"].into_iter().find_map(|code| self.names.get(code)?.first());
        named.map_or(self.id.as_str(), String::as_str)
    }
}
