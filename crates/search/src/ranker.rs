//! Rankings of judged questions, made as answers are: what a question says is understood first.

use std::sync::Arc;

use forecourt_agents::backend::{IndexingError, JudgedCorpus, QuestionRanker};
use forecourt_core::Language;
use forecourt_index::{Error, Library, Options, Query, RankBy};
use forecourt_loaders::ContentSource;
use forecourt_understanding::ParsedQuestion;

const BY_WORDS: &[RankBy] = &[RankBy::Words];
const BY_ALL: &[RankBy] = &[RankBy::Words, RankBy::Meaning, RankBy::Both];

/// Ranks the items of a library.
pub(crate) struct LibraryRanker {
    library: Arc<Library>,
    /// Whether items go by the `_id` of a judged set, and not by their own.
    is_corpus: bool,
}

impl LibraryRanker {
    /// Of the items that an agent has.
    pub(crate) fn of_items(library: Arc<Library>) -> Self {
        Self { library, is_corpus: false }
    }

    /// Of the documents of a judged set, indexed as an agent's items are.
    pub(crate) fn of_corpus(corpus: JudgedCorpus<'_>, options: &Options) -> Result<Self, Error> {
        // The corpus stands alone: pushed items of the agent and its lock have nothing to do with it.
        let options = Options { pushed: None, lock: None, ..options.clone() };
        let library = Library::open(corpus.index, options)?;
        library.index(&[ContentSource::new(corpus.items)], &mut (), &|| false)?;
        Ok(Self { library: Arc::new(library), is_corpus: true })
    }
}

impl QuestionRanker for LibraryRanker {
    fn rank(&self, question: &str, by: RankBy, wanted: usize) -> Result<Vec<String>, IndexingError> {
        let ParsedQuestion { text, filters, order, .. } = self.library.understand(question, &Language::english());
        let query = Query { text, filters, order, limit: wanted, ..Query::default() };
        let hits = self.library.search_by(&query, by).map_err(|error| IndexingError(error.to_string()))?;
        let own = |hit: &forecourt_index::Hit| hit.item.get("_id").and_then(|id| id.as_str()).map(str::to_owned);
        Ok(match self.is_corpus {
            true => hits.iter().filter_map(own).collect(),
            false => hits.into_iter().map(|hit| hit.id).collect(),
        })
    }

    fn ways(&self) -> &[RankBy] {
        if self.library.has_model() { BY_ALL } else { BY_WORDS }
    }

    fn items(&self) -> u64 {
        self.library.len()
    }
}
