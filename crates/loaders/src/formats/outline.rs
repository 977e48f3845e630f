//! A document as its sections: an item each, with how it is written, where it stands, and what is around it.
//!
//! Its name is the path of headings, its id and URL end in the heading's anchor. `forecourt:section` holds
//! `markdown` (the section as it is written, without its heading), `page` (the title of the document), `path`
//! (the headings above it and its own), `anchor`, `level`, `place` (from 0), and `previous` and `next`, each
//! with `name`, `id` and, if the document has one, `url`.

use std::path::Path;

use comrak::Anchorizer;
use serde_json::{Map, Value, json};
use url::Url;

use super::{At, Input, Reason, Sink, Stop, links};
use crate::item::SECTION;
use crate::limits::{HEADING_BYTES_MAX, SECTION_BLOCK_BYTES_MAX, SECTION_BYTES_MAX};

/// Where the fragment that links to a heading comes from.
pub(super) enum Anchor {
    /// As GitHub makes it of the heading.
    Made,
    /// The id that the document gives the heading.
    Said(String),
    /// By something else: the page of a PDF.
    Other(String),
    /// Nobody knows: links lead to the document.
    Unknown,
}

/// A document while it is read: the open section, the one before it, and the headings above both.
pub(super) struct Outline<'a> {
    file: &'a str,
    base: Option<&'a str>,
    url: Option<String>,
    /// The title that the document gives itself.
    title: Option<String>,
    language: Option<String>,
    /// Members that every section has beside its own.
    said: Map<String, Value>,
    anchors: Anchorizer,
    /// Level and text of the headings that the open section is under, its own included.
    headings: Vec<(u8, String)>,
    bytes: u64,
    open: Section,
    /// The section before the open one, which waits for its neighbour.
    waiting: Option<Section>,
    before: Option<Value>,
    place: usize,
}

/// One section, or a part of a long one.
#[derive(Default)]
struct Section {
    name: String,
    path: Vec<String>,
    level: u8,
    /// What its id ends in, and what links do, if they can.
    anchor: Option<(String, Option<String>)>,
    /// Parts of the same section that came before.
    part: usize,
    line: u64,
    text: String,
    markdown: String,
}

impl<'a> Outline<'a> {
    /// A document of so many bytes.
    pub(super) fn new(input: &Input<'a>, bytes: u64) -> Self {
        Self {
            file: input.file(),
            base: input.base(),
            url: input.url(),
            title: None,
            language: None,
            said: Map::new(),
            anchors: Anchorizer::new(),
            headings: Vec::new(),
            bytes,
            open: Section { line: 1, ..Section::default() },
            waiting: None,
            before: None,
            place: 0,
        }
    }

    /// A page of the web.
    pub(super) fn of_page(url: &'a str) -> Self {
        let input = Input::new(std::io::empty(), url, None);
        Self { url: Some(url.to_owned()), ..Self::new(&input, 0) }
    }

    /// Sets members that every section has beside its own, such as the author of an article.
    pub(super) fn with(&mut self, said: Map<String, Value>) {
        self.said = said;
    }

