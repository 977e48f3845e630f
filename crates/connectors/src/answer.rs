//! What of an answer is a message, and what a file.

use forecourt_core::part::FileSource;
use forecourt_core::{CollectedReply, Ending, File, Part};
use forecourt_correspondence::answer_in_words;

use crate::message_style::MessageStyle;

/// The messages of an answer, with words of the host about its files behind it. None where there is nothing to tell, or
/// nothing but files.
pub(crate) fn texts(reply: &CollectedReply, about_files: &[String], style: MessageStyle) -> Vec<String> {
    let Some(mut words) = answer_in_words(reply) else { return Vec::new() };
    let has_words = reply.parts.iter().any(|part| forecourt_correspondence::part_in_words(part).is_some());
    if !has_words && files(reply).next().is_some() && matches!(reply.ending, Ending::Complete) {
        words.clear();
    }
    let mut end = Vec::new();
    for file in files(reply) {
        if let FileSource::Url { url, .. } = &file.source {
            let name = file.name.as_deref().unwrap_or(url);
            end.push(format!("[{}]({url})", name.replace(['[', ']'], "")));
        }
    }
    end.extend_from_slice(about_files);
    style.messages_before(&words, &end.join("\n\n"))
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
    use crate::limits::MESSAGES_PER_ANSWER_MAX;
    use crate::tests::NoMarks;

    const STYLE: MessageStyle = MessageStyle { marks: &NoMarks, chars_max: 1_000, code: ("```\n", "\n```") };

    #[test]
    fn files_that_are_sent_need_no_words_and_words_about_others_stand_behind_the_answer() {
        let file =
            Part::File(File::inline("text/plain".to_owned(), Some("a.txt".to_owned()), Bytes::from_static(b"x")));
        let of = |parts: Vec<Part>, about: &[&str]| {
            let about: Vec<String> = about.iter().map(|words| (*words).to_owned()).collect();
            texts(&CollectedReply::new(parts, Ending::Complete), &about, STYLE)
        };
        assert_eq!(of(vec![file.clone()], &[]), Vec::<String>::new());
        assert_eq!(of(vec![file.clone()], &["One is behind a link."]), ["One is behind a link."]);
        assert_eq!(of(vec![Part::text("Here."), file], &["One.", "Two."]), ["Here.\n\nOne.\n\nTwo."]);
        let address = FileSource::Url { url: "https://a.example/b.txt".to_owned(), expires_at: None };
        let there = Part::File(File { source: address, ..File::inline("text/plain".to_owned(), None, Bytes::new()) });
        assert_eq!(of(vec![there], &[]), ["https://a.example/b.txt"]);
        let long = of(vec![Part::text("word ".repeat(9_000))], &["One."]);
        assert_eq!((long.len(), long.last().map(String::as_str)), (MESSAGES_PER_ANSWER_MAX, Some("One.")));
    }
}
