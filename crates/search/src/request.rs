//! This module holds what a search is asked for: words, filters and how much, whoever understood them.

use forecourt_core::{AgentCard, Language, Message, Question};
use forecourt_index::{Adjustment, Hit};
use forecourt_sentences::SpokenLanguage;
use forecourt_understanding::{Contradiction, Filter, ParsedQuestion, ReadPart, SortOrder, Test};
use forecourt_vocabulary::OffTopic;
use serde_json::Value;

use super::phrase::Phrase;

/// What a message asks for, once it is read in the light of the turns before it.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one of it for each question")]
pub(super) enum SearchIntent {
    /// To know what this is.
    Introduction,
    /// Items.
    Items(SearchRequest),
    /// Something about an item that was shown last, or that item itself.
    About(ItemQuestion),
    /// To be known: what was said about the caller alone is kept for the questions that follow. Without filters:
    /// what was said before does not count any more.
    Noted(Vec<Filter>),
    /// Nothing that could be found here: thanks, a joke, the weather. Holds the kind of it, by which the vocabulary
    /// has an answer.
    OffTopic(&'static OffTopic),
}

/// A question about an item that was shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ItemQuestion {
    /// The question whose answer showed the item: asked again, it is answered by the same items.
    pub(super) shown: SearchRequest,
    /// Which of them.
    pub(super) which: ShownItem,
    /// What is asked about it, in the caller's words. `None`: the item itself is wanted.
    pub(super) question: Option<String>,
}

/// Which of the items that were shown last.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShownItem {
    /// The item at this position of the answers so far, counted from 1 over all pages.
    Position(usize),
    /// The last one of the last page.
    Last,
    /// The first of the last page by this order.
    First(SortOrder),
}

/// The item that a question is about, once it is found: what single facts are answered from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShownHit {
    /// Where it stands, counted from 1 over all pages.
    pub(super) position: usize,
    /// The item.
    pub(super) hit: Hit,
}

/// A search that a conversation has come to: words, filters, order and page.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct SearchRequest {
    /// The words that are left beside the constraints.
    pub(super) text: String,
    /// What those words and the constraints were said with, the subject first.
    pub(super) phrases: Vec<Phrase>,
    /// The question with what earlier turns said. `None`: as it was asked.
    pub(super) decontextualized: Option<String>,
    /// The constraints that every item has to keep.
    pub(super) filters: Vec<Filter>,
    /// Those of `filters` that come from what is known of the caller, and not from this question.
    pub(super) known: Vec<Filter>,
    /// Filters by name, which hold only if the content has such a property at all.
    pub(super) named: Vec<NamedFilter>,
    /// Names of filters whose values say nothing that could be looked for.
    pub(super) unread: Vec<String>,
    /// Words that let an item come earlier, and leave none out.
    pub(super) leanings: Vec<String>,
    /// Notes about the constraints, for the answer.
    pub(super) notes: Vec<String>,
    /// Limits that were not understood, as they were written.
    pub(super) not_understood: Vec<String>,
    /// What must be absent and can't be checked: items that mention it come later.
    pub(super) unwanted: Vec<String>,
    /// What became of the words of the newest turn, where that says something of its own.
    pub(super) reading: TurnReading,
    /// Limits of which one rules out what is asked for all the same.
    pub(super) contradictions: Vec<Contradiction>,
    /// The order that is asked for, if it is another than by how well items fit.
    pub(super) order: Option<SortOrder>,
    /// That an item is not over, where no other date is asked for.
    pub(super) current: Option<Filter>,
    /// What the operator's rules do to the order of the items.
    pub(super) adjustments: Vec<Adjustment>,
    /// Items that were shown before.
    pub(super) offset: usize,
    /// Items wanted, when the caller says so: 1 to [`crate::limits::SHOWN_MAX`].
    pub(super) results: Option<usize>,
    /// Whether the items are all that is shown: nothing is said about any of them.
    pub(super) items_only: bool,
    /// Whether this answers a question of ours, so that none follows.
    pub(super) was_asked_back: bool,
}

impl SearchRequest {
    /// The same, after a turn that says nothing of it itself.
    pub(super) fn unsaid(self) -> Self {
        Self { reading: TurnReading::default(), ..self }
    }

    /// Whether limits were told, and nothing was asked for yet.
    pub(super) fn was_told_limits_alone(&self) -> bool {
        self.phrases.is_empty() && self.named.is_empty()
    }
}

/// What became of the words of a text. The parts go with the text whose bytes they count, which is a part of a turn at
/// times, and never has the mention of an agent before it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TurnReading {
    text: String,
    parts: Vec<ReadPart>,
}

