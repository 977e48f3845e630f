//! Bounds of changing a deployment's files.

/// Bytes of one file: as a form it must fit into a body of the operator's listener.
pub(super) const FILE_BYTES_MAX: usize = 64 * 1024;
/// Files in all.
pub(super) const FILES_MAX: usize = 2_000;
/// Bytes of all files.
pub(super) const TEXTS_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Folders within folders.
pub(super) const DEPTH_MAX: usize = 4;
/// Characters of a name of a file, with its folders.
pub(super) const NAME_CHARS_MAX: usize = 200;
/// Versions that are kept.
pub(super) const VERSIONS_MAX: usize = 50;
/// Bytes of all versions that are kept.
pub(super) const VERSIONS_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Entries beside a deployment's folder that a draft can reach as well.
pub(super) const NEIGHBOURS_MAX: usize = 1_000;
