//! Every bound of the log of questions, with its unit.

/// Bytes of a question that are kept; longer ones are cut.
pub const QUESTION_BYTES_MAX: usize = 200;
/// Bytes of the id of an item that is rated.
pub const ITEM_BYTES_MAX: usize = 2_048;
/// Rows of questions: an agent, a day and a question each. Together with [`QUESTION_BYTES_MAX`] the bound of the file,
/// about 40 MiB.
pub const QUESTIONS_MAX: u64 = 100_000;
/// Rows of rated items.
pub(crate) const RATINGS_MAX: u64 = 20_000;
/// Rows of shown results: an agent, a question, an item and a day each. Together with [`QUESTION_BYTES_MAX`] and
/// [`RESULT_BYTES_MAX`] their bound in the file, about 40 MiB with the index by day, which has each key again.
pub(crate) const RESULTS_MAX: u64 = 25_000;
/// Results of one answer, the first ones, of which it is counted that they were shown.
pub const RESULTS_NOTED_MAX: usize = 10;
/// Bytes of the address or the id of a shown result; one with a longer one is not counted.
pub const RESULT_BYTES_MAX: usize = 512;
/// Clicks that are counted in a minute, of all callers together.
pub(crate) const CLICKS_PER_MINUTE_MAX: u32 = 600;
/// Days that the log may be kept.
pub const KEEP_DAYS_MAX: u32 = 366;
/// Digits in a row, with spaces and dashes between them, that are kept; more are taken for a number of a person.
pub const DIGITS_MAX: usize = 6;
/// Questions of each list of a report.
pub(crate) const REPORTED_MAX: usize = 1_000;
/// Ratings that are taken in a minute, of all callers together.
pub(crate) const RATINGS_PER_MINUTE_MAX: u32 = 600;
/// People who have to ask a question before others are offered it.
pub(crate) const PEOPLE_MIN: usize = 3;
/// Questions of which it is remembered, in memory alone, by how many people they were asked.
pub(crate) const COUNTED_QUESTIONS_MAX: usize = 10_000;
/// Asked questions that are suggested to somebody who types.
pub(crate) const SUGGESTED_MAX: u32 = 3;
