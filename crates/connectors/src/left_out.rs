//! Files that are not sent as such, in words: those of an answer that go by links, and those of a question that were too
//! large to be taken.

use forecourt_core::part::FileSource;
use forecourt_core::{CollectedReply, Error, File};
use forecourt_correspondence::{FileLinks, Outgoing};
use forecourt_pages::bytes_said;
use forecourt_pages::markdown::literal;
use forecourt_sentences::Sentences;

use crate::address::{ChatAddress, say};
use crate::answer::uploads;
use crate::chat::ChatMessage;
use crate::limits::{FILE_BYTES_MAX, FILES_NAMED_MAX, FILES_PER_ANSWER_MAX};
use crate::platform::Platform;
use crate::records::SentItem;

/// The files of a message that are too large to be taken, with their bytes.
pub(crate) fn too_large(message: &ChatMessage) -> Vec<(String, u64)> {
    let large = message.files.iter().filter(|file| file.size_bytes > FILE_BYTES_MAX);
    large.map(|file| (file.name.clone(), file.size_bytes)).take(FILES_NAMED_MAX).collect()
}

/// The files of an answer that are uploaded, each with its number among all.
pub(crate) fn sent_as_files<'a>(
    reply: &'a CollectedReply,
    sent: &[SentItem],
) -> impl Iterator<Item = (usize, &'a File)> {
    uploads(reply).enumerate().filter(|(at, file)| !goes_by_link(*at, *file, sent)).map(|(_, file)| file)
}

/// Whether a file, the one of this place among those without an address, is too large, one too many, or was refused.
fn goes_by_link(at: usize, (number, file): (usize, &File), sent: &[SentItem]) -> bool {
    let is_large = file.size_bytes.is_some_and(|size| size > FILE_BYTES_MAX);
    is_large || at >= FILES_PER_ANSWER_MAX || sent.contains(&SentItem::Refused(number))
}

/// What is told of files: a line for each.
pub(crate) async fn about_files<P: Platform>(
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    reply: &CollectedReply,
    sent: &[SentItem],
) -> Result<Vec<String>, Error> {
    let (letter, say) = (outgoing.letter, say(outgoing.letter));
    let mut lines = Vec::new();
    let left: Vec<(usize, (usize, &File))> =
        uploads(reply).enumerate().filter(|(at, file)| goes_by_link(*at, *file, sent)).collect();
    for (_, (_, file)) in left.iter().take(FILES_NAMED_MAX) {
        lines.push(about_file(outgoing, file, say).await?);
    }
    if left.len() > FILES_NAMED_MAX {
        lines.push(say.files_not_sent(&(left.len() - FILES_NAMED_MAX)));
    }
    let max = bytes_said(FILE_BYTES_MAX);
    for (name, size) in &letter.address.too_large {
        lines.push(say.file_not_taken(&literal(name), &size_said(*size), &max));
    }
    Ok(lines)
}

async fn about_file<P: Platform>(
    outgoing: &Outgoing<'_, ChatAddress<P>>,
    file: &File,
    say: Sentences,
) -> Result<String, Error> {
    let name = literal(file.name.as_deref().unwrap_or("file"));
    let size = bytes_said(file.size_bytes.unwrap_or_default());
    let (FileSource::Kept, Some(id), Some(task)) = (&file.source, &file.id, outgoing.task) else {
        return Ok(say.file_not_sent(&name, &size));
    };
    let host = outgoing.desk.host();
    match FileLinks::of(host, P::KIND).make(outgoing.letter, task, id).await {
        Ok(token) => {
            let connector = outgoing.letter.address.connector.as_str();
            let path = P::FILES_PATH.replace("{name}", connector).replace("{token}", &token);
            let url = format!("{}{path}", host.site().base);
            let until = task.expires_at.strftime("%H:%M UTC").to_string();
            Ok(say.file_by_link(&name, &size, &url, &until))
        }
        // Who asked keeps as much as may be.
        Err(Error::Full { .. }) => Ok(say.file_not_sent(&name, &size)),
        Err(error) => Err(error),
    }
}

/// Platforms need not say how large a file is.
fn size_said(size: u64) -> String {
    if size == u64::MAX { format!("> {}", bytes_said(FILE_BYTES_MAX)) } else { bytes_said(size) }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use forecourt_core::{Ending, Part};

    use super::*;
    use crate::chat::{ChatFile, Place};

    fn file(size: u64) -> Part {
        let file = File::inline("text/plain".to_owned(), Some("a.txt".to_owned()), Bytes::from_static(b"x"));
        Part::File(File { size_bytes: Some(size), ..file })
    }

    fn as_files(sizes: &[u64], sent: &[SentItem]) -> Vec<usize> {
        let reply = CollectedReply::new(sizes.iter().map(|size| file(*size)).collect(), Ending::Complete);
        sent_as_files(&reply, sent).map(|(number, _)| number).collect()
    }

    #[test]
    fn so_many_files_of_such_a_size_are_sent_and_others_go_by_links() {
        assert_eq!(as_files(&[FILE_BYTES_MAX, FILE_BYTES_MAX + 1, 1], &[]), [0, 2]);
        assert_eq!(as_files(&[1; FILES_PER_ANSWER_MAX + 1], &[]).len(), FILES_PER_ANSWER_MAX);
        assert_eq!(as_files(&[1, 1], &[SentItem::Refused(0), SentItem::File(1)]), [1]);
    }

    #[test]
    fn files_that_are_too_large_are_said_to_be_so_many_of_them() {
        let file = |size_bytes| ChatFile { url: String::new(), name: "a".to_owned(), mime: String::new(), size_bytes };
        let of = |sizes: &[u64]| {
            let message = ChatMessage { files: sizes.iter().map(|size| file(*size)).collect(), ..message() };
            too_large(&message)
        };
        let over = FILE_BYTES_MAX + 1;
        assert_eq!(of(&[1, FILE_BYTES_MAX, over]), [("a".to_owned(), over)]);
        assert_eq!(of(&[over; FILES_NAMED_MAX]).len(), FILES_NAMED_MAX);
        assert_eq!(of(&[over; FILES_NAMED_MAX + 1]).len(), FILES_NAMED_MAX);
    }

    fn message() -> ChatMessage {
        ChatMessage {
            place: Place::default(),
            message: "1".to_owned(),
            group: String::new(),
            user: "U1".to_owned(),
            profile: None,
            text: String::new(),
            mentions_connector: true,
            is_for_others: false,
            replies_to: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn a_size_that_nobody_said_is_more_than_may_be() {
        assert_eq!((size_said(u64::MAX), size_said(9 << 20)), ("> 8.0 MiB".to_owned(), "9.0 MiB".to_owned()));
    }
}
