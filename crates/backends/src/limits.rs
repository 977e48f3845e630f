//! Bounds of the backends that run or ask somebody else's program, and of scripts.

use std::time::Duration;

/// How long a service that works on a message is left alone before it is asked for the answer, unless it says how long;
/// doubled each time it has none yet.
pub const POLL_PAUSE_FIRST: Duration = Duration::from_secs(1);
/// The longest such pause.
pub const POLL_PAUSE_MAX: Duration = Duration::from_secs(15);
/// Questions for an answer that may fail one after the other, until the answer does.
pub const POLL_FAILURES_MAX: u32 = 5;
/// Times that a service leads elsewhere (303) for its answer.
pub const POLL_REDIRECTS_MAX: u32 = 3;

/// Rules of one script.
pub const SCRIPT_RULES_MAX: usize = 1_000;
/// Events of one rule.
pub const SCRIPT_EVENTS_MAX: usize = 10_000;
/// Bytes of a rule's pattern.
pub const SCRIPT_PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Bytes of memory of one compiled pattern.
pub(crate) const SCRIPT_PATTERN_SIZE_MAX: usize = 1024 * 1024;

/// Programs of one agent that run at once.
pub(crate) const PROCESSES_MAX: usize = 256;
/// Messages of one agent that wait for a program. One more is told to try again later.
pub const PROCESSES_WAITING_MAX: usize = 64;
/// Messages that one worker takes at once.
pub const CONCURRENCY_MAX: usize = 256;
/// Conversations of one agent of which it is remembered which worker had the last turn.
pub(crate) const STICKY_CONVERSATIONS_MAX: usize = 10_000;
/// Bytes of answers that wait for callers who read too slowly, all turns of one worker together. Over it, the turn with
/// most of them is ended.
pub(crate) const UNREAD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What each line that waits takes in memory beside its bytes.
pub(crate) const UNREAD_LINE_BYTES: usize = 256;
/// Bytes that wait to be read by one worker, one line alone aside. Over it, it is given no message any more, and is ended
/// once its turns are over.
pub(crate) const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes beyond them of what its open turns are told, such as results of calls. Over it, it is ended.
pub(crate) const INPUT_MORE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Models of one agent's program that are told apart in metrics.
pub(crate) const PROGRAM_MODELS_MAX: usize = 16;
/// Lines that a program may write into the log with `log` during one answer.
pub(crate) const LOG_LINES_MAX: u32 = 100;
/// Characters by which a program names a call or a file within one answer.
pub(crate) const PROGRAM_ID_CHARS_MAX: usize = 64;
/// Files of one answer that a program hands over in pieces at once.
pub(crate) const OPEN_ARTIFACTS_MAX: usize = 32;
/// Keys that nobody knows of which the operator is warned, for one agent.
pub(crate) const KEYS_WARNED_MAX: usize = 100;
/// Notes of one answer of a program: what is read of them fits into a pipe, so that a program which reads nothing of
/// it is not waited for.
pub const PROGRAM_NOTES_MAX: u64 = 1_000;
/// Words of a command, the program included.
pub(crate) const COMMAND_WORDS_MAX: usize = 256;
/// Variables that the settings give to a program.
pub(crate) const VARIABLES_MAX: usize = 256;
/// How long a program that has answered may go on before it is ended.
pub(crate) const TIDY_TIME_MAX: Duration = Duration::from_secs(5);
/// Lines of a program's standard error that reach the log during one answer.
pub(crate) const STDERR_LINES_MAX: u32 = 100;
/// Bytes of such a line.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 1024;
