//! How well what was found answers a question.

use crate::judged::Grades;

/// How many of the first documents count for gain and rank.
pub const TOP: usize = 10;
/// How many count for recall.
pub const DEEP: usize = 100;

/// Three measures of a ranking, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    /// Discounted gain of the first [`TOP`], over that of the best possible order (Järvelin and Kekäläinen 2002).
    pub ndcg: f64,
    /// The part of all relevant documents that is among the first [`DEEP`].
    pub recall: f64,
    /// One over the place of the first relevant document, 0 past [`TOP`].
    pub reciprocal_rank: f64,
}

impl Scores {
    /// Of one question. `found` are ids of documents, best first; a document counts where it is first.
    pub fn of<S: AsRef<str>>(found: &[S], judged: &Grades) -> Self {
        let mut seen = std::collections::HashSet::new();
        // A ranking that lists a relevant document twice must not gain twice.
        let grade = |id: &S| match seen.insert(id.as_ref().to_owned()) {
            true => judged.get(id.as_ref()).copied().unwrap_or(0.0),
            false => 0.0,
        };
        let found: Vec<f64> = found.iter().take(DEEP).map(grade).collect();
        let mut ideal: Vec<f64> = judged.values().copied().filter(|grade| *grade > 0.0).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        if ideal.is_empty() {
            return Self::default();
        }
        let deep = found.iter().filter(|grade| **grade > 0.0).count();
        let first = found.iter().take(TOP).position(|grade| *grade > 0.0);
        Self {
            ndcg: gain(&found) / gain(&ideal),
            recall: deep as f64 / ideal.len() as f64,
            reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        }
    }
}

/// The means of the scores of all questions. All 0 without any.
pub fn mean(all: &[Scores]) -> Scores {
    let count = all.len().max(1) as f64;
    let of = |score: fn(&Scores) -> f64| all.iter().map(score).sum::<f64>() / count;
    Scores { ndcg: of(|s| s.ndcg), recall: of(|s| s.recall), reciprocal_rank: of(|s| s.reciprocal_rank) }
}

fn gain(grades: &[f64]) -> f64 {
    // The first place counts whole: log2 of 2 is 1.
    grades.iter().take(TOP).zip(2..).map(|(grade, place)| grade.max(0.0) / f64::from(place).log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(grades: &[(&str, f64)]) -> Grades {
        grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect()
    }

    #[test]
    fn the_best_order_scores_one() {
        let judged = judged(&[("a", 3.0), ("b", 1.0), ("c", 0.0)]);
        assert_eq!(Scores::of(&["a", "b"], &judged), Scores { ndcg: 1.0, recall: 1.0, reciprocal_rank: 1.0 });
        let swapped = Scores::of(&["b", "a"], &judged);
        let expected = (1.0 + 3.0 / 3_f64.log2()) / (3.0 + 1.0 / 3_f64.log2());
        assert!((swapped.ndcg - expected).abs() < 1e-12);
        assert_eq!(Scores::of(&[] as &[&str], &judged), Scores::default());
        assert_eq!(Scores::of(&["a", "a", "a"], &judged).recall, 0.5, "a document counts once");
    }

    #[test]
    fn only_the_first_places_count() {
        let judged = judged(&[("a", 1.0)]);
        let at = |place: usize| {
            let mut found: Vec<String> = (1..place).map(|n| format!("x{n}")).collect();
            found.push("a".to_owned());
            Scores::of(&found, &judged)
        };
        assert!(at(TOP).ndcg > 0.0 && at(TOP).reciprocal_rank == 0.1);
        assert_eq!(at(TOP + 1), Scores { recall: 1.0, ..Scores::default() });
        assert_eq!((at(DEEP).recall, at(DEEP + 1).recall), (1.0, 0.0));
    }

    #[test]
    fn means_are_over_all_questions() {
        let one = Scores { ndcg: 1.0, recall: 0.5, reciprocal_rank: 1.0 };
        assert_eq!(mean(&[one, Scores::default()]), Scores { ndcg: 0.5, recall: 0.25, reciprocal_rank: 0.5 });
        assert_eq!(mean(&[]), Scores::default());
    }
}
