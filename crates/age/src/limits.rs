//! Bounds of encrypted files.

/// Bytes of one line of a head.
pub const LINE_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a head: as many as some hundred keys take.
pub const HEAD_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one chunk of the content, as the format has it.
pub const CHUNK_BYTES: usize = 64 * 1024;
/// The binary logarithm of the work that is put into a passphrase: a second, and 256 MiB. In a program that is built
/// for its developers, which is slow at it, next to nothing.
pub const WORK: u8 = if cfg!(debug_assertions) { 10 } else { 18 };
/// The binary logarithm of the work that is done at most for a file that asks for it: 4 GiB.
pub const WORK_MAX: u8 = 22;
