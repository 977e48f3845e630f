//! Plain BM25, computed exactly and by nothing of ours: the floor that a ranking by words is held against.
//!
//! k1 1.2 and b 0.75, Snowball stems, the classic English stop words left out of documents and questions, repeated
//! words of a question counted as often; a document is the words of its title and its text.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use frostem::{Algorithm, Stemmer};
use serde_json::Value;

use super::{JudgedSet, Scores, broken};

const K1: f64 = 1.2;
const B: f64 = 0.75;

const STOP_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then \
                          there these they this to was will with";

/// An index of a whole corpus in memory.
pub struct PlainBm25 {
    ids: Vec<String>,
    lengths: Vec<f64>,
    /// Places of documents and how often they have the word, by its stem.
    postings: HashMap<String, Vec<(usize, f64)>>,
    stop_words: HashSet<&'static str>,
    stemmer: Stemmer,
}

impl PlainBm25 {
    /// Reads a corpus: a line of JSON for each document, with an `_id`. Everything in it that is text counts, but
    /// for ids, links and keywords of JSON-LD.
    pub fn read(corpus: &Path) -> io::Result<Self> {
        let mut index = Self {
            ids: Vec::new(),
            lengths: Vec::new(),
            postings: HashMap::new(),
            stop_words: STOP_WORDS.split_whitespace().collect(),
            stemmer: Stemmer::new(Algorithm::English),
        };
        for line in fs::read_to_string(corpus)?.lines().filter(|line| !line.trim().is_empty()) {
            let document: Value = serde_json::from_str(line)?;
            let id = document["_id"].as_str().ok_or_else(|| broken("corpus.jsonl", line))?;
            let mut text = String::new();
            texts("", &document, &mut text);
            index.add(id, &text);
        }
        Ok(index)
    }

    /// How well it does on a set.
    pub fn score(&self, set: &JudgedSet) -> Scores {
        set.score(|question| self.rank(question))
    }

    fn add(&mut self, id: &str, text: &str) {
        let at = self.ids.len();
        let mut counts: HashMap<String, f64> = HashMap::new();
        let mut length = 0.0;
        for stem in self.stems(text) {
            *counts.entry(stem).or_default() += 1.0;
            length += 1.0;
        }
        for (stem, count) in counts {
            self.postings.entry(stem).or_default().push((at, count));
        }
        self.ids.push(id.to_owned());
        self.lengths.push(length);
    }

    fn stems(&self, text: &str) -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
        words
            .filter(|word| !self.stop_words.contains(word.as_str()))
            .map(|word| self.stemmer.stem(&word).to_string())
            .collect()
    }

    /// The ids of the documents that have a word of the question, best first, then in the order of the corpus.
    fn rank(&self, question: &str) -> Vec<String> {
        let documents = self.ids.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / documents.max(1.0);
        let mut scores = vec![0.0_f64; self.ids.len()];
        // A repeated word comes again, and adds again.
        for postings in self.stems(question).iter().filter_map(|stem| self.postings.get(stem)) {
            let with = postings.len() as f64;
            let rarity = (1.0 + (documents - with + 0.5) / (with + 0.5)).ln();
            for (at, count) in postings {
                let length = 1.0 - B + B * self.lengths[*at] / average;
                scores[*at] += rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        let mut found: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        // Stable, so documents of the same score stay in the order of the corpus.
        found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        found.into_iter().map(|at| self.ids[at].clone()).collect()
    }
}

fn texts(key: &str, value: &Value, out: &mut String) {
    const LEFT_OUT: &[&str] = &["_id", "id", "url", "license", "image", "sameAs", "inLanguage"];
    match value {
        Value::String(text) if !key.starts_with('@') && !LEFT_OUT.contains(&key) && !text.contains("://") => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| texts(key, value, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| texts(key, value, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_and_repeated_ones_count_more() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("corpus.jsonl");
        let lines = [("a", "soup leek"), ("b", "soup rice"), ("c", "soup soup salt"), ("d", "bread")];
        let corpus: String =
            lines.iter().map(|(id, text)| format!("{{\"_id\": \"{id}\", \"text\": \"{text}\"}}\n")).collect();
        fs::write(&file, corpus).unwrap();
        let index = PlainBm25::read(&file).unwrap();
        assert_eq!(index.rank("the leeks in soups")[0], "a");
        assert_eq!(index.rank("leek or rice rice")[0], "b");
        assert_eq!(index.rank("soup").len(), 3);
        assert!(index.rank("the of").is_empty());
    }
}
