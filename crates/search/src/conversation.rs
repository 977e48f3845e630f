//! What is asked, after what was asked before. Goes by the caller's turns alone, so that the same
//! conversation always means the same.

mod about_shown;

use forecourt_core::message::text_of;
use forecourt_core::{Message, Part, Question, QuestionAnswer, Role, SearchRefinement, Turn, behind_mention};
use forecourt_understanding::{FOOD, Filter, Test};

use super::caller_context::background;
use super::elicited::{self, ElicitedAnswer};
use super::filters::{self, MessageFilters};
use super::follow_up::{fresh, narrowed, next};
use super::held_limits;
use super::phrase::Phrase;
use super::phrases::{content, is_more, is_short, phrases};
use super::request::{
    ItemLookup, NamedFilter, SearchIntent, SearchRequest, ShownItem, TurnReading, is_limit, push_filter, push_new,
};
use super::wording;
use crate::limits::{BACKGROUND_CONSTRAINTS_MAX, FOLLOW_UPS_MAX, QUESTION_FILTERS_MAX};

/// What the caller wants with this message, at `page` items an answer of things called `item_label`.
pub(super) fn wish(message: &Message, item_label: &str, page: usize, reads: &dyn ItemLookup) -> SearchIntent {
    let mut conversation = Conversation::new(item_label, page, reads);
    // A bound on what is read again with each message: older turns count for what they say of the caller alone.
    let recent = recent(&message.history);
    conversation.hear_of_caller(&message.history[..message.history.len() - recent.len()], message);
    // Callers that tell no turns of ours were asked back where we would ask them now.
    let is_told = message.history.iter().any(|turn| turn.role == Role::Assistant);
    let newest = recent.iter().rposition(|turn| turn.role == Role::User);
    for (at, turn) in recent.iter().enumerate() {
        match turn.role {
            Role::User => {
                let text = turn_text(turn, message);
                if newest == Some(at) && conversation.hear_of_fact(&text) {
                    continue;
                }
                conversation.hear(&UserTurn {
                    text,
                    parts: &turn.parts,
                    narrowing: &turn.narrowing,
                    answers: &turn.answers,
                });
                if !is_told {
                    conversation.question = conversation.asked.as_ref().and_then(|asked| reads.asks_back(asked));
                }
            }
            Role::Assistant => conversation.question = turn.question.as_deref().cloned(),
        }
    }
    // Before the newest turn is heard: only what earlier turns said is noted as known in the answer.
    conversation.lasting_before = conversation.lasting.clone();
    let (parts, narrowing, answers) = (&message.parts, &message.search.narrowing, &message.answers);
    let text = message.addressed_text();
    let intent = conversation.hear(&UserTurn { text: text.clone(), parts, narrowing, answers });
    conversation.with_caller(intent, message, &text)
}

/// One turn of the caller: its text, its parts, and what it answers.
struct UserTurn<'a> {
    text: String,
    parts: &'a [Part],
    narrowing: &'a SearchRefinement,
    /// What it answers by name.
    answers: &'a [QuestionAnswer],
}

/// A conversation as far as it was heard.
struct Conversation<'a> {
    reads: &'a dyn ItemLookup,
    item_label: &'a str,
    page: usize,
    /// What is asked by now.
    asked: Option<SearchRequest>,
    /// What was asked before that, the newest last: at most [`FOLLOW_UPS_MAX`].
    earlier: Vec<SearchRequest>,
    /// The last question of its own: what later turns narrowed down.
    begun: Option<SearchRequest>,
    /// What was asked back last.
    question: Option<Question>,
    /// The item that was spoken of last.
    spoken_of: Option<ShownItem>,
    /// What holds for the whole conversation: diets and allergies.
    lasting: Vec<Filter>,
    /// Those of them that earlier turns said.
    lasting_before: Vec<Filter>,
    /// Whether what is known of the caller was set aside.
    is_set_aside: bool,
}

/// The turns behind which a question may stand: those since the last [`FOLLOW_UPS_MAX`] of the caller.
fn recent(history: &[Turn]) -> &[Turn] {
    let users = history.iter().enumerate().rev().filter(|(_, turn)| turn.role == Role::User);
    let first = users.take(FOLLOW_UPS_MAX).last().map_or(history.len(), |(at, _)| at);
    &history[first..]
}

/// The text of an earlier turn without the mention of this agent.
fn turn_text(turn: &Turn, message: &Message) -> String {
    let text = text_of(&turn.parts);
    behind_mention(&text, &message.recipient).to_owned()
}

