//! Splitting a text into the words that are indexed and searched for.

use unicode_normalization::char::is_combining_mark;

use super::LanguageAnalyzer;
use super::fold::fold_char;
use super::stems::Stems;
use crate::limits::WORD_BYTES_MAX;

/// The words of one text, lower-cased, without accents, stemmed. A reusable buffer: one text
/// after the other can be read into it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    letters: String,
    ends: Vec<usize>,
    spelled: String,
    stems: Stems,
}

impl Words {
    /// The words of `text`.
    pub(crate) fn of(text: &str, tongue: LanguageAnalyzer) -> Self {
        let mut words = Self::default();
        words.read(text, tongue);
        words
    }

    /// Replaces what is here by the words of `text`.
    pub(crate) fn read(&mut self, text: &str, tongue: LanguageAnalyzer) {
        self.clear();
        raw_words(text, |word| self.take(word, tongue));
    }

    pub(crate) fn clear(&mut self) {
        self.letters.clear();
        self.ends.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.letters[start..end])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Adds a word made of several parts, as it is.
    pub(super) fn push(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.letters.push_str(part));
        self.ends.push(self.letters.len());
    }

    fn take(&mut self, word: &str, tongue: LanguageAnalyzer) {
        spell(word, tongue, &mut self.spelled);
        if self.spelled.is_empty() {
            return;
        }
        let has_stem = tongue != LanguageAnalyzer::OTHER && !self.spelled.bytes().any(|b| b.is_ascii_digit());
        let stem = if has_stem { self.stems.stem(&self.spelled, tongue) } else { &self.spelled };
        self.letters.push_str(stem);
        self.ends.push(self.letters.len());
    }
}

/// The word in lower case, and without accents if the tongue wants that before stemming.
fn spell(word: &str, tongue: LanguageAnalyzer, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
        return;
    }
    for c in word.chars().flat_map(char::to_lowercase) {
        match tongue.folds_first() {
            true => fold_char(c, out),
            false => out.push(c),
        }
    }
}

/// Cuts a text at everything that is neither letter, digit nor mark. Scripts written without
/// spaces come as overlapping pairs of characters; an English `'s` is left out.
fn raw_words(text: &str, mut take: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(start) = word_start(rest) {
        let after_apostrophe = rest[..start].ends_with(['\'', '’']) && start <= '’'.len_utf8();
        rest = &rest[start..];
        let end = word_end(rest);
        let (word, tail) = rest.split_at(end);
        if let Some((measures, behind)) = measures(word, tail) {
            // "M8 x 40" is asked for as "M8", too.
            if word.starts_with(char::is_alphabetic) {
                script_runs(word, &mut take);
            }
            take(cut(&measures));
            rest = behind;
            continue;
        }
        if !(after_apostrophe && word.eq_ignore_ascii_case("s")) {
            script_runs(word, &mut take);
        }
        rest = tail;
    }
}

/// Measures with a sign of times between them as one word, and the rest of the text: "5 x 60" and "5×60" are "5x60". `None`:
/// no such sign follows.
fn measures<'t>(word: &str, tail: &'t str) -> Option<(String, &'t str)> {
    let mut all: Option<String> = None;
    let mut rest = tail;
    loop {
        let ends_in_digit = all.as_deref().unwrap_or(word).ends_with(|c: char| c.is_ascii_digit());
        let sign = ends_in_digit.then(|| rest.trim_start_matches(' ').strip_prefix(['x', 'X', '×'])).flatten();
        let Some(next) = sign.map(|behind| behind.trim_start_matches(' ')) else { break };
        if !next.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        let (second, behind) = next.split_at(word_end(next));
        let joined = all.get_or_insert_with(|| word.to_owned());
        joined.push('x');
        joined.push_str(second);
        rest = behind;
    }
    all.map(|all| (all, rest))
}

/// Where the next letter or digit is. Bytes first: most text is ASCII.
fn word_start(text: &str) -> Option<usize> {
    let at = text.bytes().position(|b| b.is_ascii_alphanumeric() || !b.is_ascii())?;
    match text.as_bytes()[at].is_ascii() {
        true => Some(at),
        false => text[at..].find(char::is_alphanumeric).map(|further| at + further),
    }
}

