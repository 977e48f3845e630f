//! Every bound of the server, with its unit.

use std::time::Duration;

/// Bytes of answers that wait for the answers to requests that came with theirs.
pub(crate) const WRITE_BATCH_BYTES: usize = 64 * 1024;
/// How long a client that was refused is read from, so that it gets to see why.
pub(crate) const LINGER_TIME: Duration = Duration::from_secs(1);
/// Bytes that are read from a client that was refused.
pub(crate) const LINGER_BYTES_MAX: usize = 256 * 1024;
/// Bytes that an operator may allow for a request line, and for all field lines.
pub(crate) const HEAD_BYTES_SETTABLE: usize = 1024 * 1024;
/// Bytes that an operator may allow for a body: the longest that `LENGTH_DIGITS_MAX` digits of the codec can say.
pub(crate) const BODY_BYTES_SETTABLE: usize = 9_999_999;
/// Characters of a name that a caller gives to something: a task, a session, a request, a key of
/// idempotency. Base 2.4.
pub(crate) const NAME_CHARS_MAX: usize = 255;
/// Characters of the name of who answers for an agent. Base 2.4.
pub(crate) const OWNER_CHARS_MAX: usize = 256;
/// Values in a body that is YAML.
pub(crate) const YAML_NODES_MAX: usize = 50_000;
/// Values in such a body that are there by reference only.
pub(crate) const YAML_REPEATED_MAX: usize = 10_000;
/// How long others may keep a manifest before they ask whether it is still the same. AGTP-API 8.11.
pub(crate) const MANIFEST_FRESH: Duration = Duration::from_secs(60);
/// Persistent contracts that stand in the manifest and in the list of endpoints, the oldest of them.
pub(crate) const MANIFEST_CONTRACTS_MAX: usize = 1_000;
/// Contracts that DISCOVER gives at once, unless told otherwise and at most.
pub(crate) const CONTRACTS_LISTED_MAX: usize = 1_000;
/// Endpoints that a filtered list of methods gives at once, unless told otherwise and at most.
pub(crate) const METHODS_LISTED_MAX: usize = 1_000;
/// The same when all of each is asked for.
pub(crate) const FULL_METHODS_MAX: usize = 100;
/// How much of the score of the best endpoint one has at least that is listed for a question.
pub(crate) const METHODS_SCORE_MIN: f32 = 0.25;
/// Bytes of endpoints after which a page of them ends.
pub(crate) const FULL_METHODS_BYTES_MAX: usize = 512 * 1024;
/// Characters of the text that a list of methods is filtered by.
pub(crate) const METHODS_FILTER_CHARS_MAX: usize = 1_024;
/// How long a manifest whose revision could not be kept is given out before that is tried again.
pub(crate) const UNKEPT_FRESH: Duration = Duration::from_secs(60);
/// Characters of the line that says what an agent can do. AGTP-API 5.8.2.
pub(crate) const SKILLS_SUMMARY_CHARS_MAX: usize = 140;
/// Characters of what a search for agents is given.
pub(crate) const CRITERIA_CHARS_MAX: usize = 2_000;
/// Words of what a search for agents is given that are looked for; those after them are not.
pub(crate) const CRITERIA_WORDS_MAX: usize = 32;
/// Agents that a search gives unless told otherwise, and at most.
pub(crate) const CANDIDATES_DEFAULT: usize = 10;
/// See [`CANDIDATES_DEFAULT`].
pub(crate) const CANDIDATES_MAX: usize = 100;
/// Callers of which it is remembered that they were warned of a deprecated form. AGTP-API 5.10.
pub(crate) const WARNED_CALLERS_MAX: usize = 1_024;
/// How long a caller of EXECUTE or DELEGATE waits before it gets a task instead, at most.
pub(crate) const WORK_PATIENCE: Duration = Duration::from_secs(10);
/// How long an agent has for an answer that needs no task.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_millis(500);
/// Attempts after a failed first one to tell a callback that delegated work is done.
pub(crate) const CALLBACK_RETRIES: u32 = 3;
/// Steps of a plan, unless told otherwise, and at most.
pub(crate) const PLAN_STEPS_DEFAULT: usize = 8;
/// See [`PLAN_STEPS_DEFAULT`].
pub(crate) const PLAN_STEPS_MAX: usize = 20;
/// Words of a goal that are looked for in what endpoints mean; those after them are not.
pub(crate) const PLAN_WORDS_MAX: usize = 64;
/// Endpoints that an agent is shown for a plan.
pub(crate) const PLAN_ENDPOINTS_SHOWN: usize = 100;
/// How long a session rests unless told otherwise, and at most. Base 3.1, SUSPEND.
pub(crate) const SUSPENSION_DEFAULT: Duration = Duration::from_secs(60 * 60);
/// See [`SUSPENSION_DEFAULT`].
pub(crate) const SUSPENSION_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long it holds which sessions rest before it is read anew: the longest that a session which was
/// suspended by way of another process goes on in this one.
pub(crate) const RESTING_AGE_MAX: Duration = Duration::from_secs(2);
/// Sessions that rest at once.
pub(crate) const SESSIONS_RESTING_MAX: usize = 50_000;
/// Sessions of one agent that rest at once, so that nobody takes the room of all.
pub(crate) const SESSIONS_RESTING_PER_AGENT_MAX: usize = 5_000;
/// Bytes in JSON of what a caller leaves here to be kept: a checkpoint, the context of a question.
pub(crate) const KEPT_BYTES_MAX: usize = 64 * 1024;
/// Bytes in JSON of why something was done: many of them are read at once.
pub(crate) const REASON_BYTES_MAX: usize = 4 * 1024;
/// How long a receipt of CONFIRM is kept.
pub(crate) const RECEIPT_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often a receipt is put behind one that others wrote meanwhile.
pub(crate) const RECEIPT_APPENDS_MAX: usize = 8;
/// Events that INSPECT gives at once, unless told otherwise.
pub(crate) const EVENTS_DEFAULT: usize = 50;
/// When a caller may come again whose response could not be recorded.
pub(crate) const RECORDS_RETRY_AFTER: Duration = Duration::from_secs(2);
/// Seconds after which a call may come again that found its endpoint busy, or its agent away.
pub(crate) const RETRY_BUSY_SECONDS: u64 = 1;
/// Bytes of the name for whom a caller acts, as its token says it. Base 7.4.
pub(crate) const PRINCIPAL_BYTES_MAX: usize = 256;
