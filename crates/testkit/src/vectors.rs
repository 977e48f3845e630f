//! Public test data: read where it lies, skipped aloud when it is not there.

use std::path::{Path, PathBuf};

/// The folder of vectors: `AGENT_VECTORS`, else `../shared/vectors` beside the workspace.
pub fn vectors_dir() -> PathBuf {
    match std::env::var_os("AGENT_VECTORS") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
    }
}

/// The bytes of one vector file, or `None` with a line that says that its set is missing.
pub fn vectors(path: &str) -> Option<Vec<u8>> {
    let file = vectors_dir().join(path);
    match std::fs::read(&file) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            eprintln!("skipped: no vectors at {} ({error})", file.display());
            None
        }
    }
}
