//! Every bound of judged sets, with its unit.

/// Bytes of `queries.jsonl` or of a table of judgements.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one line of a corpus.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Questions of one set.
pub const QUESTIONS_MAX: usize = 100_000;
/// Problems of a set that are spelled out; the others are only counted.
pub const PROBLEMS_MAX: usize = 20;
/// Bytes of what a document without a title is called.
pub const NAME_BYTES_MAX: usize = 80;
/// Times that the signs of differences are drawn anew to see what chance does.
pub(crate) const DRAWS: usize = 10_000;
