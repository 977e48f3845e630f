//! This module answers one message from the index, by the search alone.

use std::ops::ControlFlow;
use std::sync::Arc;

use forecourt_agents::declined::unavailable;
use forecourt_core::findings::{Suggestion, SuggestionKind};
use forecourt_core::{Admitted, Ending, Event, Findings, Message, Question};
use forecourt_index::{Completion, Error, Library};
use forecourt_sentences::Sentences;

use crate::answer_text::{AnswerText, items_word};
use crate::content_index::ContentIndex;
use crate::cross_rerank::CrossReranker;
use crate::elicit::Elicitation;
use crate::find::{self, SearchResults};
use crate::library_parser::LibraryParser;
use crate::limits::{INLINE_ITEMS_MAX, SUGGESTIONS_MAX};
use crate::request::{ItemQuestion, SearchIntent, SearchRequest, answer_language};
use crate::{conversation, current, facets, item_order, shown};

/// Where questions are answered.
pub(crate) struct SearchEngine {
    pub(crate) index: Arc<ContentIndex>,
    /// What several items are called.
    pub(crate) item_label: String,
    /// Items of one answer.
    pub(crate) results: usize,
    /// How many items have to fit for a question to be asked back. `None`: never.
    pub(crate) elicit: Option<usize>,
    /// The cross-encoder that reorders the best items, if one is set.
    pub(crate) cross_reranker: Option<CrossReranker>,
}

/// The whole answer to a message.
pub(crate) async fn answered(engine: Arc<SearchEngine>, admitted: Arc<Admitted>) -> Vec<Event> {
    let say = sentences(&admitted);
    let answered = engine.with_library(say, move |engine, library| engine.answer(library, &admitted)).await;
    answered.unwrap_or_else(|ending| vec![Event::Ending(ending)])
}

/// What a question that is being typed may become: names and kinds of items, without any that is shown.
pub(crate) async fn completed(engine: Arc<SearchEngine>, admitted: Arc<Admitted>) -> Vec<Event> {
    let typed = admitted.message().addressed_text();
    let complete = move |_: &SearchEngine, library: &Library| library.complete(&typed, SUGGESTIONS_MAX);
    match engine.with_library(sentences(&admitted), complete).await {
        Ok(completions) => {
            let suggestions = completions.into_iter().map(suggestion).collect();
            let findings = Findings { suggestions, ..Findings::default() };
            vec![Event::Findings(Box::new(findings)), Event::Ending(Ending::Complete)]
        }
        Err(ending) => vec![Event::Ending(ending)],
    }
}

fn suggestion(Completion { text, is_kind }: Completion) -> Suggestion {
    Suggestion { text, kind: if is_kind { SuggestionKind::Category } else { SuggestionKind::Item } }
}

/// The words in which a message is answered.
pub(crate) fn sentences(admitted: &Admitted) -> Sentences {
    Sentences::for_caller(admitted.message().language.as_ref(), &admitted.card().language)
}

/// The ending when the index fails, in the caller's language; the cause is logged.
pub(crate) fn search_failed(say: Sentences) -> Ending {
    Ending::failed(say.search_failed())
}

impl SearchEngine {
    /// Does something with the index, on a thread of its own when that may take long.
    pub(crate) async fn with_library<T: Send + 'static>(
        self: &Arc<Self>,
        say: Sentences,
        work: impl FnOnce(&Self, &Library) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Ending> {
        let engine = self.clone();
        let done = match self.index.opened() {
            // A small index answers sooner than a thread is woken.
            Some(library) if !library.is_remote() && library.len() <= INLINE_ITEMS_MAX => Some(work(&engine, &library)),
            _ => {
                // What an engine outside is asked is a part of this question.
                let span = tracing::Span::current();
                let work = move || span.in_scope(|| engine.index.library().and_then(|library| work(&engine, &library)));
                // A search that panics is a failed answer; the daemon goes on.
                tokio::task::spawn_blocking(work).await.ok()
            }
        };
        done.ok_or_else(|| search_failed(say))?.map_err(|error| {
            tracing::error!(%error, "a search failed");
            search_failed(say)
        })
    }

    fn answer(&self, library: &Library, admitted: &Admitted) -> Result<Vec<Event>, Error> {
        let mut asked = match self.wished(library, admitted)? {
            ControlFlow::Continue(asked) => asked,
            ControlFlow::Break(events) => return Ok(events),
        };
        let wanted = &admitted.message().search;
        // Without words nobody reads snippets or reasons, and each of them takes a look into the item.
        asked.items_only = wanted.wordless && !wanted.findings.with_facets();
        let words = self.words(library, admitted);
        if let Some(question) = self.question(&words, &asked)? {
            return Ok(vec![Event::Ending(Ending::Question(question))]);
        }
        let page = self.page(&asked);
        let mut found = match &self.cross_reranker {
            Some(reranker) => reranker.find(library, &asked, page)?,
            None => find::find(library, &asked, page)?,
        };
        find::choose_section(library, words.say, &asked, &mut found);
        self.whole_answer(&words, admitted.message(), &asked, &found)
    }

