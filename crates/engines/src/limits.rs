//! Every bound of talking to engines, with its unit.

use std::time::Duration;

/// How long one question to an engine may take, further attempts and the pauses before them included.
pub const QUESTION_TIME_MAX: Duration = Duration::from_secs(10);
/// How long one bulk request may take.
pub const BULK_TIME_MAX: Duration = Duration::from_secs(60);
/// How long the head of an answer may be waited for.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes of one answer of an engine: the most candidates, of 64 KiB each.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How often a question that an engine was too busy for is asked, the first time included: somebody waits for its answer.
pub const QUESTION_ATTEMPTS_MAX: u32 = 2;
/// How often a bulk request, or what was not taken of one, is sent, the first time included.
pub const BULK_ATTEMPTS_MAX: u32 = 6;
/// The wait before the second attempt where the engine names none; each further one is twice as long.
pub const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// The longest wait before another attempt, whatever the engine asks for.
pub const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// Seconds for which is kept in how many items of an index of the search API a term is.
pub const FREQUENCY_SECONDS: i64 = 30;
/// Terms of which that is kept, before all are forgotten.
pub const FREQUENCIES_KEPT: usize = 4_096;
/// Connections of one agent to PostgreSQL.
pub const POSTGRES_CONNECTIONS: usize = 10;
/// Bytes of the terms of one item in PostgreSQL, which takes 1 MiB with what it keeps of each; words that are too many
/// are not found.
pub const POSTGRES_TERMS_BYTES_MAX: usize = 512 * 1024;
/// Positions of words in one item that PostgreSQL tells apart.
pub const POSTGRES_POSITIONS_MAX: usize = 16_383;
/// Items in which the frequency of a term is counted in PostgreSQL; beyond, it is what its statistics say.
pub const POSTGRES_COUNTED_MAX: u64 = 10_000;
/// Items that PostgreSQL ranks for one question, 8 µs each; of more, those with the rarest words are.
pub const POSTGRES_RANKED_MAX: u64 = 50_000;
/// Words that a misspelled one may be read as in PostgreSQL.
pub const POSTGRES_READINGS_MAX: i64 = 8;
/// Bytes of the name of a table or an index.
pub const NAME_BYTES_MAX: usize = 40;
/// Numbers of items that get a field of their own in an index of the search API, and the fields that there are beside.
pub const INDEX_FIELDS_MAX: usize = 1_100;
/// Items that one statement puts into PostgreSQL: more may take longer than a statement may.
pub const POSTGRES_PUT_MAX: usize = 100;
/// Items that are counted one by one in PostgreSQL; of more, its statistics say how many there are.
pub const POSTGRES_ITEMS_COUNTED_MAX: i64 = 20_000;
