//! Bounds of talking to other agents. Those with a key are its default.

use std::time::Duration;

/// Cards that are kept, in all.
pub(crate) const CARDS_KEPT_MAX: u64 = 256;
/// How long a card is kept at least, whatever its server says.
pub(crate) const CARD_KEPT_MIN: Duration = Duration::from_secs(60);
/// How long a card is kept at most, whatever its server says. Demotions of PolicyPart 3.6 last as
/// long at most.
pub(crate) const CARD_KEPT_MAX: Duration = Duration::from_secs(60 * 60);
/// How long fetching a card or its keys may take.
pub(crate) const CARD_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a card or a key set.
pub(crate) const CARD_BYTES_MAX: usize = forecourt_egress::limits::DOCUMENT_BYTES_MAX;
/// Bytes of one event of a stream, or of an answer in one piece.
pub const FRAME_BYTES_MAX: usize = forecourt_agents::limits::FRAME_BYTES_MAX;
/// Bytes of all that comes over one connection.
pub const ANSWER_BYTES_MAX: usize = forecourt_agents::limits::ANSWER_BYTES_MAX;
/// Attempts at a connection for a message, of which nothing was sent before.
pub(crate) const CONNECTS_MAX: u32 = 3;
/// Attempts in a row at going on with a broken stream that bring nothing new.
pub const RESUMES_FRUITLESS_MAX: u32 = 5;
/// Attempts at going on with one broken stream, in all.
pub(crate) const RESUMES_MAX: u32 = 20;
/// The wait before the first attempt at going on; each fruitless one doubles it.
pub(crate) const RESUME_PAUSE: Duration = Duration::from_millis(200);
/// The wait between two looks at a task whose agent does not stream; each one doubles it.
pub(crate) const POLL_PAUSE: Duration = Duration::from_millis(500);
/// The longest wait between two looks.
pub(crate) const POLL_PAUSE_MAX: Duration = Duration::from_secs(5);
/// Conversations whose claims are not believed, in all. PolicyPart 3.6.
pub(crate) const DEMOTED_MAX: u64 = 10_000;
/// Characters of what an agent says about an error.
pub const REASON_CHARS_MAX: usize = 500;
/// Bytes of an event id that is sent back.
pub(crate) const EVENT_ID_BYTES_MAX: usize = 1_024;
/// Bytes of text of a waiting task that are remembered, so that its next turn does not repeat them.
pub(crate) const TAKEN_BYTES_MAX: usize = 64 * 1024;
/// Conversations whose other end is remembered, by agent.
pub const THREADS_MAX: u64 = 10_000;
/// Cancellations on their way at once, by agent. One more is left to the other side's time-outs.
pub(crate) const CANCELS_MAX: usize = 64;
/// How long one cancellation may take.
pub(crate) const CANCEL_TIME_MAX: Duration = Duration::from_secs(10);
/// Seconds after which a caller may ask again for an agent that can't be reached.
pub(crate) const UNREACHABLE_RETRY_SECONDS: u64 = 10;
/// Seconds after which a caller may ask again where too many requests of this host are on their way.
pub(crate) const BUSY_RETRY_SECONDS: u64 = 1;
/// Origins beside its card's own that an agent's interfaces may be on.
pub(crate) const ORIGINS_MAX: usize = 16;
