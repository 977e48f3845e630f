//! Cross-encoders (Nogueira and Cho 2019): a question and a text are read together, and one number says how well
//! they go together. Dear, since nothing can be worked out before the question is asked; so only the best few texts
//! of a search are read.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, thread};

use tokenizers::Tokenizer;

use crate::encoder::{Config, Encoder, Head};
use crate::error::{Error, Result};
use crate::folder::{Folder, read};
use crate::limits::{TEXT_BYTES_MAX, THREADS_MAX};
use crate::model::{at_most, head};

/// A loaded cross-encoder. Shared by reference between threads.
pub struct CrossEncoder {
    tokenizer: Tokenizer,
    encoder: Encoder,
    head: Head,
}

impl CrossEncoder {
    /// Reads a folder with a tokenizer, a `*.safetensors` and a `config.json` of `"model_type": "bert"`, whose weights
    /// have a classifier with one label: what `BertForSequenceClassification` writes.
    ///
    /// # Errors
    /// A file is missing or not in that form.
    pub fn load(folder: &Path) -> Result<Self> {
        let folder = Folder::list(folder)?;
        let (tokenizer_file, weights_file) = (folder.tokenizer()?, folder.weights()?);
        let Some(config) = Config::read(&folder)? else {
            return Err(folder.unusable("there is no config.json of a transformer"));
        };
        let mut tokenizer =
            Tokenizer::from_bytes(read(tokenizer_file)?).map_err(|error| Error::new(tokenizer_file, error))?;
        let weights = read(weights_file)?;
        let wrong = |reason: String| Error::new(weights_file, reason);
        let encoder = Encoder::read(&config, &weights).map_err(wrong)?;
        let head = Head::read(&config, &weights).map_err(wrong)?;
        // One text at a time: padding would be read as tokens.
        tokenizer.with_padding(None);
        let truncation = Some(at_most(config.tokens_max()));
        tokenizer.with_truncation(truncation).map_err(|error| Error::new(tokenizer_file, error))?;
        Ok(Self { tokenizer, encoder, head })
    }

    /// How well a text answers a question; larger is better, and comparable between texts. Reads at most
    /// [`TEXT_BYTES_MAX`] of each, and as many tokens as the model takes, the longer one cut first. `None` when there
    /// is nothing to read.
    pub fn score(&self, question: &str, text: &str) -> Option<f32> {
        let (question, text) = (head(question, TEXT_BYTES_MAX), head(text, TEXT_BYTES_MAX));
        if question.trim().is_empty() || text.trim().is_empty() {
            return None;
        }
        let read = self.tokenizer.encode_fast((question, text), true).ok()?;
        let tokens = read.get_ids().iter().copied().zip(read.get_type_ids().iter().copied());
        let score = self.head.score(&self.encoder.states(tokens)?);
        score.is_finite().then_some(score)
    }

    /// The scores of many texts, in their order, on all processors. Texts that were not begun when `is_late` first
    /// says so have none.
    pub fn score_all(&self, question: &str, texts: &[String], is_late: &(dyn Fn() -> bool + Sync)) -> Vec<Option<f32>> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(texts.len());
        let next = AtomicUsize::new(0);
        let work = || -> Vec<(usize, Option<f32>)> {
            let mine = iter::from_fn(|| {
                let at = next.fetch_add(1, Ordering::Relaxed);
                // Asked for each text: a text that was begun is read to its end.
                texts.get(at).filter(|_| !is_late()).map(|text| (at, self.score(question, text)))
            });
            mine.collect()
        };
        let mut all = vec![None; texts.len()];
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            // A thread that panicked leaves its texts without scores.
            let done = running.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
            done.for_each(|(at, score)| all[at] = score);
        });
        all
    }
}
