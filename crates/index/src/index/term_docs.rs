//! Which documents have a term, to be asked of any document in any order: postings go forward only, and to seek in them
//! costs more than a look at a bit.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::limits::TERM_DOCS_BYTES_MAX;

/// The documents that have a term.
pub(crate) struct TermDocs {
    /// By segment.
    segments: Vec<SegmentDocs>,
}

/// The documents of one segment that have a term.
pub(crate) enum SegmentDocs {
    /// Few: their numbers, in ascending order.
    Few(Vec<DocId>),
    /// Many: a bit for each document of the segment.
    Many(Vec<u64>),
}

impl TermDocs {
    fn read(searcher: &Searcher, term: &Term) -> tantivy::Result<Self> {
        let segments = searcher.segment_readers().iter().map(|reader| SegmentDocs::read(reader, term));
        Ok(Self { segments: segments.collect::<tantivy::Result<_>>()? })
    }

    /// The documents of one segment.
    pub(crate) fn of_segment(&self, segment: u32) -> &SegmentDocs {
        &self.segments[segment as usize]
    }

    /// Whether a document has the term.
    pub(crate) fn has(&self, address: DocAddress) -> bool {
        self.of_segment(address.segment_ord).has(address.doc_id)
    }

    fn bytes(&self) -> usize {
        self.segments.iter().map(SegmentDocs::bytes).sum()
    }
}

impl SegmentDocs {
    fn read(reader: &SegmentReader, term: &Term) -> tantivy::Result<Self> {
        let inverted = reader.inverted_index(term.field())?;
        let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? else {
            return Ok(Self::Few(Vec::new()));
        };
        let words = (reader.max_doc() as usize).div_ceil(64);
        // Whichever takes less room: four bytes for each of them, or a bit for every document.
        let is_few = (postings.doc_freq() as usize) < 2 * words;
        let (mut few, mut many) = (Vec::new(), if is_few { Vec::new() } else { vec![0_u64; words] });
        let mut doc = postings.doc();
        while doc != TERMINATED {
            match is_few {
                true => few.push(doc),
                false => many[doc as usize / 64] |= 1 << (doc % 64),
            }
            doc = postings.advance();
        }
        Ok(if is_few { Self::Few(few) } else { Self::Many(many) })
    }

    /// Whether a document has the term.
    pub(crate) fn has(&self, doc: DocId) -> bool {
        match self {
            Self::Few(docs) => docs.binary_search(&doc).is_ok(),
            Self::Many(bits) => bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1),
        }
    }

    /// How many documents have the term.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Few(docs) => docs.len(),
            Self::Many(bits) => bits.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Shows the documents that have the term, in order.
    pub(crate) fn for_each(&self, mut take: impl FnMut(DocId)) {
        match self {
            Self::Few(docs) => docs.iter().copied().for_each(take),
            Self::Many(bits) => {
                for (word, at) in bits.iter().zip((0..).step_by(64)) {
                    let mut left = *word;
                    while left != 0 {
                        take(at + left.trailing_zeros());
                        left &= left - 1;
                    }
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Few(docs) => size_of_val(docs.as_slice()),
            Self::Many(bits) => size_of_val(bits.as_slice()),
        }
    }
}

/// The terms of one snapshot whose documents are remembered. A snapshot does not change.
#[derive(Default)]
pub(super) struct TermDocsCache(Mutex<Generations>);

/// The terms that were asked for lately, and those of the time before.
#[derive(Default)]
struct Generations {
    new: HashMap<Term, Arc<TermDocs>>,
    bytes: usize,
    old: HashMap<Term, Arc<TermDocs>>,
}

impl TermDocsCache {
    /// The documents of a term. Fails when they can't be read.
    pub(super) fn of(&self, searcher: &Searcher, term: &Term) -> tantivy::Result<Arc<TermDocs>> {
        if let Some(known) = self.0.lock().known(term) {
            return Ok(known);
        }
        // Read without the lock: two callers may read the same and find the same.
        let read = Arc::new(TermDocs::read(searcher, term)?);
        self.0.lock().keep(term, &read);
        Ok(read)
    }
}

impl Generations {
    fn known(&mut self, term: &Term) -> Option<Arc<TermDocs>> {
        if let Some(known) = self.new.get(term) {
            return Some(known.clone());
        }
        let known = self.old.remove(term)?;
        self.keep(term, &known);
        Some(known)
    }

    fn keep(&mut self, term: &Term, docs: &Arc<TermDocs>) {
        let bytes = docs.bytes() + size_of::<TermDocs>() + term.serialized_value_bytes().len();
        if self.bytes + bytes > TERM_DOCS_BYTES_MAX {
            self.old = std::mem::take(&mut self.new);
            self.bytes = 0;
        }
        // What does not fit by itself is read again.
        if bytes <= TERM_DOCS_BYTES_MAX && self.new.insert(term.clone(), docs.clone()).is_none() {
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use tantivy::schema::Field;

    use super::*;

    fn term(n: usize) -> Term {
        Term::from_field_u64(Field::from_field_id(0), n as u64)
    }

    #[test]
    fn a_document_is_found_whether_few_or_many_have_the_term() {
        let few = SegmentDocs::Few(vec![3, 64, 900]);
        let many = SegmentDocs::Many(vec![1 << 3, 1, 0]);
        for (doc, of_few, of_many) in [(3, true, true), (64, true, true), (65, false, false), (900, true, false)] {
            assert_eq!((few.has(doc), many.has(doc)), (of_few, of_many), "{doc}");
        }
        let all = |docs: &SegmentDocs| {
            let mut all = Vec::new();
            docs.for_each(|doc| all.push(doc));
            (all, docs.count())
        };
        assert_eq!((all(&few), all(&many)), ((vec![3, 64, 900], 3), (vec![3, 64], 2)));
    }

    #[test]
    fn what_is_remembered_ends_at_the_bound() {
        let docs = |bytes: usize| Arc::new(TermDocs { segments: vec![SegmentDocs::Many(vec![0; bytes / 8])] });
        let mut kept = Generations::default();
        let own = size_of::<TermDocs>() + term(0).serialized_value_bytes().len();
        kept.keep(&term(0), &docs(TERM_DOCS_BYTES_MAX - own.next_multiple_of(8)));
        assert_eq!((kept.new.len(), kept.old.len()), (1, 0));
        kept.keep(&term(1), &docs(8));
        assert_eq!((kept.new.len(), kept.old.len()), (1, 1));
        kept.keep(&term(2), &docs(TERM_DOCS_BYTES_MAX));
        assert!(kept.known(&term(2)).is_none(), "it is too large");
        assert!(kept.known(&term(1)).is_some());
    }
}
