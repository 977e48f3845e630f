//! Every bound of these documents, with its unit.

use std::time::Duration;

/// Agents that one document lists. Further ones are in the directories of the protocols, which go on by pages.
pub(super) const AGENTS_LISTED_MAX: usize = 1_000;
/// Bytes of one file of `public/`. A longer one is not served.
pub(super) const PUBLIC_FILE_BYTES_MAX: u64 = 512 * 1024;
/// How long others may keep what they read here.
pub(super) const FRESH: Duration = Duration::from_secs(300);
