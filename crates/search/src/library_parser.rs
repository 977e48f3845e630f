//! Questions read with an index: what words mean there, and how a turn goes on with another one.

use forecourt_core::{Language, Question, Timestamp};
use forecourt_index::{Error, Library, Query, RankBy};
use forecourt_understanding::{Filter, ParsedQuestion};
use forecourt_vocabulary::{ItemValue, LANGUAGES, Vocabulary, folded};
use serde_json::Value;

use super::asked_words::{AskedWords, MEANT_MIN};
use super::comparative::Comparative;
use super::compared_item;
use super::elicit::Elicitation;
use super::fact_answer::LimitLookup;
use super::fact_context::FactContext;
use super::find::find;
use super::follow_up::fresh;
use super::held_limits;
use super::name_role::is_same;
use super::own_property::property_name;
use super::request::{ItemLookup, ItemQuestion, QuestionParser, SearchRequest};
use super::shown::{self, FoundItem};
use crate::limits::NAMES_READ;

/// The part of the items that have to have a word for the content to be about it.
const TOPIC_SHARE: f64 = 0.02;

/// A library that words what it understands in one language.
pub(super) struct LibraryParser<'a> {
    pub(super) library: &'a Library,
    /// When and how it is asked back.
    pub(super) elicitation: Elicitation<'a>,
    /// The language of the answer.
    pub(super) answer_in: &'a Language,
    /// When the question was put.
    pub(super) now: Timestamp,
}

impl QuestionParser for LibraryParser<'_> {
    fn understand(&self, text: &str) -> ParsedQuestion {
        let understand = |text: &str| self.library.understand_at(text, self.answer_in, self.now);
        let compared = compared_item::understood(self.library, self.elicitation.say, text, &understand);
        compared.unwrap_or_else(|| understand(text))
    }

    fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
        self.library.named(name, value, self.answer_in)
    }

    fn class_names(&self, class: &str) -> Vec<String> {
        let Some(class) = self.library.vocabulary().class(class) else { return Vec::new() };
        LANGUAGES.iter().flat_map(|language| class.names(language).iter().cloned()).collect()
    }
}

impl LimitLookup for LibraryParser<'_> {
    fn said(&self, text: &str) -> Vec<Filter> {
        self.library.understand_at(text, self.answer_in, self.now).filters
    }

    fn has_items(&self, limits: &[Filter]) -> bool {
        ItemLookup::has_items(self, limits)
    }
}

