//! The groups of synonyms that come with the program, as a table: nothing is read or made when the program starts, and
//! a question looks up its own words alone.
//!
//! One file, which is compressed until the first question, has a line for each group: its words in each of
//! [`LANGUAGES`], a `|` between them and a tab between the languages, then the lines of groups that are narrower, then
//! the file that it is from. The other file has six bytes for each word, in order: the key of the word and the line of
//! its group.

use std::sync::OnceLock;

use crate::stem::PhraseKey;
use crate::words::LANGUAGES;

/// Bytes of an entry of the index: a key and the line of a group.
const ENTRY_BYTES: usize = 6;
/// The field of a group's narrower groups.
const NARROWER: usize = LANGUAGES.len();
/// The field of the file that a group is from.
const FILE: usize = NARROWER + 1;

/// The table that comes with the program.
static SHIPPED: SynonymTable = SynonymTable {
    compressed: include_bytes!("../data/shipped-synonyms.zst"),
    keys: include_bytes!("../data/shipped-synonyms.keys"),
    lines: OnceLock::new(),
};

/// Groups of synonyms, looked up by their words.
pub(crate) struct SynonymTable {
    compressed: &'static [u8],
    keys: &'static [u8],
    lines: OnceLock<Lines>,
}

/// The lines of groups, and where each ends.
#[derive(Default)]
struct Lines {
    text: String,
    ends: Vec<u32>,
}

impl Lines {
    fn of(text: String) -> Self {
        let ends = text.bytes().zip(0..).filter(|(byte, _)| *byte == b'\n').map(|(_, at)| at).collect();
        Self { text, ends }
    }
}

/// A group of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShippedGroup(&'static str);

impl SynonymTable {
    pub(crate) fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The groups that have a phrase among their words in the language at a place.
    pub(crate) fn find(&'static self, key: PhraseKey, language: usize) -> impl Iterator<Item = ShippedGroup> {
        let wanted = language_key(key, language);
        let (mut low, mut high) = (0, self.keys.len() / ENTRY_BYTES);
        while low < high {
            let middle = low.midpoint(high);
            match self.entry(middle).0 < wanted {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let same = (low..self.keys.len() / ENTRY_BYTES).map(|at| self.entry(at));
        same.take_while(move |(key, _)| *key == wanted).filter_map(|(_, line)| self.group(line))
    }

    /// The groups whose things are each also a thing of this one.
    pub(crate) fn narrower(&'static self, group: ShippedGroup) -> impl Iterator<Item = ShippedGroup> {
        let lines = group.field(NARROWER).split(' ').filter_map(|line| line.parse().ok());
        lines.filter_map(|line| self.group(line))
    }

    /// The groups of which each thing of this one is one. Looks through all of them.
    pub(crate) fn broader(&'static self, group: ShippedGroup) -> impl Iterator<Item = ShippedGroup> {
        let all = (0..self.lines().ends.len()).filter_map(|line| self.group(line));
        all.filter(move |other| self.narrower(*other).any(|inner| inner.is_same(group)))
    }

    fn entry(&self, at: usize) -> (u32, usize) {
        let bytes = &self.keys[at * ENTRY_BYTES..(at + 1) * ENTRY_BYTES];
        let key = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        (key, usize::from(u16::from_be_bytes([bytes[4], bytes[5]])))
    }

    fn group(&'static self, line: usize) -> Option<ShippedGroup> {
        let Lines { text, ends } = self.lines();
        let start = if line == 0 { 0 } else { *ends.get(line - 1)? as usize + 1 };
        Some(ShippedGroup(text.get(start..*ends.get(line)? as usize)?))
    }

    fn lines(&self) -> &Lines {
        // A test reads what is shipped: it can be read.
        self.lines.get_or_init(|| text_of(self.compressed).map(Lines::of).unwrap_or_default())
    }
}

impl ShippedGroup {
    /// Whether it is the same line.
    pub(crate) fn is_same(self, other: Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }

    /// The words of the group in the language at a place.
    pub(crate) fn words(self, language: usize) -> impl Iterator<Item = &'static str> {
        self.field(language).split('|').filter(|word| !word.is_empty())
    }

    /// The file that it is from, without its ending.
    pub(crate) fn file(self) -> &'static str {
        self.field(FILE)
    }

