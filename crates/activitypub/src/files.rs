//! Files of an answer in words: a note carries pictures by their addresses, and everything else by links.

use forecourt_core::part::FileSource;
use forecourt_core::{CollectedReply, Error, File, Part, Task};
use forecourt_correspondence::FileLinks;
use forecourt_host::Host;
use forecourt_pages::bytes_said;
use forecourt_pages::markdown::literal;
use forecourt_sentences::Sentences;

use crate::NAME;
use crate::letter::Letter;
use crate::limits::FILES_MAX;
use crate::names;

/// What is told of files that a note does not carry: a line for each.
pub(crate) async fn about_files(
    host: &Host,
    letter: &Letter,
    (reply, task): (&CollectedReply, Option<&Task>),
    say: Sentences,
) -> Result<Vec<String>, Error> {
    let left: Vec<&File> = reply.parts.iter().filter_map(left_out).collect();
    let mut lines = Vec::new();
    for file in left.iter().take(FILES_MAX) {
        lines.push(about_file(host, letter, file, task, say).await?);
    }
    if left.len() > FILES_MAX {
        lines.push(say.files_not_sent(&(left.len() - FILES_MAX)));
    }
    Ok(lines)
}

/// A file that is no picture with an address.
pub(crate) fn left_out(part: &Part) -> Option<&File> {
    let Part::File(file) = part else { return None };
    let is_carried = file.mime.starts_with("image/") && matches!(file.source, FileSource::Url { .. });
    Some(file).filter(|_| !is_carried)
}

async fn about_file(
    host: &Host,
    letter: &Letter,
    file: &File,
    task: Option<&Task>,
    say: Sentences,
) -> Result<String, Error> {
    let name = literal(file.name.as_deref().unwrap_or("file"));
    let size = bytes_said(file.size_bytes.unwrap_or_default());
    let (id, task) = match (&file.source, &file.id, task) {
        (FileSource::Url { url, .. }, ..) => return Ok(format!("[{name}]({url})")),
        (FileSource::Kept, Some(id), Some(task)) => (id, task),
        _ => return Ok(say.file_not_sent(&name, &size)),
    };
    match FileLinks::of(host, NAME).make(letter, task, id).await {
        Ok(token) => {
            let (url, until) = (names::file(host.site(), &token), task.expires_at.strftime("%H:%M UTC").to_string());
            Ok(say.file_by_link(&name, &size, &url, &until))
        }
        // Who asked keeps as much as may be.
        Err(Error::Full { .. }) => Ok(say.file_not_sent(&name, &size)),
        Err(error) => Err(error),
    }
}
