//! Vectors in small steps, and how close two of them are.

use std::sync::LazyLock;

pub(super) const SCALE_BYTES: usize = 4;

/// A vector in small steps: its values are `scale` times whole numbers from -127 to 127.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedVector {
    scale: f32,
    /// Each an i8.
    values: Vec<u8>,
}

impl QuantizedVector {
    pub(super) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        // A vector of zeros has no largest value to divide by.
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        Self { scale, values: vector.iter().map(|value| (value / scale).round() as i8 as u8).collect() }
    }

    /// The same, stretched to length 1. `None` when it has no direction.
    #[cfg(test)]
    pub(super) fn unit(vector: &[f32]) -> Option<Self> {
        let mut unit = Self::of(vector);
        let squares: i64 = unit.values.iter().map(|value| i64::from(*value as i8).pow(2)).sum();
        unit.scale = 1.0 / (squares as f32).sqrt();
        (squares > 0 && unit.scale.is_finite()).then_some(unit)
    }

    /// The product with a row: the cosine, when both have length 1.
    pub(super) fn dot(&self, row: Row<'_>) -> f32 {
        Row { scale: self.scale, values: &self.values }.dot(row)
    }

    /// The bytes of a row in a file: the scale, then the values.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.scale.to_le_bytes().into_iter().chain(self.values.iter().copied()).collect()
    }
}

/// A vector as it lies in a file, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row<'a> {
    pub(super) scale: f32,
    /// Each an i8.
    pub(super) values: &'a [u8],
}

impl<'a> Row<'a> {
    /// The scale, then the values.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let (scale, values) = bytes.split_first_chunk().unwrap_or((&[0; SCALE_BYTES], &[]));
        Self { scale: f32::from_le_bytes(*scale), values }
    }

    /// The product with another row: the cosine, when both have length 1.
    pub(super) fn dot(self, other: Row<'_>) -> f32 {
        dot(self.values, other.values) as f32 * self.scale * other.scale
    }
}

impl From<Row<'_>> for QuantizedVector {
    fn from(row: Row<'_>) -> Self {
        Self { scale: row.scale, values: row.values.to_vec() }
    }
}

/// The sum of the products, with the widest instructions that the processor has.
fn dot(query: &[u8], row: &[u8]) -> i32 {
    static ARCH: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);
    ARCH.dispatch(|| products(query, row))
}

/// Whole numbers in blocks that the compiler turns into vector instructions; inlined, so that it knows
/// which.
#[inline(always)]
fn products(query: &[u8], row: &[u8]) -> i32 {
    // The product of two i8 fits an i16, of which a vector register holds twice as many as of i32.
    let product = |(q, r): (&u8, &u8)| i32::from(i16::from(*q as i8) * i16::from(*r as i8));
    let (query_blocks, query_rest) = query.as_chunks::<32>();
    let (row_blocks, row_rest) = row.as_chunks::<32>();
    let blocks: i32 = query_blocks.iter().zip(row_blocks).map(|(q, r)| q.iter().zip(r).map(product).sum::<i32>()).sum();
    blocks + query_rest.iter().zip(row_rest).map(product).sum::<i32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_whole_numbers_add_up() {
        let query: Vec<u8> = (0..70_i32).map(|n| (n - 35) as u8).collect();
        let row: Vec<u8> = (0..70_i32).map(|n| (n * 2 - 70) as u8).collect();
        let expected: i32 = (0..70_i32).map(|n| (n - 35) * (n * 2 - 70)).sum();
        assert_eq!(dot(&query, &row), expected);
        assert_eq!(dot(&[129; 256], &[129; 256]), 127 * 127 * 256);
    }

    #[test]
    fn a_row_is_what_was_written() {
        let written = QuantizedVector::of(&[0.5, -1.0, 0.0]);
        assert_eq!(written.values, [64, 129, 0]);
        let bytes = written.to_bytes();
        let row = Row::read(&bytes);
        assert_eq!(QuantizedVector::from(row), written);
        assert!((written.dot(row) - 1.25).abs() < 0.01);
    }
}
