//! What a loading run says while it runs and when it ends.

use std::collections::BTreeMap;

use forecourt_loaders::SkippedItem;

use forecourt_loaders::limits::REASONS_MAX;

/// How far a loading run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadProgress {
    /// Files read to their end.
    pub files: usize,
    /// Files in all.
    pub files_total: usize,
    /// Items seen, skipped ones included.
    pub items: u64,
    /// Items that were skipped.
    pub skipped: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes in all files, as they were at the start.
    pub bytes_total: u64,
}

/// Listens to a loading run. Called every [`crate::limits::PROGRESS_ITEMS`] items and at the end of
/// each file.
pub trait Progress {
    /// The run has come this far.
    fn progressed(&mut self, progressed: &LoadProgress);
}

/// For callers that need no progress.
impl Progress for () {
    fn progressed(&mut self, _: &LoadProgress) {}
}

impl<F: FnMut(&LoadProgress)> Progress for F {
    fn progressed(&mut self, progressed: &LoadProgress) {
        self(progressed);
    }
}

/// The result of a loading run, in numbers and reasons.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Items that are new.
    pub loaded: u64,
    /// Items whose content has changed.
    pub updated: u64,
    /// Items that are as they were; they were not written again.
    pub unchanged: u64,
    /// Items that are no longer in any source.
    pub removed: u64,
    /// Items of files in whose place others were pushed, or that were removed by hand.
    pub overridden: u64,
    /// Items, or rests of files, that were left out.
    pub skipped: u64,
    /// Why, for the first [`REASONS_MAX`] of them.
    pub reasons: Vec<SkippedItem>,
    /// Files with items in them, and these, by what the files are written in.
    pub kinds: BTreeMap<&'static str, KindCount>,
    /// Files of which nothing was taken. Of endings that are not read, one for all of an ending.
    pub files_left_out: u64,
    /// Which and why, for the first [`REASONS_MAX`] of them.
    pub left_out: Vec<SkippedItem>,
    /// Whether the run was cancelled. Then nothing has changed, whatever the other fields say.
    pub cancelled: bool,
}

/// Files of one kind, and the items in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindCount {
    /// Files with items.
    pub files: u64,
    /// Items in them.
    pub items: u64,
}

impl Report {
    /// Whether the index is different after this run.
    pub fn has_changed(&self) -> bool {
        !self.cancelled && self.loaded + self.updated + self.removed > 0
    }

    /// A file of a kind was read, with so many items. One without any is left out.
    pub(crate) fn file_read(&mut self, file: &str, kind: &'static str, items: u64, skipped: u64) {
        if items > 0 {
            let count = self.kinds.entry(kind).or_default();
            *count = KindCount { files: count.files + 1, items: count.items + items };
            return;
        }
        let reason = match skipped {
            0 => "nothing in it is an item".to_owned(),
            _ => "nothing in it could be taken".to_owned(),
        };
        self.leave_out(SkippedItem { file: file.to_owned(), line: None, reason });
    }

    /// A file was not read.
    pub(crate) fn leave_out(&mut self, file: SkippedItem) {
        self.files_left_out += 1;
        if self.left_out.len() < REASONS_MAX {
            self.left_out.push(file);
        }
    }

    pub(crate) fn skip(&mut self, file: &str, line: Option<u64>, reason: &dyn std::fmt::Display) {
        self.skipped += 1;
        if self.reasons.len() < REASONS_MAX {
            self.reasons.push(SkippedItem { file: file.to_owned(), line, reason: reason.to_string() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_end_at_the_bound_and_the_count_goes_on() {
        let mut report = Report::default();
        (0..REASONS_MAX).for_each(|line| report.skip("f", Some(line as u64), &"why"));
        assert_eq!(report.reasons.len(), REASONS_MAX);
        report.skip("f", None, &"why");
        assert_eq!((report.reasons.len(), report.skipped), (REASONS_MAX, REASONS_MAX as u64 + 1));
        assert_eq!(report.reasons[1].to_string(), "f:1: why");
    }
}
