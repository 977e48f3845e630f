//! Scores as a table for people, and as JSON.

use forecourt_eval::{Comparison, JudgedQuestion, JudgedSet, Scores};
use serde_json::{Map, Value, json};

use super::measured::EvalReport;
use crate::commands::printable::line;
use crate::output::stdoutln;

/// Questions that are shown of each kind.
const SHOWN: usize = 5;
/// Characters of a question.
const QUESTION_CHARS_MAX: usize = 80;
/// So that two runs say the same.
const SEED: u64 = 0x5EED;

pub(super) fn print(set: &JudgedSet, first: &EvalReport, second: Option<&EvalReport>) {
    let unjudged = match set.unjudged {
        0 => String::new(),
        count => format!(", {count} more without a relevant document left out"),
    };
    stdoutln!("{} questions{unjudged}", set.questions.len());
    for measured in std::iter::once(first).chain(second) {
        scores(measured);
    }
    match second {
        None => worst(&set.questions, first),
        Some(second) => compared(&set.questions, first, second),
    }
}

/// The means of one configuration.
pub(super) fn scores(measured: &EvalReport) {
    stdoutln!("\n{} ({} documents)", measured.name, measured.items);
    stdoutln!("  {:<8} {:>8} {:>11} {:>7}", "by", "nDCG@10", "recall@100", "MRR@10");
    for (way, Scores { ndcg, recall, reciprocal_rank }) in measured.means() {
        stdoutln!("  {way:<8} {ndcg:>8.3} {recall:>11.3} {reciprocal_rank:>7.3}");
    }
}

fn worst(questions: &[JudgedQuestion], measured: &EvalReport) {
    let mut by_score: Vec<(f64, &str)> = measured
        .answered()
        .iter()
        .zip(questions)
        .map(|(scores, question)| (scores.ndcg, question.text.as_str()))
        .collect();
    by_score.sort_by(|a, b| a.0.total_cmp(&b.0));
    stdoutln!("\nAnswered worst:");
    by_score.iter().take(SHOWN).for_each(|(ndcg, text)| stdoutln!("  {ndcg:.3}  {}", line(text, QUESTION_CHARS_MAX)));
}

fn compared(questions: &[JudgedQuestion], first: &EvalReport, second: &EvalReport) {
    let Comparison { wins, losses, difference, p_value, .. } = comparison(first, second);
    let ties = questions.len() - wins - losses;
    let sense = match p_value {
        p if p < 0.05 => "chance seldom makes such a difference",
        _ => "this may well be chance",
    };
    stdoutln!("\nThe second against the first, by nDCG@10: {difference:+.3}");
    stdoutln!("  better on {wins} questions, worse on {losses}, the same on {ties}; p = {p_value:.4}: {sense}");
    let mut changes: Vec<(f64, &str)> = pairs(first, second)
        .iter()
        .zip(questions)
        .map(|((first, second), question)| (second - first, question.text.as_str()))
        .collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let show = |title: &str, changes: &mut dyn Iterator<Item = &(f64, &str)>| {
        stdoutln!("\n{title}:");
        changes.take(SHOWN).for_each(|(change, text)| stdoutln!("  {change:+.3}  {}", line(text, QUESTION_CHARS_MAX)));
    };
    if wins > 0 {
        show("Won most", &mut changes.iter().rev().filter(|(change, _)| *change > 0.0));
    }
    if losses > 0 {
        show("Lost most", &mut changes.iter().filter(|(change, _)| *change < 0.0));
    }
}

fn pairs(first: &EvalReport, second: &EvalReport) -> Vec<(f64, f64)> {
    first.answered().iter().zip(second.answered()).map(|(first, second)| (first.ndcg, second.ndcg)).collect()
}

fn comparison(first: &EvalReport, second: &EvalReport) -> Comparison {
    Comparison::of(&pairs(first, second), SEED)
}

pub(super) fn as_json(set: &JudgedSet, first: &EvalReport, second: Option<&EvalReport>) -> Value {
    let each = set.questions.iter().enumerate().map(|(at, question)| {
        let scores = first.answered().get(at).map(one);
        let compared = second.and_then(|second| second.answered().get(at)).map(one);
        json!({"id": question.id, "question": question.text, "scores": scores, "compared": compared})
    });
    let compared = second.map(|second| {
        let Comparison { questions, wins, losses, difference, p_value } = comparison(first, second);
        let mut told = configuration(second);
        told["comparison"] =
            json!({"questions": questions, "wins": wins, "losses": losses, "difference": difference, "p_value": p_value});
        told
    });
    let mut told = configuration(first);
    told["questions"] = set.questions.len().into();
    told["unjudged"] = set.unjudged.into();
    told["compared"] = json!(compared);
    told["each"] = each.collect();
    told
}

fn configuration(measured: &EvalReport) -> Value {
    let scores: Map<String, Value> = measured.means().map(|(way, scores)| (way.to_owned(), one(&scores))).collect();
    json!({"configuration": measured.name, "documents": measured.items, "scores": scores})
}

fn one(scores: &Scores) -> Value {
    json!({"ndcg": scores.ndcg, "recall": scores.recall, "reciprocal_rank": scores.reciprocal_rank})
}
