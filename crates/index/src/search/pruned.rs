//! The best documents of clauses without a look at those that can't be among them (MaxScore). The search engine prunes
//! where every clause is one term; where one is the best of several names, it would score each document that has any.
//!
//! A name adds no more than what its terms add to the best of texts, which is looked for once. Lists whose names together
//! add no more than the threshold lead to no document by themselves: they are asked about documents to which the others
//! lead, and only as long as these may still reach it. Scores are those of the search engine to the bit, summed in the
//! order of clauses.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentReader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED};

use super::weighted::{Lengths, WeightedClauses, WeightedName, WeightedTerm, part};
use crate::index::Snapshot;

/// How far sums in another order may stray from each other, as a factor.
const ROUNDED: f32 = 1.000_01;

/// The clauses in one segment: they go forward only.
#[derive(Clone)]
pub(super) struct SegmentClauses {
    /// The names that the segment has, of each clause the one that may add most first.
    clauses: Vec<Vec<Name>>,
    /// The clauses, the one that may add most first.
    order: Vec<usize>,
    /// In that order, what each clause and those behind it add at most.
    rests: Vec<f32>,
    /// What each clause adds to the document that is looked at.
    scores: Vec<Option<f32>>,
}

impl SegmentClauses {
    /// At the beginning of a segment. Fails when that can't be read.
    pub(super) fn open(weighted: &WeightedClauses<'_>, snapshot: &Snapshot, segment: usize) -> tantivy::Result<Self> {
        let reader = snapshot.searcher.segment_reader(segment as u32);
        let clause = |names: &Vec<WeightedName<'_>>| -> tantivy::Result<Vec<Name>> {
            let names: tantivy::Result<Vec<Option<Name>>> =
                names.iter().map(|name| Name::open(name, reader, segment)).collect();
            let mut names: Vec<Name> = names?.into_iter().flatten().collect();
            names.sort_by(|one, other| other.most.total_cmp(&one.most));
            Ok(names)
        };
        let clauses: Vec<Vec<Name>> = weighted.clauses.iter().map(clause).collect::<tantivy::Result<_>>()?;
        let most = |at: usize| clauses[at].first().map_or(0.0, |name| name.most);
        let mut order: Vec<usize> = (0..clauses.len()).collect();
        order.sort_by(|one, other| most(*other).total_cmp(&most(*one)));
        // What each clause and those behind it in that order add at most.
        let mut rests: Vec<f32> = order.iter().map(|at| most(*at)).collect();
        for at in (1..rests.len()).rev() {
            rests[at - 1] += rests[at];
        }
        let scores = vec![None; clauses.len()];
        Ok(Self { clauses, order, rests, scores })
    }

    /// The score of a document, which lies behind those that were asked for before. `None`: no clause has it.
    pub(super) fn score(&mut self, doc: DocId) -> Option<f32> {
        self.score_over(doc, f32::NEG_INFINITY)
    }

    /// The same. `None` as well where it is at most `threshold`, as far as that shows soon.
    fn score_over(&mut self, doc: DocId, threshold: f32) -> Option<f32> {
        let mut sum = 0.0;
        self.scores.fill(None);
        for (step, at) in self.order.iter().enumerate() {
            let behind = self.rests.get(step + 1).copied().unwrap_or(0.0);
            let mut best: Option<f32> = None;
            for name in &mut self.clauses[*at] {
                // The names that are left add no more than this one may.
                let most = best.map_or(name.most, |best| best.max(name.most));
                if (sum + most + behind) * ROUNDED <= threshold {
                    return None;
                }
                if best.is_some_and(|best| best >= name.most * ROUNDED) {
                    break;
                }
                best = name.score(doc).into_iter().chain(best).reduce(f32::max);
            }
            self.scores[*at] = best;
            sum += best.unwrap_or(0.0);
        }
        let found = self.scores.iter().flatten();
        found.clone().next().is_some().then(|| found.fold(0.0, |sum, score| sum + score))
    }

    /// Shows every document whose score is over `threshold`, in order, with its score. `take` gives the next threshold,
    /// which is no lower one.
    pub(super) fn for_each_over(&mut self, mut threshold: f32, take: &mut dyn FnMut(DocId, f32) -> f32) {
        let mut lists = Lists::of(&self.clauses);
        lists.pass_over(threshold);
        while let Some(doc) = lists.docs.iter().copied().min().filter(|doc| *doc != TERMINATED) {
            let is_near = lists.most_of(doc) * ROUNDED > threshold;
            let score = if is_near { self.score_over(doc, threshold) } else { None };
            lists.go_on(doc, &mut self.clauses);
            if let Some(score) = score.filter(|score| *score > threshold) {
                threshold = take(doc, score);
                lists.pass_over(threshold);
            }
        }
    }
}

