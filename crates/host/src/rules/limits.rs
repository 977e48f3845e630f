//! How much a rule may hold.

/// The shortest span of time in a rule, in seconds.
pub const SPAN_SECONDS_MIN: u64 = 1;
/// The longest span of time in a rule, in seconds: ten years.
pub const SPAN_SECONDS_MAX: u64 = 3_650 * 24 * 60 * 60;
/// Rules before one agent, those of the host included.
pub const RULES_MAX: usize = 100;
/// Bytes of the text that a person agrees to.
pub const CONSENT_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Ways to pay in one rule, and as many on the wire.
pub const OFFERS_MAX: usize = 16;
/// Weekly windows of one rule.
pub const WINDOWS_MAX: usize = 50;
/// Lines of the file of countries that hold a network.
pub const COUNTRY_LINES_MAX: usize = 1_000_000;
/// Bytes of the file of countries.
pub const COUNTRY_FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
