//! The limits of a question under its summary: which hold, which nobody could check, what was left out for them, and
//! how the question was read.

use forecourt_core::Findings;
use forecourt_sentences::Sentences;

use super::link::Place;
use super::without::without;
use crate::clean;
use crate::limits::NOTES_MAX;

/// What is told of limits, ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LimitsTold {
    /// Hold for every result, each once.
    pub(super) applied: Vec<LimitView>,
    /// Words that no item has, and what was looked for instead.
    pub(super) corrected: Vec<String>,
    /// Were not understood, or can't be checked here.
    pub(super) not_understood: Vec<String>,
    /// What can't be judged, in words.
    pub(super) left_out: Vec<String>,
    /// How the question was read, and the page of it as it was written, where it goes on with earlier ones.
    pub(super) read: Option<(String, String)>,
}

/// A limit that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LimitView {
    pub(super) words: String,
    /// The page of the question without it, where the question says it.
    pub(super) without: Option<String>,
}

impl LimitsTold {
    /// What findings say of limits, at most [`NOTES_MAX`] of each. What was clicked is shown as that.
    pub(super) fn of(findings: &Findings, place: &Place, say: Sentences) -> Self {
        let lines = |texts: &[String]| texts.iter().take(NOTES_MAX).map(|text| clean::line(text)).collect::<Vec<_>>();
        let read = findings.decontextualized.as_deref().map(clean::line);
        let differs = |read: &String| !read.eq_ignore_ascii_case(&clean::line(&place.question));
        Self {
            applied: applied(findings, place),
            corrected: findings
                .corrections
                .iter()
                .take(NOTES_MAX)
                .map(|one| say.searched_instead(&clean::line(&one.read_as), &clean::line(&one.written)))
                .collect(),
            not_understood: lines(&findings.not_understood),
            left_out: findings
                .left_out
                .iter()
                .take(NOTES_MAX)
                .map(|left| say.page_left_out_short(&left.items, &clean::line(&left.limit)))
                .collect(),
            read: read.filter(differs).map(|read| (read, place.alone())),
        }
    }
}

/// The limits that hold, each once, but for those that were clicked.
fn applied(findings: &Findings, place: &Place) -> Vec<LimitView> {
    let mut told: Vec<LimitView> = Vec::new();
    for limit in &findings.applied {
        let words = clean::line(&limit.words);
        let is_known = told.iter().any(|limit| limit.words == words) || place.has_value(&words);
        if !words.is_empty() && !is_known && told.len() < NOTES_MAX {
            let question = limit.said.as_deref().and_then(|said| without(&place.question, said));
            told.push(LimitView { without: question.map(|question| place.with_question(question)), words });
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use forecourt_core::SearchRefinement;
    use forecourt_core::findings::{AppliedLimit, LeftOut, SpellingCorrection};
    use forecourt_sentences::SpokenLanguage;

    use super::*;

    fn place() -> Place {
        let narrowing = SearchRefinement::default();
        Place { path: "/~a".to_owned(), question: "with rice".to_owned(), earlier: vec!["soup".to_owned()], narrowing }
    }

    fn say() -> Sentences {
        Sentences::in_language(SpokenLanguage::English)
    }

    fn told(findings: &Findings) -> LimitsTold {
        LimitsTold::of(findings, &place(), say())
    }

    #[test]
    fn a_question_that_was_read_as_it_stands_is_not_said_again() {
        let read = |text: &str| Findings { decontextualized: Some(text.to_owned()), ..Findings::default() };
        assert_eq!(told(&read("With rice")).read, None);
        let told = told(&read("soup with rice"));
        assert_eq!(told.read, Some(("soup with rice".to_owned(), "/~a?user=with%20rice".to_owned())));
    }

    #[test]
    fn what_is_told_of_limits_is_bounded() {
        let findings = |count: usize| Findings {
            applied: (0..count).map(|n| AppliedLimit::unsaid(format!("a{n}"))).collect(),
            corrections: vec![SpellingCorrection { written: "d".to_owned(), read_as: "e".to_owned() }; count],
            not_understood: vec!["b".to_owned(); count],
            left_out: vec![LeftOut { limit: "c".to_owned(), items: 2 }; count],
            ..Findings::default()
        };
        let counts = |count: usize| {
            let told = told(&findings(count));
            [told.applied.len(), told.not_understood.len(), told.left_out.len(), told.corrected.len()]
        };
        assert_eq!(counts(NOTES_MAX), [NOTES_MAX; 4]);
        assert_eq!(counts(NOTES_MAX + 1), [NOTES_MAX; 4]);
    }

    #[test]
    fn each_limit_is_told_once_and_can_be_taken_away_where_the_question_says_it() {
        let said = AppliedLimit { words: "with rice".to_owned(), said: Some("with rice".to_owned()) };
        let unsaid = ["no nuts", "no nuts", ""].map(AppliedLimit::unsaid);
        let applied: Vec<AppliedLimit> = [said].into_iter().chain(unsaid).collect();
        let limits =
            |place: &Place| LimitsTold::of(&Findings { applied: applied.clone(), ..Findings::default() }, place, say());
        let question = "soup with rice".to_owned();
        let told = limits(&Place { question, earlier: Vec::new(), ..place() }).applied;
        let rice = LimitView { words: "with rice".to_owned(), without: Some("/~a?user=soup".to_owned()) };
        assert_eq!(told, [rice, LimitView { words: "no nuts".to_owned(), without: None }]);
        let exactly = vec![("x".to_owned(), "No nuts".to_owned())];
        let clicked = Place { narrowing: SearchRefinement { exactly, ..SearchRefinement::default() }, ..place() };
        assert_eq!(limits(&clicked).applied.len(), 1, "what was clicked is shown as that");
    }
}
