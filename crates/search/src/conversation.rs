//! What is asked, after what was asked before. Goes by the caller's turns alone, so that the same
//! conversation always means the same.

use forecourt_content::{Filter, ParsedQuestion};
use forecourt_core::message::text_of;
use forecourt_core::{Message, Question, QuestionAnswer, Role, Turn, behind_mention};

use super::caller_context::background;
use super::elicit;
use super::filters;
use super::phrases::{behind_going_on, content_words, is_greeting, is_more, is_short, points_back};
use super::request::{NamedFilter, QuestionParser, SearchIntent, SearchRequest, is_limit, push_new};
use crate::limits::{FOLLOW_UPS_MAX, QUESTION_FILTERS_MAX};

/// What the caller wants with this message, at `page` items an answer of things called `item_label`.
pub(super) fn wish(message: &Message, item_label: &str, page: usize, reads: &dyn QuestionParser) -> SearchIntent {
    let (mut before, mut about) = (None, None);
    for turn in recent(&message.history) {
        match turn.role {
            Role::User => {
                let named = filters::read(&turn.parts, &turn.narrowing, reads);
                let turn_text = UserTurn { text: turn_text(turn, message), named, answers: &turn.answers };
                before = step_after(before, turn_text, about.take(), item_label, page, reads);
            }
            Role::Assistant => about = turn.question.as_deref(),
        }
    }
    let named = filters::read(&message.parts, &message.search.narrowing, reads);
    let turn_text = UserTurn { text: message.addressed_text(), named, answers: &message.answers };
    if turn_text.named.filters.is_empty() && is_greeting(&turn_text.text) {
        return SearchIntent::Introduction;
    }
    let question = turn_text.text.clone();
    match step_after(before, turn_text, about, item_label, page, reads) {
        Some(asked) => SearchIntent::Items(background(message, reads).behind(asked, &question)),
        None => SearchIntent::Introduction,
    }
}

/// One turn of the caller.
struct UserTurn<'a> {
    text: String,
    named: filters::MessageFilters,
    /// What it answers by name.
    answers: &'a [QuestionAnswer],
}

impl UserTurn<'_> {
    /// The property that this answers an earlier question about, and the answer in words.
    fn answered(&self, asked: Option<&Question>) -> Option<(&'static str, String)> {
        if let Some((question, field)) = asked.and_then(|asked| Some((asked, elicit::asked_about(asked)?))) {
            let answer = question.answers(&self.text, self.answers).into_iter().find(|answer| answer.id == field)?;
            return filters::in_words(&answer.value).filter(|words| is_short(words)).map(|words| (field, words));
        }
        // Some callers tell no turns of ours, but name what they answer.
        self.named.answers(&self.text).map(|field| (field, self.text.clone()))
    }
}

/// The turns behind which a question may stand: those since the last [`FOLLOW_UPS_MAX`] of the caller.
fn recent(history: &[Turn]) -> &[Turn] {
    let users = history.iter().enumerate().rev().filter(|(_, turn)| turn.role == Role::User);
    let first = users.take(FOLLOW_UPS_MAX).last().map_or(history.len(), |(at, _)| at);
    &history[first..]
}

/// What is asked after another turn, which may have been a question of ours. Filters by name stay for as long as the question does, until another of the same name comes.
fn step_after(
    before: Option<SearchRequest>,
    turn_text: UserTurn<'_>,
    asked: Option<&Question>,
    item_label: &str,
    page: usize,
    reads: &dyn QuestionParser,
) -> Option<SearchRequest> {
    let answer = turn_text.answered(asked);
    let UserTurn { text, named, .. } = turn_text;
    let asked = match (before, answer) {
        (Some(before), Some((field, words))) => Some(answered(before, field, &words, reads)),
        (before, _) => next(before, &text, item_label, page, reads),
    };
    let mut asked = match asked {
        None if named.filters.is_empty() => return None,
        asked => asked.unwrap_or_default(),
    };
    asked.named.retain(|earlier| named.names.iter().all(|name| *name != earlier.name));
    asked.named.extend(named.filters);
    asked.named.drain(..asked.named.len().saturating_sub(QUESTION_FILTERS_MAX));
    let was_asked_back = asked.was_asked_back || named.decided;
    Some(SearchRequest { unread: named.unread, results: named.results.or(asked.results), was_asked_back, ..asked })
}

/// The earlier question with the answer to ours.
fn answered(before: SearchRequest, field: &'static str, text: &str, reads: &dyn QuestionParser) -> SearchRequest {
    let mut asked = SearchRequest { was_asked_back: true, ..before };
    if !elicit::is_any(text) {
        let filters = reads.named(field, &elicit::chosen(text));
        asked.named.extend(filters.into_iter().map(|filter| NamedFilter::new(field, filter)));
    }
    asked
}

/// What an earlier turn said to this agent.
fn turn_text(turn: &Turn, message: &Message) -> String {
    let text = text_of(&turn.parts);
    behind_mention(&text, &message.recipient).to_owned()
}

