//! What nodes tell each other about, over [`forecourt_core::Bus`]: hints, each of which somebody who missed it finds
//! out from the store within the time that stands here.

use forecourt_core::TaskId;

use forecourt_issuance::sha256_hex;

/// The deployment's files are to be read again. Nobody looks by itself what others have read.
pub const RELOAD: &str = "reload";
/// An agent stands elsewhere in its life; the message is its handle. Else heard within
/// [`crate::STANDING_AGE_MAX`].
pub const LIFECYCLE: &str = "lifecycle";
/// A task was cancelled whose agent works on another node; the message is the hash of its id. Else heard with the
/// next heartbeat.
pub const CANCEL: &str = "cancel";
/// A question to the operator was asked or answered. Nobody keeps what the queue holds.
pub const QUEUE: &str = "operator-queue";
/// What a caller took of its limits; read by the counters of rates. Never heard of otherwise: see the bound there.
pub(crate) const RATES: &str = "rates";

/// News of one task's log. Named by the hash of its id, which is a capability and stays off the bus. Else followers
/// look every two seconds.
pub fn task(id: &TaskId) -> String {
    task_of(&task_hash(id))
}

/// The topic of the task whose id has this hash.
pub(crate) fn task_of(hash: &str) -> String {
    format!("task.{hash}")
}

/// The hash that names a task where its id, a capability, must not appear.
pub(crate) fn task_hash(id: &TaskId) -> String {
    sha256_hex(id.expose().as_bytes())
}
