//! What a turn asks of the items that were shown: "is the second one vegan?", "the cheaper one", "how big is the bag?".

use forecourt_understanding::SortOrder;
use forecourt_vocabulary::ItemPosition;

use super::super::fact_question::{is_question, leaves_item_out};
use super::super::fact_words::{
    asks_behind_first, asks_for_any, asks_for_which, asks_how, asks_nothing, chosen_among, is_clause, is_definite,
    is_fact_name,
};
use super::super::follow_up::fresh;
use super::super::name_role::{is_same, stands_for_itself, tokens};
use super::super::phrases::{content, content_words, is_short, phrases, points_back};
use super::super::request::{ItemQuestion, SearchRequest, ShownItem};
use super::Conversation;

/// Earlier questions among which one is looked for that found something.
const SHOWN_BEFORE_MAX: usize = 3;

impl Conversation<'_> {
    /// The question whose answer showed what a turn may ask of: an earlier one where nothing was found for the newest.
    fn shown(&self, text: &str) -> Option<SearchRequest> {
        let newest = self.asked.clone().filter(|asked| !asked.was_told_limits_alone())?;
        if !asks(text) || self.reads.finds(&newest) {
            return Some(newest);
        }
        let earlier = self.earlier.iter().rev().filter(|asked| !asked.was_told_limits_alone()).take(SHOWN_BEFORE_MAX);
        Some(earlier.into_iter().find(|asked| self.reads.finds(asked)).cloned().unwrap_or(newest))
    }

    /// The item that was shown of which a turn speaks.
    pub(super) fn about_shown(&mut self, text: &str) -> Option<ItemQuestion> {
        let shown = self.shown(text)?;
        if let Some(about) = self.asked_of_named(&shown, text) {
            self.spoken_of = Some(about.which.clone());
            return Some(about);
        }
        if let Some((pointed, question)) = pointed(text)
            && let Some(which) = self.pointed_at(&shown, pointed)
        {
            self.spoken_of = Some(which.clone());
            return Some(ItemQuestion { shown, which, question: Some(question.to_owned()) });
        }
        let (which, question) = match phrases().item_reference(text, self.item_label) {
            Some(found) => {
                let which = match found.position {
                    ItemPosition::Nth(number) => ShownItem::Position(number),
                    ItemPosition::Last => ShownItem::Last,
                    ItemPosition::That => self.spoken_of.clone().unwrap_or(ShownItem::Position(shown.offset + 1)),
                };
                (which, found.is_question.then(|| text.to_owned()))
            }
            // "The cheapest of these": the first of the shown ones in that order.
            // "Sort them by price" is of the whole list.
            None if points_back(text) && !sorts(text) => {
                let parsed = self.reads.understand(text);
                let bare = self.reads.understand(&phrases().without_pointing(text));
                let parsed = if parsed.order.is_some() && content(&parsed.text).is_empty() { parsed } else { bare };
                let is_all = content(&parsed.text).is_empty() && parsed.filters.is_empty();
                let order = parsed.order.filter(|_| is_all).map(ShownItem::First);
                (order.or_else(|| self.compared(&shown, text))?, None)
            }
            None => match self.chosen_by_order(text).map(ShownItem::First).or_else(|| self.compared(&shown, text)) {
                Some(which) => (which, None),
                None if self.asks_of_shown(text) => {
                    let that = self.spoken_of.clone().unwrap_or(ShownItem::Position(shown.offset + 1));
                    (that, Some(text.to_owned()))
                }
                None => {
                    let about = self.asked_of_one(&shown, text)?;
                    (about.which, about.question)
                }
            },
        };
        self.spoken_of = Some(which.clone());
        Some(ItemQuestion { shown, which, question })
    }

    /// The shown item at which words point that ask for nothing: "the second one", "the cheaper one".
    fn pointed_at(&self, shown: &SearchRequest, text: &str) -> Option<ShownItem> {
        if let Some(found) = phrases().item_reference(text, self.item_label) {
            return match found.position {
                _ if found.is_question => None,
                ItemPosition::Nth(number) => Some(ShownItem::Position(number)),
                ItemPosition::Last => Some(ShownItem::Last),
                ItemPosition::That => None,
            };
        }
        let parsed = self.reads.understand(&phrases().without_pointing(text));
        let is_bare = content(&parsed.text).is_empty() && parsed.filters.is_empty();
        let order = parsed.order.filter(|_| is_bare).map(ShownItem::First);
        order.or_else(|| self.compared(shown, text))
    }

    /// The shown item that is the first by a comparative: "the bigger one", "which is the biggest bag".
    fn compared(&self, shown: &SearchRequest, text: &str) -> Option<ShownItem> {
        self.reads.compared(shown, text, self.page).map(ShownItem::Position)
    }

    /// What is asked of one of several shown items that the question names: "is the Kronos one dimmable?".
    fn asked_of_named(&self, shown: &SearchRequest, text: &str) -> Option<ItemQuestion> {
        let position =
            Some(text).filter(|text| asks(text)).and_then(|_| self.reads.named_among(shown, text, self.page))?;
        let which = ShownItem::Position(position);
        let about = ItemQuestion { shown: shown.clone(), which, question: Some(text.to_owned()) };
        self.reads.states(&about).then_some(about)
    }

    /// Whether a turn asks which things are so, and for no property of one: "which wines are vegan?".
    fn chooses(&self, text: &str) -> bool {
        let is_property = |word: &str| is_fact_name(&word.to_lowercase()) || self.reads.names_property(word);
        chosen_among(phrases().behind_addition(text)).is_some_and(|word| !is_property(word))
    }

    /// What is asked of the first of the shown items, where nothing is found for the question by itself: "¿cuánto se cobra?".
    pub(super) fn asked_of_first(&self, text: &str, going_on: Option<&SearchRequest>) -> Option<ItemQuestion> {
        if !asks(text) || adds(text) || asks_for_any(text) || self.chooses(text) {
            return None;
        }
        let shown = self.shown(text)?;
        let which = self.spoken_of.clone().unwrap_or(ShownItem::Position(shown.offset + 1));
        let about = ItemQuestion { shown, which, question: Some(text.to_owned()) };
        let finds =
            || going_on.map_or_else(|| self.reads.finds(&fresh(text, self.reads)), |next| self.reads.finds(next));
        (self.reads.states(&about) && (self.asks_how(text) || !finds())).then_some(about)
    }

    /// Whether a turn asks how much there is of what a thing has, and names no other: "how big is the bag?".
    fn asks_how(&self, text: &str) -> bool {
        let words = || content_words(text).filter(|word| !asks_nothing(&word.to_lowercase()));
        asks_how(phrases().behind_addition(text))
            && words().all(|word| self.reads.names_property(word) || self.names_nothing(word))
    }

    /// What is asked of the only item that was shown, or of the one that was spoken of last, as far as it states that: "do
    /// they take dogs?".
    fn asked_of_one(&self, shown: &SearchRequest, text: &str) -> Option<ItemQuestion> {
        if adds(text) || !asks(text) || asks_for_any(text) || self.chooses(text) {
            return None;
        }
        let that = self.spoken_of.clone();
        let name = match &that {
            Some(_) => String::new(),
            None if leaves_item_out(text) => String::new(),
            None => self.reads.only_one(shown)?,
        };
        // Whoever names another kind of thing looks for one; behind "which" that is whatever else is called so.
        let is_of_it = |word: &str| tokens(&name).iter().any(|other| is_same(other, &word.to_lowercase()));
        let asks_which = phrases().is_question(text) && asks_for_which(text);
        let is_called = |word: &str| match asks_which {
            true => !self.names_nothing(word),
            false => stands_for_itself(word, self.reads) == Some(true),
        };
        let is_other = |word: &str| !is_of_it(word) && !self.reads.names_property(word) && is_called(word);
        if content_words(text).any(|word| !asks_nothing(&word.to_lowercase()) && is_other(word)) {
            return None;
        }
        let which = that.unwrap_or(ShownItem::Position(1));
        let about = ItemQuestion { shown: shown.clone(), which, question: Some(text.to_owned()) };
        self.reads.states(&about).then_some(about)
    }

    /// The order by which one of the shown ones is chosen, whatever it is called there: "the bigger bottle".
    fn chosen_by_order(&self, text: &str) -> Option<SortOrder> {
        let parsed = self.reads.understand(text);
        let words = content(&parsed.text);
        let is_unnamed = words.split(' ').next().is_some_and(|word| !word.is_empty() && self.names_nothing(word));
        let is_definite = text.split_whitespace().next().is_some_and(|first| is_definite(&first.to_lowercase()));
        parsed.order.filter(|_| is_short(text) && is_definite && is_unnamed && parsed.filters.is_empty())
    }

    /// Whether a turn asks for a property of what was shown, and names no other thing: "what is the minimum age".
    fn asks_of_shown(&self, text: &str) -> bool {
        let parsed = self.reads.understand(text);
        let asks = phrases().is_question(text) || text.trim_end().ends_with('?');
        if !asks || !is_short(text) || !parsed.filters.is_empty() || parsed.order.is_some() {
            return false;
        }
        let words: Vec<&str> = content_words(text).filter(|word| !asks_nothing(&word.to_lowercase())).collect();
        let names = |word: &&str| self.reads.names_property(word) || is_fact_name(&word.to_lowercase());
        words.iter().any(names) && words.iter().all(|word| names(word) || self.names_nothing(word))
    }

    /// Whether no item is called by a word.
    fn names_nothing(&self, word: &str) -> bool {
        let names = self.reads.names(word);
        !names.iter().any(|name| tokens(name).iter().any(|other| is_same(other, &word.to_lowercase())))
    }
}