/// What is asked after another turn. `None`: nothing yet.
fn next(
    before: Option<SearchRequest>,
    text: &str,
    item_label: &str,
    page: usize,
    reads: &dyn QuestionParser,
) -> Option<SearchRequest> {
    if is_greeting(text) {
        return before;
    }
    if is_more(text, item_label) {
        return before.map(|asked| SearchRequest { offset: asked.offset + asked.results.unwrap_or(page), ..asked });
    }
    match before {
        Some(before) => Some(follow_up(&before, text, reads).unwrap_or_else(|| fresh(text, reads))),
        None => Some(fresh(text, reads)),
    }
}

fn fresh(text: &str, reads: &dyn QuestionParser) -> SearchRequest {
    let ParsedQuestion { text, filters, notes, not_understood, order, count, contradictions } = reads.understand(text);
    let results = count;
    SearchRequest { text, filters, notes, not_understood, order, contradictions, results, ..SearchRequest::default() }
}

/// The earlier question, narrowed down. `None` when the turn is a question of its own.
fn follow_up(before: &SearchRequest, text: &str, reads: &dyn QuestionParser) -> Option<SearchRequest> {
    let rest = behind_going_on(text);
    let (goes_on, points_back) = (rest.len() < text.len(), points_back(text));
    let ParsedQuestion { text, filters, notes, not_understood, order, .. } =
        reads.understand(rest.trim_end_matches(['?', '!', '.']));
    let words: Vec<&str> = content_words(&text).collect();
    let constraint =
        |word: &&str| filters.iter().any(|filter| filter.words.to_lowercase().contains(&word.to_lowercase()));
    let only_narrows = !filters.is_empty() && words.iter().all(constraint);
    if !(goes_on || points_back || only_narrows) {
        return None;
    }
    let text = [before.text.as_str(), &words.join(" ")].join(" ").trim().to_owned();
    let mut asked = SearchRequest { text, offset: 0, ..before.clone() };
    filters.into_iter().for_each(|filter| narrow(&mut asked.filters, filter));
    notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
    asked.not_understood = not_understood;
    asked.order = order.or(asked.order);
    Some(asked)
}