/// The names whose documents are gone through, those that may add least first.
struct Lists {
    /// The document at which each stands.
    docs: Vec<DocId>,
    names: Vec<List>,
    /// What the names before these, which lead to no document, add at most: by clause.
    reached: Vec<f32>,
    /// The same with the names of one document.
    here: Vec<f32>,
}

/// The place of a name among those of the clauses, and what it adds at most.
struct List {
    clause: usize,
    name: usize,
    most: f32,
}

impl Lists {
    fn of(clauses: &[Vec<Name>]) -> Self {
        let of_clause = |(clause, names): (usize, &Vec<Name>)| -> Vec<List> {
            names.iter().enumerate().map(|(name, it)| List { clause, name, most: it.most }).collect()
        };
        let mut names: Vec<List> = clauses.iter().enumerate().flat_map(of_clause).collect();
        names.sort_by(|one, other| one.most.total_cmp(&other.most));
        let docs = names.iter().map(|list| clauses[list.clause][list.name].doc()).collect();
        Self { docs, names, reached: vec![0.0; clauses.len()], here: vec![0.0; clauses.len()] }
    }

    /// Drops the first names as long as they, together with those before, reach no threshold.
    fn pass_over(&mut self, threshold: f32) {
        let mut passed = 0;
        for list in &self.names {
            let before = self.reached[list.clause];
            self.reached[list.clause] = before.max(list.most);
            if self.reached.iter().sum::<f32>() * ROUNDED > threshold {
                self.reached[list.clause] = before;
                break;
            }
            passed += 1;
        }
        self.names.drain(..passed);
        self.docs.drain(..passed);
    }

    /// What a document has at most, by the names that stand at it and those that were dropped.
    fn most_of(&mut self, doc: DocId) -> f32 {
        self.here.copy_from_slice(&self.reached);
        for (list, _) in self.names.iter().zip(&self.docs).filter(|(_, at)| **at == doc) {
            let here = &mut self.here[list.clause];
            *here = here.max(list.most);
        }
        self.here.iter().sum()
    }

    /// Moves the names on that stand at a document.
    fn go_on(&mut self, doc: DocId, clauses: &mut [Vec<Name>]) {
        for (list, at) in self.names.iter().zip(&mut self.docs).filter(|(_, at)| **at == doc) {
            let name = &mut clauses[list.clause][list.name];
            name.pass(doc);
            *at = name.doc();
        }
    }
}

/// A name in one segment.
#[derive(Clone)]
struct Name {
    /// Of a whole name, the rarest term first.
    terms: Vec<TermCursor>,
    is_whole: bool,
    /// What it adds at most.
    most: f32,
}

#[derive(Clone)]
struct TermCursor {
    postings: SegmentPostings,
    norms: FieldNormReader,
    lengths: Lengths,
    weight: f32,
}

impl Name {
    /// `None`: no document of the segment has it.
    fn open(name: &WeightedName<'_>, reader: &SegmentReader, segment: usize) -> tantivy::Result<Option<Self>> {
        let (mut terms, mut most) = (Vec::with_capacity(name.terms.len()), 0.0);
        for WeightedTerm { term, weight, lengths, most: part } in &name.terms {
            let index = reader.inverted_index(term.field())?;
            let Some(postings) = index.read_postings(term, IndexRecordOption::WithFreqs)? else { continue };
            let (norms, lengths) = (reader.get_fieldnorms_reader(term.field())?, lengths.clone());
            terms.push(TermCursor { postings, norms, lengths, weight: *weight });
            most += weight * part.get(segment).copied().unwrap_or(1.0);
        }
        if terms.is_empty() || (name.is_whole && terms.len() < name.terms.len()) {
            return Ok(None);
        }
        if name.is_whole {
            terms.sort_by_key(|term| term.postings.doc_freq());
        }
        Ok(Some(Self { terms, is_whole: name.is_whole, most }))
    }

    /// The next document that may have it.
    fn doc(&self) -> DocId {
        let mut docs = self.terms.iter().map(|term| term.postings.doc());
        if self.is_whole { docs.next() } else { docs.min() }.unwrap_or(TERMINATED)
    }

    fn score(&mut self, doc: DocId) -> Option<f32> {
        let mut sum: Option<f32> = None;
        for term in &mut self.terms {
            match term.is_at(doc) {
                true => sum = Some(sum.unwrap_or(0.0) + term.score()),
                false if self.is_whole => return None,
                false => {}
            }
        }
        sum
    }

    /// Goes on where it stands at a document.
    fn pass(&mut self, doc: DocId) {
        for term in &mut self.terms {
            if term.postings.doc() == doc {
                term.postings.advance();
            }
        }
    }
}

