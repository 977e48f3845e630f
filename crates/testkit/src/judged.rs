//! Sets of judged questions, and how well a ranking does on them.
//!
//! A set is a folder in BEIR's layout: `corpus.jsonl` with an `_id` in each line, `queries.jsonl` with
//! `_id` and `text`, and `qrels.tsv` with a header and the columns query, document and grade.

mod draw;
mod made;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use draw::Draw;
pub use made::{DerivedSet, MADE};

/// How many of the first documents count for gain and rank.
pub const TOP: usize = 10;
/// How many count for recall.
pub const DEEP: usize = 100;

/// Documents by id, each with how well it answers a question. Above 0 is relevant.
type Grades = HashMap<String, f64>;

/// A judged set.
#[derive(Debug, Clone)]
pub struct JudgedSet {
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

impl JudgedSet {
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

    /// The same with every so many of its questions, from the first on.
    #[must_use]
    pub fn every(&self, step: usize) -> Self {
        Self { corpus: self.corpus.clone(), questions: self.questions.iter().step_by(step).cloned().collect() }
    }

    /// The same questions with a typing error each: one letter of one word left out, doubled, replaced
    /// or swapped with the next. The same errors in every run.
    #[must_use]
    pub fn misspelled(&self) -> Self {
        let mut draw = Draw::new();
        let questions = self.questions.iter().map(|(text, grades)| (misspell(text, &mut draw), grades.clone()));
        Self { corpus: self.corpus.clone(), questions: questions.collect() }
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

/// Letters of a word that is misspelled; shorter ones are rarely what a question is about.
const MISSPELLED_MIN: usize = 5;

fn misspell(text: &str, draw: &mut Draw) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let is_long = |word: &String| word.len() >= MISSPELLED_MIN && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let long: Vec<usize> = (0..words.len()).filter(|at| is_long(&words[*at])).collect();
    if let Some(word) = draw.one(&long) {
        let letters = words[*word].as_bytes();
        let at = 1 + draw.below(letters.len() - 2);
        let (before, after) = (&letters[..at], &letters[at + 1..]);
        let middle = match draw.below(4) {
            0 => Vec::new(),
            1 => vec![letters[at], letters[at]],
            2 => vec![b'a' + draw.below(26) as u8],
            _ => return swapped(&mut words, *word, at),
        };
        words[*word] = String::from_utf8_lossy(&[before, &middle, after].concat()).into_owned();
    }
    words.join(" ")
}

fn swapped(words: &mut [String], word: usize, at: usize) -> String {
    let mut letters: Vec<char> = words[word].chars().collect();
    letters.swap(at, at + 1);
    words[word] = letters.into_iter().collect();
    words.join(" ")
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
