//! A question without one of its limits, so that a person can take the limit away with a click.

use std::ops::Range;

use forecourt_core::Findings;

use crate::highlight::{is_telling, pieces};

/// Of each limit that holds, the question without it, where the question says it and something to ask is left.
pub fn questions_without(question: &str, findings: &Findings) -> Vec<Option<String>> {
    findings.applied.iter().map(|limit| without(question, limit.said_at.clone()?)).collect()
}

/// The question without the bytes that say a limit. `None` where it does not have them, and where nothing to ask is left.
pub(super) fn without(question: &str, limit: Range<usize>) -> Option<String> {
    let (before, behind) = (question.get(..limit.start)?, question.get(limit.end..)?);
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
    let rest = format!("{before} {}", behind.trim()).replace(" ,", ",");
    let rest = rest.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–'));
    pieces(rest).any(|(piece, is_word)| is_word && is_telling(piece)).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn left(question: &str, limit: &str) -> Option<String> {
        let start = question.find(limit).unwrap();
        without(question, start..start + limit.len())
    }

    #[test]
    fn a_limit_is_taken_out_with_the_marks_around_it() {
        let asked = "vegetable soup under 30 minutes without nuts";
        assert_eq!(left(asked, "under 30 minutes").as_deref(), Some("vegetable soup without nuts"));
        assert_eq!(left(asked, "without nuts").as_deref(), Some("vegetable soup under 30 minutes"));
        assert_eq!(left("red shoes, at most 60 €, please", "at most 60 €").as_deref(), Some("red shoes, please"));
        assert_eq!(left("vegan soup", "vegan").as_deref(), Some("soup"));
    }

    #[test]
    fn a_question_that_is_nothing_but_the_limit_stays() {
        assert_eq!(left("without nuts", "without nuts"), None);
        assert_eq!(without("süß", 2..4), None, "no whole letters");
        assert_eq!(without("soup", 3..9), None);
        assert_eq!(without("soup", 4..4).as_deref(), Some("soup"));
    }

    proptest! {
        #[test]
        fn what_is_left_is_no_longer_than_the_question(question in ".{0,60}", start in 0..70_usize, bytes in 0..70_usize) {
            if let Some(left) = without(&question, start..start + bytes) {
                prop_assert!(left.len() <= question.len() + 1);
            }
        }
    }
}