impl TermCursor {
    fn is_at(&mut self, doc: DocId) -> bool {
        let at = self.postings.doc();
        at == doc || (at < doc && self.postings.seek(doc) == doc)
    }

    fn score(&self) -> f32 {
        self.weight * part(&self.postings, &self.norms, &self.lengths)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_retrieval::{Candidate, StoredEntry};
    use forecourt_vocabulary::Vocabulary;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;
    use tantivy::Term;
    use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query};

    use super::super::scored::{ScoredClause, ScoredName, ScoredTerm};
    use super::*;
    use crate::analysis::LanguageAnalyzer;
    use crate::index::{Overview, Reading, Statistics, Summary};

    const WORDS: [&str; 6] = ["bread", "corn", "dill", "fig", "leek", "rice"];

    fn text(words: &[usize]) -> String {
        words.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ")
    }

    /// An index of items with these texts.
    fn snapshot(texts: &[Vec<usize>]) -> Snapshot {
        let candidate = |(words, key): (&Vec<usize>, u64)| {
            let item = json!({"@type": "Recipe", "name": "x", "description": text(words)}).to_string();
            Candidate {
                entry: StoredEntry { key, hash: key, origin: 0, words: 0, pairs: 0 },
                id: key.to_string(),
                item,
            }
        };
        let found: Vec<Candidate> = texts.iter().zip(1..).map(candidate).collect();
        let reading = Reading { vocabulary: &Vocabulary::shipped(), tongue: LanguageAnalyzer::ENGLISH };
        let statistics = Statistics { documents: texts.len() as u64, ..Statistics::default() };
        let (summary, overview) = (Summary::default(), Overview::default());
        Snapshot::of_candidates(&found, reading, summary, statistics, overview).unwrap()
    }

    fn clause(snapshot: &Snapshot, names: &[(Vec<usize>, bool, u8)]) -> ScoredClause {
        let term = |at: &usize, worth: u8| ScoredTerm {
            term: Term::from_field_text(snapshot.fields.text, WORDS[*at]),
            worth: f32::from(worth) / 4.0,
        };
        let name = |(words, is_whole, worth): &(Vec<usize>, bool, u8)| ScoredName {
            terms: words.iter().map(|at| term(at, *worth)).collect(),
            is_whole: *is_whole,
        };
        ScoredClause { names: names.iter().map(name).collect() }
    }

    /// What the search engine finds, without pruning.
    fn by_engine(snapshot: &Snapshot, clauses: &[ScoredClause]) -> Vec<(DocId, f32)> {
        let query = BooleanQuery::new(clauses.iter().map(|clause| (Occur::Should, clause.query())).collect());
        let weight =
            query.weight(EnableScoring::enabled_from_statistics_provider(snapshot, &snapshot.searcher)).unwrap();
        let mut found = Vec::new();
        weight.for_each(snapshot.searcher.segment_reader(0), &mut |doc, score| found.push((doc, score))).unwrap();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn scores_are_those_of_the_search_engine_and_none_over_the_threshold_is_missed(
            texts in vec(vec(0..WORDS.len(), 1..9), 1..200),
            names in vec(vec((vec(0..WORDS.len(), 1..3), any::<bool>(), 1_u8..9), 1..4), 1..4),
            wanted in 1_usize..9,
        ) {
            let snapshot = snapshot(&texts);
            let clauses: Vec<ScoredClause> = names.iter().map(|names| clause(&snapshot, names)).collect();
            let weighted = WeightedClauses::of(&snapshot, &clauses).unwrap();
            let begin = SegmentClauses::open(&weighted, &snapshot, 0).unwrap();
            let all = by_engine(&snapshot, &clauses);

            let mut found = Vec::new();
            begin.clone().for_each_over(f32::MIN, &mut |doc, score| {
                found.push((doc, score));
                f32::MIN
            });
            prop_assert_eq!(&found, &all);
            let mut by_doc = begin.clone();
            let each: Vec<(DocId, f32)> =
                (0..texts.len() as DocId).filter_map(|doc| Some((doc, by_doc.score(doc)?))).collect();
            prop_assert_eq!(&each, &all);

            // The best few, with a threshold that rises.
            let mut best: Vec<f32> = Vec::new();
            begin.clone().for_each_over(f32::MIN, &mut |_, score| {
                best.push(score);
                best.sort_by(|one, other| other.total_cmp(one));
                best.truncate(wanted);
                best.get(wanted - 1).copied().unwrap_or(f32::MIN)
            });
            let mut scores: Vec<f32> = all.iter().map(|(_, score)| *score).collect();
            scores.sort_by(|one, other| other.total_cmp(one));
            scores.truncate(wanted);
            prop_assert_eq!(best, scores);
        }
    }
}
