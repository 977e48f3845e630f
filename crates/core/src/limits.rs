//! Every bound in one place, with its unit. Configurable ones are the defaults of their keys.
//!
//! A bound that only one crate enforces may live in that crate's own `limits.rs`; whatever two
//! crates must agree on is here.

use std::time::Duration;

/// Random bytes in a task id, session token or state. At least 16 by the specifications.
pub const TOKEN_BYTES: usize = 32;
/// Bytes of an id that a caller made up.
pub const CLIENT_ID_BYTES_MAX: usize = 256;
/// Characters of a handle. Mentionable hub card 3.1.
pub const HANDLE_CHARS_MAX: usize = 30;
/// Bytes of a domain name in A-label form. RFC 1035 2.3.4.
pub const DOMAIN_BYTES_MAX: usize = 253;
/// Bytes between two dots of a domain name. RFC 1035 2.3.4.
pub const LABEL_BYTES_MAX: usize = 63;
/// Bytes of a URL that a refusal points to, or that is otherwise compared with a host.
pub const URL_BYTES_MAX: usize = 2_048;
/// Challenges in one refusal.
pub const CHALLENGES_MAX: usize = 16;
/// Bytes of all challenges of one refusal, as they stand in headers.
pub const CHALLENGES_BYTES_MAX: usize = 8 * 1024;
/// Levels of nesting of any JSON that comes from outside: readers and sanitizers recurse, and this bounds their stack.
/// Security sheet, section 9.
pub const JSON_DEPTH_MAX: usize = 64;
/// Parts in one message or reply. Security sheet, section 0, for multipart bodies.
pub const PARTS_MAX: usize = 1_000;
/// Fields of one question that are read; later ones are passed over.
pub(crate) const QUESTION_FIELDS_MAX: usize = 32;
/// Options of one field of a question that are read.
pub(crate) const QUESTION_OPTIONS_MAX: usize = 100;
/// Turns of history that reach an agent; older ones are left out.
pub const HISTORY_TURNS_MAX: usize = 200;
/// Bytes of history that reach an agent; older turns are left out.
pub const HISTORY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of text in one reply. An agent that writes more is cut off and fails.
pub const REPLY_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Events in one reply, so that an agent that sends empty fragments without end is stopped too.
pub const REPLY_EVENTS_MAX: u64 = 200_000;
/// Bytes of everything else in one reply: files, data, artifacts, tool calls.
pub const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Agents in one chain of calls, so that agents that ask each other in a loop end. The last one must answer by itself.
pub const HOPS_MAX: u32 = 8;
/// Bytes of one artifact.
pub const ARTIFACT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a task and its artifacts can be read. Mentionable REST 5.4.1.
pub const TASK_TTL: Duration = Duration::from_secs(60 * 60);
/// How long an idle conversation is kept. Mentionable hub card 3.3.
pub const THREAD_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Bytes, as JSON, of what an agent keeps in one conversation.
pub const AGENT_STATE_BYTES_MAX: usize = 64 * 1024;
/// Turns kept of one conversation.
pub const THREAD_TURNS_MAX: usize = 200;
/// Tasks running at once on this host.
pub const TASKS_RUNNING_MAX: usize = 1_000;
/// Tasks running at once for one caller.
pub const TASKS_RUNNING_PER_CALLER_MAX: usize = 256;
/// Replies in the making at once for one caller.
pub const REPLIES_RUNNING_PER_CALLER_MAX: usize = 256;
/// Turns of one task. A conversation that goes on longer begins another task.
// Odd: the request, and fifty pairs of a question and the caller's next turn.
pub const TASK_TURNS_MAX: usize = 101;
/// Bytes of text in all turns of one task, unless the request alone has more.
pub const TASK_TURNS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Webhooks registered on one task.
pub const WEBHOOKS_PER_TASK_MAX: usize = 5;
/// Deliveries waiting on this host.
pub const DELIVERIES_PENDING_MAX: usize = 10_000;
/// How long an agent may take for one reply. The default of an agent's `timeout_seconds`.
pub const AGENT_TIME_MAX: Duration = Duration::from_secs(120);
/// Characters of one scope token.
pub const SCOPE_CHARS_MAX: usize = 256;
/// Scope tokens in one set.
pub const SCOPES_MAX: usize = 256;
/// How long a caller is asked to wait before it tries again, where nothing better is known.
pub const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Bytes of one entry of a stream, as JSON.
pub const ENTRY_BYTES_MAX: usize = 256 * 1024;
/// Bytes that are kept for one caller: its tasks, conversations, files and all that hangs on them, with
/// [`ROW_BYTES`] for each. The default of `limits.stored_bytes_per_caller`.
pub const STORED_BYTES_PER_CALLER: u64 = 64 * 1024 * 1024;
/// Bytes of those that are reserved for the answer of one task while an agent is at work on it. The default of
/// `limits.answer_bytes_reserved`.
// 256 tasks of one caller at once reserve half of what is kept for it.
pub const ANSWER_BYTES_RESERVED: u64 = 128 * 1024;
/// The part of what is kept for one caller, one in so many, that is reserved for one answer at most.
pub(crate) const ANSWERS_RESERVED_MIN: u64 = 4;
/// How many times what is kept for one caller is kept for all callers together who proved nothing and come from an IPv4
/// /24 or an IPv6 /56, and from an IPv4 /20 or an IPv6 /48.
pub(crate) const NETWORK_CALLERS: [u64; 2] = [4, 16];
/// The share of what a host has, in percent, that callers who proved nothing may take up together: of the bytes of its
/// store, and of the places for work. The default of `limits.strangers_percent`.
pub const STRANGERS_PERCENT: u8 = 50;
/// Bytes that one row costs beside its content, its index entries included. Checked against files on disk by the
/// store's tests.
pub const ROW_BYTES: u64 = 384;
/// Bytes of a page of the database: a long value takes whole pages.
pub const STORED_PAGE_BYTES: u64 = 4 * 1024;
/// Bytes of an outcome, as JSON, that is stored even over a bound: a task of a caller whose bytes are used up must
/// still be able to end.
pub const OUTCOME_FREE_BYTES: usize = 4 * 1024;
/// When to come back after there was no room: when the first tasks may have expired.
pub const FULL_RETRY: Duration = Duration::from_secs(60);
