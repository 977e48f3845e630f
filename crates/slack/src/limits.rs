//! Bounds of Slack, each with its unit.

use std::time::Duration;

/// How old, or how far in the future, the time of a signature may be.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(5 * 60);
/// Bytes that a signing secret has at least: Slack's own have 32.
pub(crate) const SECRET_BYTES_MIN: usize = 16;
/// Characters of one message: an edit of more than 4,000 is refused with `msg_too_long`.
pub(crate) const MESSAGE_CHARS_MAX: usize = 3_900;
/// Characters of a section of a message with a button; more are refused.
pub(crate) const SECTION_CHARS_MAX: usize = 3_000;
/// How often one message is edited: `chat.update` may be called 50 times a minute in a workspace.
pub(crate) const EDIT_EVERY: Duration = Duration::from_secs(2);
/// How long the name of a speaker is waited for: an event is to be acknowledged within 3 seconds.
pub(crate) const PROFILE_WAIT: Duration = Duration::from_millis(800);
/// How long the profile of a speaker is kept.
pub(crate) const PROFILE_TTL: Duration = Duration::from_secs(60 * 60);
/// Profiles that are kept; they begin anew above that.
pub(crate) const PROFILES_MAX: usize = 10_000;
/// Files of one event that are read.
pub(crate) const FILES_MAX: usize = 10;
/// Characters of the name of a file or a person that are kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;
