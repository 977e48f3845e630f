//! This module names every bound of the `model` backend.

/// Bytes of text that a model may write in one answer.
pub const MODEL_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Bytes of a model's instructions.
pub(crate) const SYSTEM_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one attachment that a model reads as text.
pub(crate) const ATTACHMENT_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Images of one message that a model sees.
pub(crate) const IMAGES_MAX: usize = 8;
/// Bytes of the result of a tool that are kept when all of it is more than the model reads.
pub(crate) const TOOL_RESULT_SHORT_BYTES: usize = 1_024;
/// Earlier turns that are left out at once, so that what a provider has read before stays the same for a while.
pub(crate) const HISTORY_STEP: usize = 4;