impl ItemLookup for LibraryParser<'_> {
    fn names(&self, words: &str) -> Vec<String> {
        let query = Query { text: words.to_owned(), limit: NAMES_READ, ..Query::default() };
        let hits = read(self.library.search_by(&query, RankBy::Words));
        hits.into_iter().map(|hit| hit.name).collect()
    }

    fn has_items(&self, filters: &[Filter]) -> bool {
        let query = Query { filters: filters.to_vec(), limit: 1, ..Query::default() };
        !read(self.library.search(&query)).is_empty()
    }

    fn has_any(&self, words: &str, filters: &[Filter]) -> bool {
        read(self.library.says_all(words, filters))
    }

    fn names_property(&self, word: &str) -> bool {
        self.library.names_property(word)
    }

    fn names_limit(&self, word: &str, limit: &Filter) -> bool {
        let vocabulary = self.library.vocabulary();
        let values = held_limits::values(limit);
        let is_value = |known: &&ItemValue| {
            known.values.iter().any(|value| values.iter().any(|held| folded(held) == folded(&value.replace('_', " "))))
        };
        let has_word = |name: &String| name.split(' ').any(|part| is_same(part, word));
        let mut names = vocabulary
            .values()
            .iter()
            .filter(is_value)
            .flat_map(|known| LANGUAGES.iter().flat_map(|language| known.names(language)));
        // "The size" is what a volume limits, and "jornada" is a word of "jornada parcial".
        let words = AskedWords::read(word, vocabulary);
        names.any(has_word) || limit.fields.iter().any(|field| words.fit_name(&property_name(field)) >= MEANT_MIN)
    }

    fn fact_of(&self, text: &str) -> Option<String> {
        let (say, vocabulary) = (self.elicitation.say, self.library.vocabulary());
        let tell = FactContext { say, vocabulary, language: self.answer_in };
        let hit = read(tell.answer(self.library, text).map(|fact| fact.map(|fact| fact.hit)))?;
        let asked = SearchRequest { items_only: true, ..fresh(&hit.name, self) };
        let first = read(find(self.library, &asked, 1)).hits.into_iter().next()?;
        (first.id == hit.id).then_some(hit.name)
    }

    fn finds(&self, asked: &SearchRequest) -> bool {
        let asked = SearchRequest { offset: 0, items_only: true, ..asked.clone() };
        !read(find(self.library, &asked, 1)).hits.is_empty()
    }

    fn only_one(&self, asked: &SearchRequest) -> Option<String> {
        let asked = SearchRequest { offset: 0, items_only: true, ..asked.clone() };
        let mut found = read(find(self.library, &asked, 1));
        if found.has_more { None } else { found.hits.pop().map(|hit| hit.name) }
    }

    fn states(&self, about: &ItemQuestion) -> bool {
        let Ok(FoundItem::Item(shown)) = shown::item(self.library, about, 1) else { return false };
        let question = about.question.as_deref().unwrap_or_default();
        let (say, vocabulary) = (self.elicitation.say, self.library.vocabulary());
        let tell = FactContext { say, vocabulary, language: self.answer_in };
        tell.stated_about(&shown.hit, question, self).is_some()
    }

    fn named_among(&self, shown: &SearchRequest, text: &str, page: usize) -> Option<usize> {
        let asked = SearchRequest { items_only: true, ..shown.clone() };
        let found = read(find(self.library, &asked, shown.results.unwrap_or(page)));
        let names: Vec<String> = found.hits.into_iter().map(|hit| hit.name).collect();
        // "How far is the beach?" asks for a property, though a hotel is called so.
        let tells = |word: &str| !self.library.names_property(word);
        shown::named_by(text, &names, &tells).map(|at| shown.offset + at + 1)
    }

    fn compared(&self, shown: &SearchRequest, comparative: &str, page: usize) -> Option<usize> {
        let meant = Comparative::read(comparative)?;
        let asked = SearchRequest { items_only: true, ..shown.clone() };
        let hits = read(find(self.library, &asked, shown.results.unwrap_or(page))).hits;
        let first = meant.first_of(&hits, self.elicitation.say, self.library.vocabulary())?;
        Some(shown.offset + first + 1)
    }

    fn asks_back(&self, asked: &SearchRequest) -> Option<Question> {
        read(self.elicitation.question(self.library, asked))
    }

    fn is_about(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.library.share_with(word) >= TOPIC_SHARE)
    }

    fn are_alike(&self, one: &str, other: &str) -> bool {
        are_alike(self.library.vocabulary(), one, other)
    }

    fn area_of(&self, class: &str) -> Option<String> {
        self.library.vocabulary().class(class).map(|class| class.area.clone())
    }

    fn language(&self) -> &str {
        self.answer_in.as_str()
    }
}

/// What a library says beside the search itself. When it fails, the search will fail as well, and tell why.
fn read<T: Default>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| {
        tracing::warn!(%error, "what a follow-up means could not be looked up");
        T::default()
    })
}

/// Whether one class of the vocabulary has both words.
fn are_alike(vocabulary: &Vocabulary, one: &str, other: &str) -> bool {
    LANGUAGES.iter().any(|language| {
        let classes = vocabulary.classes_in(one, language).of;
        !classes.is_empty() && vocabulary.classes_in(other, language).of.iter().any(|class| classes.contains(class))
    })
}
