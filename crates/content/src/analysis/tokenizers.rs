//! The analysis as the index's three tokenizers. Every text comes with its tongue's mark in front.

use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use super::{Tongue, Words, fold_text};

/// Ends the path in a fact's text and in its terms.
pub(crate) const FACT_END: char = '\u{1F}';

/// Words of names and texts.
pub(crate) fn words_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out| {
        let (tongue, text) = Tongue::split_mark(text);
        out.read(text, tongue);
    }))
    .build()
}

/// Neighbouring words of names, joined by a space: a name that has the query's words side by side
/// ranks higher, and plain terms keep top-k pruning possible where phrase queries would not.
pub(crate) fn pairs_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out| {
        let (tongue, text) = Tongue::split_mark(text);
        let words = Words::of(text, tongue);
        out.clear();
        (1..words.len()).for_each(|at| out.push_joined(&[words.get(at - 1), words.get(at)], " "));
    }))
    .build()
}

/// Facts, written `path FACT_END value`: the whole value as `path FACT_END =value`, and each of
/// its words as `path FACT_END word`.
pub(crate) fn facts_tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(Analysis::new(|text, out| {
        let (tongue, text) = Tongue::split_mark(text);
        let (path, value) = text.split_once(FACT_END).unwrap_or(("", text));
        out.clear();
        out.push_joined(&[Some(path), Some(&fold_text(value))], "\u{1F}=");
        let words = Words::of(value, tongue);
        words.iter().for_each(|word| out.push_joined(&[Some(path), Some(word)], "\u{1F}"));
    }))
    .build()
}

impl Words {
    fn push_joined(&mut self, parts: &[Option<&str>], between: &str) {
        let joined: Vec<&str> = parts.iter().flatten().copied().collect();
        self.push(&joined.join(between));
    }
}

/// Reads a whole text into a buffer of words, then hands them out one by one.
#[derive(Clone)]
struct Analysis {
    read: fn(&str, &mut Words),
    words: Words,
    token: Token,
}

impl Analysis {
    fn new(read: fn(&str, &mut Words)) -> Self {
        Self { read, words: Words::default(), token: Token::default() }
    }
}

impl Tokenizer for Analysis {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        (self.read)(text, &mut self.words);
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
        let text = format!("{}Tikka Masala Soup", Tongue::OTHER.mark());
        assert_eq!(tokens(pairs_tokenizer(), &text), ["tikka masala", "masala soup"]);
        assert!(tokens(pairs_tokenizer(), "one").is_empty());
    }

    #[test]
    fn a_fact_is_a_value_and_its_words() {
        let text = format!("{}genre\u{1F}Science  Fiction", Tongue::OTHER.mark());
        let expected = ["genre\u{1F}=science fiction", "genre\u{1F}science", "genre\u{1F}fiction"];
        assert_eq!(tokens(facts_tokenizer(), &text), expected);
    }
}
