//! What people asked, and how the items rank that they marked.

use forecourt::House;
use forecourt::house::Content;
use forecourt_core::{Clock, SystemClock};
use forecourt_eval::{Grades, JudgedQuestion, JudgedSet};
use forecourt_questions::{MarkedQuestion, QuestionCount, QuestionLog, QuestionReport};
use serde_json::json;

use super::measured::EvalReport;
use super::{content, house, of_items, show, table};
use crate::args::{Eval, Place};
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, print_json, stdoutln};

/// Questions of each list.
const SHOWN: usize = 20;
/// Characters of a question.
const QUESTION_CHARS_MAX: usize = 80;

pub(super) async fn run(eval: &Eval) -> Outcome {
    let house = house(&eval.place)?;
    let log = house.questions().ok_or_else(|| {
        Failure::yours("this deployment keeps no log of questions")
            .hint("turn it on with `log = true` under [questions] in forecourt.toml; it keeps no personal data")
    })?;
    let report = log.report(SHOWN, SystemClock.now()).map_err(|error| Failure::ours(error.to_string()))?;
    let judged = marked(&house, log, eval)?;
    let Some((content, questions)) = judged else {
        return match eval.json {
            true => print_json(&json!({"report": report})),
            false => {
                print(&report);
                Ok(())
            }
        };
    };
    let set = JudgedSet { questions: questions.clone(), ..JudgedSet::default() };
    let first = of_items(content, &eval.place.dir, questions.clone()).await?;
    let second = second(eval, questions).await?;
    if eval.json {
        let judged = table::as_json(&set, &first, second.as_ref());
        return print_json(&json!({"report": report, "judged": judged}));
    }
    print(&report);
    stdoutln!("\nQuestions with items that people marked:");
    show(eval, &set, &first, second.as_ref())
}

/// The other deployment, asked the same.
async fn second(eval: &Eval, questions: Vec<JudgedQuestion>) -> Result<Option<EvalReport>, Failure> {
    let Some(dir) = &eval.compare else { return Ok(None) };
    let house = house(&Place { dir: dir.clone(), data: None, named_by: None })?;
    of_items(content(&house, eval.agent.as_deref())?, dir, questions).await.map(Some)
}

/// The questions of an agent of which an item was marked as good. `None`: nobody marked any.
fn marked<'h>(
    house: &'h House,
    log: &QuestionLog,
    eval: &Eval,
) -> Result<Option<(&'h Content, Vec<JudgedQuestion>)>, Failure> {
    if house.contents().is_empty() {
        return Ok(None);
    }
    let content = content(house, eval.agent.as_deref())?;
    let marked = log.marked(content.handle.as_str()).map_err(|error| Failure::ours(error.to_string()))?;
    let questions: Vec<JudgedQuestion> = marked.into_iter().filter_map(judged).collect();
    Ok((!questions.is_empty()).then_some((content, questions)))
}

/// An item that more people marked as good than as bad is an answer.
fn judged(marked: MarkedQuestion) -> Option<JudgedQuestion> {
    let grades: Grades =
        marked.items.into_iter().filter(|(_, worth)| *worth > 0).map(|(item, _)| (item, 1.0)).collect();
    (!grades.is_empty()).then(|| JudgedQuestion { id: marked.question.clone(), text: marked.question, grades })
}

fn print(report: &QuestionReport) {
    let QuestionReport { asked, unanswered, keep_days, top, without_good_answer, .. } = report;
    stdoutln!("{asked} questions in the last {keep_days} days, {unanswered} of them without a good answer");
    list("Asked most", top, |one| format!("{:>6}", one.asked));
    list("Without a good answer", without_good_answer, |one| {
        let parts =
            [(one.nothing_found, "nothing found"), (one.not_understood, "not understood"), (one.bad, "thumbs down")];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what} {count}"));
        format!("{:>6}  ({})", one.asked, parts.collect::<Vec<_>>().join(", "))
    });
}

fn list(title: &str, questions: &[QuestionCount], told: impl Fn(&QuestionCount) -> String) {
    if questions.is_empty() {
        return;
    }
    stdoutln!("\n{title}:");
    for one in questions {
        stdoutln!("{}  @{}  {}", told(one), one.agent, line(&one.question, QUESTION_CHARS_MAX));
    }
}
