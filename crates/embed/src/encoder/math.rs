//! The steps that layers are made of.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayViewMut1};

use super::Config;
use crate::tensors::Tensors;

/// A product with a matrix, and a bias.
pub(super) struct Dense {
    /// A row per output.
    pub(super) weight: Array2<f32>,
    pub(super) bias: Array1<f32>,
}

impl Dense {
    pub(super) fn read(tensors: &Tensors<'_>, name: &str, rows: usize, columns: usize) -> Result<Self, String> {
        let weight = tensors.matrix(&format!("{name}.weight"), rows, columns)?;
        Ok(Self { weight, bias: tensors.vector(&format!("{name}.bias"), rows)? })
    }

    pub(super) fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let mut out = Array2::zeros((input.nrows(), self.bias.len()));
        out += &self.bias;
        general_mat_mul(1.0, input, &self.weight.t(), 1.0, &mut out);
        out
    }
}

/// Brings every row to mean 0 and variance 1, then to what was learned.
pub(super) struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    eps: f32,
}

impl Norm {
    pub(super) fn read(tensors: &Tensors<'_>, name: &str, config: &Config) -> Result<Self, String> {
        let vector = |part: &str| tensors.vector(&format!("{name}.{part}"), config.hidden_size);
        Ok(Self { weight: vector("weight")?, bias: vector("bias")?, eps: config.layer_norm_eps })
    }

    pub(super) fn apply(&self, states: &mut Array2<f32>) {
        for mut row in states.rows_mut() {
            let count = row.len() as f32;
            let mean = row.sum() / count;
            let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count;
            let scale = (variance + self.eps).sqrt().recip();
            let learned = self.weight.iter().zip(&self.bias);
            row.iter_mut()
                .zip(learned)
                .for_each(|(value, (weight, bias))| *value = (*value - mean) * scale * weight + bias);
        }
    }
}

/// Turns numbers into shares of 1.
pub(super) fn softmax(mut row: ArrayViewMut1<'_, f32>) {
    // Less the largest, so that `exp` can't overflow; the shares stay the same.
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|value| *value = (*value - largest).exp());
    let sum = row.sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// The Gaussian error linear unit (Hendrycks and Gimpel 2016).
pub(super) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function, wrong by 1.5e-7 at most (Abramowitz and Stegun 7.1.26).
fn erf(x: f32) -> f32 {
    const FACTORS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_72, 0.254_829_6];
    let t = (1.0 + 0.327_591_1 * x.abs()).recip();
    let sum = FACTORS.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_unit_is_exact_to_six_places() {
        for (x, expected) in [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_950_2), (-9.0, 0.0)] {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn shares_add_up_however_large_the_numbers_are() {
        let mut row = array![1000.0, 1000.0, -1000.0];
        softmax(row.view_mut());
        assert_eq!(row, array![0.5, 0.5, 0.0]);
    }
}
