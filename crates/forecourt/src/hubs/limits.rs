//! Bounds of following hubs elsewhere.

use std::time::Duration;

/// Hubs of one deployment.
pub(crate) const HUBS_MAX: usize = 100;
/// Patterns in one key of a hub.
pub(crate) const PATTERNS_MAX: usize = 100;
/// Seconds from one look at a hub to the next, at least.
pub(crate) const REFRESH_SECONDS_MIN: u64 = 30;
/// Seconds from one look at a hub to the next, at most.
pub(crate) const REFRESH_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Bytes of a kept list: a thousand agents of 32 KiB, and how they are written.
pub(crate) const LIST_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Hubs that are looked at at once.
pub(crate) const LOOKS_AT_ONCE: usize = 4;
/// The pause from one time that hubs have a deployment built again to the next.
pub(crate) const RELOAD_PAUSE: Duration = Duration::from_secs(10);
/// How long after a look that failed the hub is tried again; each further one doubles it, up to its `refresh_seconds`.
pub(crate) const RETRY_FIRST: Duration = Duration::from_secs(5);
/// How long a hub that asks for it is left alone, at most.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60 * 60);
/// How long a list that goes on to be the same lies as it is in the data folder, with the time at which it was seen.
pub(crate) const SEEN_AT_AGE_MAX: Duration = Duration::from_secs(60 * 60);
/// Looks in a row that have to find more than half of the agents gone before that is believed.
pub(crate) const SHRUNK_LOOKS: u32 = 3;
/// Agents of a hub that are left out and that the operator is told of one by one.
pub(crate) const LEFT_OUT_MAX: usize = 20;
