//! Several nodes of one deployment keep a log each: every record says which node's, and by its name the head of each log
//! is found in the store of all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::error::LogError;

/// Where the name is, beside the records.
const FILE: &str = "node";
/// Characters of a name.
const NAME_CHARS_MAX: usize = 64;

/// The name of the node whose records are in a folder; `None`: it was alone so far.
///
/// # Errors
/// The file can't be read, or holds no name.
pub fn node_name(folder: &Path) -> Result<Option<String>, LogError> {
    let path = folder.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LogError::io(&path)(error)),
    };
    let name = text.trim_end();
    let is_name = !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(|b| b.is_ascii_alphanumeric());
    match is_name {
        true => Ok(Some(name.to_owned())),
        false => Err(LogError::damaged(&path, 0, "it holds no name of a node")),
    }
}

/// The same; a folder without a name has this one from now on.
pub(crate) fn name_folder(folder: &Path, name: &str) -> Result<String, LogError> {
    if let Some(known) = node_name(folder)? {
        return Ok(known);
    }
    let path = folder.join(FILE);
    // A folder keeps its name for good: records that are signed under it would otherwise speak of another node.
    let made = OpenOptions::new().create_new(true).write(true).open(&path);
    made.and_then(|mut file| writeln!(file, "{name}").and_then(|()| file.sync_all())).map_err(LogError::io(&path))?;
    Ok(name.to_owned())
}
