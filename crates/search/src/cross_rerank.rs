//! The best items of a search, put into the order of a cross-encoder: a model in this process that reads the question
//! and each item together. Off unless a folder with one is named.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use forecourt_embed::CrossEncoder;
use forecourt_index::{Error, Hit, Library};

use crate::find::{SearchResults, find};
use crate::limits::CROSS_ENCODER_ITEMS;
use crate::request::SearchRequest;

/// How long the model may read for one question. What it has not read by then stays behind what it has.
const READING_TIME_MAX: Duration = Duration::from_millis(500);

/// A cross-encoder, read when it is first needed.
pub(crate) struct CrossReranker {
    folder: PathBuf,
    encoder: OnceLock<Option<CrossEncoder>>,
}

impl CrossReranker {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, encoder: OnceLock::new() }
    }

    /// Searches for `results` items, of which the best [`CROSS_ENCODER_ITEMS`] are in the model's order.
    pub(crate) fn find(
        &self,
        library: &Library,
        asked: &SearchRequest,
        results: usize,
    ) -> Result<SearchResults, Error> {
        // Whole pages, so that "more" goes on where an answer ended.
        let window = CROSS_ENCODER_ITEMS.div_ceil(results.max(1)) * results.max(1);
        // Behind the window the order of the search goes on, and without words there is nothing to read.
        let is_ranked = asked.order.is_none() && !asked.text.trim().is_empty() && asked.offset < window;
        let Some(encoder) = self.encoder().filter(|_| is_ranked) else { return find(library, asked, results) };
        let mut found = find(library, &SearchRequest { offset: 0, ..asked.clone() }, window)?;
        found.hits = reranked(encoder, &asked.text, std::mem::take(&mut found.hits));
        let behind = found.hits.len().saturating_sub(asked.offset + results);
        // The search asked for whole windows: what is behind this page is more as well.
        found.has_more |= behind > 0;
        found.hits.truncate(asked.offset + results);
        found.hits.drain(..asked.offset.min(found.hits.len()));
        Ok(found)
    }

    /// The model. `None`: it can't be read, which is told once.
    fn encoder(&self) -> Option<&CrossEncoder> {
        let load = || {
            let loaded = CrossEncoder::load(&self.folder);
            loaded.inspect_err(|error| tracing::error!(%error, "the cross-encoder is not used")).ok()
        };
        self.encoder.get_or_init(load).as_ref()
    }
}

fn reranked(encoder: &CrossEncoder, question: &str, hits: Vec<Hit>) -> Vec<Hit> {
    // By the clock and not by a count: how long an item takes depends on the machine.
    let until = Instant::now() + READING_TIME_MAX;
    let texts: Vec<String> = hits.iter().map(text).collect();
    let scores = encoder.score_all(question, &texts, &|| Instant::now() >= until);
    ordered(hits, &scores)
}

/// Items with a score first, the best before the others; the rest as it was.
fn ordered<T>(items: Vec<T>, scores: &[Option<f32>]) -> Vec<T> {
    let mut scored: Vec<(T, Option<f32>)> = items.into_iter().zip(scores.iter().copied()).collect();
    let worth = |score: &Option<f32>| score.unwrap_or(f32::NEG_INFINITY);
    scored.sort_by(|(_, a), (_, b)| worth(b).total_cmp(&worth(a)));
    scored.into_iter().map(|(item, _)| item).collect()
}

/// What the model reads of an item: its name and its prose.
fn text(hit: &Hit) -> String {
    let prose = ["description", "text", "abstract", "articleBody"];
    let prose = prose.iter().find_map(|key| hit.item.get(*key).and_then(|value| value.as_str()));
    format!("{}. {}", hit.name, prose.unwrap_or(&hit.snippet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_stays_behind_as_it_was() {
        let order = ordered(vec!["a", "b", "c", "d"], &[None, Some(-3.0), None, Some(2.0)]);
        assert_eq!(order, ["d", "b", "a", "c"]);
        assert_eq!(ordered(vec!["a", "b"], &[None, None]), ["a", "b"]);
    }
}
