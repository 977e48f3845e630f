//! The analysis as the four tokenizers of the index: words, pairs, words as they are spelled, and facts. Each text
//! begins with the mark of its language.

use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use super::{LanguageAnalyzer, Words, content_words, fold_text};
use crate::limits::WHOLE_FACT_BYTES_MAX;

/// Ends the path in a fact's text.
pub(crate) const FACT_END: char = '\u{1F}';

/// Words of names and texts.
pub(crate) fn words_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out, _| {
        let (tongue, text) = LanguageAnalyzer::split_mark(text);
        out.read(text, tongue);
    }))
    .build()
}

/// Words of a name that is kept as a whole; of longer ones, questions seldom have all.
pub(crate) const NAME_WORDS_MAX: usize = 8;
/// Characters of a word that others may be corrected to.
pub(crate) const SPELLED_CHARS_MIN: usize = 4;

/// The term of a whole name, from its stems.
pub(crate) fn whole_name(stems: &[&str]) -> String {
    format!("={}", stems.join(" "))
}

/// Words as they are written, each once, in lower case and without accents: what misspelled words are compared
/// with. Short ones and those with digits are not corrected to.
pub(crate) fn spelled_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out, words| {
        let (_, text) = LanguageAnalyzer::split_mark(text);
        // Without stems: a typing error changes the stem, so a misspelled word is compared with words as written.
        words.read(text, LanguageAnalyzer::OTHER);
        out.clear();
        let is_kept = |word: &&str| {
            word.chars().nth(SPELLED_CHARS_MIN - 1).is_some() && !word.bytes().any(|byte| byte.is_ascii_digit())
        };
        let mut kept: Vec<&str> = words.iter().filter(is_kept).collect();
        kept.sort_unstable();
        kept.dedup();
        kept.iter().for_each(|word| out.push(&[word]));
    }))
    .build()
}

/// The language that makes one word of two.
const GERMAN: &str = "de";
/// Characters of the stem of a compound that is found by its end.
const COMPOUND_CHARS_MIN: usize = 7;

/// Stems of German words that are long enough for two, each once and written backwards: what is sorted so begins with the
/// end of a compound, and "Stufenleiter" is found as a "Leiter".
pub(crate) fn endings_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out, words| {
        let (tongue, text) = LanguageAnalyzer::split_mark(text);
        out.clear();
        if tongue.code() != GERMAN {
            return;
        }
        words.read(text, tongue);
        let is_long = |word: &&str| word.chars().nth(COMPOUND_CHARS_MIN - 1).is_some();
        let mut turned: Vec<String> = words.iter().filter(is_long).map(backwards).collect();
        turned.sort_unstable();
        turned.dedup();
        turned.iter().for_each(|word| out.push(&[word]));
    }))
    .build()
}

/// A word from its end to its beginning.
pub(crate) fn backwards(word: &str) -> String {
    word.chars().rev().collect()
}

/// Words of names that stand side by side but for stop words, joined by a space, and short names as a whole: a
/// name that has the query's words side by side ranks higher, and plain terms keep top-k pruning possible where
/// phrase queries would not.
pub(crate) fn pairs_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out, words| {
        let (tongue, text) = LanguageAnalyzer::split_mark(text);
        words.read(&content_words(text, tongue), tongue);
        out.clear();
        for (first, second) in words.iter().zip(words.iter().skip(1)) {
            out.push(&[first, " ", second]);
        }
        // With stop words this time: `terms::runs` keeps them too when it looks for whole names in a question.
        words.read(text, tongue);
        if (1..=NAME_WORDS_MAX).contains(&words.len()) {
            out.push(&[&whole_name(&words.iter().collect::<Vec<_>>())]);
        }
    }))
    .build()
}

/// Facts, written `path FACT_END value`: short values whole, and the words of each value that is
/// no link.
pub(crate) fn facts_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out, words| {
        let (tongue, text) = LanguageAnalyzer::split_mark(text);
        let (path, value) = text.split_once(FACT_END).unwrap_or(("", text));
        let path = PathCode::of(path);
        out.clear();
        if value.len() <= WHOLE_FACT_BYTES_MAX {
            out.push(&[path.as_str(), "=", &fold_text(value)]);
        }
        if !is_link(value) {
            words.read(value, tongue);
            words.iter().for_each(|word| out.push(&[path.as_str(), word]));
        }
    }))
    .build()
}

