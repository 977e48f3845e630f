//! Parts a summary into the answer and what should be known of it, so that the answer comes first.
//!
//! Summaries name their limits, and what was left out for them, in sentences of [`Sentences`]. Limits are shown as
//! something to click, so these sentences and what follows them stand behind the answer.

use forecourt_core::Findings;
use forecourt_sentences::Sentences;

/// Stands for a value, to learn how a sentence begins: no sentence has it.
const VALUE: &str = "\u{1}";

/// The answer, and what should be known of it. Nothing is lost: together they are the summary.
pub(super) fn split(findings: &Findings, say: Sentences) -> (&str, &str) {
    let summary = findings.summary.as_str();
    let conflict = start(&say.contradiction(VALUE, VALUE));
    let left_out = findings.left_out.iter().map(|left| start(&say.left_out(left.items, VALUE)));
    let begins = [say.limits_applied(VALUE), say.limits_unknown(VALUE), say.not_understood(VALUE)];
    let begins = begins.iter().map(|sentence| start(sentence)).chain(left_out);
    let first = begins.filter_map(|begin| sentence_at(summary, &begin)).min();
    // That no item can keep all limits is the answer itself.
    let first = first.filter(|at| *at > 0 && sentence_at(summary, &conflict).is_none());
    first.map_or((summary, ""), |at| summary.split_at(at))
}

/// How a sentence begins, up to its first value.
fn start(sentence: &str) -> String {
    sentence.split(VALUE).next().unwrap_or_default().to_owned()
}

/// Where a sentence that begins so is; inside of another it is none.
fn sentence_at(text: &str, begin: &str) -> Option<usize> {
    let is_first = |at: &usize| *at == 0 || text[..*at].ends_with(char::is_whitespace);
    (!begin.trim().is_empty()).then(|| text.match_indices(begin).map(|(at, _)| at).find(is_first)).flatten()
}

#[cfg(test)]
mod tests {
    use forecourt_core::findings::LeftOut;
    use forecourt_sentences::SpokenLanguage;

    use super::*;

    #[test]
    fn the_answer_comes_first_and_nothing_is_lost() {
        for language in SpokenLanguage::ALL {
            let say = Sentences::in_language(language);
            let answer = format!("{} ", say.best_match("**[Soup](https://a.example/)** (15 min)"));
            let told = format!("{} {} Look closely.", say.limits_applied("no nuts"), say.left_out(22, "no nuts"));
            let findings = Findings { summary: format!("{answer}{told}"), ..Findings::default() };
            assert_eq!(split(&findings, say), (answer.as_str(), told.as_str()), "{language:?}");
            let left_out = vec![LeftOut { limit: "no nuts".to_owned(), items: 22 }];
            let told = say.left_out(22, "no nuts");
            let findings = Findings { summary: format!("{answer}{told}"), left_out, ..Findings::default() };
            assert_eq!(split(&findings, say), (answer.as_str(), told.as_str()), "{language:?}");
        }
    }

    #[test]
    fn a_contradiction_and_a_summary_without_limits_stay_whole() {
        let say = Sentences::in_language(SpokenLanguage::English);
        for summary in [
            "Soup [1](https://a.example/).",
            "Limits: a.",
            "",
            "Best. Limits: a. No item can keep both limits: a and b.",
        ] {
            let findings = Findings { summary: summary.to_owned(), ..Findings::default() };
            assert_eq!(split(&findings, say), (summary, ""), "{summary}");
        }
    }
}
