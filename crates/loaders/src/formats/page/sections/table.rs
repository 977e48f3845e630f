//! Tables: rows of cells, written as markdown writes them.

use crate::limits::{SECTION_BLOCK_BYTES_MAX, TABLE_COLUMNS_MAX};

/// A table, as far as it has been read.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, String)>>,
    is_open: bool,
    bytes: usize,
}

impl Table {
    /// Takes a start tag: `tr`, `td` or `th`. `before` is what was written since the last one.
    pub(crate) fn begin(&mut self, name: &str, before: (String, String)) {
        self.end(before);
        match name {
            "tr" => self.row(),
            _ => self.is_open = true,
        }
    }

    /// A row begins.
    pub(crate) fn row(&mut self) {
        if self.rows.last().is_none_or(|row| !row.is_empty()) {
            self.rows.push(Vec::new());
        }
    }

    /// A cell ends.
    pub(crate) fn end(&mut self, (text, markdown): (String, String)) {
        if std::mem::take(&mut self.is_open) {
            self.cell(text, &markdown);
        }
    }

    /// A cell of the last row.
    pub(crate) fn cell(&mut self, text: String, markdown: &str) {
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        let Some(row) = self.rows.last_mut().filter(|row| row.len() < TABLE_COLUMNS_MAX) else { return };
        // A bar or a line break would end the cell.
        let markdown = markdown.replace('|', "\\|").replace('\n', " ");
        self.bytes += markdown.len() + text.len();
        if self.bytes <= SECTION_BLOCK_BYTES_MAX {
            row.push((text, markdown));
        }
    }

    /// Its words, a line for a row, and the table in markdown, with the first row as its head.
    pub(crate) fn written(mut self) -> (String, String) {
        self.rows.retain(|row| row.iter().any(|(text, _)| !text.is_empty()));
        let width = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = Vec::with_capacity(self.rows.len());
        let mut markdown = Vec::with_capacity(self.rows.len() + 1);
        for (at, row) in self.rows.iter().enumerate() {
            let words: Vec<&str> = row.iter().map(|(text, _)| text.as_str()).filter(|text| !text.is_empty()).collect();
            text.push(words.join(" "));
            let cells: Vec<&str> = row.iter().map(|(_, markdown)| markdown.as_str()).collect();
            let missing = " |".repeat(width.min(TABLE_COLUMNS_MAX) - row.len());
            markdown.push(format!("| {} |{missing}", cells.join(" | ")));
            if at == 0 {
                markdown.push(format!("|{}", "---|".repeat(width)));
            }
        }
        (text.join("\n"), markdown.join("\n"))
    }
}