impl TurnReading {
    /// The parts of `text`.
    pub(super) fn new(text: &str, parts: Vec<ReadPart>) -> Self {
        Self { text: text.to_owned(), parts }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &ReadPart> {
        self.parts.iter()
    }

    /// The whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The words of a part, as they are written.
    pub(super) fn words(&self, part: &ReadPart) -> Option<&str> {
        self.text.get(part.bytes.clone())
    }

    /// The words that say a limit which is worded so.
    pub(super) fn saying(&self, limit: &str) -> Option<&str> {
        self.parts.iter().find(|part| part.role.says(limit)).and_then(|part| self.words(part))
    }
}

/// Adds a constraint, unless it is there.
pub(super) fn push_filter(filters: &mut Vec<Filter>, filter: Filter) {
    if !filters.contains(&filter) {
        filters.push(filter);
    }
}

/// Where questions are understood.
pub(super) trait QuestionParser {
    /// Takes a question apart into words and constraints.
    fn understand(&self, text: &str) -> ParsedQuestion;
    /// The constraints that a name and a value say.
    fn named(&self, name: &str, value: &Value) -> Vec<Filter>;
    /// What people call a class of things, in all languages.
    fn class_names(&self, class: &str) -> Vec<String>;
}

/// Where it is looked up how a turn goes on with another one: in the items themselves.
pub(super) trait ItemLookup: QuestionParser {
    /// The names of items that have most of these words.
    fn names(&self, words: &str) -> Vec<String>;
    /// Whether any item keeps these constraints.
    fn has_items(&self, filters: &[Filter]) -> bool;
    /// Whether any item that has all of these words keeps these constraints.
    fn has_any(&self, _words: &str, _filters: &[Filter]) -> bool {
        true
    }
    /// Whether a word is of the name of a property that items state, in whichever form.
    fn names_property(&self, _word: &str) -> bool {
        false
    }
    /// Whether a word is one for what a limit is of: "size" for a volume, "jornada" for part-time work.
    fn names_limit(&self, _word: &str, _limit: &Filter) -> bool {
        false
    }
    /// The name of the item of which a text asks a fact by that name, where a search for the name finds it first.
    fn fact_of(&self, _text: &str) -> Option<String> {
        None
    }
    /// Whether a search finds anything.
    fn finds(&self, _asked: &SearchRequest) -> bool {
        true
    }
    /// The name of the only item that a search finds. `None`: it finds none, or several.
    fn only_one(&self, _asked: &SearchRequest) -> Option<String> {
        None
    }
    /// Whether an item that was shown states what is asked about it.
    fn states(&self, _about: &ItemQuestion) -> bool {
        false
    }
    /// The position of the one of the shown items that a text names behind an article, at `page` items an answer: "the
    /// Kronos one". `None`: it names none of them, or several.
    fn named_among(&self, _shown: &SearchRequest, _text: &str, _page: usize) -> Option<usize> {
        None
    }
    /// The position of the one of the shown items that a comparative means, at `page` items an answer: "the bigger one", of
    /// batteries with a capacity. `None`: they state nothing that it compares.
    fn compared(&self, _shown: &SearchRequest, _comparative: &str, _page: usize) -> Option<usize> {
        None
    }
    /// What is asked back about a question, if anything is.
    fn asks_back(&self, asked: &SearchRequest) -> Option<Question>;
    /// Whether the content is about one of these words, and does not just have it somewhere.
    fn is_about(&self, words: &[String]) -> bool;
    /// Whether one class of things has both words.
    fn are_alike(&self, one: &str, other: &str) -> bool;
    /// The area of the vocabulary that a class belongs to, by its id.
    fn area_of(&self, class: &str) -> Option<String>;
    /// The code of the language in which it is answered.
    fn language(&self) -> &str;
}

/// The language in which a message is answered: the one that its caller asked for, where the host speaks it, else
/// that of the agent.
pub(super) fn answer_language<'a>(message: &'a Message, card: &'a AgentCard) -> &'a Language {
    let wanted = message.language.as_ref().filter(|wanted| SpokenLanguage::of(wanted).is_some());
    wanted.unwrap_or(&card.language)
}

/// A filter by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedFilter {
    /// The name that the caller gave.
    pub(super) name: String,
    /// The constraint that it means.
    pub(super) filter: Filter,
    /// Constraints in its place where no item has exactly this value.
    pub(super) loosely: Vec<Filter>,
}

impl NamedFilter {
    pub(super) fn new(name: &str, filter: Filter) -> Self {
        Self { name: name.to_owned(), filter, loosely: Vec::new() }
    }
}

/// Whether a constraint bounds a quantity, or a distance.
pub(super) fn is_limit(filter: &Filter) -> bool {
    let bounds = |one: &Filter| matches!(one.test, Test::Within { .. } | Test::Near { .. } | Test::Overlaps { .. });
    filter.alternatives().iter().all(bounds)
}

/// Adds a note, unless it is there.
pub(super) fn push_new(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}
