//! Bounds of this protocol, each with its unit.

use std::time::Duration;

/// Bytes of an activity; a larger one is refused with 413.
pub const ACTIVITY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the name of an actor or object; what has a longer one is refused.
pub(crate) const IRI_BYTES_MAX: usize = 2_048;
/// Bytes of text that a turn may have; the rest is cut.
pub(crate) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Attachments that are handed on; the others are left out.
pub(crate) const ATTACHMENTS_MAX: usize = 16;
/// Entries of one list of an activity that are read: readers, tags, attachments.
pub(crate) const ENTRIES_READ_MAX: usize = 200;
/// Agents that one note asks; the others hear nothing.
pub(crate) const AGENTS_ASKED_MAX: usize = 5;
/// Characters of a name, or of what a picture shows.
pub(crate) const NAME_CHARS_MAX: usize = 300;
/// Elements that are open at once in HTML that is read or written; what lies deeper loses its elements.
pub(crate) const OPEN_ELEMENTS_MAX: usize = 100;

/// Bytes of a tag or comment in HTML of others; what stands before a longer one is all that is read of it.
pub(crate) const TAG_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the field `Signature` of the draft.
pub(crate) const SIGNATURE_BYTES_MAX: usize = 8 * 1024;
/// Fields that a signature of the draft covers.
pub(crate) const COVERED_MAX: usize = 32;
/// Parameters of a signature of the draft.
pub(crate) const PARAMETERS_MAX: usize = 16;
/// Signatures of one request that are tried.
pub(crate) const SIGNATURES_TRIED_MAX: usize = 4;
/// How old a signature may be. Servers sign each attempt anew.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// How far clocks may differ.
pub const CLOCK_SKEW_MAX: Duration = Duration::from_secs(5 * 60);

/// Bytes of the key of an actor, as PEM; a longer one is none. RSA keys of 16,384 bits have 3 KiB.
pub(crate) const KEY_PEM_BYTES_MAX: usize = 8 * 1024;
/// Actors of other servers that are kept with their keys; those that write most stay.
pub(crate) const ACTORS_KEPT_MAX: u64 = 10_000;
/// How long an actor is kept before it is fetched again.
pub(crate) const ACTOR_FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// How long it is believed that there is no such actor, and how long after a fetch a key that does not fit has the actor
/// fetched again.
pub(crate) const ACTOR_RETRY: Duration = Duration::from_secs(60);
/// Actors of one server that are fetched within a minute.
pub(crate) const LOOKUPS_PER_SERVER_PER_MINUTE: u32 = 60;
/// Actors that are fetched within a minute, in all.
pub(crate) const LOOKUPS_PER_MINUTE: u32 = 300;
/// Servers whose lookups are counted at once, and whose kind of signature is remembered.
pub(crate) const SERVERS_MAX: usize = 10_000;

/// Messages of one actor within an hour, unless the operator says otherwise; one more is put off with 429.
pub(crate) const MESSAGES_PER_ACTOR_PER_HOUR: u32 = 60;
/// Messages of all actors of one server within an hour, unless the operator says otherwise.
pub(crate) const MESSAGES_PER_SERVER_PER_HOUR: u32 = 600;
/// Messages of all servers within an hour, unless the operator says otherwise.
pub(crate) const MESSAGES_PER_HOUR: u32 = 6_000;
/// Messages of one conversation that are answered, unless the operator says otherwise.
pub(crate) const ANSWERS_PER_THREAD: u32 = 100;
/// Follows and blocks of one actor within an hour; further ones are put off with 429.
pub(crate) const CHANGES_PER_ACTOR_PER_HOUR: u32 = 30;
/// Follows and blocks of all actors within an hour; further ones are put off with 429. With [`ACCEPT_TTL`] a bound on
/// what waits for servers that take nothing, well below what the queue of deliveries holds.
pub(crate) const CHANGES_PER_HOUR: u32 = 2_000;
/// How long a follow or a block is remembered. Whoever says it again is remembered anew; actors that nobody hears of any
/// more would leave rows for ever.
pub(crate) const RELATION_TTL: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long it is of use to say that a follow is accepted: whoever follows once more is told once more.
pub(crate) const ACCEPT_TTL: Duration = Duration::from_secs(60 * 60);

/// How long a server may take to say how long notes may be there.
pub(crate) const NODEINFO_TIME_MAX: Duration = Duration::from_secs(5);
/// Characters of an answer, unless the operator says otherwise; the rest is behind a link.
pub const ANSWER_CHARS_MAX: u32 = 5_000;
/// Bytes of a whole answer that is kept behind that link; the rest is cut.
pub(crate) const WHOLE_BYTES_MAX: usize = 64 * 1024;
/// Files of an answer that are told of; the others are counted.
pub(crate) const FILES_MAX: usize = 10;
/// Pictures of an answer.
pub(crate) const PICTURES_MAX: usize = 4;
/// Times that one note asks, its agents and its edits together; further edits change nothing.
pub(crate) const ASKS_PER_NOTE_MAX: usize = 50;
/// Answers that are featured, the latest ones.
pub(crate) const FEATURED_MAX: usize = 20;
/// How long a question is worked on before its asker is told that it takes longer.
pub(crate) const LONG_WORK: Duration = Duration::from_secs(30);
/// Further attempts to deliver what a server did not take: with waits of up to three hours, the last one after three
/// days.
pub(crate) const DELIVERY_RETRIES: u32 = 34;
/// How long what a server did not take is of use.
pub(crate) const DELIVERY_TTL: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// How long a server may take to answer a delivery, from the lookup of its name to the last byte.
pub(crate) const POST_TIME_MAX: Duration = Duration::from_secs(15);

/// The longest that a server is waited for which says when to come again.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);

/// Deliveries to a server that fail one after the other before it is left alone.
pub(crate) const AWAY_AFTER: u32 = 3;
/// How long a server is left alone that could not be reached: what is due there waits without being tried.
pub(crate) const AWAY_FOR: Duration = Duration::from_secs(30);

/// How long a node goes by the key of the actors that it has read.
pub(crate) const KEY_FRESH: Duration = Duration::from_secs(60);
/// How long after it was made a key that takes the place of another begins to sign.
pub(crate) const KEY_BEGINS_AFTER: Duration = Duration::from_secs(2 * 60);
/// How long others may keep what is published of an actor.
pub(crate) const ACTOR_PUBLISHED_FRESH: Duration = Duration::from_secs(30 * 60);
/// How long others may keep what changes with each answer.
pub(crate) const COLLECTION_FRESH: Duration = Duration::from_secs(60);
