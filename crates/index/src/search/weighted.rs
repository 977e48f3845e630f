//! What each term of a question is worth in an index: BM25 as the search engine reckons it, to the bit.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

use super::scored::{ScoredClause, ScoredName, ScoredTerm};
use crate::index::Snapshot;

/// The parameters of BM25, as the search engine has them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What the length of a text takes from its words, by the number as which the length is kept.
pub(super) type Lengths = Arc<[f32; 256]>;

/// Clauses with what each of their terms is worth in an index.
pub(super) struct WeightedClauses<'q> {
    pub(super) clauses: Vec<Vec<WeightedName<'q>>>,
}

/// See [`ScoredName`].
pub(super) struct WeightedName<'q> {
    pub(super) terms: Vec<WeightedTerm<'q>>,
    pub(super) is_whole: bool,
}

/// A term, with what it adds to a document that says nothing else.
pub(super) struct WeightedTerm<'q> {
    pub(super) term: &'q Term,
    pub(super) weight: f32,
    pub(super) lengths: Lengths,
    /// By segment, the part of the weight that it adds at most.
    pub(super) most: Arc<[f32]>,
}

impl<'q> WeightedClauses<'q> {
    /// Fails when the index can't be read.
    pub(super) fn of(snapshot: &Snapshot, clauses: &'q [ScoredClause]) -> tantivy::Result<Self> {
        let documents = snapshot.total_num_docs()?;
        let mut known: Vec<(Field, Lengths)> = Vec::new();
        let mut term = |ScoredTerm { term, worth }: &'q ScoredTerm| -> tantivy::Result<WeightedTerm<'q>> {
            let field = term.field();
            let lengths = match known.iter().find(|(other, _)| *other == field) {
                Some((_, lengths)) => lengths.clone(),
                None => {
                    let lengths = lengths(snapshot.total_num_tokens(field)? as f32 / documents as f32);
                    known.push((field, lengths.clone()));
                    lengths
                }
            };
            let with = Bm25StatisticsProvider::doc_freq(snapshot, term)?;
            let rarity = (documents.saturating_sub(with) as f32 + 0.5) / (with as f32 + 0.5);
            let most = snapshot.best_part(term, || best_parts(snapshot, term, &lengths))?;
            Ok(WeightedTerm { term, weight: (1.0 + rarity).ln() * (1.0 + K1) * worth, lengths, most })
        };
        let mut name = |ScoredName { terms, is_whole }: &'q ScoredName| -> tantivy::Result<WeightedName<'q>> {
            Ok(WeightedName {
                terms: terms.iter().map(&mut term).collect::<tantivy::Result<_>>()?,
                is_whole: *is_whole,
            })
        };
        let clauses = clauses.iter().map(|clause| clause.names.iter().map(&mut name).collect());
        Ok(Self { clauses: clauses.collect::<tantivy::Result<_>>()? })
    }
}

fn lengths(average: f32) -> Lengths {
    Arc::new(std::array::from_fn(|id| {
        let length = FieldNormReader::id_to_fieldnorm(u8::try_from(id).unwrap_or(u8::MAX)) as f32;
        K1 * (1.0 - B + B * length / average)
    }))
}

/// The part of its weight that a term adds to the document where its postings stand.
pub(super) fn part(postings: &SegmentPostings, norms: &FieldNormReader, lengths: &Lengths) -> f32 {
    let times = postings.term_freq() as f32;
    times / (times + lengths[usize::from(norms.fieldnorm_id(postings.doc()))])
}

/// The most of that, by segment. Looks at each document that has the term.
fn best_parts(snapshot: &Snapshot, term: &Term, lengths: &Lengths) -> tantivy::Result<Arc<[f32]>> {
    let best = |reader: &SegmentReader| -> tantivy::Result<f32> {
        let index = reader.inverted_index(term.field())?;
        let Some(mut postings) = index.read_postings(term, IndexRecordOption::WithFreqs)? else { return Ok(0.0) };
        let (norms, mut best) = (reader.get_fieldnorms_reader(term.field())?, 0.0_f32);
        while postings.doc() != TERMINATED {
            best = best.max(part(&postings, &norms, lengths));
            postings.advance();
        }
        Ok(best)
    };
    snapshot.searcher.segment_readers().iter().map(best).collect()
}