impl<'a> Conversation<'a> {
    fn new(item_label: &'a str, page: usize, reads: &'a dyn ItemLookup) -> Self {
        Self {
            reads,
            item_label,
            page,
            asked: None,
            earlier: Vec::new(),
            begun: None,
            question: None,
            spoken_of: None,
            lasting: Vec::new(),
            lasting_before: Vec::new(),
            is_set_aside: false,
        }
    }

    /// Takes limits of the caller from turns that are too old to go on with: nobody tells an allergy twice.
    fn hear_of_caller(&mut self, turns: &[Turn], message: &Message) {
        for turn in turns.iter().filter(|turn| turn.role == Role::User) {
            let text = turn_text(turn, message);
            if phrases().sets_aside(&text) {
                self.set_aside();
            } else if phrases().is_about_self(&text) {
                let filters = self.reads.understand(&text).filters;
                self.keep(filters.iter().filter(|filter| is_lasting(filter, true)));
            }
        }
    }

    /// Whether a turn was answered by a fact of an item that it named: what follows may ask of that one.
    fn hear_of_fact(&mut self, text: &str) -> bool {
        let Some(name) = self.reads.fact_of(text) else { return false };
        let about = fresh(&name, self.reads);
        self.earlier.extend(self.asked.replace(about));
        self.earlier.drain(..self.earlier.len().saturating_sub(FOLLOW_UPS_MAX));
        self.question = None;
        self.spoken_of = Some(ShownItem::Position(1));
        true
    }

    /// What a turn wants, after all before it.
    fn hear(&mut self, turn: &UserTurn<'_>) -> SearchIntent {
        let named = filters::read(turn.parts, turn.narrowing, self.reads);
        let question = self.question.take();
        let intent = self.intent(turn, &named, question.as_ref());
        if let SearchIntent::Items(asked) = intent {
            let asked = with_named(asked, named);
            self.earlier.extend(self.asked.replace(asked.clone()));
            self.earlier.drain(..self.earlier.len().saturating_sub(FOLLOW_UPS_MAX));
            self.spoken_of = None;
            return SearchIntent::Items(asked);
        }
        intent
    }

    fn intent(&mut self, turn: &UserTurn<'_>, named: &MessageFilters, question: Option<&Question>) -> SearchIntent {
        let text = turn.text.as_str();
        if let Some(before) = self.asked.clone() {
            let answer = question.and_then(|question| elicited::read(question, text, turn.parts, turn.answers));
            // `Thanks` and `more` are no answers to the question that was asked back, and keep their own meaning.
            if let Some(answer) = answer.filter(|answer| !answer.chosen.is_empty() || !self.is_set_phrase(text)) {
                return SearchIntent::Items(self.answered(before, &answer));
            }
            // Some callers tell no turns of ours, but name what they answer.
            if named.answers(text).is_some() {
                let before = before.unsaid();
                return SearchIntent::Items(SearchRequest { was_asked_back: true, offset: 0, ..before });
            }
        }
        // A greeting with filters beside it comes from a page on which somebody clicked, and asks for items.
        if phrases().is_greeting(text) {
            return match named.filters.is_empty() {
                true => SearchIntent::Introduction,
                false => SearchIntent::Items(self.asked.clone().unwrap_or_default().unsaid()),
            };
        }
        if let Some(topic) = phrases().off_topic(text).filter(|topic| !self.reads.is_about(topic.topic())) {
            return SearchIntent::OffTopic(topic);
        }
        if let Some(begun) = self.begun.clone().filter(|_| phrases().widens(text)) {
            return SearchIntent::Items(begun.unsaid());
        }
        if let Some(asked) = self.asked.clone().filter(|_| phrases().recounts(text)) {
            return SearchIntent::Items(SearchRequest { offset: 0, ..asked.unsaid() });
        }
        if phrases().starts_over(text) {
            self.asked = None;
            return SearchIntent::Introduction;
        }
        // "Never mind the pool" lets go of that limit alone.
        if phrases().sets_aside(text) && !self.lets_go_of_one(text) {
            return self.after_setting_aside(&phrases().without_setting_aside(text));
        }
        self.ask(text)
    }

    /// Whether a turn lets go of a limit that holds.
    fn lets_go_of_one(&self, text: &str) -> bool {
        let without = |asked: &SearchRequest| {
            let mut clauses = text.split(',').filter_map(|clause| phrases().dropped(clause));
            clauses.any(|what| held_limits::without(asked, what, self.reads).is_some())
        };
        self.asked.as_ref().is_some_and(without)
    }

