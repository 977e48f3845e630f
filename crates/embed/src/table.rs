//! Static models: a matrix with a row per token. A text is the mean of its tokens' rows.

use safetensors::{Dtype, SafeTensors};

use crate::limits::DIMS_MAX;
use crate::tensors::half_to_float;

/// The rows as they lie in the file, little-endian: they stay in the size that they came in.
pub(crate) struct Table {
    rows: Vec<u8>,
    is_half: bool,
    dims: usize,
}

impl Table {
    /// The only two-dimensional tensor of f16 or f32 in a weight file.
    pub(crate) fn read(mut file: Vec<u8>) -> Result<Self, String> {
        let (start, length, is_half, dims) = {
            let tensors = SafeTensors::deserialize(&file).map_err(|error| error.to_string())?;
            // With a mapping, tokens are not the numbers of rows, and every vector would be wrong.
            if tensors.names().contains(&"mapping") {
                return Err("a model with a token mapping; export it without".to_owned());
            }
            let (_, tensor) = tensors
                .iter()
                .find(|(_, tensor)| tensor.shape().len() == 2 && matches!(tensor.dtype(), Dtype::F16 | Dtype::F32))
                .ok_or("no two-dimensional tensor of f16 or f32")?;
            let start = tensor.data().as_ptr() as usize - file.as_ptr() as usize;
            (start, tensor.data().len(), tensor.dtype() == Dtype::F16, tensor.shape()[1])
        };
        if dims == 0 || dims > DIMS_MAX {
            return Err(format!("rows of {dims} dimensions"));
        }
        // The file's own buffer becomes the table: a copy would need the memory of the model twice.
        file.truncate(start + length);
        file.drain(..start);
        Ok(Self { rows: file, is_half, dims })
    }

    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// The sum of the tokens' rows; as a direction, their mean.
    pub(crate) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dims];
        tokens.iter().for_each(|token| self.add_row(*token as usize, &mut sum));
        sum
    }

    fn add_row(&self, token: usize, sum: &mut [f32]) {
        let width = if self.is_half { 2 } else { 4 };
        let start = token * self.dims * width;
        // A tokenizer may have more tokens than the matrix has rows: those add nothing.
        let Some(row) = self.rows.get(start..start + self.dims * width) else { return };
        match self.is_half {
            true => row.as_chunks().0.iter().zip(sum).for_each(|(bytes, sum)| *sum += half_to_float(*bytes)),
            false => row.as_chunks().0.iter().zip(sum).for_each(|(bytes, sum)| *sum += f32::from_le_bytes(*bytes)),
        }
    }
}
