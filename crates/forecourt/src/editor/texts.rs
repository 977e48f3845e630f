//! Which files may be changed, and their texts on disk.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use forecourt_admin::editor::{EditError, Texts, changed_files};

use super::limits::{DEPTH_MAX, FILE_BYTES_MAX, FILES_MAX, NAME_CHARS_MAX, TEXTS_BYTES_MAX};

/// Folders whose files may be changed, beside files right in the deployment's folder.
const FOLDERS: [&str; 8] = ["agents", "connectors", "endpoints", "hubs", "prompts", "recipes", "servers", "vocabulary"];
/// Kinds of files that may be changed: settings, contracts and prompts. Programs and content are not.
const EXTENSIONS: [&str; 5] = ["json", "md", "toml", "yaml", "yml"];

/// The files of a deployment that may be changed. Those in its data folder are not among them. Blocks.
pub(super) fn read(folder: &Path, data: &Path) -> Result<Texts, EditError> {
    let mut texts = Texts::new();
    collect(folder, folder, data, &mut texts)?;
    for inside in FOLDERS {
        walk(folder, &folder.join(inside), data, &mut texts)?;
    }
    are_within_bounds(&texts)?;
    Ok(texts)
}

fn walk(root: &Path, folder: &Path, data: &Path, texts: &mut Texts) -> Result<(), EditError> {
    let depth = folder.strip_prefix(root).map_or(0, |inside| inside.components().count());
    if depth > DEPTH_MAX || !folder.is_dir() || folder.starts_with(data) {
        return Ok(());
    }
    for inside in collect(root, folder, data, texts)? {
        walk(root, &inside, data, texts)?;
    }
    Ok(())
}

/// Takes in the files right in a folder; the folders in it.
fn collect(root: &Path, folder: &Path, data: &Path, texts: &mut Texts) -> Result<Vec<PathBuf>, EditError> {
    let unreadable =
        |error: std::io::Error| EditError::Unavailable(format!("{} can't be read: {error}", folder.display()));
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        if path.starts_with(data) {
            continue;
        }
        if path.is_dir() {
            folders.push(path);
        } else if is_editable(name).is_ok() && texts.len() <= FILES_MAX {
            // One that is too long, or no text, is left alone: it is changed where it is.
            let long = path.metadata().is_ok_and(|is| is.len() > FILE_BYTES_MAX as u64);
            if let (false, Ok(text)) = (long, fs::read_to_string(&path)) {
                texts.insert(name.to_owned(), text);
            }
        }
    }
    Ok(folders)
}

/// Whether a file of this name may be changed.
///
/// # Errors
/// Why not.
pub(super) fn is_editable(name: &str) -> Result<(), EditError> {
    let parts: Vec<&str> = name.split('/').collect();
    let is_plain = |part: &&str| {
        let is_of_words = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
        !part.is_empty() && !part.starts_with('.') && is_of_words
    };
    let extension = name.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    let is_there = parts.len() == 1 || FOLDERS.contains(&parts[0]);
    let is_fine = name.len() <= NAME_CHARS_MAX
        && parts.len() <= DEPTH_MAX + 1
        && parts.iter().all(is_plain)
        && is_there
        && EXTENSIONS.contains(&extension);
    if is_fine {
        return Ok(());
    }
    Err(EditError::Invalid(format!(
        "`{name}` is no file that is changed from here: those are {} in the deployment's folder or in {}, with names of \
         letters, digits, `.`, `-` and `_`",
        EXTENSIONS.map(|extension| format!("*.{extension}")).join(", "),
        FOLDERS.join(", "),
    )))
}

/// Whether files are few and short enough.
///
/// # Errors
/// Which bound they are over.
pub(super) fn are_within_bounds(texts: &Texts) -> Result<(), EditError> {
    let over = |what: String| Err(EditError::Invalid(format!("{what}: change them where they are")));
    if let Some((name, _)) = texts.iter().find(|(_, text)| text.len() > FILE_BYTES_MAX) {
        return over(format!("`{name}` has more than {FILE_BYTES_MAX} bytes"));
    }
    if texts.len() > FILES_MAX {
        return over(format!("there are more than {FILES_MAX} files"));
    }
    match texts.values().map(String::len).sum::<usize>() > TEXTS_BYTES_MAX {
        true => over(format!("the files have more than {TEXTS_BYTES_MAX} bytes in all")),
        false => Ok(()),
    }
}

/// Makes the files of a folder from one state another. Each file is the old or the new one at any time. Where one can't be
/// written, those before it are put back. Blocks.
pub(super) fn write(folder: &Path, before: &Texts, now: &Texts) -> Result<(), EditError> {
    let mut written: Vec<String> = Vec::new();
    for name in changed_files(before, now) {
        let done = set(&folder.join(&name), now.get(&name).map(String::as_str));
        if let Err(error) = done {
            let kept: Vec<String> = written.into_iter().filter(|name| set_as(folder, name, before).is_err()).collect();
            let then = match kept.is_empty() {
                true => "nothing was changed".to_owned(),
                false => format!("{} could not be put back and must be by hand", kept.join(", ")),
            };
            return Err(EditError::Unavailable(format!("`{name}` can't be written: {error}; {then}")));
        }
        written.push(name);
    }
    Ok(())
}

/// Puts files back as they were before a change that was refused. Those that somebody else has changed since are left as
/// they are. Blocks.
pub(super) fn put_back(folder: &Path, written: &Texts, before: &Texts) -> Result<(), EditError> {
    let is_ours = |name: &String| fs::read_to_string(folder.join(name)).ok().as_ref() == written.get(name);
    let names = changed_files(written, before).into_iter().filter(is_ours);
    let kept: Vec<String> = names.filter(|name| set_as(folder, name, before).is_err()).collect();
    match kept.is_empty() {
        true => Ok(()),
        false => Err(EditError::Unavailable(format!(
            "the change was refused, and {} could not be put back: a restart would read what is wrong",
            kept.join(", ")
        ))),
    }
}

/// Has a file say what it says in a state of the files.
fn set_as(folder: &Path, name: &str, texts: &Texts) -> std::io::Result<()> {
    let done = set(&folder.join(name), texts.get(name).map(String::as_str));
    done.inspect_err(|error| tracing::error!(%error, file = name, "a file could not be put back"))
}

/// Has a file say this, or takes it away.
fn set(path: &Path, text: Option<&str>) -> std::io::Result<()> {
    let Some(text) = text else { return fs::remove_file(path) };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Behind a link, as configuration is often mounted, the file that it leads to is written and the link stays.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut beside = tempfile::Builder::new().prefix(".").tempfile_in(path.parent().unwrap_or(folder))?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    // As open or closed as the one before.
    if let Ok(is) = fs::metadata(&path) {
        beside.as_file().set_permissions(is.permissions())?;
    }
    beside.persist(&path)?;
    Ok(())
}
