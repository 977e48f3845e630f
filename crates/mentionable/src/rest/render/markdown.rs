//! The agent's words and nothing else. REST 4.2.

use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{File, FileSource, Link, Part};
use forecourt_pages::{clean, escape};

use crate::rest::errors::Failure;

/// The words verbatim and nothing else, where an agent said any. Where it said none: files and links as a list,
/// artifacts of words, and data.
pub(super) fn answer(parts: Vec<Part>) -> String {
    if let [Part::Text(_)] = parts.as_slice() {
        return parts.into_iter().find_map(owned_text).unwrap_or_default();
    }
    let words: String = parts.iter().filter_map(Part::as_text).collect();
    if words.is_empty() { wordless(&parts) } else { words }
}

/// What an answer without words has to show.
pub(super) fn wordless(parts: &[Part]) -> String {
    blocks(parts).join("\n\n")
}

/// A fault in words.
pub(super) fn failure(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("# {}\n\n{}\n\n    {}\n", failure.title(), failure.message, hint.replace('\n', "\n    ")),
        None => format!("# {}\n\n{}\n", failure.title(), failure.message),
    }
}

fn owned_text(part: Part) -> Option<String> {
    match part {
        Part::Text(text) => Some(text.content),
        _ => None,
    }
}

/// The parts that are no words, each list and artifact a block.
fn blocks(parts: &[Part]) -> Vec<String> {
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
            Part::Data(data) => {
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
    use serde_json::json;

    use super::answer as said;
    use super::*;

    #[test]
    fn s4_2_words_are_verbatim_and_alone() {
        assert_eq!(said(vec![Part::markdown(" a\r\n<b> \n")]), " a\r\n<b> \n");
        assert_eq!(said(vec![]), "");
        let link = Part::Link(Link { url: "https://a.example/".into(), title: None, description: None });
        let artifact = Part::Artifact(Artifact {
            mime: "text/plain".into(),
            artifact_type: None,
            name: None,
            content: ArtifactContent::Text("made".into()),
        });
        assert_eq!(said(vec![Part::markdown("a\n"), link, artifact, Part::text("b")]), "a\nb");
    }

    #[test]
    fn links_and_files_stand_in_a_list_that_they_can_not_leave() {
        let link =
            |url: &str, title: &str| Part::Link(Link { url: url.into(), title: Some(title.into()), description: None });
        let file = Part::File(File::inline("image/png", Some("a].png".into()), "x".into()));
        let text = said(vec![link("https://a.example/> x", "T](x)"), link("javascript:x", "J"), file]);
        assert_eq!(text, "- [T\\](x)](<https://a.example/%3E x>)\n- J\n- a\\].png (image/png, 1 bytes)");
    }

    #[test]
    fn data_is_shown_where_there_are_no_words() {
        let data = Part::data(json!({"a": "```"}));
        assert_eq!(said(vec![data.clone()]), "````json\n{\n  \"a\": \"```\"\n}\n````");
        assert_eq!(said(vec![Part::markdown(""), data.clone()]), said(vec![data.clone()]));
        assert_eq!(said(vec![Part::markdown("hi"), data]), "hi");
    }
}
