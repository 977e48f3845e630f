//! Whether items have a property at all, and which of its values are nearest to one that none has.

use super::facets::facets;
use super::query::Query;
use crate::analysis::{LanguageAnalyzer, fact_word, fold_text};
use crate::error::Result;
use crate::index::Snapshot;

/// Values that are named where one is asked for that no item has.
const NEAREST_MAX: usize = 5;
/// Characters of a value that is compared with others; the work grows with its square.
const COMPARED_CHARS_MAX: usize = 64;

/// Whether some item has this property.
pub(crate) fn has_property(snapshot: &Snapshot, path: &str) -> Result<bool> {
    if snapshot.summary.numbers.contains(path) {
        return Ok(true);
    }
    // Terms of a property begin with its code, whole values and words alike.
    let prefix = fact_word(path, "");
    let bounds = prefix.as_bytes();
    for segment in snapshot.searcher.segment_readers() {
        let inverted = segment.inverted_index(snapshot.fields.facts)?;
        let mut terms = inverted.terms().range().ge(bounds).into_stream().map_err(tantivy::TantivyError::from)?;
        if terms.advance() && terms.key().starts_with(bounds) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Values of a property that are nearest to `value` by how they are written, else the most frequent ones.
pub(crate) fn nearest(snapshot: &Snapshot, path: &str, value: &str, default: LanguageAnalyzer) -> Result<Vec<String>> {
    let counted = facets(snapshot, &Query::default(), &[path], 0, default)?;
    let value = fold_text(value);
    let mut values: Vec<(bool, usize, usize, String)> = counted
        .facets
        .into_iter()
        .flat_map(|facet| facet.values)
        .enumerate()
        .map(|(rank, (written, _))| {
            let distance = distance(&value, &fold_text(&written));
            // What is written quite differently is no typing error: then the frequent ones say what there is.
            let is_near = distance * 2 <= value.chars().count();
            (!is_near, if is_near { distance } else { 0 }, rank, written)
        })
        .collect();
    values.sort();
    Ok(values.into_iter().map(|(.., written)| written).take(NEAREST_MAX).collect())
}

/// Letters to change, add or leave out until two texts are the same.
fn distance(a: &str, b: &str) -> usize {
    let chars = |text: &str| text.chars().take(COMPARED_CHARS_MAX).collect::<Vec<char>>();
    let (a, b) = (chars(a), chars(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn texts_are_compared_letter_by_letter() {
        assert_eq!(distance("klingon", "klingon"), 0);
        assert_eq!(distance("itallian", "italian"), 1);
        assert_eq!((distance("", "abc"), distance("abc", "")), (3, 3));
    }
}
