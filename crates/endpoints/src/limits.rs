//! Every bound of what answers endpoints, with its unit.

use std::time::Duration;

/// Bytes of a form that is sent to such a service, in brackets and percent signs: names stand before each value.
pub const FORM_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Characters of what such a service says of a failure, as callers learn it.
pub const REASON_CHARS_MAX: usize = 300;
/// Bytes of an answer in which such a reason is looked for.
pub const REASON_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the input of one step of a composition: as much as a call from outside may bring.
pub const STEP_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of the results of all steps of one run of a composition.
pub const RESULTS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Processes that run Python functions.
pub(crate) const WORKERS_MAX: usize = 64;
/// Such processes, unless the settings say otherwise.
pub(crate) const WORKERS_DEFAULT_MAX: usize = 4;
/// Megabytes of address space that such a process needs at least.
pub(crate) const FUNCTION_MEMORY_MB_MIN: u64 = 64;
/// Megabytes of address space that such a process may be given.
pub(crate) const FUNCTION_MEMORY_MB_MAX: u64 = 1024 * 1024;
/// Variables that the settings give to functions.
pub(crate) const FUNCTION_VARIABLES_MAX: usize = 256;
/// Seconds that the import of a module may be given.
pub(crate) const IMPORT_SECONDS_MAX: u64 = 600;
/// How long a call may take before it makes room for others.
pub const LONG_CALL_AFTER: Duration = Duration::from_secs(1);
/// Calls that have made room and still run, times the processes that the settings allow.
pub const LONG_CALLS_PER_WORKER: usize = 3;
/// Calls that wait for a process. One more fails.
pub(crate) const FUNCTION_CALLS_WAITING_MAX: usize = 256;
/// Bytes of JSON of what a function returns, as much as an answer of ours may have.
pub const FUNCTION_RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Lines that functions print and that reach the log during one call.
pub const FUNCTION_LINES_MAX: u32 = 200;
/// Bytes of such a line.
pub(crate) const FUNCTION_LINE_BYTES_MAX: usize = 1024;
/// Python files whose edits are noticed.
pub(crate) const FUNCTION_FILES_MAX: usize = 2_000;
/// Other files and folders between them that are passed over on the way.
pub(crate) const FUNCTION_ENTRIES_MAX: usize = 2_000;
/// Folders within folders in which they are.
pub(crate) const FUNCTION_FOLDERS_DEEP_MAX: usize = 8;
/// How long a process whose call is out of time may take to say where it hangs.
pub(crate) const WORKER_LAST_WORDS_TIME_MAX: Duration = Duration::from_millis(500);
/// How long after that a process ends itself, should nobody have ended it.
pub(crate) const WATCHDOG_DELAY: Duration = Duration::from_millis(50);
/// Crashes in a row after which processes are replaced at once.
pub(crate) const CRASHES_FREE: u32 = 3;
/// The first pause before one is replaced.
pub(crate) const RESTART_PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest such pause.
pub(crate) const RESTART_PAUSE_MAX: Duration = Duration::from_secs(5);