/// Whether a turn is a short question.
fn asks(text: &str) -> bool {
    is_short(text) && (phrases().is_question(text) || text.trim_end().ends_with('?') || is_question(text))
}

/// Words of a turn that only point at an item, before what is asked of it.
const POINTING_WORDS_MAX: usize = 5;

/// A turn in two parts: "the second one: how heavy is it?".
fn pointed(text: &str) -> Option<(&str, &str)> {
    let (pointed, question) = text.split_once([':', ',', ';', '–', '—'])?;
    let is_brief = (1..=POINTING_WORDS_MAX).contains(&pointed.split_whitespace().count());
    (is_brief && asks(question)).then(|| (pointed.trim(), question.trim()))
}

/// Whether a turn is worded as one that changes what was asked. "From what age?" asks, whatever it begins with.
fn adds(text: &str) -> bool {
    let rest = phrases().behind_addition(text.trim_start_matches(['¿', ' ']));
    (phrases().begins_with_limit(rest) && !asks_behind_first(rest))
        || is_clause(rest)
        || phrases().behind_only(text).is_some()
        || phrases().replacement(text).is_some()
        || phrases().dropped(text).is_some()
}

/// How words begin that ask for a list in another order, in lower case.
const SORTS: [&str; 8] = ["sort", "order", "trie", "class", "orden", "arrange", "zuerst", "anordn"];

/// Whether a turn asks for the list in another order, rather than for the first of it.
fn sorts(text: &str) -> bool {
    text.to_lowercase().split_whitespace().any(|word| SORTS.iter().any(|begin| word.starts_with(begin)))
}