/// Adds a constraint. Another limit on the same property takes the place of the earlier one.
fn narrow(filters: &mut Vec<Filter>, filter: Filter) {
    filters
        .retain(|other| *other != filter && !(is_limit(other) && is_limit(&filter) && other.fields == filter.fields));
    filters.push(filter);
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, MessageId, Part, SearchRefinement, Turn};
    use serde_json::{Value, json};

    use super::*;

    /// Understands minutes, nuts and vegetarians.
    struct Cook;

    impl QuestionParser for Cook {
        fn understand(&self, text: &str) -> ParsedQuestion {
            understand(text)
        }

        fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
            value.as_str().map(|text| Filter::mentions(name, text)).into_iter().collect()
        }
    }

    fn understand(text: &str) -> ParsedQuestion {
        let mut out = ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
        for minutes in [20, 30] {
            let words = format!("under {minutes} minutes");
            if out.text.contains(&words) {
                out.text = out.text.replace(&words, "");
                let to = Some(f64::from(minutes));
                out.filters.push(Filter { words, ..Filter::within("totalTime", None, to) });
                out.notes = vec!["Some do not say.".to_owned()];
            }
        }
        for (words, without) in [("no nuts", ""), ("vegetarian", "vegetarian")] {
            if out.text.contains(words) {
                out.text = out.text.replace(words, without);
                out.filters.push(Filter { words: words.to_owned(), ..Filter::mentions("x", words) });
            }
        }
        out
    }

    fn message(text: &str, history: &[&str]) -> Message {
        let (id, recipient) = (MessageId::parse("1").unwrap(), Handle::parse("a").unwrap());
        let history =
            history.iter().flat_map(|text| [Turn::text(Role::User, *text), Turn::text(Role::Assistant, "hello more")]);
        let now = forecourt_core::Timestamp::UNIX_EPOCH;
        Message { history: history.collect(), ..Message::new(id, recipient, vec![Part::text(text)], "test", now) }
    }

    fn asked(text: &str, history: &[&str]) -> (String, Vec<String>, usize) {
        match wish(&message(text, history), "recipes", 10, &Cook) {
            SearchIntent::Items(asked) => {
                (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect(), asked.offset)
            }
            SearchIntent::Introduction => panic!("`{text}` asks for an introduction"),
        }
    }

    #[test]
    fn greetings_and_empty_turns_ask_for_an_introduction() {
        for text in ["", " ", "hello", "Hi there!", "help", "?", "what can you do?", "Who are you", "more"] {
            assert_eq!(wish(&message(text, &[]), "recipes", 10, &Cook), SearchIntent::Introduction, "{text}");
        }
        for text in ["hello dolly", "help me with soup", "hi-fi"] {
            assert_eq!(asked(text, &["soup"]).0, text, "{text}");
        }
    }

    #[test]
    fn more_goes_on_from_where_the_answer_was() {
        for text in ["more", "More please!", "show me more", "next page", "more recipes", "some more of them?", "go on"]
        {
            assert_eq!(asked(text, &["soup"]), ("soup".to_owned(), vec![], 10), "{text}");
        }
        assert_eq!(asked("more", &["soup", "more", "hello", "more"]).2, 30);
        assert_eq!(asked("more soup", &["bread"]), ("more soup".to_owned(), vec![], 0));
    }

    #[test]
    fn a_follow_up_narrows_the_question_down() {
        for (text, wanted) in [
            ("only vegetarian ones", ("soup vegetarian", vec!["vegetarian"])),
            ("and under 20 minutes?", ("soup", vec!["under 20 minutes"])),
            ("no nuts", ("soup", vec!["no nuts"])),
            ("vegetarian?", ("soup vegetarian", vec!["vegetarian"])),
            ("which of them are under 30 minutes?", ("soup", vec!["under 30 minutes"])),
            ("but with rice", ("soup rice", vec![])),
            ("those with rice", ("soup rice", vec![])),
        ] {
            let (left, filters, offset) = asked(text, &["soup", "more"]);
            assert_eq!(
                (left.as_str(), filters.iter().map(String::as_str).collect(), offset),
                (wanted.0, wanted.1, 0),
                "{text}"
            );
        }
    }

    #[test]
    fn another_limit_replaces_the_earlier_one() {
        let (_, filters, _) =
            asked("and under 20 minutes", &["soup under 30 minutes, no nuts", "only vegetarian ones"]);
        assert_eq!(filters, ["no nuts", "vegetarian", "under 20 minutes"]);
    }

    #[test]
    fn a_question_of_its_own_forgets_the_earlier_one() {
        for text in ["bread without yeast", "vegetarian lasagne", "no bake cookies", "cake under 30 minutes"] {
            assert!(!asked(text, &["soup"]).0.contains("soup"), "{text}");
        }
    }

    #[test]
    fn only_so_many_earlier_turns_count() {
        let turns =
            |count: usize| std::iter::once("soup").chain(std::iter::repeat_n("more", count - 1)).collect::<Vec<_>>();
        assert_eq!(asked("more", &turns(FOLLOW_UPS_MAX)).2, FOLLOW_UPS_MAX * 10);
        assert_eq!(
            wish(&message("more", &turns(FOLLOW_UPS_MAX + 1)), "recipes", 10, &Cook),
            SearchIntent::Introduction
        );
    }

    fn filtered(text: &str, data: Value, results: usize) -> Turn {
        let narrowing = SearchRefinement { results: Some(results), ..SearchRefinement::default() };
        Turn { narrowing, ..Turn::new(Role::User, vec![Part::text(text), Part::data(data)]) }
    }

    /// The words of the filters, and the offset.
    fn paged(history: Vec<Turn>, text: &str) -> (Vec<String>, usize) {
        let message = Message { history: history.into(), ..message(text, &[]) };
        let SearchIntent::Items(asked) = wish(&message, "recipes", 10, &Cook) else { panic!("items") };
        (asked.named.into_iter().map(|named| named.filter.words).collect(), asked.offset)
    }

    #[test]
    fn more_and_follow_ups_keep_filters_by_name_and_a_question_of_its_own_does_not() {
        let history = || vec![filtered("soup", json!({"filters": {"cuisine": "Indian", "kind": "x"}}), 3)];
        let both = vec!["cuisine: Indian".to_owned(), "kind: x".to_owned()];
        assert_eq!(paged(history(), "more"), (both.clone(), 3));
        assert_eq!(paged(history(), "and under 20 minutes"), (both, 0));
        assert_eq!(paged(history(), "bread"), (vec![], 0));
        let mut changed = history();
        changed.push(filtered("more", json!({"filters": {"cuisine": "Thai"}}), 5));
        assert_eq!(paged(changed, "more"), (vec!["kind: x".to_owned(), "cuisine: Thai".to_owned()], 8));
    }

    #[test]
    fn filters_of_all_turns_end_at_the_bound() {
        let words = |count: usize| {
            let turn = |n: usize| {
                filtered(
                    if n == 0 { "soup" } else { "more" },
                    json!({"filters": {format!("k{n}"): "v", format!("l{n}"): "v"}}),
                    1,
                )
            };
            paged((0..count).map(turn).collect(), "more").0
        };
        let turns = QUESTION_FILTERS_MAX / 2;
        assert_eq!(words(turns).len(), QUESTION_FILTERS_MAX);
        let last = words(turns + 1);
        assert_eq!((last.len(), last[0].as_str()), (QUESTION_FILTERS_MAX, "k1: v"), "the newest hold");
    }

    #[test]
    fn an_answer_by_name_goes_on_with_what_was_asked() {
        for (text, value) in [("Soup", json!("soup")), ("Soup, Stew", json!(["soup", "stew"])), ("any", json!("any"))] {
            let mut asking = message(text, &[]);
            asking.history = vec![Turn::text(Role::User, "pumpkin")].into();
            asking.parts.push(Part::data(json!({"filters": {"recipeCategory": value}})));
            let SearchIntent::Items(asked) = wish(&asking, "recipes", 10, &Cook) else { panic!("items") };
            assert_eq!((asked.text.as_str(), asked.was_asked_back), ("pumpkin", true), "{text}");
        }
    }
}
