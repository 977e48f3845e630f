//! What could not be read of a table, told once for each column.

use super::{At, Reason, Sink, Stop};

/// Bytes of a cell that are told.
const TOLD_BYTES: usize = 60;
/// Columns of which something is told.
const COLUMNS_MAX: usize = 50;

/// What is wrong with the cell of a price.
pub(super) const NO_PRICE: &str = "no price";

/// What is wrong with cells of one column.
#[derive(Debug)]
struct Note {
    column: String,
    wrong: &'static str,
    first: String,
    line: u64,
    cells: u64,
}

/// What could not be read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    cells: Vec<Note>,
    /// Rows that are not for the public, and the line of the first.
    unpublished: Option<(u64, u64)>,
    /// Rows of other store views, and the line of the first.
    other_views: Option<(u64, u64)>,
}

impl Notes {
    /// A cell is not what its column is for.
    pub(super) fn cell(&mut self, column: &str, wrong: &'static str, text: &str, line: u64) {
        let is_full = self.cells.len() >= COLUMNS_MAX;
        match self.cells.iter_mut().find(|note| note.column == column && note.wrong == wrong) {
            Some(note) => note.cells += 1,
            None if !is_full => {
                let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= TOLD_BYTES).unwrap_or(text.len());
                let (column, first) = (column.to_owned(), text[..end].to_owned());
                self.cells.push(Note { column, wrong, first, line, cells: 1 });
            }
            None => {}
        }
    }

    /// A row is not for the public.
    pub(super) fn unpublished(&mut self, line: u64) {
        self.unpublished.get_or_insert((0, line)).0 += 1;
    }

    /// A row is another store's view of a product.
    pub(super) fn other_view(&mut self, line: u64) {
        self.other_views.get_or_insert((0, line)).0 += 1;
    }

    /// Tells all of it.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let at = |line| At { line, bytes: 0 };
        for Note { column, wrong, first, line, cells } in self.cells {
            sink.skip(at(line), Reason::Cells { column, wrong, first, cells })?;
        }
        if let Some((rows, line)) = self.unpublished {
            sink.skip(at(line), Reason::Unpublished(rows))?;
        }
        match self.other_views {
            Some((rows, line)) => sink.skip(at(line), Reason::OtherViews(rows)),
            None => Ok(()),
        }
    }
}
