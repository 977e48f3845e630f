//! Bounds of what answers later, each with its unit.

use std::time::Duration;

/// Senders who are counted at once.
pub const SENDERS_MAX: usize = 10_000;
/// How long a notice that belongs to no task is of use.
pub const NOTICE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// How long after a refusal its state is first looked at.
pub const RESUME_LOOK_FIRST: Duration = Duration::from_secs(2);
/// The longest that lies between two looks at the state of a refusal.
pub const RESUME_LOOK_MAX: Duration = Duration::from_secs(30);
/// How often a question is asked again whose agent had no room.
pub const REPEATS_MAX: u32 = 8;
/// The longest that a question waits for room; who says longer is told of.
pub const REPEAT_AFTER_MAX: Duration = Duration::from_secs(60);
