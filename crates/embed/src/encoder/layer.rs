//! One layer: every token looks at all tokens, then each is worked over by itself.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, Slice, concatenate};

use super::Config;
use super::math::{Dense, Norm, gelu, softmax};
use crate::tensors::Tensors;

pub(super) struct Layer {
    heads: usize,
    /// Questions, keys and values of a token, one after the other.
    asks: Dense,
    answers: Dense,
    answers_norm: Norm,
    wide: Dense,
    narrow: Dense,
    narrow_norm: Norm,
}

impl Layer {
    pub(super) fn read(tensors: &Tensors<'_>, name: &str, config: &Config) -> Result<Self, String> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let dense = |part: &str, rows, columns| Dense::read(tensors, &format!("{name}.{part}"), rows, columns);
        let norm = |part: &str| Norm::read(tensors, &format!("{name}.{part}"), config);
        let asks = ["query", "key", "value"].map(|part| dense(&format!("attention.self.{part}"), hidden, hidden));
        Ok(Self {
            heads: config.num_attention_heads,
            asks: side_by_side(asks)?,
            answers: dense("attention.output.dense", hidden, hidden)?,
            answers_norm: norm("attention.output.LayerNorm")?,
            wide: dense("intermediate.dense", wide, hidden)?,
            narrow: dense("output.dense", hidden, wide)?,
            narrow_norm: norm("output.LayerNorm")?,
        })
    }

    /// New states of the tokens, a row each.
    pub(super) fn apply(&self, states: Array2<f32>) -> Array2<f32> {
        let mut seen = self.answers.apply(&self.attend(&self.asks.apply(&states)));
        seen += &states;
        self.answers_norm.apply(&mut seen);
        let mut wide = self.wide.apply(&seen);
        wide.iter_mut().for_each(|value| *value = gelu(*value));
        let mut out = self.narrow.apply(&wide);
        out += &seen;
        self.narrow_norm.apply(&mut out);
        out
    }

    /// What each token takes from the others: for each head, their values in proportion to how well
    /// their keys answer its question.
    fn attend(&self, asks: &Array2<f32>) -> Array2<f32> {
        let hidden = asks.ncols() / 3;
        let width = hidden / self.heads;
        // Scaled dot-product attention (Vaswani et al. 2017, 3.2.1).
        let scale = (width as f32).sqrt().recip();
        let mut taken = Array2::zeros((asks.nrows(), hidden));
        let mut weights = Array2::zeros((asks.nrows(), asks.nrows()));
        for start in (0..hidden).step_by(width) {
            let head = |block: usize| Slice::from(block * hidden + start..block * hidden + start + width);
            let [questions, keys, values] = [0, 1, 2].map(|block| asks.slice_axis(Axis(1), head(block)));
            general_mat_mul(scale, &questions, &keys.t(), 0.0, &mut weights);
            weights.rows_mut().into_iter().for_each(softmax);
            general_mat_mul(1.0, &weights, &values, 0.0, &mut taken.slice_axis_mut(Axis(1), head(0)));
        }
        taken
    }
}

/// Queries, keys and values as one matrix: one product over the same input instead of three.
fn side_by_side(parts: [Result<Dense, String>; 3]) -> Result<Dense, String> {
    let [a, b, c] = parts;
    let (a, b, c) = (a?, b?, c?);
    let weight = concatenate(Axis(0), &[a.weight.view(), b.weight.view(), c.weight.view()]);
    let bias = concatenate(Axis(0), &[a.bias.view(), b.bias.view(), c.bias.view()]);
    Ok(Dense { weight: weight.map_err(|e| e.to_string())?, bias: bias.map_err(|e| e.to_string())? })
}
