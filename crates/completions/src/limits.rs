//! Bounds of replies of models.

/// Tool calls in one answer of a model. Security sheet, section 11.
pub const TOOL_CALLS_MAX: usize = 32;
/// Bytes of the arguments of one tool call.
pub(crate) const TOOL_ARGUMENTS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an answer of a model that comes in one piece.
pub(crate) const MODEL_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
