//! Text within a block: its words, and the same in markdown.

use html5ever::tokenizer::Tag;

use crate::formats::page::markup::attribute;
use crate::limits::SECTION_BLOCK_BYTES_MAX;

/// Text of a link that only leads to its own heading.
const SELF_LINKS: &[&str] = &["¶", "#", "§", "🔗"];

/// A text, as far as it has been read.
#[derive(Default)]
pub(super) struct Inline {
    text: String,
    markdown: String,
    /// The link that is open: where it leads, and where its text begins in both.
    link: Option<(String, usize, usize)>,
    is_code: bool,
}

impl Inline {
    /// Takes a start tag. `whole` makes a link whole; in a heading there is no markup.
    pub(super) fn start(&mut self, tag: &Tag, whole: &dyn Fn(&str) -> String, is_heading: bool) {
        match &*tag.name {
            "img" => {
                let alt = attribute(tag, "alt").unwrap_or_default().trim().to_owned();
                if let Some(source) = attribute(tag, "src").filter(|source| !is_heading && is_link(source)) {
                    self.mark(&format!("![{}]({})", escaped(&alt), whole(source)));
                }
                self.words(&alt);
            }
            "a" => {
                if let Some(target) = attribute(tag, "href").filter(|target| self.link.is_none() && is_link(target)) {
                    self.link = Some((whole(target), self.text.len(), self.markdown.len()));
                }
            }
            "code" | "kbd" | "samp" | "tt" if !self.is_code => {
                self.is_code = true;
                self.mark("`");
            }
            "b" | "strong" => self.mark("**"),
            "i" | "em" => self.mark("*"),
            _ => {}
        }
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, name: &str) {
        match name {
            "a" => self.end_link(),
            "code" | "kbd" | "samp" | "tt" if self.is_code => {
                self.is_code = false;
                self.mark("`");
            }
            "b" | "strong" => self.end_mark("**"),
            "i" | "em" => self.end_mark("*"),
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((target, text_at, written_at)) = self.link.take() else { return };
        let (Some(text), Some(written)) = (self.text.get(text_at..), self.markdown.get(written_at..)) else { return };
        // Documentation marks headings with a link to themselves, which is no word of the heading.
        if SELF_LINKS.contains(&text.trim()) {
            self.text.truncate(text_at);
            self.markdown.truncate(written_at);
        } else if !written.trim().is_empty() {
            let linked = format!("[{}]({target})", written.trim());
            let space = if written.starts_with(' ') { " " } else { "" };
            self.markdown.truncate(written_at);
            self.mark(&format!("{space}{linked}"));
        }
    }

    /// Takes text, with its white space as single spaces.
    pub(super) fn text(&mut self, text: &str) {
        push_collapsed(&mut self.text, text);
        match self.is_code {
            true => push_collapsed(&mut self.markdown, &text.replace('`', "'")),
            false => push_collapsed(&mut self.markdown, &escaped(text)),
        }
    }

    fn words(&mut self, text: &str) {
        push_collapsed(&mut self.text, text);
    }

    /// The next line of the same block.
    pub(super) fn line_break(&mut self) {
        if !self.text.is_empty() {
            push_collapsed(&mut self.text, " ");
            self.mark("\n");
        }
    }

    /// Ends the block: its words and its markdown. An empty one begins.
    pub(super) fn take(&mut self) -> (String, String) {
        self.end_link();
        let done = std::mem::take(self);
        let open = if done.is_code { "`" } else { "" };
        (done.text.trim().to_owned(), format!("{}{open}", done.markdown.trim()))
    }

    fn mark(&mut self, mark: &str) {
        if self.markdown.len() + mark.len() <= SECTION_BLOCK_BYTES_MAX {
            self.markdown.push_str(mark);
        }
    }

    /// A mark that says nothing, or ends behind a space, would not be one.
    fn end_mark(&mut self, mark: &str) {
        let kept = self.markdown.trim_end().len();
        let space = if kept < self.markdown.len() { " " } else { "" };
        self.markdown.truncate(kept);
        self.mark(mark);
        self.mark(space);
    }
}

/// Not a script, and not the data itself.
fn is_link(target: &str) -> bool {
    let target = target.trim().to_ascii_lowercase();
    !target.is_empty() && !["javascript:", "data:", "vbscript:"].iter().any(|scheme| target.starts_with(scheme))
}

/// Text of which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            // Markdown lets HTML through: text of a page must not become a tag in an answer.
            '<' => out.push_str("&lt;"),
            _ => out.push(c),
        }
    }
    out
}

fn push_collapsed(out: &mut String, text: &str) {
    for c in text.chars() {
        if out.len() >= SECTION_BLOCK_BYTES_MAX {
            return;
        }
        match c.is_whitespace() {
            false => out.push(c),
            true if out.is_empty() || out.ends_with([' ', '\n']) => {}
            true => out.push(' '),
        }
    }
}
