//! Sets of judged questions, and how well a ranking does on them.
//!
//! A set is a folder in BEIR's layout: `corpus.jsonl` with an `_id` in each line, `queries.jsonl` with
//! `_id` and `text`, and `qrels.tsv` with a header and the columns query, document and grade.

mod draw;
mod made;
mod plain;

use std::io;
use std::path::{Path, PathBuf};

use forecourt_eval::{JudgedQuestion, mean};

use draw::Draw;
pub use forecourt_eval::{DEEP, Scores, TOP};
pub use made::{DerivedSet, MADE};
pub use plain::PlainBm25;

/// A judged set.
#[derive(Debug, Clone)]
pub struct JudgedSet {
    /// The documents, as a file that can be indexed.
    pub corpus: PathBuf,
    questions: Vec<JudgedQuestion>,
}

impl JudgedSet {
    /// Reads the questions and judgements of a folder. Fails when a file is missing or not in shape.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let set = forecourt_eval::JudgedSet::read(folder);
        let set = set.map_err(|problems| io::Error::new(io::ErrorKind::InvalidData, format!("{problems:?}")))?;
        Ok(Self { corpus: folder.join("corpus.jsonl"), questions: set.questions })
    }

    /// The same questions with a typing error each: one letter of one word left out, doubled, replaced
    /// or swapped with the next. The same errors in every run.
    #[must_use]
    pub fn misspelled(&self) -> Self {
        let mut draw = Draw::new();
        let wrong = |question: &JudgedQuestion| JudgedQuestion {
            text: misspell(&question.text, &mut draw),
            ..question.clone()
        };
        Self { corpus: self.corpus.clone(), questions: self.questions.iter().map(wrong).collect() }
    }

    /// How many questions there are, and how many of them have a relevant document among the first `top`.
    pub fn found_within(&self, top: usize, mut rank: impl FnMut(&str) -> Vec<String>) -> (usize, usize) {
        let is_found = |question: &&JudgedQuestion| {
            let grade = |id: &String| question.grades.get(id).copied().unwrap_or(0.0);
            rank(&question.text).iter().take(top).any(|id| grade(id) > 0.0)
        };
        (self.questions.len(), self.questions.iter().filter(is_found).count())
    }

    /// Asks every question. `rank` gives the ids of the documents that it finds, best first, at least
    /// [`DEEP`] of them when there are as many.
    pub fn score(&self, mut rank: impl FnMut(&str) -> Vec<String>) -> Scores {
        let one = |question: &JudgedQuestion| Scores::of(&rank(&question.text), &question.grades);
        mean(&self.questions.iter().map(one).collect::<Vec<_>>())
    }
}

/// Letters of a word that is misspelled; shorter ones are rarely what a question is about.
const MISSPELLED_MIN: usize = 5;

fn misspell(text: &str, draw: &mut Draw) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let is_long = |word: &String| word.len() >= MISSPELLED_MIN && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let long: Vec<usize> = (0..words.len()).filter(|at| is_long(&words[*at])).collect();
    if let Some(at) = draw.one(&long) {
        words[*at] = typing_error(&words[*at], draw);
    }
    words.join(" ")
}

/// A word of three ASCII letters at least with one of them left out, doubled, replaced or swapped with the next.
fn typing_error(word: &str, draw: &mut Draw) -> String {
    let mut letters = word.as_bytes().to_vec();
    // Never the last letter: a swap needs one behind it.
    let at = 1 + draw.below(letters.len() - 2);
    match draw.below(4) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = b'a' + draw.below(26) as u8,
        _ => letters.swap(at, at + 1),
    }
    String::from_utf8_lossy(&letters).into_owned()
}

fn broken(file: &str, line: &str) -> io::Error {
    let start: String = line.chars().take(80).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("{file}: cannot read {start:?}"))
}
