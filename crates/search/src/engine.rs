//! This module answers one message from the index, by the search alone.

use std::ops::ControlFlow;
use std::sync::Arc;

use forecourt_agents::declined::unavailable;
use forecourt_content::{Error, Library};
use forecourt_core::{Admitted, Ending, Event, Findings, Message, Question};

use crate::answer_text::AnswerText;
use crate::content_index::ContentIndex;
use crate::cross_rerank::CrossReranker;
use crate::find::{self, SearchResults};
use crate::limits::INLINE_ITEMS_MAX;
use crate::request::{LibraryParser, SearchIntent, SearchRequest, answer_language};
use crate::{conversation, elicit, facets};

/// Where questions are answered.
pub(crate) struct SearchEngine {
    pub(crate) index: Arc<ContentIndex>,
    /// What several items are called.
    pub(crate) item_label: String,
    /// Items of one answer.
    pub(crate) results: usize,
    /// How many items have to fit for a question to be asked back. `None`: never.
    pub(crate) elicit: Option<usize>,
    /// What puts the best items into another order, if anything does.
    pub(crate) cross_reranker: Option<CrossReranker>,
}

/// The whole answer to a message.
pub(crate) async fn answered(engine: Arc<SearchEngine>, admitted: Arc<Admitted>) -> Vec<Event> {
    let answered = engine.with_library(move |engine, library| engine.answer(library, &admitted)).await;
    answered.unwrap_or_else(|ending| vec![Event::Ending(ending)])
}

/// What callers are told when the index fails; the cause goes to the log.
pub(crate) fn search_failed() -> Ending {
    Ending::failed("The search behind this agent failed.")
}

impl SearchEngine {
    /// Does something with the index, on a thread of its own when that may take long.
    pub(crate) async fn with_library<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Library) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Ending> {
        let engine = self.clone();
        let done = match self.index.opened() {
            // A small index answers sooner than a thread is woken.
            Some(library) if library.len() <= INLINE_ITEMS_MAX => Some(work(&engine, &library)),
            _ => {
                let work = move || engine.index.library().and_then(|library| work(&engine, &library));
                tokio::task::spawn_blocking(work).await.ok()
            }
        };
        done.ok_or_else(search_failed)?.map_err(|error| {
            tracing::error!(%error, "a search failed");
            search_failed()
        })
    }

    fn answer(&self, library: &Library, admitted: &Admitted) -> Result<Vec<Event>, Error> {
        let asked = match self.wished(library, admitted) {
            ControlFlow::Continue(asked) => asked,
            ControlFlow::Break(events) => return Ok(events),
        };
        if let Some(question) = self.question(library, &asked)? {
            return Ok(vec![Event::Ending(Ending::Question(question))]);
        }
        let page = self.page(&asked);
        let found = match &self.cross_reranker {
            Some(reranker) => reranker.find(library, &asked, page)?,
            None => find::find(library, &asked, page)?,
        };
        self.told(&self.words(library, admitted), admitted.message(), &asked, &found)
    }

    /// What is asked for, or the answer to who asks for nothing.
    pub(crate) fn wished(&self, library: &Library, admitted: &Admitted) -> ControlFlow<Vec<Event>, SearchRequest> {
        if library.is_empty() && !self.index.is_filled() {
            let message = format!("I am still reading my {}. Please ask again in a moment.", self.item_label);
            return ControlFlow::Break(vec![Event::Ending(unavailable(&message, Some(2)))]);
        }
        let answer_in = answer_language(admitted.message(), admitted.card());
        let reads = LibraryParser { library, answer_in };
        match conversation::wish(admitted.message(), &self.item_label, self.results, &reads) {
            SearchIntent::Items(asked) => ControlFlow::Continue(asked),
            SearchIntent::Introduction => {
                let text = self.words(library, admitted).introduction();
                ControlFlow::Break(vec![Event::Text(text), Event::Ending(Ending::Complete)])
            }
        }
    }

    /// What is asked back, when very many items fit.
    pub(crate) fn question(&self, library: &Library, asked: &SearchRequest) -> Result<Option<Question>, Error> {
        self.elicit.map_or(Ok(None), |over| elicit::question(library, asked, &self.item_label, over))
    }

    /// Items of one answer.
    pub(crate) fn page(&self, asked: &SearchRequest) -> usize {
        asked.results.unwrap_or(self.results)
    }

    pub(crate) fn words<'a>(&'a self, library: &'a Library, admitted: &'a Admitted) -> AnswerText<'a> {
        let answer_in = answer_language(admitted.message(), admitted.card());
        AnswerText { item_label: &self.item_label, card: admitted.card(), library, answer_in }
    }

    /// The whole answer.
    pub(crate) fn told(
        &self,
        words: &AnswerText<'_>,
        message: &Message,
        asked: &SearchRequest,
        found: &SearchResults,
    ) -> Result<Vec<Event>, Error> {
        let findings = self.findings(words, message, asked, found)?.map(|findings| Event::Findings(Box::new(findings)));
        let ending = Event::Ending(Ending::Complete);
        Ok(findings.into_iter().chain(words.found(asked, found)).chain([ending]).collect())
    }

    /// What an answer says about itself: as much of it as is wished for.
    pub(crate) fn findings(
        &self,
        words: &AnswerText<'_>,
        message: &Message,
        asked: &SearchRequest,
        found: &SearchResults,
    ) -> Result<Option<Findings>, Error> {
        if !message.search.findings.is_wanted() {
            return Ok(None);
        }
        let findings = words.findings(asked, found);
        if !message.search.findings.with_facets() {
            return Ok(Some(findings));
        }
        let (total, counted, facets) = facets::told(words.library, asked, found)?;
        Ok(Some(Findings { total: Some(total), counted, facets, items: words.explained(found), ..findings }))
    }
}
