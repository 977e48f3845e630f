//! Files that the operator puts into `public/` of the deployment, under a few fixed names.

use std::fs;
use std::path::Path;

use super::limits::PUBLIC_FILE_BYTES_MAX;

/// The folder, in the deployment's own.
const FOLDER: &str = "public";

/// The operator's own file of this name, as text. `None` where there is none; what can't be served is told in
/// the log, since callers then get what is made here.
pub(crate) fn public_file(deployment: &Path, name: &str) -> Option<String> {
    let path = deployment.join(FOLDER).join(name);
    let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
    if size > PUBLIC_FILE_BYTES_MAX {
        tracing::warn!(file = %path.display(), size, "not served: at most {PUBLIC_FILE_BYTES_MAX} bytes");
        return None;
    }
    match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            tracing::warn!(file = %path.display(), %error, "not served");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_operator_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let public = folder.path().join(FOLDER);
        fs::create_dir_all(&public).unwrap();
        let write = |bytes: u64| fs::write(public.join("llms.txt"), "x".repeat(bytes as usize)).unwrap();
        assert_eq!(public_file(folder.path(), "llms.txt"), None);
        write(PUBLIC_FILE_BYTES_MAX);
        assert_eq!(public_file(folder.path(), "llms.txt").map(|text| text.len() as u64), Some(PUBLIC_FILE_BYTES_MAX));
        write(PUBLIC_FILE_BYTES_MAX + 1);
        assert_eq!(public_file(folder.path(), "llms.txt"), None);
        fs::write(public.join("robots.txt"), [0xff, 0xfe]).unwrap();
        assert_eq!(public_file(folder.path(), "robots.txt"), None, "what is not text is not served");
        assert_eq!(public_file(folder.path(), "."), None);
    }
}
