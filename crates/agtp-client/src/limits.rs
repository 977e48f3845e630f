//! Every bound of the client and of the check of manifests, with its unit.

use std::time::Duration;

/// Bytes of the body of an answer. The manifest of 1,223 endpoints that were imported from GitHub has 8.4 MB.
pub(crate) const ANSWER_BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long an answer may take from its first byte to its last.
pub(crate) const ANSWER_REST_TIME_MAX: Duration = Duration::from_secs(60);
/// Connections to one server that a client keeps for the next request.
pub(crate) const KEPT_PER_SERVER_MAX: usize = 4;
/// Connections that a client keeps in all.
pub(crate) const KEPT_MAX: usize = 64;
/// How long a client keeps a connection: less than the 60 seconds after which servers close it. Base 1.
pub(crate) const KEPT_TIME_MAX: Duration = Duration::from_secs(45);
/// Requests that a client sends without waiting for answers.
pub(crate) const PIPELINED_MAX: usize = 64;
/// Things that are told about one manifest.
pub(crate) const MANIFEST_FINDINGS_MAX: usize = 1_000;
