//! A question as words, numbers and marks, in the form in which words are compared.

use std::ops::Range;

use crate::fold::folded;

/// What a piece of a question is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TokenKind {
    /// Letters.
    Word,
    /// Digits, with the number that they are.
    Number(f64),
    /// Anything else that is no white space.
    Mark(char),
}

/// A piece of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionToken {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// It in lower case, without accents and apostrophes.
    pub word: String,
    /// What it is.
    pub kind: TokenKind,
    /// Whether nothing stands between it and the one before, or a hyphen alone.
    pub is_joined: bool,
}

impl QuestionToken {
    /// Whether it is this mark.
    pub fn is_mark(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }

    /// The number that it is in digits.
    pub fn number(&self) -> Option<f64> {
        if let TokenKind::Number(number) = self.kind { Some(number) } else { None }
    }

    /// Whether it is made of letters.
    pub fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }
}

/// What French and Italian write together with the next word, up to the apostrophe.
const ELIDED: &[&str] = &["l", "d", "j", "n", "s", "m", "t", "c", "qu", "jusqu", "lorsqu", "puisqu"];

/// Takes a text apart. Hyphens between words are left out: what they join [is joined](QuestionToken::is_joined).
pub fn tokens(text: &str) -> Vec<QuestionToken> {
    let mut tokens: Vec<QuestionToken> = Vec::new();
    let mut rest = Rest { text, at: 0 };
    let mut end = usize::MAX;
    while let Some(c) = rest.peek() {
        let start = rest.at;
        if c.is_whitespace() {
            rest.skip(c);
            continue;
        }
        if is_hyphen(c) && start == end && rest.joins(&tokens) {
            rest.skip(c);
        }
        let begins = rest.at;
        let kind = rest.take(tokens.last().is_some_and(|token| start == end && token.number().is_some()));
        let range = begins..rest.at;
        let word = match kind {
            TokenKind::Word => plain(&text[range.clone()]),
            TokenKind::Mark('-') => "-".to_owned(),
            TokenKind::Number(_) | TokenKind::Mark(_) => text[range.clone()].to_owned(),
        };
        tokens.push(QuestionToken { word, kind, is_joined: start == end, range });
        end = rest.at;
    }
    tokens
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{2014}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2018}' | '\u{02bc}' | '`' | '\u{00b4}')
}

/// A word as it is compared.
fn plain(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return word.to_ascii_lowercase();
    }
    let without: String = word.chars().filter(|c| !is_apostrophe(*c)).collect();
    folded(&without)
}

/// What is left to read.
struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl Rest<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self, c: char) {
        self.at += c.len_utf8();
    }

    /// Whether a hyphen here joins two words, or a number and a word.
    fn joins(&self, before: &[QuestionToken]) -> bool {
        let next = self.text[self.at..].chars().nth(1);
        let is_after_word = before.last().is_some_and(QuestionToken::is_word);
        let is_after_number = before.last().is_some_and(|token| token.number().is_some());
        // Dashes set parts of a sentence apart; only a hyphen joins.
        let is_hyphen = self.peek().is_some_and(|c| !matches!(c, '\u{2013}' | '\u{2014}'));
        // `10-20` is a span, `5-minute` is one thing.
        let leads_on = next.is_some_and(|c| c.is_alphabetic() || (is_after_word && c.is_numeric()));
        is_hyphen && leads_on && (is_after_word || is_after_number)
    }

    /// Reads what begins here: at least one character. Behind a number, letters end at the next one: `1h30`.
    fn take(&mut self, is_behind_number: bool) -> TokenKind {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().unwrap_or(' ');
        if let Some(part) = fraction(first) {
            self.skip(first);
            return TokenKind::Number(part);
        }
        if first.is_ascii_digit() {
            return self.digits();
        }
        if first.is_alphabetic() {
            let length = word_length(rest);
            // From the second one on: some letters are numbers too, such as the Roman `Ⅷ`.
            let letters = rest.char_indices().skip(1).find(|(_, c)| c.is_numeric()).map_or(length, |(at, _)| at);
            self.at += if is_behind_number { length.min(letters) } else { length };
            return TokenKind::Word;
        }
        self.skip(first);
        TokenKind::Mark(if is_hyphen(first) { '-' } else { first })
    }

    /// Digits, with their decimals, groups of thousands, or a fraction that follows at once.
    fn digits(&mut self) -> TokenKind {
        let rest = &self.text[self.at..];
        let length = number_length(rest);
        let groups = spaced_groups(&rest[..length], &rest[length..]);
        self.at += length + groups;
        let mut number = match groups {
            0 => number(&rest[..length]),
            _ => number(&rest[..length + groups].split_whitespace().collect::<String>()),
        };
        if let Some((c, part)) = self.peek().and_then(|c| Some((c, fraction(c)?))) {
            number += part;
            self.skip(c);
        }
        TokenKind::Number(number)
    }
}

/// The bytes of the word that a text begins with: letters, digits behind letters, and apostrophes between them.
fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c) {
            continue;
        }
        let leads_on = chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if !(is_apostrophe(c) && leads_on) || at == 0 {
            return at;
        }
        if ELIDED.iter().any(|elided| text[..at].eq_ignore_ascii_case(elided)) {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// The bytes of the number that a text begins with.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let is_inner = matches!(bytes[end], b'.' | b',') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !(bytes[end].is_ascii_digit() || is_inner) {
            break;
        }
        end += 1;
    }
    end
}

/// The bytes of the groups of three digits that go on with a number behind a space each: `250 000`.
fn spaced_groups(number: &str, rest: &str) -> usize {
    if number.len() > 3 || number.starts_with('0') || !number.bytes().all(|b| b.is_ascii_digit()) {
        return 0;
    }
    let mut end = 0;
    while let Some(space) = rest[end..].chars().next().filter(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}')) {
        let group = &rest[end + space.len_utf8()..];
        let is_group = group.len() >= 3 && group.bytes().take_while(u8::is_ascii_digit).count() == 3;
        if !is_group {
            break;
        }
        end += space.len_utf8() + 3;
    }
    end
}

/// `1,000` and `1.000` are a thousand, `1,5` and `1.5` one and a half.
fn number(digits: &str) -> f64 {
    let groups: Vec<&str> = digits.split(['.', ',']).collect();
    // `0.125` is no group of thousands, which never begins with a zero.
    let is_grouped = groups.len() > 1
        && groups[0].len() <= 3
        && !groups[0].starts_with('0')
        && groups[1..].iter().all(|group| group.len() == 3);
    let plain = if is_grouped { groups.concat() } else { digits.replace(',', ".") };
    plain.parse().ok().filter(|number: &f64| number.is_finite()).unwrap_or(f64::MAX)
}

fn fraction(c: char) -> Option<f64> {
    Some(match c {
        '½' => 0.5,
        '¼' => 0.25,
        '¾' => 0.75,
        '⅓' => 1.0 / 3.0,
        '⅔' => 2.0 / 3.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.word).collect()
    }

    #[test]
    fn words_are_compared_without_apostrophes_and_hyphens() {
        assert_eq!(
            words("Doesn’t don't l'ail d’œufs jusqu'à"),
            ["doesnt", "dont", "l", "ail", "d", "oeufs", "jusqu", "a"]
        );
        assert_eq!(words("nut-free w/o week-end"), ["nut", "free", "w", "/", "o", "week", "end"]);
        assert!(tokens("nut-free")[1].is_joined && !tokens("nut free")[1].is_joined);
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let numbers = |text: &str| tokens(text).iter().filter_map(QuestionToken::number).collect::<Vec<_>>();
        assert_eq!(
            numbers("1h30 1.5 1,5 1,000 1.000 0.125 2½ ¾ 20–40 20-40"),
            [1.0, 30.0, 1.5, 1.5, 1_000.0, 1_000.0, 0.125, 2.5, 0.75, 20.0, 40.0, 20.0, 40.0]
        );
        assert_eq!(
            numbers("250 000 12 500 2 50 38 1000 0 100"),
            [250_000.0, 12_500.0, 2.0, 50.0, 38.0, 1_000.0, 0.0, 100.0]
        );
        assert_eq!(words("20–40 30-minute 4+"), ["20", "-", "40", "30", "minute", "4", "+"]);
        assert_eq!(words("90s whole30 2010b"), ["90", "s", "whole30", "2010", "b"]);
    }

    proptest! {
        #[test]
        fn tokens_cover_the_text_in_order(text in any::<String>()) {
            let mut end = 0;
            for token in tokens(&text) {
                prop_assert!(token.range.start >= end && token.range.end > token.range.start);
                prop_assert!(text.get(token.range.clone()).is_some());
                end = token.range.end;
            }
        }
    }
}
