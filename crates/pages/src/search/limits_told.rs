//! The limits of a question under its summary: which hold, which nobody could check, what was left out for them, and
//! how the question was read.

use forecourt_core::Findings;

use super::link::Place;
use crate::clean;
use crate::limits::NOTES_MAX;

/// What is told of limits, ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LimitsTold {
    /// Hold for every result, but for those that the summary names.
    pub(super) applied: Vec<String>,
    /// Were not understood, or can't be checked here.
    pub(super) not_understood: Vec<String>,
    /// What can't be judged: a limit, and how many items don't say.
    pub(super) left_out: Vec<(String, usize)>,
    /// How the question was read, and the page of it as it was written, where it goes on with earlier ones.
    pub(super) read: Option<(String, String)>,
}

impl LimitsTold {
    /// What findings say of limits, at most [`NOTES_MAX`] of each. What was clicked is shown as that.
    pub(super) fn of(findings: &Findings, place: &Place) -> Self {
        let lines = |texts: &[String]| texts.iter().take(NOTES_MAX).map(|text| clean::line(text)).collect::<Vec<_>>();
        let read = findings.decontextualized.as_deref().map(clean::line);
        let differs = |read: &String| !read.eq_ignore_ascii_case(&clean::line(&place.question));
        Self {
            applied: lines(&findings.applied)
                .into_iter()
                .filter(|limit| !findings.summary.contains(limit.as_str()))
                .collect(),
            not_understood: lines(&findings.not_understood),
            left_out: findings
                .left_out
                .iter()
                .take(NOTES_MAX)
                .map(|left| (clean::line(&left.limit), left.items))
                .collect(),
            read: read.filter(differs).map(|read| (read, place.alone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::SearchRefinement;
    use forecourt_core::findings::LeftOut;

    use super::*;

    fn place() -> Place {
        let narrowing = SearchRefinement::default();
        Place { path: "/~a".to_owned(), question: "with rice".to_owned(), earlier: vec!["soup".to_owned()], narrowing }
    }

    #[test]
    fn a_question_that_was_read_as_it_stands_is_not_said_again() {
        let read = |text: &str| Findings { decontextualized: Some(text.to_owned()), ..Findings::default() };
        assert_eq!(LimitsTold::of(&read("With rice"), &place()).read, None);
        let told = LimitsTold::of(&read("soup with rice"), &place());
        assert_eq!(told.read, Some(("soup with rice".to_owned(), "/~a?user=with%20rice".to_owned())));
    }

    #[test]
    fn what_is_told_of_limits_is_bounded() {
        let findings = |count: usize| Findings {
            applied: vec!["a".to_owned(); count],
            not_understood: vec!["b".to_owned(); count],
            left_out: vec![LeftOut { limit: "c".to_owned(), items: 2 }; count],
            ..Findings::default()
        };
        let counts = |count: usize| {
            let told = LimitsTold::of(&findings(count), &place());
            [told.applied.len(), told.not_understood.len(), told.left_out.len()]
        };
        let named = Findings { summary: "Limits: a.".to_owned(), ..findings(1) };
        assert!(LimitsTold::of(&named, &place()).applied.is_empty());
        assert_eq!(counts(NOTES_MAX), [NOTES_MAX; 3]);
        assert_eq!(counts(NOTES_MAX + 1), [NOTES_MAX; 3]);
    }
}
