//! The agent's words and nothing else. REST 4.2.

use std::borrow::Cow;

use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{Collected, Ending, File, FileSource, Link, Part};
use forecourt_pages::{clean, escape};

use crate::rest::errors::Failure;

/// The words verbatim; under them, files and links as a list and artifacts of words. Tool calls and
/// data have no place among words; data is shown only where there are no words at all.
pub(crate) fn markdown(collected: Collected) -> String {
    let Collected { parts, ending, .. } = collected;
    let question = match ending {
        Ending::Question(question) => Some(question.text),
        _ => None,
    };
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    if let ([Part::Text(_)], None) = (parts.as_slice(), &question) {
        return parts.into_iter().find_map(owned_text).unwrap_or_default();
    }
    let wordless = question.is_none() && !parts.iter().any(is_text);
    let mut text = joined_text(&parts);
    for block in question.into_iter().map(Cow::Owned).chain(blocks(&parts, wordless).into_iter().map(Cow::Owned)) {
        append(&mut text, &block);
    }
    text
}

/// What stands under the words of a streamed answer: see [`markdown`].
pub(super) fn tail(parts: &[Part], wordless: bool) -> Option<String> {
    let blocks = blocks(parts, wordless);
    (!blocks.is_empty()).then(|| blocks.join("\n\n"))
}

/// A fault in words.
pub(super) fn failure(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("# {}\n\n{}\n\n    {}\n", failure.title, failure.message, hint.replace('\n', "\n    ")),
        None => format!("# {}\n\n{}\n", failure.title, failure.message),
    }
}

fn owned_text(part: Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.content),
        _ => None,
    }
}

fn joined_text(parts: &[Part]) -> String {
    forecourt_core::message::text_of(parts)
}

fn append(text: &mut String, block: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(block);
}

/// The parts that are no words, each list and artifact a block.
fn blocks(parts: &[Part], with_data: bool) -> Vec<String> {
    let mut blocks = Vec::new();
    let items: Vec<String> = parts.iter().filter_map(item).collect();
    if !items.is_empty() {
        blocks.push(items.join("\n"));
    }
    for part in parts {
        match part {
            Part::Artifact(Artifact { mime, content: ArtifactContent::Text(text), name, .. }) => {
                blocks.push(words_made(mime, name.as_deref(), text));
            }
            Part::Data(data) if with_data => {
                blocks.push(fenced("json", &serde_json::to_string_pretty(&data.data).unwrap_or_default()));
            }
            _ => {}
        }
    }
    blocks
}

/// A file or link as a line of a list.
fn item(part: &Part) -> Option<String> {
    match part {
        Part::Link(Link { url, title, description }) => {
            let line = linked(title.as_deref().unwrap_or(url), Some(url));
            let said = description.as_deref().map(|said| format!(": {}", escape::markdown(said)));
            Some(format!("- {line}{}", said.unwrap_or_default()))
        }
        Part::File(File { name, mime, size_bytes, source, .. }) => {
            let size = size_bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
            let line = linked(name.as_deref().unwrap_or("file"), address(source));
            Some(format!("- {line} ({}{size})", escape::markdown(mime)))
        }
        Part::Artifact(Artifact { name, mime, content: ArtifactContent::Bytes(source), .. }) => {
            let line = linked(name.as_deref().unwrap_or("artifact"), address(source));
            Some(format!("- {line} ({})", escape::markdown(mime)))
        }
        _ => None,
    }
}

/// Bytes in the answer itself would be too long as a link, so they are named only.
fn address(source: &FileSource) -> Option<&str> {
    match source {
        FileSource::Url { url, .. } => Some(url),
        FileSource::Inline(_) | FileSource::Kept => None,
    }
}

/// A link whose target can't end early; plain words when the target is not one that we link to.
fn linked(title: &str, url: Option<&str>) -> String {
    let title = escape::markdown(title);
    match url.and_then(clean::href) {
        Some(url) => format!("[{title}](<{}>)", url.replace('<', "%3C").replace('>', "%3E").replace('\\', "%5C")),
        None => title,
    }
}

fn words_made(mime: &str, name: Option<&str>, text: &str) -> String {
    let title = name.map(|name| format!("**{}**\n\n", escape::markdown(name))).unwrap_or_default();
    match mime.starts_with("text/markdown") {
        true => format!("{title}{text}"),
        false => format!("{title}{}", fenced("", text)),
    }
}

/// A code block with a fence longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use forecourt_core::Question;
    use serde_json::json;

    use super::*;

    fn said(parts: Vec<Part>) -> String {
        markdown(Collected::new(parts, Ending::Complete))
    }

    #[test]
    fn s4_2_words_are_verbatim() {
        assert_eq!(said(vec![Part::markdown(" a\r\n<b> \n")]), " a\r\n<b> \n");
        assert_eq!(said(vec![]), "");
    }

    #[test]
    fn links_and_files_stand_in_a_list_that_they_can_not_leave() {
        let link =
            |url: &str, title: &str| Part::Link(Link { url: url.into(), title: Some(title.into()), description: None });
        let file = Part::File(File::inline("image/png", Some("a].png".into()), "x".into()));
        let text =
            said(vec![Part::markdown("hi"), link("https://a.example/> x", "T](x)"), link("javascript:x", "J"), file]);
        assert_eq!(text, "hi\n\n- [T\\](x)](<https://a.example/%3E x>)\n- J\n- a\\].png (image/png, 1 bytes)");
    }

    #[test]
    fn data_is_shown_where_there_are_no_words() {
        let data = Part::data(json!({"a": "```"}));
        assert_eq!(said(vec![data.clone()]), "````json\n{\n  \"a\": \"```\"\n}\n````");
        assert_eq!(said(vec![Part::markdown("hi"), data]), "hi");
    }

    #[test]
    fn a_question_is_words() {
        let question = Question { text: "Which one?".into(), questions: vec![] };
        let collected = Collected::new(vec![Part::markdown("Hm.")], Ending::Question(question));
        assert_eq!(markdown(collected), "Hm.\n\nWhich one?");
    }
}
