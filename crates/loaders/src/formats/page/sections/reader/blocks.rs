//! What is open of a page, brought to its end as a heading or a block.

use super::super::Piece;
use super::Reader;
use crate::limits::{PAGE_BLOCKS_MAX, SECTION_BLOCK_BYTES_MAX};

impl Reader<'_> {
    pub(super) fn end_heading(&mut self) {
        let Some(level) = self.heading.take() else { return };
        let (text, _) = self.inline.take();
        let id = self.id.take().filter(|id| !id.trim().is_empty());
        if !text.is_empty() {
            self.push(Piece::Heading { level, text, id, line: self.line });
        }
    }

    pub(super) fn end_code(&mut self) {
        let Some((language, code)) = self.pre.take() else { return };
        let code = code.trim_matches('\n').trim_end();
        if !code.is_empty() {
            let markdown = self.placed(&crate::formats::rst::fenced(&language, code));
            self.push(Piece::Block { text: code.to_owned(), markdown, line: self.line });
        }
    }

    pub(super) fn end_table(&mut self) {
        let Some(mut table) = self.table.take() else { return };
        let inline = self.inline.take();
        table.end(inline);
        let (text, markdown) = table.written();
        if !text.is_empty() {
            self.push(Piece::Block { text, markdown, line: self.line });
        }
    }

    /// The block that is open ends here.
    pub(super) fn flush(&mut self) {
        if let Some((language, code)) = self.pre.take() {
            self.pre = Some((language, code));
            return self.end_code();
        }
        let (text, markdown) = self.inline.take();
        if text.is_empty() {
            return;
        }
        let is_item = self.item.is_some() || !self.lists.is_empty();
        let markdown = self.placed(&markdown);
        // Items of a list follow each other line by line.
        if let Some(Piece::Block { text: before, markdown: written, .. }) = self.pieces.last_mut()
            && is_item
            && is_list(written)
            && written.len() + markdown.len() <= SECTION_BLOCK_BYTES_MAX
        {
            before.push('\n');
            before.push_str(&text);
            written.push('\n');
            written.push_str(&markdown);
            return;
        }
        self.push(Piece::Block { text, markdown, line: self.line });
    }

    /// A block behind the marks of the quotes and lists that it is in.
    fn placed(&mut self, markdown: &str) -> String {
        let quote = "> ".repeat(self.quotes);
        let (first, rest) = match self.item.take() {
            Some(mark) => {
                let indent = " ".repeat(mark.len());
                (mark, indent)
            }
            None => {
                let indent = "  ".repeat(self.lists.len());
                (indent.clone(), indent)
            }
        };
        let lines = markdown.lines().enumerate();
        let lines = lines.map(|(at, line)| format!("{quote}{}{line}", if at == 0 { &first } else { &rest }));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn push(&mut self, piece: Piece) {
        if self.pieces.len() < PAGE_BLOCKS_MAX {
            self.pieces.push(piece);
        }
    }
}

fn is_list(markdown: &str) -> bool {
    let line = markdown.trim_start();
    line.starts_with("- ")
        || line.starts_with(": ")
        || line.split_once(". ").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
}