    fn field(self, at: usize) -> &'static str {
        self.0.split('\t').nth(at).unwrap_or_default()
    }
}

/// The text that a file of groups has. `None`: it is damaged.
pub(crate) fn text_of(compressed: &[u8]) -> Option<String> {
    String::from_utf8(zstd::decode_all(compressed).ok()?).ok()
}

/// The key of a phrase in one language: the same word is another one in another language.
fn language_key(key: PhraseKey, language: usize) -> u32 {
    key.then(LANGUAGES[language]).0
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::file::SynonymGroup;
    use crate::limits::SYNONYMS_MAX;
    use crate::stem::{joined_key, phrase_key};

    /// The two files of groups, each with the name of the file that it is from.
    pub(crate) fn written(groups: &[(&str, SynonymGroup)]) -> (String, Vec<u8>) {
        assert!(groups.len() <= SYNONYMS_MAX.min(usize::from(u16::MAX)), "{} groups", groups.len());
        let mut lines_of: BTreeMap<(usize, PhraseKey), BTreeSet<u16>> = BTreeMap::new();
        for ((_, group), line) in groups.iter().zip(0_u16..) {
            for (language, code) in LANGUAGES.iter().enumerate() {
                for word in group.words.get(*code).into_iter().flatten() {
                    let key = phrase_key(word, language).unwrap_or_else(|| panic!("`{word}` has no words"));
                    for key in std::iter::once(key).chain(joined_key(word, language)) {
                        lines_of.entry((language, key)).or_default().insert(line);
                    }
                }
            }
        }
        let mut narrower: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
        for ((file, group), line) in groups.iter().zip(0_u16..) {
            for broader in &group.broader {
                let found = phrase_key(broader, 0).and_then(|key| lines_of.get(&(0, key)));
                let found = found.unwrap_or_else(|| panic!("{file}: no group has the English word `{broader}`"));
                // A word of several groups is the one of this field.
                let own: Vec<u16> =
                    found.iter().copied().filter(|at| groups[usize::from(*at)].0 == *file && *at != line).collect();
                let meant = if own.is_empty() { found.iter().copied().filter(|at| *at != line).collect() } else { own };
                for at in meant {
                    narrower.entry(at).or_default().insert(line);
                }
            }
        }
        let mut text = String::new();
        for ((file, group), line) in groups.iter().zip(0_u16..) {
            let words = LANGUAGES.map(|code| group.words.get(code).map(|words| words.join("|")).unwrap_or_default());
            let inner = narrower.get(&line).into_iter().flatten().map(u16::to_string).collect::<Vec<_>>().join(" ");
            text.push_str(&format!("{}\t{inner}\t{file}\n", words.join("\t")));
        }
        let entries = lines_of
            .iter()
            .flat_map(|((language, key), lines)| lines.iter().map(move |line| (language_key(*key, *language), *line)));
        let mut entries: Vec<(u32, u16)> = entries.collect();
        entries.sort_unstable();
        let keys = entries.iter().flat_map(|(key, line)| key.to_be_bytes().into_iter().chain(line.to_be_bytes()));
        (text, keys.collect())
    }

    #[test]
    fn every_word_of_the_table_finds_its_group() {
        let table = SynonymTable::shipped();
        for (line, text) in table.lines().text.lines().enumerate() {
            let group = table.group(line).unwrap();
            assert_eq!(group.0, text);
            for language in 0..LANGUAGES.len() {
                for word in group.words(language) {
                    let key = phrase_key(word, language).unwrap();
                    assert!(table.find(key, language).any(|found| found.0 == text), "{word}");
                }
            }
        }
        assert!(table.group(table.lines().ends.len()).is_none() && !table.lines().ends.is_empty());
    }
}
