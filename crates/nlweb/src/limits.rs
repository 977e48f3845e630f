//! Bounds of this protocol, each with its unit.

use std::time::Duration;

/// Bytes of a request.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a query string.
pub(crate) const QUERY_STRING_BYTES_MAX: usize = 8 * 1024;
/// Results that are given behind those that are passed over, when nobody says how many.
pub(crate) const RESULTS_USUAL: usize = 10;
/// Results that may be passed over before the first one that is wanted.
pub(crate) const SKIPPED_MAX: usize = 1_000;
/// Bytes of `query.text`.
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Filters in one query.
pub(crate) const FILTERS_MAX: usize = 16;
/// Bytes of all filters of one query, as JSON.
pub(crate) const FILTERS_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a context, as JSON.
pub(crate) const CONTEXT_BYTES_MAX: usize = 128 * 1024;
/// Earlier queries in a context.
pub(crate) const PREV_MAX: usize = 100;
/// Bytes of what a caller wants back in `session_context`, as JSON.
pub(crate) const SESSION_BYTES_MAX: usize = 8 * 1024;
/// Bytes of `meta.user`, as JSON.
pub(crate) const USER_BYTES_MAX: usize = 4 * 1024;
/// Bytes of short texts: user agents, ids of requests, sites.
pub(crate) const NAME_BYTES_MAX: usize = 256;
/// Formats and modes that a request may list.
pub(crate) const PREFERENCES_MAX: usize = 16;
/// Bytes of a file that stands in an answer.
pub(crate) const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Characters of the name of an item that is named by its first words.
pub(crate) const ITEM_NAME_CHARS_MAX: usize = 60;
/// Seconds after which to come again where nobody says how long a service is away.
pub(crate) const RETRY_AFTER_SECONDS: u64 = 5;
/// Agents that are named to who asked for one that is not there.
pub(crate) const NAMED_AGENTS_MAX: usize = 50;
/// Agents that are asked at once for one answer.
pub(crate) const ASKED_AT_ONCE_MAX: usize = 16;
/// Agents that one search box on another site asks.
pub(crate) const BOX_AGENTS_MAX: usize = 8;
/// Earlier questions that a session carries where no agent keeps the conversation.
pub(crate) const CARRIED_MAX: usize = 5;
/// Bytes of one of them with its filters, as JSON; a longer one is left out.
pub(crate) const CARRIED_BYTES_MAX: usize = 1024;
/// Actions of one deployment.
pub(crate) const ACTIONS_MAX: usize = 100;
/// How long a promise waits for the first event of its task, to tell how far that is.
pub(crate) const FIRST_EVENT_WAIT: Duration = Duration::from_millis(50);
/// The longest that an answer may be waited for before it becomes a promise.
pub(crate) const PATIENCE_MAX: Duration = Duration::from_secs(100);
/// How long the answer of a tool has before it becomes a task, whose progress can be told.
pub(crate) const BECOMES_TASK_AFTER: Duration = Duration::from_secs(2);