    /// Whether a turn says one of the phrases that mean the same after whatever was said.
    fn is_set_phrase(&self, text: &str) -> bool {
        phrases().off_topic(text).is_some() || phrases().starts_over(text) || is_more(text, self.item_label)
    }

    /// What a turn asks that is none of the set phrases.
    fn ask(&mut self, text: &str) -> SearchIntent {
        if is_more(text, self.item_label) {
            let page = self.page;
            let more = |asked: SearchRequest| {
                let offset = asked.offset + asked.results.unwrap_or(page);
                SearchRequest { offset, ..asked.unsaid() }
            };
            return self.asked.clone().map_or(SearchIntent::Introduction, |asked| SearchIntent::Items(more(asked)));
        }
        if let Some(about) = self.about_shown(text) {
            return SearchIntent::About(about);
        }
        if phrases().is_about_self(text)
            && let Some(intent) = self.intent_of(text)
        {
            return intent;
        }
        let going_on = self.asked.as_ref().and_then(|before| next(before, text, self.reads));
        if let Some(about) = self.asked_of_first(text, going_on.as_ref()) {
            self.spoken_of = Some(about.which.clone());
            return SearchIntent::About(about);
        }
        let asked = going_on.unwrap_or_else(|| {
            let fresh = fresh(text, self.reads);
            self.begun = Some(fresh.clone());
            fresh
        });
        self.keep(asked.filters.iter().filter(|filter| is_lasting(filter, false)));
        SearchIntent::Items(asked)
    }

    /// What is told of the caller alone: kept, and asked again with it where something is asked. `None`: something else
    /// is said too.
    fn intent_of(&mut self, text: &str) -> Option<SearchIntent> {
        let parsed = self.reads.understand(text);
        let is_consumed = |word: &str| text[..text.len() - phrases().behind_self(text).len()].contains(word);
        let left = content(&parsed.text).split_whitespace().filter(|word| !is_consumed(word)).count();
        if left > 0 || parsed.filters.is_empty() {
            return None;
        }
        self.keep(parsed.filters.iter().filter(|filter| is_lasting(filter, true)));
        let limits: Vec<Filter> = parsed.filters.iter().filter(|filter| !is_lasting(filter, true)).cloned().collect();
        match self.asked.clone().filter(|asked| !asked.was_told_limits_alone()) {
            Some(before) => {
                let mut asked = SearchRequest { offset: 0, ..before };
                for filter in parsed.filters {
                    asked
                        .filters
                        .retain(|other| !(is_limit(other) && is_limit(&filter) && other.fields == filter.fields));
                    push_filter(&mut asked.filters, filter);
                }
                parsed.notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
                asked.not_understood = parsed.not_understood;
                asked.reading = TurnReading::new(text, parsed.reading);
                Some(SearchIntent::Items(asked))
            }
            None => {
                // A limit that is no diet waits for what is asked for.
                let mut asked = self.asked.take().unwrap_or_default();
                limits.into_iter().for_each(|filter| push_filter(&mut asked.filters, filter));
                self.asked = Some(asked).filter(|asked| !asked.filters.is_empty());
                Some(SearchIntent::Noted(parsed.filters))
            }
        }
    }

    /// Goes on without what is known of the caller.
    fn after_setting_aside(&mut self, rest: &str) -> SearchIntent {
        let lasting = std::mem::take(&mut self.lasting);
        self.set_aside();
        if let Some(asked) = &mut self.asked {
            asked.filters.retain(|filter| !lasting.contains(filter));
            // Other filters are another list, which begins with its first page.
            asked.offset = 0;
        }
        match (content(rest).is_empty(), self.asked.clone()) {
            (false, _) => self.ask(rest),
            (true, Some(asked)) if !asked.was_told_limits_alone() => SearchIntent::Items(asked.unsaid()),
            (true, _) => SearchIntent::Noted(Vec::new()),
        }
    }

    fn set_aside(&mut self) {
        self.lasting.clear();
        self.is_set_aside = true;
    }

