//! What makes one number of two sentences that were read together.

use ndarray::{Array2, Axis, Slice};

use super::Config;
use super::math::Dense;
use crate::tensors::Tensors;

/// The pooler of BERT and a classifier with one label.
pub(crate) struct Head {
    /// Absent where the classifier takes the first token as it is.
    pooler: Option<Dense>,
    classifier: Dense,
}

impl Head {
    pub(crate) fn read(config: &Config, file: &[u8]) -> Result<Self, String> {
        let tensors = Tensors::of(file)?;
        let pooler = ["bert.pooler.dense", "pooler.dense"];
        let pooler = pooler.into_iter().find(|name| tensors.names().contains(&format!("{name}.weight").as_str()));
        let hidden = config.hidden_size;
        let pooler = pooler.map(|name| Dense::read(&tensors, name, hidden, hidden)).transpose()?;
        let classifier = Dense::read(&tensors, "classifier", 1, hidden)
            .map_err(|reason| format!("{reason}; a cross-encoder has a classifier with one label"))?;
        Ok(Self { pooler, classifier })
    }

    /// How well the second sentence answers the first, from the states of both. Larger is better.
    pub(crate) fn score(&self, states: &Array2<f32>) -> f32 {
        let mut first = states.slice_axis(Axis(0), Slice::from(..1)).to_owned();
        if let Some(pooler) = &self.pooler {
            first = pooler.apply(&first);
            first.iter_mut().for_each(|value| *value = value.tanh());
        }
        self.classifier.apply(&first)[[0, 0]]
    }
}
