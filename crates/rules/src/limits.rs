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
/// Patterns of one guardrail.
pub const GUARD_PATTERNS_MAX: usize = 100;
/// Bytes of one pattern.
pub const GUARD_PATTERN_BYTES_MAX: usize = 1_024;
/// Bytes of memory of one compiled pattern.
pub const GUARD_PATTERN_SIZE_MAX: usize = 1024 * 1024;
/// The longest that a judge of a guardrail may take.
pub const GUARD_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes of a text that is judged at once. A longer one counts as one that could not be judged.
pub const GUARDED_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of what a service answers that judges texts.
pub const GUARD_ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The fewest characters of a reply that a guardrail holds back.
pub const GUARD_WINDOW_CHARS_MIN: usize = 80;
/// The most.
pub const GUARD_WINDOW_CHARS_MAX: usize = 100_000;
/// Characters of what was shown that are judged again with what follows: what a pattern fits may lie across.
pub const GUARD_OVERLAP_CHARS: usize = 256;
/// Crawlers that one rule names, and as many exceptions.
pub const BOT_PATTERNS_MAX: usize = 100;
/// Patterns of paths that one rule of the host stands before.
pub const RULE_PATHS_MAX: usize = 100;
