//! Every bound of asking an engine and of filling it, with its unit.

/// Candidates that are asked for unless the settings say otherwise, and the fewest and the most that they may say.
pub const CANDIDATES: usize = 200;
/// The fewest candidates that may be asked for: a page and what is behind it.
pub const CANDIDATES_MIN: usize = 100;
/// The most candidates that may be asked for; an item of 2 KiB makes them 2 MiB on the way.
pub const CANDIDATES_MAX: usize = 1_000;
/// Candidates for words that may be misspelled.
pub const ALMOST_CANDIDATES: usize = 100;
/// Items by which is judged what items state, and how often.
pub const SAMPLE_ITEMS: usize = 200;
/// Terms of one question; more are left out.
pub const TERMS_MAX: usize = 128;
/// Misspelled words of one question.
pub const ALMOST_MAX: usize = 8;
/// Documents of one bulk request.
pub const BULK_ITEMS_MAX: usize = 500;
/// Bytes of one bulk request, but for one document that is larger by itself.
pub const BULK_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Entries that are read at once when all are.
pub const ENTRIES_READ: usize = 10_000;
/// Items of one engine: a run that reads files keeps 80 bytes of memory for each.
pub const ENGINE_ITEMS_MAX: usize = 200_000_000;