/// Where the word that the text begins with ends.
fn word_end(text: &str) -> usize {
    match text.bytes().position(|b| !b.is_ascii_alphanumeric()) {
        None => text.len(),
        Some(at) if text.as_bytes()[at].is_ascii() => at,
        Some(at) => text[at..].find(|c: char| !is_word_char(c)).map_or(text.len(), |further| at + further),
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

fn script_runs(word: &str, take: &mut impl FnMut(&str)) {
    if word.is_ascii() || !word.chars().any(is_unspaced) {
        return take(cut(word));
    }
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let unspaced = is_unspaced(first);
        let end = rest.find(|c| is_unspaced(c) != unspaced).unwrap_or(rest.len());
        match unspaced {
            true => pairs(&rest[..end], take),
            false => take(cut(&rest[..end])),
        }
        rest = &rest[end..];
    }
}

/// Overlapping pairs of characters, or the only one.
fn pairs(run: &str, take: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() <= 2 {
        return take(run);
    }
    starts.windows(3).for_each(|at| take(&run[at[0]..at[2]]));
}

/// Han, kana, Hangul, Thai, Lao, Khmer and Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

fn cut(word: &str) -> &str {
    // Queries are cut at the same place, so that a long word still finds itself.
    let mut end = word.len().min(WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str, code: &str) -> Vec<String> {
        Words::of(text, LanguageAnalyzer::of(code)).iter().map(str::to_owned).collect()
    }

    #[test]
    fn english_words_meet_in_their_stem() {
        assert_eq!(words("Grandma's Crème-Brûlée, 2 eggs", "en"), ["grandma", "creme", "brule", "2", "egg"].map(stem));
        assert_eq!(words("creme brulee", "en"), words("CRÈME BRÛLÉE", "en"));
        assert_eq!(words("chickpeas", "en"), words("chickpea", "en"));
    }

    fn stem(word: &str) -> String {
        words(word, "en").remove(0)
    }

    #[test]
    fn measures_are_one_word_however_they_are_written() {
        for text in ["5 x 60", "5x60", "5×60", "5 X 60", "5 × 60"] {
            assert_eq!(words(text, "de"), ["5x60"], "{text}");
        }
        assert_eq!(words("board 10 x 20 x 30 mm", "en"), ["board", "10x20x30", "mm"]);
        assert_eq!(words("M8 x 40", "de"), ["m8", "m8x40"]);
        assert_eq!(words("M8x40", "de"), ["m8x40"]);
        // Long ones take no more time for each word.
        assert_eq!(words(&format!("{}1", "1 x ".repeat(200_000)), "en").len(), 1);
        assert_eq!(words("series 3 x factor", "en").len(), 4);
        assert_eq!(words("5 x", "en"), ["5", "x"]);
    }

    #[test]
    fn other_languages_stem_with_their_accents_and_lose_them_after() {
        assert_eq!(words("Käsekuchen", "de"), words("kasekuchen", "de"));
        assert_eq!(words("Äpfel", "de"), ["apfel"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        assert_eq!(words("東京タワー", "ja"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(words("肉", "zh"), ["肉"]);
        assert_eq!(words("iPhone手机", "zh"), ["iphone", "手机"]);
    }

    #[test]
    fn long_words_are_cut_at_the_bound() {
        let exact = "x".repeat(WORD_BYTES_MAX);
        assert_eq!(words(&exact, "ja"), std::slice::from_ref(&exact));
        assert_eq!(words(&format!("{exact}y"), "ja"), [exact]);
        assert!(words(&"é".repeat(WORD_BYTES_MAX), "fr")[0].len() <= WORD_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn any_text_in_any_tongue_ends(text in any::<String>(), code in "[a-z]{2}") {
            let words = Words::of(&text, LanguageAnalyzer::of(&code));
            prop_assert!(words.iter().all(|word| !word.is_empty()));
            prop_assert_eq!(words.get(words.len()), None);
        }
    }
}
