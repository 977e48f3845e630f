//! The languages whose words are brought to a stem.

use frostem::Algorithm;
use tantivy::tokenizer::Language as StopList;

/// A language as far as analysis cares: one with a stemmer, or any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LanguageAnalyzer(u8);

struct Entry {
    codes: &'static [&'static str],
    stemmer: Algorithm,
    stop_list: StopList,
}

const fn entry(codes: &'static [&'static str], stemmer: Algorithm, stop_list: StopList) -> Entry {
    Entry { codes, stemmer, stop_list }
}

/// The order is part of the index: a new language goes to the end.
const TONGUES: &[Entry] = &[
    entry(&["en"], Algorithm::English, StopList::English),
    entry(&["de"], Algorithm::German, StopList::German),
    entry(&["fr"], Algorithm::French, StopList::French),
    entry(&["es"], Algorithm::Spanish, StopList::Spanish),
    entry(&["it"], Algorithm::Italian, StopList::Italian),
    entry(&["pt"], Algorithm::Portuguese, StopList::Portuguese),
    entry(&["nl"], Algorithm::Dutch, StopList::Dutch),
    entry(&["da"], Algorithm::Danish, StopList::Danish),
    entry(&["sv"], Algorithm::Swedish, StopList::Swedish),
    entry(&["no", "nb", "nn"], Algorithm::Norwegian, StopList::Norwegian),
    entry(&["fi"], Algorithm::Finnish, StopList::Finnish),
    entry(&["hu"], Algorithm::Hungarian, StopList::Hungarian),
    entry(&["ro"], Algorithm::Romanian, StopList::Romanian),
    entry(&["ru"], Algorithm::Russian, StopList::Russian),
    entry(&["el"], Algorithm::Greek, StopList::Greek),
    entry(&["tr"], Algorithm::Turkish, StopList::Turkish),
    entry(&["ar"], Algorithm::Arabic, StopList::Arabic),
    entry(&["ta"], Algorithm::Tamil, StopList::Tamil),
];

/// First of the private-use characters that stand for a tongue in front of a text.
const MARK_FIRST: u32 = 0xE000;

impl LanguageAnalyzer {
    pub(crate) const ENGLISH: Self = Self(0);
    /// A language without a stemmer.
    pub(crate) const OTHER: Self = Self(u8::MAX);

    /// The tongue of a BCP 47 tag such as `pt-BR`.
    pub(crate) fn of(tag: &str) -> Self {
        let primary = tag.split(['-', '_']).next().unwrap_or(tag);
        let known = |entry: &Entry| entry.codes.iter().any(|code| code.eq_ignore_ascii_case(primary));
        TONGUES.iter().position(known).map_or(Self::OTHER, |at| Self(at as u8))
    }

    /// All tongues with a stemmer.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..TONGUES.len()).map(|at| Self(at as u8))
    }

    /// The language code, `und` for one without a stemmer.
    pub(crate) fn code(self) -> &'static str {
        self.entry().map_or("und", |entry| entry.codes[0])
    }

    pub(crate) fn stemmer(self) -> Option<frostem::Stemmer> {
        self.entry().map(|entry| frostem::Stemmer::new(entry.stemmer))
    }

    /// Whether an `s` behind which an ending was taken away is one itself. The stemmer of German takes the `s` of "Kurs"
    /// for an ending, and of "Kurse" the `e` alone: after a second time both are the same.
    pub(crate) fn keeps_plural_s(self) -> bool {
        self.entry().is_some_and(|entry| matches!(entry.stemmer, Algorithm::German))
    }

    pub(crate) fn stop_list(self) -> Option<StopList> {
        self.entry().map(|entry| entry.stop_list)
    }

    /// English spells its loan words both ways, so its accents go before stemming. Elsewhere the
    /// stemmer knows the accents and needs them.
    pub(crate) fn folds_first(self) -> bool {
        self == Self::ENGLISH || self == Self::OTHER
    }

    /// The character that tells the index's tokenizers which tongue a text is in.
    pub(crate) fn mark(self) -> char {
        // U+E000 to U+E0FF are all characters: the default is never taken.
        char::from_u32(MARK_FIRST + u32::from(self.0)).unwrap_or('\u{E0FF}')
    }

    /// Splits a text into its tongue and the rest; without a mark it is [`LanguageAnalyzer::OTHER`].
    pub(crate) fn split_mark(text: &str) -> (Self, &str) {
        let mut chars = text.chars();
        let marked = chars.next().and_then(|c| u32::from(c).checked_sub(MARK_FIRST));
        match marked.and_then(|at| u8::try_from(at).ok()) {
            Some(at) => (Self(at), chars.as_str()),
            None => (Self::OTHER, text),
        }
    }

    fn entry(self) -> Option<&'static Entry> {
        TONGUES.get(usize::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_leads_to_its_primary_language() {
        assert_eq!(LanguageAnalyzer::of("pt-BR").code(), "pt");
        assert_eq!(LanguageAnalyzer::of("NB").code(), "no");
        assert_eq!(LanguageAnalyzer::of("ja"), LanguageAnalyzer::OTHER);
        assert_eq!(LanguageAnalyzer::of(""), LanguageAnalyzer::OTHER);
    }

    #[test]
    fn marks_come_back() {
        for tongue in LanguageAnalyzer::all().chain([LanguageAnalyzer::OTHER]) {
            let text = format!("{}words", tongue.mark());
            assert_eq!(LanguageAnalyzer::split_mark(&text), (tongue, "words"));
        }
        assert_eq!(LanguageAnalyzer::split_mark("words"), (LanguageAnalyzer::OTHER, "words"));
        assert_eq!(LanguageAnalyzer::split_mark(""), (LanguageAnalyzer::OTHER, ""));
    }
}
