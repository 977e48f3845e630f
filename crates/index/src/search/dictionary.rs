//! The words of a field, in their order.

use std::collections::BTreeMap;

use tantivy::schema::Field;

use crate::index::Snapshot;

/// Words of a field with a beginning, each with how many items have it. So many are looked at in each segment. Fails when
/// the dictionary can't be read.
pub(super) fn beginning_with(
    snapshot: &Snapshot,
    field: Field,
    beginning: &str,
    looked_at: usize,
) -> tantivy::Result<BTreeMap<String, u32>> {
    let mut items: BTreeMap<String, u32> = BTreeMap::new();
    for segment in snapshot.searcher.segment_readers() {
        let words = segment.inverted_index(field)?;
        let mut stream = words.terms().range().ge(beginning).into_stream()?;
        for _ in 0..looked_at {
            let Some((word, info)) = stream.next() else { break };
            match std::str::from_utf8(word) {
                Ok(word) if word.starts_with(beginning) => *items.entry(word.to_owned()).or_default() += info.doc_freq,
                _ => break,
            }
        }
    }
    Ok(items)
}
