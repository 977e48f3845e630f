//! One configuration, asked all questions.

use forecourt_agents::QuestionRanker;
use forecourt_eval::{DEEP, JudgedQuestion, Scores, mean};
use forecourt_index::RankBy;

use crate::output::{Failure, stderrln};

/// Questions between two lines that tell how far it is.
const TOLD_EVERY: usize = 100;

/// What came of it.
pub(super) struct EvalReport {
    /// Agent and deployment.
    pub(super) name: String,
    /// Documents or items.
    pub(super) items: u64,
    /// The scores of each question, by what a ranking goes by; the last way is how answers are ranked.
    pub(super) ways: Vec<(RankBy, Vec<Scores>)>,
}

impl EvalReport {
    /// The scores of each question as answers are ranked.
    pub(super) fn answered(&self) -> &[Scores] {
        self.ways.last().map(|(_, scores)| scores.as_slice()).unwrap_or_default()
    }

    /// The means, by way.
    pub(super) fn means(&self) -> impl Iterator<Item = (&'static str, Scores)> {
        self.ways.iter().map(|(by, scores)| (name(*by), mean(scores)))
    }
}

/// Asks every question in every way.
pub(super) fn measure(
    name: String,
    ranker: &dyn QuestionRanker,
    questions: &[JudgedQuestion],
) -> Result<EvalReport, Failure> {
    let mut ways: Vec<(RankBy, Vec<Scores>)> = ranker.ways().iter().map(|by| (*by, Vec::new())).collect();
    for (at, question) in questions.iter().enumerate() {
        if at % TOLD_EVERY == 0 {
            stderrln!("{name}: question {} of {}", at + 1, questions.len());
        }
        for (by, scores) in &mut ways {
            let found = ranker.rank(&question.text, *by, DEEP).map_err(|error| Failure::ours(error.to_string()))?;
            scores.push(Scores::of(&found, &question.grades));
        }
    }
    Ok(EvalReport { name, items: ranker.items(), ways })
}

/// What a way is called.
pub(super) fn name(by: RankBy) -> &'static str {
    match by {
        RankBy::Words => "words",
        RankBy::Meaning => "meaning",
        RankBy::Both => "both",
    }
}
