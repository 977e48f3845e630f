//! Bounds of this protocol, each with its unit.

use std::time::Duration;

/// Bytes of a request: a picture from a phone in base64, and some words.
pub(crate) const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// `data:` URLs in one message.
pub(crate) const DATA_URLS_MAX: usize = 32;
/// Bytes of a kept file that stands in the answer itself; a larger one is given by its address.
pub(crate) const INLINE_FILE_BYTES_MAX: usize = 1024 * 1024;
/// Events of a running task that a snapshot reads at once.
pub(crate) const SNAPSHOT_EVENTS_MAX: usize = 4_096;
/// Tasks on a page unless the caller says otherwise; the most it may ask for is 100.
pub(crate) const PAGE_SIZE: u32 = 50;
/// URIs of extensions in one request that are looked at.
pub(crate) const EXTENSIONS_MAX: usize = 32;
/// Bytes of a push notification's token, and of its credentials.
pub(crate) const PUSH_SECRET_BYTES_MAX: usize = 4 * 1024;
/// How long a message is remembered, so that the same one sent again is no second task.
pub(crate) const SENT_REMEMBERED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Messages that a process knows, without asking the store, to be none of those that it remembers there.
pub(crate) const SENT_NAMES_MAX: usize = 256 * 1024;
/// How long before its time the store is told again that messages are remembered.
pub(crate) const MARKED_AHEAD: Duration = Duration::from_secs(60 * 60);
/// How long a caller that waits anyway is kept without a task, for an agent whose whole answer is one
/// message: such an answer needs no task, and costs no write.
pub(crate) const DIRECT_ANSWER_WITHIN: Duration = Duration::from_millis(500);
/// Agents that are fronted of one hub.
pub(crate) const HUB_AGENTS_MAX: usize = 1_000;
/// Bytes of the card of a hub that is read for its agents: thousands of them, each named twice.
pub(crate) const HUB_CARD_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long one look at a hub and all of its agents may take.
pub(crate) const HUB_TIME_MAX: Duration = Duration::from_secs(120);
/// Cards of agents of one hub that are fetched at once.
pub(crate) const CARDS_AT_ONCE: usize = 8;
/// Key sets that are asked for in one look at a hub, whether or not they can be had.
pub(crate) const KEY_SETS_MAX: usize = 16;
/// Bytes of one agent in the list of a hub: skills that do not fit are left out.
pub(crate) const LISTED_BYTES_MAX: usize = 32 * 1024;
/// Characters of a name in such a list, and of whatever else stands on one line.
pub(crate) const LISTED_NAME_CHARS_MAX: usize = 200;
/// Characters of a description there.
pub(crate) const LISTED_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Skills of one agent there.
pub(crate) const LISTED_SKILLS_MAX: usize = 50;
/// Tags of a skill there, and examples.
pub(crate) const LISTED_WORDS_MAX: usize = 20;
/// Media types there that an agent takes, and that it gives.
pub(crate) const LISTED_MODES_MAX: usize = 32;