    /// The title that the document gives itself; the first one counts.
    pub(super) fn titled(&mut self, title: &str) {
        let title = title.trim();
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(cut(title, HEADING_BYTES_MAX).to_owned());
        }
    }

    /// The language that the document says it is in.
    pub(super) fn in_language(&mut self, language: &str) {
        let language = language.trim();
        if self.language.is_none() && !language.is_empty() {
            self.language = Some(language.to_owned());
        }
    }

    /// A link of the document, made whole when it is known where the document lies.
    pub(super) fn resolved(&self, link: &str) -> Option<String> {
        match self.base {
            Some(base) => links::resolved(base, self.file, link),
            None => Url::parse(self.url.as_deref()?).ok()?.join(link).ok().map(String::from),
        }
    }

    /// A section begins.
    pub(super) fn heading(
        &mut self,
        level: u8,
        text: &str,
        anchor: Anchor,
        line: u64,
        sink: &mut dyn Sink,
    ) -> Result<(), Stop> {
        self.close(sink)?;
        let text = cut(text.trim(), HEADING_BYTES_MAX);
        // A heading ends all that are as deep or deeper, whichever levels a document leaves out.
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, text.to_owned()));
        let anchor = match anchor {
            Anchor::Made => {
                let own = self.anchors.anchorize(text);
                (own.clone(), Some(own))
            }
            // A page may use one id twice. The link keeps it; the id of the item is made different, else the second
            // would be lost.
            Anchor::Said(id) => (self.anchors.anchorize(&id), Some(id)),
            Anchor::Other(link) => (self.anchors.anchorize(text), Some(link)),
            Anchor::Unknown => (self.anchors.anchorize(text), None),
        };
        self.open = Section { level, anchor: Some(anchor), line, ..Section::default() };
        Ok(())
    }

    /// A block of the open section: its words, and how it is written. `line` is where it begins.
    pub(super) fn block(&mut self, text: &str, markdown: &str, line: u64, sink: &mut dyn Sink) -> Result<(), Stop> {
        if text.len().max(markdown.len()) > SECTION_BLOCK_BYTES_MAX {
            return sink.skip(At { line, bytes: self.bytes }, Reason::TooLong);
        }
        // Split between blocks, never within one: a block that is longer than a section alone makes one.
        if !self.open.text.is_empty() && self.open.text.len() + text.len() > SECTION_BYTES_MAX {
            let Section { level, anchor, part, .. } = &self.open;
            let next = Section { level: *level, anchor: anchor.clone(), part: part + 1, line, ..Section::default() };
            self.close(sink)?;
            self.open = next;
        }
        let Section { text: all, markdown: written, .. } = &mut self.open;
        if !text.is_empty() {
            all.push_str(text);
            all.push('\n');
        }
        if !markdown.trim().is_empty() && !is_comment(markdown) {
            if !written.is_empty() {
                written.push_str("\n\n");
            }
            written.push_str(markdown.trim_matches(['\n', '\r']));
        }
        Ok(())
    }

    /// The document is over.
    pub(super) fn finish(mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        self.close(sink)?;
        match self.waiting.take() {
            Some(last) => self.offer(&last, None, sink),
            None => Ok(()),
        }
    }

    /// The open section is complete. The one before it has a neighbour now.
    fn close(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let mut done = std::mem::take(&mut self.open);
        // A heading without text stays: its name can be found, and the sections below are beside it.
        if done.text.trim().is_empty() && done.anchor.is_none() {
            return Ok(());
        }
        done.path = self.headings.iter().map(|(_, text)| text).filter(|text| !text.is_empty()).cloned().collect();
        done.name = if done.path.is_empty() { self.page().to_owned() } else { done.path.join(" › ") };
        if done.part > 0 {
            done.name.push_str(&format!(" ({})", done.part + 1));
        }
        if let Some(before) = self.waiting.take() {
            let next = self.pointer(&done);
            self.offer(&before, Some(next), sink)?;
        }
        self.waiting = Some(done);
        Ok(())
    }

    /// What the document is called: its title, else its first heading if that is of level 1, else the name of its
    /// file.
    fn page(&self) -> &str {
        let heading = self.headings.first().filter(|(level, text)| *level == 1 && !text.is_empty());
        let stem = || Path::new(self.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(self.file);
        self.title.as_deref().or(heading.map(|(_, text)| text.as_str())).unwrap_or_else(stem)
    }

    fn id_of(&self, section: &Section) -> (String, Option<String>) {
        let (own, linked) = section.anchor.clone().unwrap_or_default();
        let fragment = |anchor: &str| if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
        let part = if section.part == 0 { String::new() } else { format!("~{}", section.part + 1) };
        let link = self.url.as_ref().map(|url| format!("{url}{}", fragment(&linked.unwrap_or_default())));
        (format!("{}{}{part}", self.url.as_deref().unwrap_or(self.file), fragment(&own)), link)
    }

    fn pointer(&self, section: &Section) -> Value {
        let (id, link) = self.id_of(section);
        match link {
            Some(link) => json!({"name": section.name, "id": id, "url": link}),
            None => json!({"name": section.name, "id": id}),
        }
    }

    fn offer(&mut self, section: &Section, next: Option<Value>, sink: &mut dyn Sink) -> Result<(), Stop> {
        let (id, link) = self.id_of(section);
        let page = self.title.clone().or_else(|| section.path.first().filter(|_| section.level > 0).cloned());
        let mut about = Map::new();
        about.insert("page".to_owned(), page.unwrap_or_else(|| section.name.clone()).into());
        about.insert("path".to_owned(), json!(section.path));
        about.insert("level".to_owned(), section.level.into());
        about.insert("place".to_owned(), self.place.into());
        if let Some((_, Some(anchor))) = &section.anchor {
            about.insert("anchor".to_owned(), anchor.as_str().into());
        }
        about.insert("markdown".to_owned(), section.markdown.as_str().into());
        about.extend(self.before.take().map(|before| ("previous".to_owned(), before)));
        about.extend(next.map(|next| ("next".to_owned(), next)));
        let mut item = Map::new();
        item.insert("@type".to_owned(), "WebPageElement".into());
        item.insert("name".to_owned(), section.name.as_str().into());
        item.insert("isPartOf".to_owned(), self.file.into());
        let text = section.text.trim();
        if !text.is_empty() {
            item.insert("text".to_owned(), text.into());
        }
        // The id of an item is its URL unless it says another one.
        if link.as_deref() != Some(id.as_str()) {
            item.insert("@id".to_owned(), id.into());
        }
        item.extend(link.map(|link| ("url".to_owned(), link.into())));
        item.extend(self.language.as_ref().map(|language| ("inLanguage".to_owned(), language.as_str().into())));
        item.extend(self.said.clone());
        item.insert(SECTION.to_owned(), Value::Object(about));
        self.before = Some(self.pointer(section));
        self.place += 1;
        sink.item(At { line: section.line, bytes: self.bytes }, &Value::Object(item), None)
    }
}

