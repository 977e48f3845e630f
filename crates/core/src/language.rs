//! This module reads language tags (BCP 47) into a form that is safe in headers and HTML attributes. It does not know
//! which languages exist.

use std::sync::{Arc, LazyLock};

use oxilangtag::LanguageTag;
use serde::{Deserialize, Serialize};

/// A well-formed BCP 47 language tag, at most 35 bytes (RFC 5646 4.4.1). Cheap to clone: every answer has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language(Arc<str>);

/// Longest tag that is accepted, in bytes.
const TAG_BYTES_MAX: usize = 35;

impl Language {
    /// Reads a tag and gives it its usual capitals. `None` when it is not well formed.
    pub fn parse(text: &str) -> Option<Self> {
        // Before parsing: the tag is a caller's header, and the grammar alone allows any number of subtags.
        if text.is_empty() || text.len() > TAG_BYTES_MAX {
            return None;
        }
        let tag = LanguageTag::parse_and_normalize(text).ok()?;
        Some(Self(tag.into_inner().into()))
    }

    /// English, the language of our own words.
    pub fn english() -> Self {
        // Shared: an answer without a wanted language clones a reference and allocates nothing.
        static ENGLISH: LazyLock<Language> = LazyLock::new(|| Language("en".into()));
        ENGLISH.clone()
    }

    /// The tag as text, such as `de` or `pt-BR`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag, then what is left of it as subtags are taken off its end, as in RFC 4647 3.4:
    /// `zh-Hant-TW`, `zh-Hant`, `zh`. A single letter or digit goes with what followed it.
    pub fn ranges(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.as_str()), |range| {
            let shorter = range.rsplit_once('-')?.0;
            let single = shorter.rsplit_once('-').filter(|(_, last)| last.len() == 1);
            Some(single.map_or(shorter, |(rest, _)| rest))
        })
    }

    /// The primary language, such as `pt` of `pt-BR`.
    pub fn primary(&self) -> &str {
        self.0.split('-').next().unwrap_or(&self.0)
    }
}

impl TryFrom<String> for Language {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a BCP 47 language tag"))
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.0.as_ref().to_owned()
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
