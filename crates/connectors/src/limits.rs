//! Bounds of what every platform does, each with its unit.

use std::time::Duration;

/// Bytes of one event, unless the platform says otherwise.
pub const EVENT_BYTES_MAX: usize = 512 * 1024;
/// How long an event may take until it is answered, unless the platform says otherwise: most give up after 3 seconds
/// and send it again.
pub const ACKNOWLEDGED_WITHIN: Duration = Duration::from_millis(2_500);
/// Events in the works at once over one connector; one more is put off with 503.
pub(crate) const EVENTS_AT_ONCE_MAX: usize = 256;
/// Bytes of text that a turn may have; the rest is cut.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Files of one message that are handed on; the others are named in words.
pub const FILES_MAX: usize = 4;
/// Bytes of one file, of a message or an answer, that is handed on as such. A larger one of a message is named in words,
/// one of an answer goes by a link.
pub const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of an id of a platform; an event with a longer one is refused.
pub const ID_BYTES_MAX: usize = 64;
/// Messages that one answer is split into; what is left is not sent, and the last one says so.
pub const MESSAGES_PER_ANSWER_MAX: usize = 10;
/// Files of one answer that are uploaded; the others go by links.
pub(crate) const FILES_PER_ANSWER_MAX: usize = 10;
/// Files of one answer that go by links, and files of one question that are said to be too large; the others are counted.
pub(crate) const FILES_NAMED_MAX: usize = 10;
/// Messages of one person within an hour, unless the operator says otherwise; further ones are dropped.
pub(crate) const MESSAGES_PER_SENDER_PER_HOUR: u32 = 60;
/// Further attempts to send an answer: the last within the hour that a task is kept.
pub(crate) const ANSWER_RETRIES: u32 = 9;
/// How often a connector writes into the log that events were refused.
pub(crate) const REFUSAL_LOG_EVERY: Duration = Duration::from_secs(60);
/// How long an answer is written before what there is of it is shown.
pub(crate) const SHOWN_AFTER: Duration = Duration::from_millis(1_500);
/// How long an answer that is due waits for an edit of it that is under way.
pub(crate) const LIVE_EDIT_WAIT: Duration = Duration::from_secs(5);
/// Answers that are shown while they are written, at once; further ones are shown when they are whole.
pub(crate) const LIVE_ANSWERS_MAX: usize = 200;
/// The longest that a platform is waited for which says when to come again.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(15 * 60);
/// Entries that are kept of what was sent for one question.
pub(crate) const SENT_PER_QUESTION_MAX: usize = 64;
/// How long a node holds the connection of a connector without a word in the store; then another one may.
pub(crate) const LISTEN_LEASE: Duration = Duration::from_secs(30);
/// How often the other nodes look whether nobody holds it.
pub(crate) const LISTEN_LOOK_EVERY: Duration = Duration::from_secs(2);
/// How often it is written down where a connection stands, where that changed.
pub(crate) const LISTEN_STATE_EVERY: Duration = Duration::from_secs(2);
/// How long it is kept where a connection stood that nobody holds, and how far was heard: what was said before that is
/// too old to be answered.
pub(crate) const LISTEN_STATE_KEPT: Duration = Duration::from_secs(6 * 60 * 60);
