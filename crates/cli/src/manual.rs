//! The manual that the program carries in itself, so that it can explain itself anywhere.

use std::io;
use std::path::{Path, PathBuf};

/// Its pages: name and text.
const PAGES: &[(&str, &str)] = &[];

/// What a search backend calls it: `content = ["builtin:manual"]`.
pub(crate) const NAME: &str = "manual";

/// Where it is unpacked.
pub(crate) fn folder(data: &Path) -> PathBuf {
    data.join("manual")
}

/// Puts the manual into `data` for the search backend, rewriting only what has changed.
pub(crate) fn unpack(data: &Path) -> io::Result<()> {
    let folder = folder(data);
    std::fs::create_dir_all(&folder)?;
    for (name, text) in PAGES {
        let file = folder.join(name);
        if std::fs::read_to_string(&file).ok().as_deref() != Some(*text) {
            std::fs::write(&file, text)?;
        }
    }
    Ok(())
}