/// The beginning of a text, at most so many bytes, cut between characters.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Whether a block is a comment, which nobody sees on the page either.
fn is_comment(markdown: &str) -> bool {
    let markdown = markdown.trim();
    markdown.starts_with("<!--") && markdown.ends_with("-->")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Heap, names};
    use super::*;

    fn outlined(write: impl FnOnce(&mut Outline<'_>, &mut Heap)) -> Heap {
        let mut heap = Heap::default();
        let input = Input::new(&b""[..], "a/b.md", Some("https://e.org/"));
        let mut outline = Outline::new(&input, 0);
        write(&mut outline, &mut heap);
        outline.finish(&mut heap).unwrap();
        heap
    }

    #[test]
    fn sections_know_their_neighbours_and_where_they_stand() {
        let heap = outlined(|outline, heap| {
            outline.titled("Guide");
            outline.block("Hello", "Hello", 1, heap).unwrap();
            outline.heading(1, "Install", Anchor::Made, 2, heap).unwrap();
            outline.block("Get it", "Get *it*", 3, heap).unwrap();
            outline.heading(2, "Linux", Anchor::Said("lin".to_owned()), 4, heap).unwrap();
            outline.heading(1, "Use", Anchor::Unknown, 5, heap).unwrap();
        });
        assert_eq!(names(&heap), ["Guide", "Install", "Install › Linux", "Use"]);
        let about = &heap.items[1][SECTION];
        assert_eq!(about["markdown"], "Get *it*");
        assert_eq!(
            about["previous"],
            json!({"name": "Guide", "id": "https://e.org/a/b.md", "url": "https://e.org/a/b.md"})
        );
        assert_eq!(about["next"]["url"], "https://e.org/a/b.md#lin");
        assert_eq!((&about["place"], &about["level"], &about["page"]), (&json!(1), &json!(1), &json!("Guide")));
        assert_eq!(heap.items[2][SECTION]["path"], json!(["Install", "Linux"]));
        let last = &heap.items[3];
        assert_eq!((&last["@id"], &last["url"]), (&json!("https://e.org/a/b.md#use"), &json!("https://e.org/a/b.md")));
        assert_eq!((last[SECTION].get("next"), last[SECTION].get("anchor")), (None, None));
    }

    #[test]
    fn long_sections_are_parts_of_their_bound() {
        let parts = |bytes: usize| {
            outlined(|outline, heap| {
                outline.heading(1, "Long", Anchor::Made, 1, heap).unwrap();
                let half = "x".repeat(bytes / 2 - 1);
                outline.block(&half, &half, 2, heap).unwrap();
                outline.block(&half, &half, 3, heap).unwrap();
            })
        };
        assert_eq!(names(&parts(SECTION_BYTES_MAX)), ["Long"]);
        let parts = parts(SECTION_BYTES_MAX + 4);
        assert_eq!(names(&parts), ["Long", "Long (2)"]);
        assert_eq!(parts.items[1]["@id"], "https://e.org/a/b.md#long~2");
        assert_eq!(parts.items[1]["url"], "https://e.org/a/b.md#long");
    }

    #[test]
    fn a_block_is_too_long_past_the_bound() {
        let block = |bytes: usize| outlined(|outline, heap| outline.block(&"x".repeat(bytes), "", 7, heap).unwrap());
        assert_eq!(block(SECTION_BLOCK_BYTES_MAX).skipped, []);
        assert_eq!(block(SECTION_BLOCK_BYTES_MAX + 1).skipped, [(7, Reason::TooLong)]);
    }
}
