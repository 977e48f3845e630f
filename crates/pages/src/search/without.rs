//! A question without one of its limits, so that a person can take the limit away with a click.
//!
//! A limit is told in words of its own ("30 minutes or less"), so its words are looked for in the question ("under 30
//! minutes"). Where none is there, the limit is from elsewhere, and nothing is offered.

use forecourt_core::Findings;

use crate::highlight::{Words, is_telling, pieces};

/// Of each limit that holds, the question without it, where the question says it and something to ask is left.
pub fn questions_without(question: &str, findings: &Findings) -> Vec<Option<String>> {
    findings.applied.iter().map(|limit| without(question, limit)).collect()
}

/// The question without the words that say `limit`. `None` where it does not say it, and where nothing to ask is left.
pub(super) fn without(question: &str, limit: &str) -> Option<String> {
    let limit = Words::of([limit]);
    let words = words_of(question);
    let says: Vec<bool> = words.iter().map(|(_, word)| limit.knows(word)).collect();
    let (first, last) = longest_run(&words, &says)?;
    // Words such as "under" and "without" belong to what follows them.
    let before = words[..first].iter().rposition(|(_, word)| is_telling(word)).map_or(0, |at| at + 1);
    let (start, end) = (words[before].0, words.get(last + 1).map_or(question.len(), |(at, _)| *at));
    let rest = format!("{} {}", question[..start].trim(), question[end..].trim());
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–'));
    pieces(rest).any(|(piece, is_word)| is_word && is_telling(piece)).then(|| rest.to_owned())
}

/// The words of a text, each with the byte at which it begins.
fn words_of(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let placed = pieces(text).map(|(piece, is_word)| {
        at += piece.len();
        (at - piece.len(), piece, is_word)
    });
    placed.filter(|(_, _, is_word)| *is_word).map(|(at, piece, _)| (at, piece)).collect()
}

/// The first and the last word of the run that says most of a limit; words that only join others may be within it.
fn longest_run(words: &[(usize, &str)], says: &[bool]) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    let mut run: Option<(usize, usize, usize)> = None;
    for (at, (_, word)) in words.iter().enumerate() {
        run = match (says[at], run) {
            (true, Some((first, _, count))) => Some((first, at, count + 1)),
            (true, None) => Some((at, at, 1)),
            (false, run) => run.filter(|_| !is_telling(word)),
        };
        if run.map(|(_, _, count)| count) > best.map(|(_, _, count)| count) {
            best = run;
        }
    }
    best.map(|(first, last, _)| (first, last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_is_taken_out_with_the_words_that_lead_to_it() {
        let asked = "vegetable soup under 30 minutes without nuts";
        for (limit, left) in [
            ("30 minutes or less", Some("vegetable soup without nuts")),
            ("no nuts", Some("vegetable soup under 30 minutes")),
            ("made before 1999", None),
        ] {
            assert_eq!(without(asked, limit).as_deref(), left, "{limit}");
        }
        assert_eq!(without("red shoes, at most 60 € please", "60 EUR or less").as_deref(), Some("red shoes, please"));
        assert_eq!(without("rote Schuhe unter 60 €", "höchstens 60 €").as_deref(), Some("rote Schuhe"));
        assert_eq!(without("vegan soup", "vegan").as_deref(), Some("soup"));
    }

    #[test]
    fn a_question_that_is_nothing_but_the_limit_stays() {
        assert_eq!(without("vegan", "vegan"), None);
        assert_eq!(without("without nuts", "no nuts"), None);
        assert_eq!(without("", "no nuts"), None);
        assert_eq!(without("soup", ""), None);
    }

    proptest! {
        #[test]
        fn what_is_left_is_shorter_and_says_no_more(question in ".{0,60}", limit in ".{0,30}") {
            if let Some(left) = without(&question, &limit) {
                prop_assert!(left.len() <= question.len());
                prop_assert!(words_of(&left).len() < words_of(&question).len());
            }
        }
    }
}
