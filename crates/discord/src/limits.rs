//! Bounds of Discord, each with its unit.

use std::time::Duration;

/// How old, or how far in the future, the time of a signature may be.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(5 * 60);
/// Characters of one message: more than 2,000 are refused.
pub(crate) const MESSAGE_CHARS_MAX: usize = 1_950;
/// How often one message is edited: a channel takes five requests within five seconds.
pub(crate) const EDIT_EVERY: Duration = Duration::from_millis(2_500);
/// How long the token of an interaction is used: Discord takes it for 15 minutes.
pub(crate) const TICKET_TTL: Duration = Duration::from_secs(14 * 60 + 30);
/// Bytes of the token of an interaction.
pub(crate) const TICKET_BYTES_MAX: usize = 512;
/// How often it is tried to answer an interaction that Discord does not know yet: it may hear of an answer before it has
/// read the acknowledgement, and says for some seconds that there is no such webhook.
pub(crate) const UNKNOWN_WEBHOOK_TRIES: u32 = 5;
/// How long is waited between two of those.
pub(crate) const UNKNOWN_WEBHOOK_WAIT: Duration = Duration::from_millis(700);
/// Characters of the name of a file or a person that are kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;
/// Files of one message that are read.
pub(crate) const FILES_MAX: usize = 10;
/// Digits of an id: those of a number of 64 bits.
pub(crate) const ID_DIGITS_MAX: usize = 20;
/// Characters of the label of a button.
pub(crate) const LABEL_CHARS_MAX: usize = 80;
/// Bytes of the address of a button; a longer one stands in the words.
pub(crate) const BUTTON_URL_BYTES_MAX: usize = 512;
/// Characters by which a message is sent once.
pub(crate) const NONCE_CHARS: usize = 25;
/// Waits for a rate limit that are waited out in place; longer ones put off what is sent.
pub(crate) const WAIT_IN_PLACE_MAX: Duration = Duration::from_secs(2);
/// Rate limits that are remembered; those that are over go first, and above that they begin anew.
pub(crate) const BUCKETS_MAX: usize = 10_000;
/// Channels, servers and persons that something is remembered of; each kind begins anew above that.
pub(crate) const PLACES_MAX: usize = 10_000;
/// How long it is remembered what was asked about a channel or a server.
pub(crate) const PLACE_TTL: Duration = Duration::from_secs(60 * 60);

/// Bytes of one message of the gateway; a longer one ends the connection.
pub(crate) const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// How long Discord may take to greet on a new connection, or to answer who we are.
pub(crate) const GREETING_WAIT: Duration = Duration::from_secs(30);
/// How long a write to the gateway may take.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(10);
/// Between which times between two heartbeats are taken from Discord.
pub(crate) const HEARTBEAT: std::ops::RangeInclusive<u64> = 100..=300_000;
/// Events in the works at once; above that the gateway is not read on.
pub(crate) const EVENTS_AT_ONCE_MAX: usize = 256;
/// Events of different channels that are worked on side by side.
pub(crate) const LANES: usize = 16;
/// How often an event is handed over that could not be taken, with twice the wait each time.
pub(crate) const TAKE_TRIES_MAX: u32 = 10;
/// The first wait before an event is handed over again.
pub(crate) const TAKE_WAIT: Duration = Duration::from_millis(500);
/// The longest such wait.
pub(crate) const TAKE_WAIT_MAX: Duration = Duration::from_secs(30);
/// The first wait before another connection is opened; twice that each time.
pub(crate) const RECONNECT_WAIT: Duration = Duration::from_secs(1);
/// The longest wait before another connection is opened.
pub(crate) const RECONNECT_WAIT_MAX: Duration = Duration::from_secs(60);
/// Connections in a row that end by a message over [`FRAME_BYTES_MAX`] before another session is begun: the same message
/// comes each time that a session goes on.
pub(crate) const FRAMES_TOO_LARGE_MAX: u32 = 3;
/// Channels of which is remembered how far was heard, the latest ones: what was said in others while no session could go
/// on is not heard of.
pub(crate) const CATCH_UP_CHANNELS_MAX: usize = 50;
/// Messages of one channel that are caught up; further ones are counted.
pub(crate) const CATCH_UP_MESSAGES_MAX: usize = 50;
/// Messages that are asked for where they are caught up: as many as Discord gives at once.
pub(crate) const CATCH_UP_PAGE: usize = 100;
/// Connections that fail in a row to where a session goes on before another one is begun.
pub(crate) const RESUMES_MAX: u32 = 4;
/// How long lies between two new sessions at least: Discord takes one within five seconds.
pub(crate) const IDENTIFY_EVERY: Duration = Duration::from_secs(6);
/// The longest that is waited for new sessions to be allowed again: they are counted by the day.
pub(crate) const IDENTIFY_WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How long events that are in the works may take when the connection is given up.
pub(crate) const LAST_EVENTS_WAIT: Duration = Duration::from_secs(2);
