//! Bounds of acceptance tests.

use std::time::Duration;

/// Files of tests in one deployment.
pub const FILES_MAX: usize = 200;
/// Tests of all files together.
pub const TESTS_MAX: usize = 2_000;
/// Turns of one test.
pub const TURNS_MAX: usize = 50;
/// How long a test may take that says nothing else.
pub const TEST_TIME: Duration = Duration::from_secs(60);
/// Seconds that `timeout_seconds` may say.
pub const TEST_SECONDS_MAX: u64 = 600;
/// Bytes of what is said in one turn: agents take no more.
pub const SAY_BYTES_MAX: usize = 1024 * 1024 - 4 * 1024;
/// Bytes of a compiled pattern of `matches`.
pub const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Characters of an answer that a report shows.
pub const SHOWN_CHARS_MAX: usize = 400;
/// Items of an answer that a report names.
pub const SHOWN_ITEMS_MAX: usize = 10;
/// Levels of an item at which a limit looks for its property.
pub const ITEM_DEPTH_MAX: usize = 6;
