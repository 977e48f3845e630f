//! What an operator says about the columns of a table.

use std::collections::BTreeMap;

/// How the operator says that a table is read (CSV, TSV and the like). What is missing is found out from the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TableMapping {
    /// The file, or the folder of files, under the source; empty for all of them.
    pub file: String,
    /// The schema.org type of every row, such as `Product`, unless a column says it.
    pub kind: Option<String>,
    /// The byte between two cells.
    pub delimiter: Option<u8>,
    /// The decimal mark of numbers: `.` or `,`.
    pub decimal: Option<char>,
    /// How dates are written, as strptime has it: `%d.%m.%Y`.
    pub dates: Option<String>,
    /// Columns, and the property that each is: a dot path. Empty for a column that is not read.
    pub columns: BTreeMap<String, String>,
    /// Properties that every row has, unless a column says them.
    pub constants: BTreeMap<String, String>,
    /// Columns with several values in a cell, and what is between these.
    pub lists: BTreeMap<String, String>,
}

impl TableMapping {
    /// Whether this is about a file of its source.
    pub(crate) fn is_about(&self, file: &str) -> bool {
        // A whole name of a folder or a file: `shop` is not about `shopping/list.csv`.
        let rest = file.strip_prefix(self.file.trim_end_matches('/'));
        self.file.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_about_a_file_a_folder_or_everything() {
        let about =
            |named: &str, file: &str| TableMapping { file: named.to_owned(), ..TableMapping::default() }.is_about(file);
        assert!(about("", "a/b.csv") && about("a", "a/b.csv") && about("a/", "a/b.csv") && about("a/b.csv", "a/b.csv"));
        assert!(!about("a", "ab.csv") && !about("b.csv", "a/b.csv"));
    }
}
