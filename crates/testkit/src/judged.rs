//! Sets of judged questions, and how well a ranking does on them.
//!
//! A set is a folder in BEIR's layout: `corpus.jsonl` with an `_id` in each line, `queries.jsonl` with
//! `_id` and `text`, and `qrels.tsv` with a header and the columns query, document and grade.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How many of the first documents count for gain and rank.
pub const TOP: usize = 10;
/// How many count for recall.
pub const DEEP: usize = 100;

/// Documents by id, each with how well it answers a question. Above 0 is relevant.
type Grades = HashMap<String, f64>;

/// A judged set.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The documents, as a file that can be indexed.
    pub corpus: PathBuf,
    questions: Vec<(String, Grades)>,
}

/// How well a ranking does: means over all questions with a relevant document, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    /// Discounted gain of the first [`TOP`], over that of the best possible order.
    pub ndcg: f64,
    /// The part of all relevant documents that is among the first [`DEEP`].
    pub recall: f64,
    /// One over the place of the first relevant document, 0 past [`TOP`].
    pub reciprocal_rank: f64,
}

impl Judged {
    /// Reads the questions and judgements of a folder. Fails when a file is missing or not in shape.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut grades = grades(&std::fs::read_to_string(folder.join("qrels.tsv"))?)?;
        let queries = std::fs::read_to_string(folder.join("queries.jsonl"))?;
        let mut questions = Vec::new();
        for line in queries.lines().filter(|line| !line.trim().is_empty()) {
            let query: Value = serde_json::from_str(line)?;
            let (Some(id), Some(text)) = (query["_id"].as_str(), query["text"].as_str()) else {
                return Err(broken("queries.jsonl", line));
            };
            if let Some(grades) = grades.remove(id).filter(|grades| grades.values().any(|grade| *grade > 0.0)) {
                questions.push((text.to_owned(), grades));
            }
        }
        Ok(Self { corpus: folder.join("corpus.jsonl"), questions })
    }

    /// Asks every question. `rank` gives the ids of the documents that it finds, best first, at least
    /// [`DEEP`] of them when there are as many.
    pub fn score(&self, mut rank: impl FnMut(&str) -> Vec<String>) -> Scores {
        let mut sum = Scores::default();
        for (text, grades) in &self.questions {
            let found = rank(text);
            let found: Vec<f64> = found.iter().map(|id| grades.get(id).copied().unwrap_or(0.0)).collect();
            let one = of(&found, grades);
            sum.ndcg += one.ndcg;
            sum.recall += one.recall;
            sum.reciprocal_rank += one.reciprocal_rank;
        }
        let count = self.questions.len().max(1) as f64;
        Scores { ndcg: sum.ndcg / count, recall: sum.recall / count, reciprocal_rank: sum.reciprocal_rank / count }
    }
}

fn grades(table: &str) -> io::Result<HashMap<String, Grades>> {
    let mut all: HashMap<String, Grades> = HashMap::new();
    for line in table.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let [query, document, grade] = *line.split('\t').collect::<Vec<_>>() else {
            return Err(broken("qrels.tsv", line));
        };
        let grade = grade.trim().parse().map_err(|_| broken("qrels.tsv", line))?;
        all.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
    }
    Ok(all)
}

fn broken(file: &str, line: &str) -> io::Error {
    let start: String = line.chars().take(80).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("{file}: cannot read {start:?}"))
}

/// The scores of one question. `found` are the grades of what was found, best first.
fn of(found: &[f64], judged: &Grades) -> Scores {
    let mut ideal: Vec<f64> = judged.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let relevant = ideal.iter().filter(|grade| **grade > 0.0).count();
    let deep = found.iter().take(DEEP).filter(|grade| **grade > 0.0).count();
    let first = found.iter().take(TOP).position(|grade| *grade > 0.0);
    Scores {
        ndcg: gain(found) / gain(&ideal),
        recall: deep as f64 / relevant as f64,
        reciprocal_rank: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
    }
}

fn gain(grades: &[f64]) -> f64 {
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
        assert_eq!(of(&[3.0, 1.0], &judged), Scores { ndcg: 1.0, recall: 1.0, reciprocal_rank: 1.0 });
        let swapped = of(&[1.0, 3.0], &judged);
        let expected = (1.0 + 3.0 / 3_f64.log2()) / (3.0 + 1.0 / 3_f64.log2());
        assert!((swapped.ndcg - expected).abs() < 1e-12);
        assert_eq!(of(&[], &judged), Scores::default());
    }

    #[test]
    fn only_the_first_places_count() {
        let judged = judged(&[("a", 1.0)]);
        let at = |place: usize| of(&[vec![0.0; place - 1], vec![1.0]].concat(), &judged);
        assert!(at(TOP).ndcg > 0.0 && at(TOP).reciprocal_rank == 0.1);
        assert_eq!(at(TOP + 1), Scores { recall: 1.0, ..Scores::default() });
        assert_eq!((at(DEEP).recall, at(DEEP + 1).recall), (1.0, 0.0));
    }

    #[test]
    fn tables_out_of_shape_are_told() {
        assert!(grades("q\td\ts\n1\t2\n").unwrap_err().to_string().contains("qrels.tsv"));
        assert!(grades("q\td\ts\n1\t2\tgood\n").is_err());
        assert_eq!(grades("q\td\ts\n1\t2\t3\n\n").unwrap()["1"]["2"], 3.0);
    }
}
