//! Every bound of models and their texts, with its unit.

/// Bytes of a text that are embedded.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a tokenizer or a weight file.
pub const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Numbers of one vector.
pub(crate) const DIMS_MAX: usize = u16::MAX as usize;
/// Tokens that a transformer reads at once. What its settings allow beyond that is not used: the
/// work grows with the square.
pub const TOKENS_MAX: usize = 512;
/// Layers of a transformer.
pub const LAYERS_MAX: usize = 48;
/// Threads that embed many texts.
pub const THREADS_MAX: usize = 16;
