//! What names of items say, as terms that are looked for beside the words.

use std::collections::BTreeSet;

use crate::analysis::{LanguageAnalyzer, NAME_WORDS_MAX, Words, content_words, whole_name};
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// What it is worth that a name has two words of the query side by side, or that the query has the whole name in
/// it: each as a term by itself, beside what its words are worth.
const NAME_BOOST: f32 = 0.4;

/// Names that have two words of a text side by side but for stop words, and names that the text has in it as a whole,
/// each with what it is worth. Words with a comma between them are no neighbours.
pub(super) fn names(text: &str, tongues: &[LanguageAnalyzer]) -> Vec<(String, f32)> {
    let (mut pairs, mut names) = (BTreeSet::new(), BTreeSet::new());
    for tongue in tongues {
        for clause in text.split([',', ';', ':', '!', '?', '(', ')', '\n']) {
            let words = Words::of(&content_words(clause, *tongue), *tongue);
            let neighbours = words.iter().zip(words.iter().skip(1)).take(QUERY_WORDS_MAX);
            pairs.extend(neighbours.map(|(first, second)| format!("{first} {second}")));
        }
        names.extend(runs(&Words::of(text, *tongue)));
    }
    let pairs = pairs.into_iter().take(QUERY_WORDS_MAX).map(|pair| (pair, NAME_BOOST));
    // The more words a name has, the less it is in the question by chance.
    let whole = names.into_iter().map(|name| {
        let words = name.split(' ').count();
        (name, NAME_BOOST * words as f32)
    });
    pairs.chain(whole).collect()
}

/// The runs of words of a short text that may be whole names.
fn runs(words: &Words) -> Vec<String> {
    let all: Vec<&str> = words.iter().collect();
    if all.len() > QUERY_WORDS_MAX / 2 {
        return Vec::new();
    }
    let starts = 0..all.len();
    starts
        .flat_map(|start| (start + 1..=all.len().min(start + NAME_WORDS_MAX)).map(move |end| (start, end)))
        .map(|(start, end)| whole_name(&all[start..end]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_any_run_of_a_short_question() {
        let runs = runs(&Words::of("who made alien", LanguageAnalyzer::OTHER));
        assert_eq!(runs, ["=who", "=who made", "=who made alien", "=made", "=made alien", "=alien"]);
    }

    #[test]
    fn long_questions_name_nothing() {
        let words = |count: usize| Words::of(&"w ".repeat(count), LanguageAnalyzer::OTHER);
        assert!(!super::runs(&words(QUERY_WORDS_MAX / 2)).is_empty());
        assert!(super::runs(&words(QUERY_WORDS_MAX / 2 + 1)).is_empty());
    }
}