    /// The search that a message asks for, or the whole answer where it asks for none.
    pub(crate) fn wished(
        &self,
        library: &Library,
        admitted: &Admitted,
    ) -> Result<ControlFlow<Vec<Event>, SearchRequest>, Error> {
        if library.is_empty() && !self.index.is_filled() {
            let say = sentences(admitted);
            let message = say.still_reading(&items_word(say, &self.item_label, &admitted.card().language));
            // An index that was never filled says nothing about the content: `nothing found` would be wrong.
            return Ok(ControlFlow::Break(vec![Event::Ending(unavailable(&message, Some(2)))]));
        }
        let (message, words) = (admitted.message(), self.words(library, admitted));
        // Before the conversation: a question that names its item needs nothing of earlier turns.
        if let Some(fact) = words.facts().answer(library, &message.addressed_text())? {
            return Ok(ControlFlow::Break(words.fact(message, &fact)));
        }
        let answer_in = words.answer_in;
        let items = words.items();
        let elicitation = self.elicitation(&words, &items);
        let reads = LibraryParser { library, elicitation, answer_in, now: message.received_at };
        let text = match conversation::wish(message, &self.item_label, self.results, &reads) {
            SearchIntent::Items(asked) => {
                return self.dated(&words, message, asked).map(ControlFlow::Continue);
            }
            SearchIntent::About(about) => {
                let shown = self.dated(&words, message, about.shown)?;
                return self.about(&words, message, &ItemQuestion { shown, ..about }).map(ControlFlow::Break);
            }
            SearchIntent::Introduction => words.introduction(),
            SearchIntent::Noted(limits) => words.noted(&limits),
            SearchIntent::OffTopic(topic) => topic.reply(answer_in.as_str(), &self.item_label),
        };
        Ok(ControlFlow::Break(vec![Event::Text(text), Event::Ending(Ending::Complete)]))
    }

    /// A search with what its day and a click add: that nothing is over, the rules for the order of items, and the
    /// order that was chosen.
    fn dated(&self, words: &AnswerText<'_>, message: &Message, asked: SearchRequest) -> Result<SearchRequest, Error> {
        let (now, library) = (message.received_at, words.library);
        let question = asked.decontextualized.clone().unwrap_or_else(|| message.addressed_text());
        let adjustments = self.index.rules().adjustments(library, &question, now);
        let chosen = message.search.narrowing.order;
        let chosen = chosen.map(|order| item_order::sort_order(library, order, words.answer_in)).transpose()?.flatten();
        let order = chosen.or(asked.order.clone());
        Ok(SearchRequest {
            current: Some(current::filter(library.clock(now).date(), words.answer_in)),
            adjustments,
            order,
            ..asked
        })
    }

    /// The answer to a question about an item of an earlier answer.
    fn about(&self, words: &AnswerText<'_>, message: &Message, about: &ItemQuestion) -> Result<Vec<Event>, Error> {
        let found = shown::item(words.library, about, self.results)?;
        let findings = message.search.findings.is_wanted().then(|| words.item_findings(&found, about));
        let findings = findings.map(|findings| Event::Findings(Box::new(findings)));
        let ending = Event::Ending(Ending::Complete);
        Ok(findings.into_iter().chain(words.about(&found, about)).chain([ending]).collect())
    }

    fn elicitation<'a>(&self, words: &AnswerText<'_>, items: &'a str) -> Elicitation<'a> {
        Elicitation { over: self.elicit, items, say: words.say }
    }

    /// The question to ask back, when very many items fit and one property splits them. `None`: none is asked.
    pub(crate) fn question(&self, words: &AnswerText<'_>, asked: &SearchRequest) -> Result<Option<Question>, Error> {
        self.elicitation(words, &words.items()).question(words.library, asked)
    }

    /// Items of one answer.
    pub(crate) fn page(&self, asked: &SearchRequest) -> usize {
        asked.results.unwrap_or(self.results)
    }

    pub(crate) fn words<'a>(&'a self, library: &'a Library, admitted: &'a Admitted) -> AnswerText<'a> {
        let answer_in = answer_language(admitted.message(), admitted.card());
        let say = sentences(admitted);
        let wanted = admitted.message().language.as_ref();
        AnswerText { item_label: &self.item_label, card: admitted.card(), library, answer_in, wanted, say }
    }

    /// The whole answer.
    pub(crate) fn whole_answer(
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

    /// The findings of an answer, in the detail that the caller asked for. `None`: not asked for.
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
        let Findings { total, counted, facets, orders, .. } = facets::collect(words.library, asked, found, words.say)?;
        Ok(Some(Findings { total, counted, facets, orders, items: words.explained(found), ..findings }))
    }
}
