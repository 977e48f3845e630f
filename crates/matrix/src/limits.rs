//! Bounds of Matrix, each with its unit.

use std::time::Duration;

/// Bytes of one transaction: homeservers send up to 100 events at once, of 64 KiB each, with what they add to them.
pub const TRANSACTION_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a transaction may take until it is acknowledged: homeservers wait for about a minute.
pub(crate) const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(30);
/// Bytes of an id of a room, a user or an event. Matrix, appendix 4.
pub const ID_BYTES_MAX: usize = 255;
/// Characters of one message. An event has at most 65,536 bytes, and an edit holds its words three times, in up to four
/// bytes for each character.
pub(crate) const MESSAGE_CHARS_MAX: usize = 4_000;
/// How often one message is edited: each edit is an event that every server of the room keeps.
pub(crate) const EDIT_EVERY: Duration = Duration::from_secs(3);
/// Edits of one message that are taken back with it.
pub(crate) const EDITS_MAX: usize = 100;
/// Bytes that a token has at least: whoever guesses one is the homeserver, or the bot.
pub(crate) const TOKEN_BYTES_MIN: usize = 16;
/// Bytes that a token has at most.
pub(crate) const TOKEN_BYTES_MAX: usize = 512;
/// Characters of the name of a file or a person that are kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;
/// Links to users in one message that are read.
pub(crate) const PILLS_MAX: usize = 32;
/// How long the name of a speaker is waited for.
pub(crate) const PROFILE_WAIT: Duration = Duration::from_millis(800);
/// How long the profile of a speaker is kept.
pub(crate) const PROFILE_TTL: Duration = Duration::from_secs(60 * 60);
/// Profiles that are kept; they begin anew above that.
pub(crate) const PROFILES_MAX: usize = 10_000;
/// How long a room is taken to be direct without being asked again: another node may have been told of who joined.
pub(crate) const DIRECT_TTL: Duration = Duration::from_secs(60);
/// How long a room is taken to have others in it.
pub(crate) const SHARED_TTL: Duration = Duration::from_secs(10 * 60);
/// Rooms of which is known whether they are direct, or that they were told about encryption; it begins anew above that.
pub(crate) const ROOMS_MAX: usize = 10_000;
/// Bytes of a list of members that is read; a room with a longer one is not direct.
pub(crate) const MEMBERS_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one event that is asked for, with what the homeserver adds to it.
pub(crate) const EVENT_BYTES_MAX: usize = 512 * 1024;
/// People whose direct room is remembered; one more takes the place of another.
pub(crate) const DIRECT_ROOMS_MAX: usize = 2_000;
/// People whose direct room this process made or was told of, beside the list; it begins anew above that.
pub(crate) const NEWEST_ROOMS_MAX: usize = 200;
/// How long a room is waited for that may have been made, since the answer of the homeserver was lost: it tells of rooms
/// that it made in one of its next transactions.
pub(crate) const ROOM_TOLD_WITHIN: Duration = Duration::from_secs(60);
/// Direct rooms of one person that are tried.
pub(crate) const ROOMS_PER_PERSON_MAX: usize = 4;
/// The longest that is waited where the homeserver does not say.
pub(crate) const WAIT_UNSAID: Duration = Duration::from_secs(10);
