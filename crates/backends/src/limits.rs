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