    /// Keeps what holds for the whole conversation.
    fn keep<'f>(&mut self, filters: impl Iterator<Item = &'f Filter>) {
        filters.for_each(|filter| push_filter(&mut self.lasting, filter.clone()));
        // The newest stay: a caller who corrects a diet does so later.
        let most = self.lasting.len().saturating_sub(BACKGROUND_CONSTRAINTS_MAX);
        self.lasting.drain(..most);
    }

    /// The earlier question with the answer to ours.
    fn answered(&mut self, before: SearchRequest, answer: &ElicitedAnswer) -> SearchRequest {
        let ElicitedAnswer { field, chosen, rest, problem, words } = answer;
        let mut asked = SearchRequest { was_asked_back: true, offset: 0, ..before.unsaid() };
        let name = |asked: &mut SearchRequest, filters: Vec<Filter>| {
            asked.named.extend(filters.into_iter().map(|filter| NamedFilter::new(field, filter)));
        };
        match chosen.as_slice() {
            [] => {}
            [only] => name(&mut asked, self.reads.named(field, &only.as_str().into())),
            several => name(&mut asked, self.reads.named(field, &several.to_vec().into())),
        }
        if !chosen.is_empty() {
            let limits = &[] as &[Filter];
            asked.phrases.push(Phrase::added("", &chosen.join(", ").to_lowercase(), limits, false));
        }
        if let Some(problem) = problem {
            let sentence = phrases().sentence(problem, self.reads.language()).replace("{answer}", words);
            push_new(&mut asked.notes, sentence);
        }
        let value = content(rest);
        if value.is_empty() {
            return asked;
        }
        // The answer may be a value of the property that was not among the options.
        let filters = self.reads.named(field, &value.as_str().into());
        let is_value = |filter: &Filter| filter.fields.iter().any(|path| path == field);
        if chosen.is_empty() && filters.iter().all(is_value) && self.reads.has_items(&filters) {
            name(&mut asked, filters);
            asked.phrases.push(Phrase::added("", &value, &[], false));
            return asked;
        }
        // Read as an addition: by itself, `under 20 euros` might be a question of its own.
        let said = format!("and {}", rest.trim());
        let narrowed = narrowed(&asked, &said, self.reads).unwrap_or_else(|| add_words(&asked, rest, self.reads));
        self.keep(narrowed.filters.iter().filter(|filter| is_lasting(filter, false)));
        narrowed
    }

    /// The intent with what is known of the caller, and in words of its own.
    fn with_caller(&self, intent: SearchIntent, message: &Message, question: &str) -> SearchIntent {
        let SearchIntent::Items(asked) = intent else { return intent };
        let told: Vec<Filter> =
            self.lasting_before.iter().filter(|filter| self.lasting.contains(filter)).cloned().collect();
        let behind = match self.is_set_aside {
            // What was set aside is not known any more, but what was told since is.
            true => super::caller_context::CallerContext::default(),
            false => background(message, self.reads),
        };
        let mut asked = behind.with(told.clone()).behind(asked, question, self.reads);
        let applied: Vec<Filter> = told.into_iter().filter(|filter| asked.known.contains(filter)).collect();
        let own: Vec<Filter> = asked.filters.iter().filter(|filter| !asked.known.contains(filter)).cloned().collect();
        let worded = SearchRequest { filters: own, ..asked.clone() };
        let whole = wording::whole(&worded, &applied, self.reads.language());
        asked.decontextualized = Some(whole).filter(|whole| !is_same_text(whole, question) && !whole.is_empty());
        SearchIntent::Items(asked)
    }
}

fn is_same_text(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.trim().trim_end_matches(['?', '!', '.', ',', ' ']).to_lowercase();
    bare(one) == bare(other)
}

/// The question with words that are searched for as well.
fn add_words(before: &SearchRequest, rest: &str, reads: &dyn ItemLookup) -> SearchRequest {
    let added = fresh(rest, reads);
    let mut asked = before.clone();
    added.filters.iter().for_each(|filter| push_filter(&mut asked.filters, filter.clone()));
    added.notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
    let words = content(&added.text);
    asked.phrases.push(Phrase::added(&words, &content(rest), &added.filters, is_short(rest)));
    asked.reading = added.reading;
    asked.text = wording::text(&asked.phrases);
    asked
}

/// The filters by name of this turn, in the place of earlier ones of the same name. They stay for as long as the
/// question does.
fn with_named(mut asked: SearchRequest, named: MessageFilters) -> SearchRequest {
    asked.named.retain(|earlier| named.names.iter().all(|name| *name != earlier.name));
    asked.named.extend(named.filters);
    asked.named.drain(..asked.named.len().saturating_sub(QUESTION_FILTERS_MAX));
    let was_asked_back = asked.was_asked_back || named.decided;
    SearchRequest { unread: named.unread, results: named.results.or(asked.results), was_asked_back, ..asked }
}

/// Whether a constraint holds for a whole conversation: whatever must be absent, where it was told of the caller, and
/// whole groups of what is eaten, such as diets and allergens, wherever they were said. Who wants no leather boots may
/// ask for a leather bag.
fn is_lasting(filter: &Filter, is_told: bool) -> bool {
    match &filter.test {
        Test::Without { classes, .. } => is_told || classes.iter().any(|limit| limit.area == FOOD),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
