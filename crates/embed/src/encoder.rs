//! Sentence transformers of the BERT family (Devlin et al. 2018; Reimers and Gurevych 2019): token
//! vectors, layers of attention, and one vector for all tokens.

mod config;
mod head;
mod layer;
mod math;

use ndarray::{Array1, Array2, Axis, Slice};

pub(crate) use config::Config;
use config::Pooling;
pub(crate) use head::Head;
use layer::Layer;
use math::Norm;

use crate::tensors::Tensors;

/// A loaded network.
pub(crate) struct Encoder {
    /// A row per token of the vocabulary.
    words: Array2<f32>,
    /// A row per place in the text, with what marks a first sentence added.
    places: Array2<f32>,
    /// What marks a second sentence instead. `None`: the network knows one sentence.
    second: Option<Array1<f32>>,
    norm: Norm,
    layers: Vec<Layer>,
    pooling: Pooling,
}

impl Encoder {
    pub(crate) fn read(config: &Config, file: &[u8]) -> Result<Self, String> {
        let tensors = Tensors::of(file)?;
        // Weights of a model with a head have `bert.` in front of the names of the network itself.
        let prefix = if tensors.names().iter().any(|name| name.starts_with("bert.")) { "bert." } else { "" };
        let embeddings = format!("{prefix}embeddings");
        let matrix =
            |name: &str, rows| tensors.matrix(&format!("{embeddings}.{name}.weight"), rows, config.hidden_size);
        let words = matrix("word_embeddings", config.vocab_size)?;
        let sentences = matrix("token_type_embeddings", config.type_vocab_size)?;
        // Added once here, since nearly every text is one sentence, and each token would add it again.
        let places = matrix("position_embeddings", config.max_position_embeddings)? + sentences.row(0);
        let second = (sentences.nrows() > 1).then(|| &sentences.row(1) - &sentences.row(0));
        let norm = Norm::read(&tensors, &format!("{embeddings}.LayerNorm"), config)?;
        let layer = |at| Layer::read(&tensors, &format!("{prefix}encoder.layer.{at}"), config);
        let layers = (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?;
        Ok(Self { words, places, second, norm, layers, pooling: config.pooling() })
    }

    pub(crate) fn dims(&self) -> usize {
        self.words.ncols()
    }

    /// The vector of a text from its tokens, of any length. Tokens that the network has no row for,
    /// and those past its last place, are passed over.
    pub(crate) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let Some(states) = self.states(tokens.iter().map(|token| (*token, 0))) else { return Vec::new() };
        match self.pooling {
            // The sum has the direction of the mean, and the length is made 1 afterwards.
            Pooling::Mean => states.sum_axis(Axis(0)).to_vec(),
            Pooling::First => states.row(0).to_vec(),
        }
    }

    /// The last states of tokens, a row each; every token with the number of its sentence, 0 or 1. `None`: there
    /// is none that it knows.
    pub(crate) fn states(&self, tokens: impl Iterator<Item = (u32, u32)>) -> Option<Array2<f32>> {
        // A tokenizer may have tokens that were added after training: the network has no row for them.
        let known = tokens.filter(|(token, _)| (*token as usize) < self.words.nrows()).take(self.places.nrows());
        let (tokens, sentences): (Vec<usize>, Vec<u32>) =
            known.map(|(token, sentence)| (token as usize, sentence)).unzip();
        if tokens.is_empty() {
            return None;
        }
        let mut states = self.words.select(Axis(0), &tokens);
        states += &self.places.slice_axis(Axis(0), Slice::from(..tokens.len()));
        if let Some(second) = &self.second {
            let rows = states.rows_mut().into_iter().zip(&sentences);
            rows.filter(|(_, sentence)| **sentence == 1).for_each(|(mut row, _)| row += second);
        }
        self.norm.apply(&mut states);
        Some(self.layers.iter().fold(states, |states, layer| layer.apply(states)))
    }
}
