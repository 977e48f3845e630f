//! Under which names a node's statements on how far its log is are kept in a store that outlives it.

/// Whose streams they are.
pub const ANCHORS: &str = "records";
/// The field of an entry with the signed statement.
pub const MARK: &str = "mark";

/// The stream with the statements of a node. The last entry counts.
pub fn anchor_stream(node: &str) -> String {
    format!("of-node:{node}")
}
