//! The languages that the host's own sentences exist in.

use forecourt_core::Language;

/// A language of the host's own sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpokenLanguage {
    /// English.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
}

impl SpokenLanguage {
    /// All languages with sentences, in the order of their files in `data/`.
    pub const ALL: [Self; 4] = [Self::English, Self::German, Self::French, Self::Spanish];

    /// The one that a tag asks for: `de` for `de-CH`. `None` for the languages in which there are no sentences.
    pub fn of(language: &Language) -> Option<Self> {
        Self::ALL.into_iter().find(|spoken| spoken.code().eq_ignore_ascii_case(language.primary()))
    }

    /// Its ISO 639 code.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
        }
    }

    /// The language in which a caller is answered who asked for `wanted`, by an agent of the language `own`: the
    /// one asked for where there are sentences in it, else that of the agent, else English.
    pub fn for_caller(wanted: Option<&Language>, own: &Language) -> Self {
        // Not English before the agent's own: its items are in that language whatever the sentences are in.
        wanted.and_then(Self::of).or_else(|| Self::of(own)).unwrap_or(Self::English)
    }

    /// What an answer in this language says it is in: the tag that was asked for, or the agent's own, where it is
    /// of this language, else its code.
    pub fn tag(self, wanted: Option<&Language>, own: &Language) -> Language {
        let is_this = |tag: &&Language| Self::of(tag) == Some(self);
        // The whole tag: a caller who asks for `de-CH` is told `de-CH` and not `de`.
        let tag = wanted.filter(is_this).or(Some(own).filter(is_this)).cloned();
        tag.or_else(|| Language::parse(self.code())).unwrap_or_else(Language::english)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> Language {
        Language::parse(text).unwrap()
    }

    #[test]
    fn callers_are_answered_in_the_language_that_they_ask_for_or_in_that_of_the_agent() {
        for (wanted, own, spoken, said) in [
            (Some("de-CH"), "en", SpokenLanguage::German, "de-CH"),
            (Some("fr"), "en", SpokenLanguage::French, "fr"),
            (Some("ja"), "es-MX", SpokenLanguage::Spanish, "es-MX"),
            (Some("ja"), "ko", SpokenLanguage::English, "en"),
            (None, "de", SpokenLanguage::German, "de"),
        ] {
            let (wanted, own) = (wanted.map(tag), tag(own));
            let answered = SpokenLanguage::for_caller(wanted.as_ref(), &own);
            assert_eq!((answered, answered.tag(wanted.as_ref(), &own)), (spoken, tag(said)));
        }
    }
}
