//! A question without one of its limits, so that a person can take the limit away with a click.

use forecourt_core::Findings;

use crate::highlight::{is_telling, pieces};

/// Of each limit that holds, the question without it, where the question says it and something to ask is left.
pub fn questions_without(question: &str, findings: &Findings) -> Vec<Option<String>> {
    findings.applied.iter().map(|limit| without(question, limit.said.as_deref()?)).collect()
}

/// The question without the words that say a limit. `None` where it does not have them, and where nothing to ask is left.
pub(super) fn without(question: &str, said: &str) -> Option<String> {
    let (before, behind) = around(question, said)?;
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
    let rest = format!("{before} {}", behind.trim()).replace(" ,", ",");
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–'));
    pieces(rest).any(|(piece, is_word)| is_word && is_telling(piece)).then(|| rest.to_owned())
}

/// What is before `words` and behind them, where a text has them as whole words. By the words and not by their place: a
/// text that was heard without its mention, or with a part of it blotted out, is the shorter one.
fn around<'t>(text: &'t str, words: &str) -> Option<(&'t str, &'t str)> {
    let is_open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let mut places = text.match_indices(words).filter(|_| !words.is_empty());
    places.find_map(|(at, found)| {
        let (before, behind) = (&text[..at], &text[at + found.len()..]);
        (is_open(before.chars().next_back()) && is_open(behind.chars().next())).then_some((before, behind))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_is_taken_out_with_the_marks_around_it() {
        let asked = "vegetable soup under 30 minutes without nuts";
        assert_eq!(without(asked, "under 30 minutes").as_deref(), Some("vegetable soup without nuts"));
        assert_eq!(without(asked, "without nuts").as_deref(), Some("vegetable soup under 30 minutes"));
        assert_eq!(without("red shoes, at most 60 €, please", "at most 60 €").as_deref(), Some("red shoes, please"));
        assert_eq!(without("vegan soup", "vegan").as_deref(), Some("soup"));
    }

    #[test]
    fn a_question_that_is_nothing_but_the_limit_stays() {
        assert_eq!(without("without nuts", "without nuts"), None);
        assert_eq!(without("vegan soup", "no nuts"), None, "it does not say that");
        assert_eq!(without("soup", ""), None);
    }

    #[test]
    fn whole_words_are_taken_out_and_nothing_of_others() {
        assert_eq!(without("veganaise, vegan", "vegan").as_deref(), Some("veganaise"));
        assert_eq!(without("veganaise", "vegan"), None);
        assert_eq!(without("@chef soup without nuts", "without nuts").as_deref(), Some("@chef soup"));
    }

    proptest! {
        #[test]
        fn what_is_left_are_words_of_the_question(before in "(soup|süß|, |60 €|a|no ){0,6}", said in "(no nuts|ab 5|vegan|ü)",
            behind in "( red|, |-|ß|€ 5|\\.){0,6}") {
            let question = format!("{before} {said} {behind}");
            match without(&question, &said) {
                Some(left) => {
                    let words = |text: &str| {
                        pieces(text).filter(|(_, is_word)| *is_word).map(|(word, _)| word.to_owned()).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(words(&left).len() + words(&said).len(), words(&question).len());
                    prop_assert!(left.len() + said.len() <= question.len());
                }
                None => {
                    let rest = format!("{before} {behind}");
                    prop_assert!(!pieces(&rest).any(|(piece, is_word)| is_word && is_telling(piece)), "{}", rest);
                }
            }
        }

        #[test]
        fn any_texts_are_taken(question in ".{0,60}", said in ".{0,9}") {
            if let Some(left) = without(&question, &said) {
                prop_assert!(!said.is_empty() && left.len() <= question.len());
            }
        }
    }
}
