//! The typed parts of an answer, ready to be shown under its words.

use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::part::{Artifact, ArtifactContent, Data};
use forecourt_core::{CollectedReply, Ending, File, FileSource, Link, Part, ToolCall, ToolOutcome};
use forecourt_sentences::Sentences;

use crate::item::{self, Item, ItemView};
use crate::limits::{EXCERPT_CHARS_MAX, FILE_BYTES_MAX};
use crate::refusal::RefusalView;
use crate::{clean, escape, markdown};

/// All typed parts of one answer, by kind, each kind in the answer's order.
#[derive(Default)]
pub(crate) struct PartView {
    pub(crate) items: Vec<Item>,
    /// Whether the words already link to every item, so that the cards may be folded away.
    pub(crate) items_told: bool,
    /// Data without a name, as JSON.
    pub(crate) data: Vec<String>,
    pub(crate) links: Vec<LinkView>,
    pub(crate) files: Vec<FileView>,
    pub(crate) artifacts: Vec<ArtifactView>,
    pub(crate) calls: Vec<CallView>,
    pub(crate) refusal: Option<RefusalView>,
}

/// A pointer to a page.
pub(crate) struct LinkView {
    pub(crate) title: String,
    /// `None` when its scheme is not one that we link to.
    pub(crate) url: Option<String>,
    pub(crate) description: String,
}

/// A file, or bytes that were made.
pub(crate) struct FileView {
    pub(crate) name: String,
    pub(crate) mime: String,
    pub(crate) size: Option<String>,
    /// Where to fetch it.
    pub(crate) url: Option<String>,
    /// Its bytes as the address of a download, when they travel inside the answer and are few.
    pub(crate) download: Option<String>,
}

/// Words that were made.
pub(crate) struct ArtifactView {
    pub(crate) name: String,
    pub(crate) mime: String,
    /// HTML, when the words are markdown.
    pub(crate) html: Option<String>,
    /// The words, when they are anything else.
    pub(crate) text: String,
}

/// A tool at work.
pub(crate) struct CallView {
    pub(crate) name: String,
    state: CallState,
    pub(crate) args: String,
    pub(crate) outcome: Option<String>,
}

/// How far a call is.
#[derive(Clone, Copy)]
enum CallState {
    Running,
    Done,
    Failed,
}

impl CallView {
    /// How far it is, in words.
    pub(crate) fn state(&self, say: &Sentences) -> String {
        match self.state {
            CallState::Running => say.page_step_running(),
            CallState::Done => say.page_step_done(),
            CallState::Failed => say.page_step_failed(),
        }
    }
}

impl PartView {
    /// Everything in the answer that is not words.
    ///
    /// Kept files are linked below `kept_under`, a path that ends in a slash.
    pub(crate) fn of(collected: &CollectedReply, kept_under: Option<&str>, say: Sentences) -> Self {
        let mut view = Self::default();
        for part in &collected.parts {
            view.take(part, kept_under, say);
        }
        let text = collected.text();
        view.items_told = view.items.iter().all(|item| item.url.as_deref().is_some_and(|url| tells(&text, url)));
        if let Ending::Refused(part) = &collected.ending {
            view.refusal = Some(RefusalView::new(part, None, say));
        }
        view
    }

    fn take(&mut self, part: &Part, kept_under: Option<&str>, say: Sentences) {
        match part {
            Part::Data(data) => self.take_data(data, say),
            Part::Link(link) => self.links.push(link_view(link)),
            Part::File(file) => self.files.push(file_view(file, kept_under, say)),
            Part::Artifact(artifact) => self.take_artifact(artifact, say),
            Part::ToolCall(call) => self.calls.push(call_view(call)),
            Part::Policy(part) => self.refusal = Some(RefusalView::new(part, None, say)),
            // Words are in the article; what we do not know is in the JSON form only.
            Part::Text(_) | Part::Unknown(_) => {}
        }
    }

    fn take_data(&mut self, data: &Data, say: Sentences) {
        for shown in item::views(&data.data, say) {
            match shown {
                ItemView::Item(item) => self.items.push(*item),
                ItemView::Json(json) => self.data.push(json),
            }
        }
    }

    fn take_artifact(&mut self, artifact: &Artifact, say: Sentences) {
        let name = artifact.name.as_deref().map_or_else(|| say.page_file(), clean::line);
        let mime = clean::line(&artifact.mime);
        match &artifact.content {
            ArtifactContent::Text(text) => self.artifacts.push(artifact_view(name, mime, text)),
            ArtifactContent::Bytes(source) => {
                let (size, url, download) = (size(source, None), source_url(source), download(source));
                self.files.push(FileView { name, mime, size, url, download });
            }
        }
    }
}