/// The term of a whole value. Longer ones than [`WHOLE_FACT_BYTES_MAX`] have none.
pub(crate) fn whole_fact(path: &str, value: &str) -> String {
    format!("{}={}", PathCode::of(path).as_str(), fold_text(value))
}

/// The term of a word, already brought to its stem.
pub(crate) fn fact_word(path: &str, stem: &str) -> String {
    format!("{}{stem}", PathCode::of(path).as_str())
}

fn is_link(value: &str) -> bool {
    value.starts_with("http://") || value.starts_with("https://")
}

/// Bytes of a path in front of a term.
const PATH_CODE_BYTES: usize = 6;

/// A path as it begins a term: 36 bits of its hash in six characters, since terms are hashed and
/// compared by the million and paths are long. Two paths of one collection will not meet.
struct PathCode([u8; PATH_CODE_BYTES]);

/// FNV-1a: the same in every process, and cheap for short texts.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(START, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl PathCode {
    fn of(path: &str) -> Self {
        let hash = fnv(path.as_bytes());
        // `0` and the 63 characters after it; none of them needs more than a byte.
        // The upper 36 bits: FNV-1a mixes the lower ones less.
        Self(std::array::from_fn(|at| b'0' + (hash >> (28 + 6 * at) & 0x3F) as u8))
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Reads a whole text into a buffer of words, then hands them out one by one.
#[derive(Clone)]
struct Analysis {
    read: fn(&str, &mut Words, &mut Words),
    words: Words,
    scratch: Words,
    token: Token,
}

impl Analysis {
    fn new(read: fn(&str, &mut Words, &mut Words)) -> Self {
        Self { read, words: Words::default(), scratch: Words::default(), token: Token::default() }
    }
}

impl Tokenizer for Analysis {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        (self.read)(text, &mut self.words, &mut self.scratch);
        self.token.reset();
        Stream { words: &self.words, token: &mut self.token, next: 0 }
    }
}

struct Stream<'a> {
    words: &'a Words,
    token: &'a mut Token,
    next: usize,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.get(self.next) else { return false };
        self.token.text.clear();
        self.token.text.push_str(word);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(mut analyzer: TextAnalyzer, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        analyzer.token_stream(text).process(&mut |token| out.push(token.text.clone()));
        out
    }

    #[test]
    fn pairs_are_neighbours() {
        let text = format!("{}Tikka Masala Soup", LanguageAnalyzer::OTHER.mark());
        assert_eq!(tokens(pairs_tokenizer(), &text), ["tikka masala", "masala soup", "=tikka masala soup"]);
        assert_eq!(tokens(pairs_tokenizer(), "one"), ["=one"]);
        let long =
            |words: usize| tokens(pairs_tokenizer(), &"word ".repeat(words)).iter().any(|term| term.starts_with('='));
        assert!(long(NAME_WORDS_MAX) && !long(NAME_WORDS_MAX + 1));
    }

    #[test]
    fn compounds_are_kept_by_their_ends_in_german_alone() {
        let text = |code: &str| format!("{}Stufenleiter, Leiter und Leitern", LanguageAnalyzer::of(code).mark());
        let turned = tokens(endings_tokenizer(), &text("de"));
        assert!(turned.len() == 1 && turned[0].ends_with("nefuts"), "{turned:?}");
        assert!(tokens(endings_tokenizer(), &text("en")).is_empty());
    }

    #[test]
    fn long_values_and_links_are_not_kept_twice() {
        let fact = |value: &str| tokens(facts_tokenizer(), &format!("x\u{1F}{value}")).len();
        assert_eq!(fact(&"y".repeat(WHOLE_FACT_BYTES_MAX)), 2);
        assert_eq!(fact(&"y".repeat(WHOLE_FACT_BYTES_MAX + 1)), 1);
        assert_eq!(fact("https://e.org/a/b"), 1);
    }

    #[test]
    fn a_fact_is_a_value_and_its_words() {
        let text = format!("{}genre\u{1F}Science  Fiction", LanguageAnalyzer::OTHER.mark());
        let expected =
            [whole_fact("genre", "science FICTION"), fact_word("genre", "science"), fact_word("genre", "fiction")];
        assert_eq!(tokens(facts_tokenizer(), &text), expected);
        assert_ne!(fact_word("genre", "science"), fact_word("genres", "science"));
    }
}
