//! The cells of a row, by what their columns are called.

use std::rc::Rc;

/// What a column is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::formats) struct ColumnName {
    /// As it is written.
    pub(in crate::formats) written: String,
    /// Letters and digits alone, in lower case, without the `g:` of a feed.
    pub(in crate::formats) folded: String,
}

impl ColumnName {
    pub(in crate::formats) fn of(written: &str) -> Self {
        let written = written.trim();
        let bare = written.strip_prefix("g:").unwrap_or(written);
        let folded = bare.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        Self { written: written.to_owned(), folded }
    }
}

/// A cell that is to be a price, with the name of its column.
pub(super) type PriceCell = Option<(String, String)>;

/// The cells of one row. What a format knows it takes; what is left is kept under its own name.
#[derive(Debug, Default)]
pub(in crate::formats) struct Cells(Vec<(Rc<ColumnName>, String)>);

impl Cells {
    /// Adds a cell, unless it is empty.
    pub(in crate::formats) fn push(&mut self, column: Rc<ColumnName>, text: String) {
        if !text.is_empty() && !column.folded.is_empty() {
            self.0.push((column, text));
        }
    }

    /// About how many bytes they have.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(_, text)| text.len() + 64).sum()
    }

    pub(in crate::formats) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the first of these columns that has one.
    pub(super) fn take(&mut self, folded: &[&str]) -> Option<String> {
        self.take_price(folded).map(|(_, text)| text)
    }

    /// The text of the first of these columns that has one, and what that is called: what is no price is told with it.
    pub(super) fn take_price(&mut self, folded: &[&str]) -> PriceCell {
        let at = folded.iter().find_map(|name| self.0.iter().position(|(column, _)| column.folded == *name))?;
        let (column, text) = self.0.remove(at);
        Some((column.written.clone(), text))
    }

    /// Lets go of columns that are not read.
    pub(super) fn drop_all(&mut self, folded: &[&str]) {
        self.0.retain(|(column, _)| !folded.contains(&column.folded.as_str()));
    }

    /// Lets go of columns that begin so.
    pub(super) fn drop_beginning(&mut self, folded: &[&str]) {
        self.0.retain(|(column, _)| !folded.iter().any(|start| column.folded.starts_with(start)));
    }

    /// All texts of a column that comes several times.
    pub(super) fn take_all(&mut self, folded: &str) -> Vec<String> {
        std::iter::from_fn(|| self.take(&[folded])).collect()
    }

    /// The columns that begin so, as they are written, with their texts.
    pub(super) fn take_beginning(&mut self, folded: &str) -> Vec<(String, String)> {
        let (taken, kept) =
            std::mem::take(&mut self.0).into_iter().partition(|(column, _)| column.folded.starts_with(folded));
        self.0 = kept;
        named(taken)
    }

    /// Whether a column has a text.
    pub(super) fn has(&self, folded: &str) -> bool {
        self.0.iter().any(|(column, _)| column.folded == folded)
    }

    /// Whether some column begins so.
    pub(super) fn has_beginning(&self, folded: &str) -> bool {
        self.0.iter().any(|(column, _)| column.folded.starts_with(folded))
    }

    /// What was not taken.
    pub(super) fn rest(&mut self) -> Vec<(String, String)> {
        named(std::mem::take(&mut self.0))
    }
}

fn named(cells: Vec<(Rc<ColumnName>, String)>) -> Vec<(String, String)> {
    cells.into_iter().map(|(column, text)| (column.written.clone(), text)).collect()
}
