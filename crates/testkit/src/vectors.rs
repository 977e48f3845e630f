//! Public test data: read where it lies, skipped aloud when it is not there.

use std::path::{Path, PathBuf};

/// The folder of vectors: `AGENT_VECTORS`, else the nearest `shared/vectors` beside this crate or
/// beside a folder that it lies in. Need not exist.
pub fn vectors_dir() -> PathBuf {
    match std::env::var_os("AGENT_VECTORS") {
        Some(dir) => PathBuf::from(dir),
        None => nearest(Path::new(env!("CARGO_MANIFEST_DIR"))),
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

fn nearest(start: &Path) -> PathBuf {
    let beside = |folder: &Path| folder.join("shared/vectors");
    start.ancestors().map(beside).find(|dir| dir.is_dir()).unwrap_or_else(|| beside(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_is_missing_is_skipped() {
        assert_eq!(vectors("no/such/set.json"), None);
    }

    #[test]
    fn the_nearest_folder_above_is_taken() {
        let root = std::env::temp_dir().join(format!("forecourt-vectors-{}", std::process::id()));
        let crate_dir = root.join("project/crates/one");
        std::fs::create_dir_all(&crate_dir).unwrap();
        std::fs::create_dir_all(root.join("shared/vectors")).unwrap();
        assert_eq!(nearest(&crate_dir), root.join("shared/vectors"));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
