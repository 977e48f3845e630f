//! A folder may have a name, that of a node which once was one of several: every record says whose it is, and by that
//! name the head of the log is found in the store.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::LogError;

/// Where the name is, beside the records.
const FILE: &str = "node";
/// Characters of a name.
const NAME_CHARS_MAX: usize = 64;

/// The name of the node whose records are in a folder; `None`: it has none.
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
