//! What of an answer is a message, and what a file.

use forecourt_core::part::FileSource;
use forecourt_core::{CollectedReply, Ending, File, Part};
use forecourt_correspondence::answer_in_words;
use forecourt_pages::markdown::{Marks, to_blocks};

use crate::limits::FILES_PER_ANSWER_MAX;
use crate::split::split;

/// The messages of an answer. None where there is nothing to tell, or nothing but files.
pub(crate) fn texts(reply: &CollectedReply, marks: &dyn Marks, chars_max: usize) -> Vec<String> {
    let Some(mut words) = answer_in_words(reply) else { return Vec::new() };
    let has_words = reply.parts.iter().any(|part| forecourt_correspondence::part_in_words(part).is_some());
    if !has_words && files(reply).next().is_some() && matches!(reply.ending, Ending::Complete) {
        words.clear();
    }
    for file in files(reply) {
        if let FileSource::Url { url, .. } = &file.source {
            let name = file.name.as_deref().unwrap_or(url);
            words.push_str(&format!("\n\n[{}]({url})", name.replace(['[', ']'], "")));
        }
    }
    let more: Vec<&str> = uploads(reply)
        .skip(FILES_PER_ANSWER_MAX)
        .map(|(_, file)| file.name.as_deref().unwrap_or("a file without a name"))
        .take(FILES_PER_ANSWER_MAX)
        .collect();
    if !more.is_empty() {
        words.push_str(&format!("\n\nNot sent, since there are too many files: {}", more.join(", ")));
    }
    split(&to_blocks(&words, marks), chars_max)
}

fn files(reply: &CollectedReply) -> impl Iterator<Item = &File> {
    let file = |part: &'_ Part| matches!(part, Part::File(_));
    reply.parts.iter().filter(move |part| file(part)).filter_map(|part| match part {
        Part::File(file) => Some(file),
        _ => None,
    })
}

/// Those that are sent as files, and not by their addresses, each with its number among all.
pub(crate) fn uploads(reply: &CollectedReply) -> impl Iterator<Item = (usize, &File)> {
    files(reply).enumerate().filter(|(_, file)| !matches!(file.source, FileSource::Url { .. }))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::tests::NoMarks;

    /// How many files of an answer are sent as such, and what it says.
    fn sent(files: usize) -> (usize, String) {
        let file = |number: usize| {
            let name = Some(format!("f{number}.txt"));
            Part::File(File::inline("text/plain".to_owned(), name, Bytes::from_static(b"x")))
        };
        let parts = std::iter::once(Part::text("Here.")).chain((0..files).map(file)).collect();
        let reply = CollectedReply::new(parts, Ending::Complete);
        (uploads(&reply).take(FILES_PER_ANSWER_MAX).count(), texts(&reply, &NoMarks, 1_000).join("\n"))
    }

    #[test]
    fn so_many_files_of_an_answer_are_sent_and_the_others_are_named() {
        assert_eq!(sent(FILES_PER_ANSWER_MAX), (FILES_PER_ANSWER_MAX, "Here.".to_owned()));
        let (count, words) = sent(FILES_PER_ANSWER_MAX + 1);
        assert_eq!(count, FILES_PER_ANSWER_MAX);
        assert!(words.ends_with(&format!("too many files: f{FILES_PER_ANSWER_MAX}.txt")), "{words}");
    }
}
