//! Numbers out of a weight file.

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

/// The tensors of one file, by name.
pub(crate) struct Tensors<'f> {
    file: SafeTensors<'f>,
}

impl<'f> Tensors<'f> {
    pub(crate) fn of(bytes: &'f [u8]) -> Result<Self, String> {
        SafeTensors::deserialize(bytes).map(|file| Self { file }).map_err(|error| error.to_string())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.file.names()
    }

    /// A vector of this length.
    pub(crate) fn vector(&self, name: &str, len: usize) -> Result<Array1<f32>, String> {
        self.numbers(name, &[len]).map(Array1::from)
    }

    /// A matrix of this many rows and columns.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, String> {
        let numbers = self.numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers).map_err(|error| format!("{name}: {error}"))
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensor = self.file.tensor(name).map_err(|_| format!("there is no tensor {name}"))?;
        // Settings and weights of two models in one folder differ here, before anything is read wrongly.
        if tensor.shape() != shape {
            return Err(format!("{name} has the shape {:?} instead of {shape:?}", tensor.shape()));
        }
        match tensor.dtype() {
            Dtype::F32 => Ok(tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
            Dtype::F16 => Ok(tensor.data().as_chunks().0.iter().map(|bytes| half_to_float(*bytes)).collect()),
            Dtype::BF16 => Ok(tensor.data().as_chunks().0.iter().map(|bytes| brain_to_float(*bytes)).collect()),
            other => Err(format!("{name} is of {other:?}; it takes F32, F16 or BF16")),
        }
    }
}

/// IEEE 754 binary16.
pub(crate) fn half_to_float(bytes: [u8; 2]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes));
    let (sign, exponent, fraction) = ((bits & 0x8000) << 16, (bits >> 10) & 0x1F, bits & 0x3FF);
    match exponent {
        // Subnormal: the fraction alone, in steps of 2⁻²⁴.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        0x1F => f32::from_bits(sign | 0x7F80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// The upper half of a binary32.
fn brain_to_float(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read_exactly() {
        for (bits, value) in [(0x3C00_u16, 1.0), (0xC000, -2.0), (0x0001, 5.960_464_5e-8), (0x7BFF, 65_504.0), (0, 0.0)]
        {
            assert_eq!(half_to_float(bits.to_le_bytes()), value);
        }
        assert!(half_to_float(0x7E00_u16.to_le_bytes()).is_nan());
        assert_eq!(brain_to_float(0xC040_u16.to_le_bytes()), -3.0);
    }
}
