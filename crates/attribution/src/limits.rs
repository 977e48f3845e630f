//! Every bound of the records, with its unit.

use std::time::Duration;

/// Bytes of the payload of one record. What callers name is bounded where it is read; this is what all of it may be
/// together.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one frame in a segment: a record in base64 with its header and signature, and what stands before it.
pub const FRAME_BYTES_MAX: usize = 32 * 1024;
/// Records and events that wait to be written. Over it callers are told so, and nothing waits.
pub const QUEUE_MAX: usize = 4_096;
/// Records that are written in one go.
pub const GROUP_MAX: usize = 512;
/// Bytes of a segment, unless the operator says otherwise. One is sealed once it has that many.
pub const SEGMENT_BYTES_DEFAULT: u64 = 64 * 1024 * 1024;
/// The fewest bytes that a segment may be set to.
pub const SEGMENT_BYTES_MIN: u64 = 64 * 1024;
/// The most: places within a segment are 32-bit numbers, and one segment is looked through when a server starts.
pub const SEGMENT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Heads of chains at hand whose agents have no record in the open segment. Over it they are looked up anew.
pub(crate) const HEADS_MAX: usize = 65_536;
/// Parts in which the heads of chains in a store lie: records of agents in one part take turns within a node.
pub(crate) const CHAIN_TURNS: usize = 64;
/// How often a record is signed anew behind those that other nodes wrote meanwhile, until its caller is told that too
/// much is going on.
pub(crate) const STORED_APPENDS_MAX: usize = 64;
/// Records of a chain that are read in one go.
pub const CHAIN_READ_MAX: usize = 1_000;
/// How long written records wait to be synced to the disk, unless each group is.
pub(crate) const SYNC_INTERVAL: Duration = Duration::from_millis(900);
/// How long nothing is tried again after the disk failed.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Earlier actions that one record names.
pub const PRIOR_ACTIONS_MAX: usize = 16;
/// Bytes of the address of an agent in an earlier action.
pub const AGENT_URI_BYTES_MAX: usize = 512;
/// Keys that records were signed with and that are kept for whoever verifies them.
pub const KEYS_MAX: usize = 256;
/// Findings that a verification tells in full; the others are counted.
pub(crate) const FINDINGS_MAX: usize = 1_000;
/// Bytes that all records have together, unless the operator says otherwise: some nine million.
pub const SIZE_MAX_DEFAULT: u64 = 10 * 1024 * 1024 * 1024;