/// Whether words link to an address, as it is or with the parentheses that would end a link escaped.
fn tells(text: &str, url: &str) -> bool {
    text.contains(url) || text.contains(&url.replace('(', "%28").replace(')', "%29"))
}

fn link_view(link: &Link) -> LinkView {
    let title = link.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&link.url);
    LinkView {
        title: clean::line(title),
        url: clean::href(&link.url),
        description: clean::line(link.description.as_deref().unwrap_or_default()),
    }
}

fn file_view(file: &File, kept_under: Option<&str>, say: Sentences) -> FileView {
    let kept = || Some(format!("{}{}", kept_under?, escape::query(file.id.as_deref()?)));
    FileView {
        name: file.name.as_deref().map_or_else(|| say.page_file(), clean::line),
        mime: clean::line(&file.mime),
        size: size(&file.source, file.size_bytes),
        download: download(&file.source),
        url: match file.source {
            FileSource::Kept => kept(),
            _ => source_url(&file.source),
        },
    }
}

fn artifact_view(name: String, mime: String, text: &str) -> ArtifactView {
    let html = mime.starts_with("text/markdown").then(|| markdown::to_html_below(text));
    let text = match html {
        Some(_) => String::new(),
        None => clean::clip(&clean::text(text), EXCERPT_CHARS_MAX),
    };
    ArtifactView { name, mime, html, text }
}

fn call_view(call: &ToolCall) -> CallView {
    let (state, outcome) = match &call.outcome {
        ToolOutcome::Running => (CallState::Running, None),
        ToolOutcome::Result(result) => (CallState::Done, Some(item::json(result))),
        ToolOutcome::Error(message) => (CallState::Failed, Some(clean::clip(&clean::text(message), EXCERPT_CHARS_MAX))),
    };
    CallView { name: clean::line(&call.name), state, args: item::json(&call.args), outcome }
}

fn source_url(source: &FileSource) -> Option<String> {
    match source {
        FileSource::Url { url, .. } => clean::href(url),
        FileSource::Inline(_) | FileSource::Kept => None,
    }
}

/// The bytes of a file as an address. Of no type that a browser shows, and to be saved: it can't become a page of ours.
fn download(source: &FileSource) -> Option<String> {
    let FileSource::Inline(bytes) = source else { return None };
    (bytes.len() <= FILE_BYTES_MAX).then(|| format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes)))
}

fn size(source: &FileSource, declared: Option<u64>) -> Option<String> {
    match source {
        FileSource::Inline(bytes) => Some(bytes_said(bytes.len() as u64)),
        FileSource::Url { .. } | FileSource::Kept => declared.map(bytes_said),
    }
}

/// Bytes in the largest binary unit that fits, with one decimal.
/// A number of bytes in words, such as `1.5 MiB`.
pub fn bytes_said(bytes: u64) -> String {
    let tenths = |unit: u64| bytes.saturating_mul(10) / unit;
    let decimal = |tenths: u64, unit: &str| format!("{}.{} {unit}", tenths / 10, tenths % 10);
    match bytes {
        1 => "1 byte".to_owned(),
        0..=1023 => format!("{bytes} bytes"),
        1024..=1_048_575 => decimal(tenths(1024), "KiB"),
        _ => decimal(tenths(1_048_576), "MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_their_unit() {
        let said: Vec<_> = [0, 1, 1023, 1024, 1536, 1_048_576, u64::MAX].map(bytes_said).into();
        assert_eq!(said[..6], ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1.5 KiB", "1.0 MiB"]);
    }

    #[test]
    fn a_file_in_the_answer_can_be_saved_when_it_is_small() {
        let address = |bytes: usize| download(&FileSource::Inline(vec![b'x'; bytes].into()));
        assert_eq!(address(1).as_deref(), Some("data:application/octet-stream;base64,eA=="));
        assert!(address(FILE_BYTES_MAX).is_some());
        assert_eq!(address(FILE_BYTES_MAX + 1), None);
        assert_eq!(download(&FileSource::Kept), None);
    }

    #[test]
    fn an_address_with_parentheses_is_told_either_way() {
        let url = "https://a.example/Le_Tourin_(Soup)";
        assert!(tells("[x](https://a.example/Le_Tourin_%28Soup%29)", url));
        assert!(tells("<https://a.example/Le_Tourin_(Soup)>", url));
        assert!(!tells("[x](https://a.example/Le_Tourin)", url));
    }
}
