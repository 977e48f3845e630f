//! Every bound of a run, with its unit.

use std::time::Duration;

/// Exchanges that a check may wait for before it is given up.
pub(crate) const EXCHANGES_WAITED_MAX: u32 = 8;
/// How long a whole run may take. What has not begun by then is skipped.
pub(crate) const RUN_TIME_MAX: Duration = Duration::from_secs(600);
/// Checks in a row that got no answer at all, after which the others are skipped.
pub const SILENT_IN_A_ROW_MAX: usize = 3;
/// Bytes of the head of an answer.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Fields in the head of an answer.
pub const FIELDS_MAX: usize = 200;
/// Bytes of the body of an answer: more than a large manifest has.
pub const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Characters of one line of a head that a finding shows: tokens and policies of pages are longer than anybody reads.
pub const SHOWN_HEAD_LINE_CHARS_MAX: usize = 160;
/// Lines of a head that a finding shows.
pub const SHOWN_HEAD_LINES_MAX: usize = 40;
/// Characters of a body that a finding shows.
pub const SHOWN_BODY_CHARS_MAX: usize = 8 * 1024;
/// Characters of a reason.
pub const REASON_CHARS_MAX: usize = 300;
/// Bytes of a file of what is known: a report of all checks has far less.
pub const KNOWN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Things that a finding names before it says how many more there are.
pub const NAMED_MAX: usize = 4;
/// Bytes of a certificate that is read.
pub(crate) const CERTIFICATE_BYTES_MAX: usize = 64 * 1024;
/// How long a host may ask to be left alone (`Retry-After`) before a request is sent again. Longer waits are not waited.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);
/// Times that a request is sent again to a host that is busy.
pub const RETRIES_MAX: usize = 3;
/// Endpoints that a check calls.
pub(crate) const ENDPOINTS_TRIED_MAX: usize = 3;
/// Requests for contracts by which the rate limit is looked for.
pub(crate) const EVALUATIONS_MAX: usize = 61;
/// Endpoints of a manifest that are looked at.
pub(crate) const ENDPOINTS_READ_MAX: usize = 10_000;
