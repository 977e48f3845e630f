//! Bounds of proofs. Those with a key in `[identity]` are its defaults.

use std::time::Duration;

pub use forecourt_jose::limits::{KEYS_FRESH, KEYS_MAX, KEYS_RETRY, KEYS_TRIED_MAX, TOKEN_BYTES_MAX};

/// Bytes of the subject of a token.
pub const SUBJECT_BYTES_MAX: usize = 256;
/// How far clocks may differ.
pub(crate) const SKEW: Duration = Duration::from_secs(60);
/// Bytes of forwarded evidence in all.
pub const EVIDENCE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one entry of forwarded evidence.
pub const EVIDENCE_ENTRY_BYTES_MAX: usize = 32 * 1024;
/// Entries of forwarded evidence.
pub const EVIDENCE_ENTRIES_MAX: usize = 4;
/// How long evidence holds at most after it was issued.
pub const EVIDENCE_LIFETIME_MAX: Duration = Duration::from_secs(600);
/// Signatures on one request that are looked at.
pub const SIGNATURES_MAX: usize = 4;
/// Components that one signature covers.
pub const COMPONENTS_MAX: usize = 64;
/// Bytes of `Signature-Input` and `Signature` together.
pub const SIGNATURE_FIELDS_BYTES_MAX: usize = 16 * 1024;
/// How old a signature may be.
pub const SIGNATURE_AGE_MAX: Duration = Duration::from_secs(300);
/// Bytes of a nonce.
pub const NONCE_BYTES_MAX: usize = 256;
/// Crawlers that an operator adds to those that are known by name.
pub const KNOWN_BOTS_MAX: usize = 1_000;
/// Characters of the name of a crawler.
pub const BOT_NAME_CHARS_MAX: usize = 64;
/// Bytes of a `User-Agent` in which a crawler's name is looked for.
pub const USER_AGENT_BYTES_READ_MAX: usize = 512;
/// How long the signature of a crawler, and that of its directory, may hold. Web Bot Auth.
pub const BOT_SIGNATURE_LIFETIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of the directory of a signature agent.
pub const DIRECTORY_BYTES_MAX: usize = 64 * 1024;
/// How long such a directory may take to fetch, from the lookup of its name to its last byte.
pub const DIRECTORY_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a directory is kept at least, whatever its server says, and that there is none.
pub const DIRECTORY_KEPT_MIN: Duration = Duration::from_secs(60);
/// How long a directory is kept at most: a key that was withdrawn must end some time.
pub const DIRECTORY_KEPT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// Signature agents whose directories are kept; those that sign most stay.
pub const DIRECTORIES_KEPT_MAX: u64 = 1_000;
/// Directories of unknown signature agents that are fetched within a minute.
pub const DIRECTORIES_PER_MINUTE_MAX: usize = 60;
/// How long a replaced signing key is still published.
pub const PREVIOUS_KEY_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a sign-in lasts.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(8 * 60 * 60);
/// How long a sign-in lasts without a request.
pub const SESSION_IDLE: Duration = Duration::from_secs(60 * 60);
/// How often within its idle time it is written down at most that a session was used.
pub(crate) const SESSION_TOUCHES: u32 = 10;
/// Sessions that are looked through for the list of those that are open.
pub(crate) const SESSIONS_LOOKED_AT_MAX: usize = 10_000;
/// Sessions that are read from that list in one go.
pub(crate) const SESSIONS_PER_READ: usize = 200;
/// How old the token of a session becomes before another one takes its place.
pub const SESSION_TOKEN_AGE_MAX: Duration = Duration::from_secs(15 * 60);
/// How long a replaced token still opens its session, for requests under way.
pub const SESSION_TOKEN_GRACE: Duration = Duration::from_secs(60);
/// Agents that are known here: those that live here and those of elsewhere.
pub(crate) const KNOWN_AGENTS_MAX: usize = 20_000;
/// Bytes of one genesis or identity document.
pub const IDENTITY_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Bytes of a client's certificate.
pub const CERTIFICATE_BYTES_MAX: usize = 16 * 1024;
/// Characters of one text in an extension of a client's certificate.
pub(crate) const CERTIFICATE_TEXT_CHARS_MAX: usize = 4_096;
/// Bytes of a log's receipt in a client's certificate.
pub const CERTIFICATE_SCT_BYTES_MAX: usize = 4_096;
/// API keys in force at once.
pub const API_KEYS_MAX: usize = 1_000;
/// API keys that are remembered, revoked ones included; those with an expiry are forgotten when it has come.
pub(crate) const API_KEY_RECORDS_MAX: u64 = 10_000;
/// Characters of the name of an API key.
pub const API_KEY_NAME_CHARS_MAX: usize = 64;
/// Requests in the span of an API key's limit.
pub(crate) const API_KEY_REQUESTS_MAX: u32 = 1_000_000;
/// How long it is remembered in which minute an API key was used.
pub(crate) const API_KEY_MINUTE_KEPT: Duration = Duration::from_secs(60 * 60);
/// How long it is remembered on which day an API key was used.
pub(crate) const API_KEY_DAY_KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);
