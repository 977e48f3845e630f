//! A text in fewer sentences, all of them its own. No model is asked, so that the same text always has
//! the same summary and nothing is said that the text does not say.

use std::collections::{BTreeSet, HashMap};

use forecourt_core::Language;
use unicode_segmentation::UnicodeSegmentation;

use crate::analysis::{LanguageAnalyzer, Words, is_stop_word};
use crate::limits::{SUMMARY_BYTES_READ, SUMMARY_SENTENCES_READ};

/// How much more a sentence counts for each word that it shares with the focus.
const FOCUS_WEIGHT: f32 = 2.0;
/// How much more the first sentence counts: it often says what the rest is about.
const FIRST_WEIGHT: f32 = 1.3;
/// Words that a sentence is taken to have at least, so that exclamations don't win by being short.
const WORDS_MIN: usize = 6;

/// How a text is to be summarised.
#[derive(Debug, Clone, Copy)]
pub struct SummaryWish<'a> {
    /// Sentences, at most.
    pub sentences: usize,
    /// Words that the summary should be about; sentences that have them count more.
    pub focus: Option<&'a str>,
    /// The language of the text.
    pub language: &'a Language,
}

/// A sentence of a text.
struct Sentence<'a> {
    text: &'a str,
    /// The different words that say something, stemmed.
    stems: BTreeSet<String>,
    words: usize,
}

/// The sentences of `text` that say most of what it is about, in its own order. Reads at most
/// [`SUMMARY_BYTES_READ`] of it. Empty for a text without words.
pub fn summary<'a>(text: &'a str, wish: SummaryWish<'_>) -> Vec<&'a str> {
    let tongue = LanguageAnalyzer::of(wish.language.as_str());
    let sentences = sentences(text, tongue);
    let frequency = frequency(&sentences);
    let focus = wish.focus.map(|focus| stems(focus, tongue).0).unwrap_or_default();
    let mut ranked: Vec<(usize, f32)> =
        sentences.iter().enumerate().map(|(at, sentence)| (at, score(at, sentence, &frequency, &focus))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut chosen: Vec<usize> = distinct(&ranked, &sentences, wish.sentences);
    chosen.sort_unstable();
    chosen.into_iter().map(|at| sentences[at].text).collect()
}

fn sentences(text: &str, tongue: LanguageAnalyzer) -> Vec<Sentence<'_>> {
    let mut end = text.len().min(SUMMARY_BYTES_READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A blank line ends a sentence that has no full stop, such as a heading.
    let blocks = text[..end].split("\n\n").flat_map(UnicodeSegmentation::unicode_sentences);
    let sentence = |text| {
        let (stems, words) = stems(text, tongue);
        Sentence { text, stems, words }
    };
    let said = blocks.map(str::trim).filter(|text| !text.is_empty());
    said.take(SUMMARY_SENTENCES_READ).map(sentence).collect()
}

/// The different stems of a text that say something, and how many words it has.
fn stems(text: &str, tongue: LanguageAnalyzer) -> (BTreeSet<String>, usize) {
    let mut one = Words::default();
    let (mut stems, mut words) = (BTreeSet::new(), 0);
    for word in text.unicode_words() {
        words += 1;
        if is_stop_word(&word.to_lowercase(), tongue) {
            continue;
        }
        one.read(word, tongue);
        stems.extend(one.iter().map(str::to_owned));
    }
    (stems, words)
}

/// In how many sentences each stem is.
fn frequency<'s>(sentences: &'s [Sentence<'_>]) -> HashMap<&'s str, f32> {
    let mut frequency: HashMap<&str, f32> = HashMap::new();
    for stem in sentences.iter().flat_map(|sentence| &sentence.stems) {
        *frequency.entry(stem).or_default() += 1.0;
    }
    frequency
}

fn score(at: usize, sentence: &Sentence<'_>, frequency: &HashMap<&str, f32>, focus: &BTreeSet<String>) -> f32 {
    let weight = |stem: &String| {
        let shared = frequency.get(stem.as_str()).copied().unwrap_or_default();
        let asked = if focus.contains(stem) { FOCUS_WEIGHT * (1.0 + shared) } else { 0.0 };
        // A stem that only one sentence has does not tell what the text is about.
        (shared - 1.0).max(0.1) + asked
    };
    let sum: f32 = sentence.stems.iter().map(weight).sum();
    let first = if at == 0 { FIRST_WEIGHT } else { 1.0 };
    // By the root of the length: by the sum alone the longest sentence would win, by the average the shortest.
    first * sum / (sentence.words.max(WORDS_MIN) as f32).sqrt()
}

/// The best sentences of which none says what another one does.
fn distinct(ranked: &[(usize, f32)], sentences: &[Sentence<'_>], wanted: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for &(at, score) in ranked {
        let one = &sentences[at];
        let says_nothing = score <= 0.0 || one.stems.is_empty();
        if !says_nothing && !chosen.iter().any(|&other| sentences[other].stems == one.stems) {
            chosen.push(at);
        }
        if chosen.len() >= wanted {
            break;
        }
    }
    chosen.truncate(wanted);
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "Chickpeas are the base of hummus. The weather was fine. Hummus of chickpeas needs tahini. \
                        Somebody laughed. Tahini and lemon make the hummus creamy.";

    fn wish(sentences: usize, focus: Option<&str>) -> SummaryWish<'_> {
        static ENGLISH: std::sync::LazyLock<Language> = std::sync::LazyLock::new(Language::english);
        SummaryWish { sentences, focus, language: &ENGLISH }
    }

    #[test]
    fn what_a_text_is_about_is_kept_in_its_order() {
        let kept = summary(TEXT, wish(2, None));
        assert_eq!(kept, ["Chickpeas are the base of hummus.", "Hummus of chickpeas needs tahini."]);
    }

    #[test]
    fn a_focus_moves_the_choice() {
        assert_eq!(summary(TEXT, wish(1, Some("weather"))), ["The weather was fine."]);
    }

    #[test]
    fn a_sentence_that_comes_twice_is_kept_once() {
        assert_eq!(summary("Soup is hot. Soup is hot. Soup is hot!", wish(3, None)), ["Soup is hot."]);
    }

    #[test]
    fn a_text_without_words_has_no_summary() {
        for text in ["", "  \n\n", "... !!!"] {
            assert!(summary(text, wish(3, None)).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn what_is_read_of_a_text_is_bounded() {
        let at = |before: usize| format!("{}. Needle here.", "x ".repeat(before / 2));
        let has = |text: &str| summary(text, wish(9, Some("needle"))).iter().any(|one| one.contains("Needle here"));
        assert!(has(&at(SUMMARY_BYTES_READ - 20)));
        assert!(!has(&at(SUMMARY_BYTES_READ)));
    }

    proptest! {
        #[test]
        fn every_sentence_is_the_texts_own(text in ".{0,400}", sentences in 0..5usize) {
            let kept = summary(&text, wish(sentences, None));
            prop_assert!(kept.len() <= sentences);
            prop_assert!(kept.iter().all(|one| text.contains(one)));
        }
    }
}
