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
/// Characters of what was sent or came that a finding shows.
pub const SHOWN_CHARS_MAX: usize = 700;
/// Characters of a reason.
pub const REASON_CHARS_MAX: usize = 300;
/// Things that a finding names before it says how many more there are.
pub const NAMED_MAX: usize = 4;
/// Endpoints that a check calls.
pub(crate) const ENDPOINTS_TRIED_MAX: usize = 3;
/// Requests for contracts by which the rate limit is looked for.
pub(crate) const EVALUATIONS_MAX: usize = 61;
/// Endpoints of a manifest that are looked at.
pub(crate) const ENDPOINTS_READ_MAX: usize = 10_000;
