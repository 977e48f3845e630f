//! What callers see of a model, whatever its kind.

use std::iter;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use aws_lc_rs::digest::{Context, SHA256};
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use crate::encoder::{Config, Encoder};
use crate::error::{Error, Result};
use crate::folder::{Folder, read};
use crate::limits::{TEXT_BYTES_MAX, THREADS_MAX};
use crate::table::Table;

/// Which kind of model it is: what its vectors know differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A vector per token, whatever stands beside it: what a text is about.
    Static,
    /// Tokens read together, in their order: what a text says.
    Contextual,
}

/// A loaded model. Shared by reference between threads.
pub struct Model {
    tokenizer: Tokenizer,
    network: Network,
    id: u64,
}

enum Network {
    Table(Table),
    Encoder(Box<Encoder>),
}

impl Model {
    /// Reads a folder with one tokenizer (`tokenizer.json`, or one `*tokenizer*.json`) and one
    /// `*.safetensors`. With a `config.json` that says `"model_type": "bert"` it is a sentence
    /// transformer; else it is static, and the weights are one matrix of f16 or f32.
    pub fn load(folder: &Path) -> Result<Self> {
        let folder = Folder::list(folder)?;
        let (tokenizer_file, weights_file) = (folder.tokenizer()?, folder.weights()?);
        let tokenizer_bytes = read(tokenizer_file)?;
        let mut tokenizer =
            Tokenizer::from_bytes(&tokenizer_bytes).map_err(|error| Error::new(tokenizer_file, error))?;
        let weights = read(weights_file)?;
        let config = Config::read(&folder)?;
        let reading = config.as_ref().map(|config| format!("{config:?}")).unwrap_or_default();
        // With the settings, since pooling and length change the vectors of the same weights.
        let id = digest(&[&tokenizer_bytes, &weights, reading.as_bytes()]);
        let network = match &config {
            Some(config) => Encoder::read(config, &weights).map(|encoder| Network::Encoder(Box::new(encoder))),
            None => Table::read(weights).map(Network::Table),
        };
        let network = network.map_err(|reason| Error::new(weights_file, reason))?;
        // One text at a time: padding would be read as tokens.
        tokenizer.with_padding(None);
        let truncation = config.as_ref().map(|config| at_most(config.tokens_max()));
        tokenizer.with_truncation(truncation).map_err(|error| Error::new(tokenizer_file, error))?;
        Ok(Self { tokenizer, network, id })
    }

    /// Whether its vectors know single tokens or whole texts.
    pub fn kind(&self) -> Kind {
        match &self.network {
            Network::Table(_) => Kind::Static,
            Network::Encoder(_) => Kind::Contextual,
        }
    }

    /// The length of its vectors, at most 65,535.
    pub fn dims(&self) -> usize {
        match &self.network {
            Network::Table(table) => table.dims(),
            Network::Encoder(encoder) => encoder.dims(),
        }
    }

    /// A hash of tokenizer, weights and settings: vectors of two models with different ids can't be compared.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The vector of a text, of length 1; reads at most [`TEXT_BYTES_MAX`] of it, and of these as
    /// many tokens as the model takes. `None` when there is nothing in it.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let text = head(text, TEXT_BYTES_MAX).trim();
        let mut vector = match &self.network {
            _ if text.is_empty() => return None,
            // Without the tokens that frame a text: in a mean they would be in every vector alike.
            Network::Table(table) => table.embed(self.tokenizer.encode_fast(text, false).ok()?.get_ids()),
            Network::Encoder(encoder) => encoder.embed(self.tokenizer.encode_fast(text, true).ok()?.get_ids()),
        };
        normalize(&mut vector).then_some(vector)
    }

    /// The vectors of many texts, in their order, as [`Model::embed`] makes them: on all processors.
    pub fn embed_all(&self, texts: &[&str]) -> Vec<Option<Vec<f32>>> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX).min(texts.len());
        // Texts differ in length, so each thread takes the next one instead of an equal part.
        let next = AtomicUsize::new(0);
        let work = || -> Vec<_> {
            let mine = iter::from_fn(|| {
                let at = next.fetch_add(1, Ordering::Relaxed);
                texts.get(at).map(|text| (at, self.embed(text)))
            });
            mine.collect()
        };
        let mut all = vec![None; texts.len()];
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            // A thread that panicked leaves its texts without vectors, as if there were nothing in them.
            let done = running.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
            done.for_each(|(at, vector)| all[at] = vector);
        });
        all
    }
}

/// The part of a text that is read: at most so many bytes.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(crate) fn at_most(tokens: usize) -> TruncationParams {
    TruncationParams {
        max_length: tokens,
        strategy: TruncationStrategy::LongestFirst,
        stride: 0,
        direction: TruncationDirection::Right,
    }
}

/// Brings a vector to length 1. `false` when it has none.
fn normalize(vector: &mut [f32]) -> bool {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    // Weights with infinities or NaN give such vectors: they would be near to everything or nothing.
    if !length.is_finite() || length == 0.0 {
        return false;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    true
}

/// 64 bits of SHA-256 over the parts, each with its length.
fn digest(parts: &[&[u8]]) -> u64 {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let digest = context.finish();
    digest.as_ref().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
