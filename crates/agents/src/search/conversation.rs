//! What is asked, after what was asked before. Goes by the caller's turns alone, so that the same
//! conversation always means the same.

use forecourt_content::{Filter, Library, ParsedQuestion, Test};
use forecourt_core::message::text_of;
use forecourt_core::{Message, Question, QuestionAnswer, Role, Turn, behind_mention};
use serde_json::Value;

use super::background::background;
use super::elicit;
use super::named::{self, Named};
use super::phrases::{behind_going_on, content_words, is_greeting, is_more, is_short, points_back};
use crate::limits::{FOLLOW_UPS_MAX, QUESTION_FILTERS_MAX};

/// What the caller wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// To know what this is.
    Introduction,
    /// Items.
    Items(Asked),
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Asked {
    /// The words that are left beside the constraints.
    pub(super) text: String,
    /// What holds for every item.
    pub(super) filters: Vec<Filter>,
    /// Those of them that nobody said now: what is known of the caller.
    pub(super) known: Vec<Filter>,
    /// Filters by name, which hold only if the content has such a property at all.
    pub(super) named: Vec<Named>,
    /// Names of filters whose values say nothing that could be looked for.
    pub(super) unread: Vec<String>,
    /// Words that let an item come earlier, and leave none out.
    pub(super) leanings: Vec<String>,
    /// What a person should know about the constraints.
    pub(super) notes: Vec<String>,
    /// Items that were shown before.
    pub(super) offset: usize,
    /// Items wanted, when the caller says so: 1 to [`crate::limits::SHOWN_MAX`].
    pub(super) results: Option<usize>,
    /// Whether this answers a question of ours, so that none follows.
    pub(super) was_asked_back: bool,
}

/// Where questions are understood.
pub(super) trait Reads {
    /// Takes a question apart into words and constraints.
    fn understand(&self, text: &str) -> ParsedQuestion;
    /// The constraints that a name and a value say.
    fn named(&self, name: &str, value: &Value) -> Vec<Filter>;
}

impl Reads for Library {
    fn understand(&self, text: &str) -> ParsedQuestion {
        self.understand(text)
    }

    fn named(&self, name: &str, value: &Value) -> Vec<Filter> {
        self.named(name, value)
    }
}

/// What the caller wants with this message, at `page` items an answer of things called `noun`.
pub(super) fn wish(message: &Message, noun: &str, page: usize, reads: &dyn Reads) -> Wish {
    let (mut before, mut about) = (None, None);
    for turn in recent(&message.history) {
        match turn.role {
            Role::User => {
                let named = named::read(&turn.parts, &turn.narrowing, reads);
                let said = Said { text: said(turn, message), named, answers: &turn.answers };
                before = step(before, said, about.take(), noun, page, reads);
            }
            Role::Assistant => about = turn.question.as_deref(),
        }
    }
    let named = named::read(&message.parts, &message.search.narrowing, reads);
    let said = Said { text: message.addressed_text(), named, answers: &message.answers };
    if said.named.filters.is_empty() && is_greeting(&said.text) {
        return Wish::Introduction;
    }
    let question = said.text.clone();
    match step(before, said, about, noun, page, reads) {
        Some(asked) => Wish::Items(background(message, reads).behind(asked, &question)),
        None => Wish::Introduction,
    }
}

/// One turn of the caller.
struct Said<'a> {
    text: String,
    named: named::Read,
    /// What it answers by name.
    answers: &'a [QuestionAnswer],
}

impl Said<'_> {
    /// The property that this answers an earlier question about, and the answer in words.
    fn answered(&self, asked: Option<&Question>) -> Option<(&'static str, String)> {
        if let Some((question, field)) = asked.and_then(|asked| Some((asked, elicit::asked_about(asked)?))) {
            let answer = question.answers(&self.text, self.answers).into_iter().find(|answer| answer.id == field)?;
            return named::in_words(&answer.value).filter(|words| is_short(words)).map(|words| (field, words));
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
fn step(
    before: Option<Asked>,
    said: Said<'_>,
    asked: Option<&Question>,
    noun: &str,
    page: usize,
    reads: &dyn Reads,
) -> Option<Asked> {
    let answer = said.answered(asked);
    let Said { text, named, .. } = said;
    let asked = match (before, answer) {
        (Some(before), Some((field, words))) => Some(answered(before, field, &words, reads)),
        (before, _) => next(before, &text, noun, page, reads),
    };
    let mut asked = match asked {
        None if named.filters.is_empty() => return None,
        asked => asked.unwrap_or_default(),
    };
    asked.named.retain(|earlier| named.names.iter().all(|name| *name != earlier.name));
    asked.named.extend(named.filters);
    asked.named.drain(..asked.named.len().saturating_sub(QUESTION_FILTERS_MAX));
    let was_asked_back = asked.was_asked_back || named.decided;
    Some(Asked { unread: named.unread, results: named.results, was_asked_back, ..asked })
}

/// The earlier question with the answer to ours.
fn answered(before: Asked, field: &'static str, text: &str, reads: &dyn Reads) -> Asked {
    let mut asked = Asked { was_asked_back: true, ..before };
    if !elicit::is_any(text) {
        let filters = reads.named(field, &elicit::chosen(text));
        asked.named.extend(filters.into_iter().map(|filter| Named::new(field, filter)));
    }
    asked
}

/// What an earlier turn said to this agent.
fn said(turn: &Turn, message: &Message) -> String {
    let text = text_of(&turn.parts);
    behind_mention(&text, &message.recipient).to_owned()
}

/// What is asked after another turn. `None`: nothing yet.
fn next(before: Option<Asked>, text: &str, noun: &str, page: usize, reads: &dyn Reads) -> Option<Asked> {
    if is_greeting(text) {
        return before;
    }
    if is_more(text, noun) {
        return before.map(|asked| Asked { offset: asked.offset + asked.results.unwrap_or(page), ..asked });
    }
    match before {
        Some(before) => Some(follow_up(&before, text, reads).unwrap_or_else(|| fresh(text, reads))),
        None => Some(fresh(text, reads)),
    }
}

fn fresh(text: &str, reads: &dyn Reads) -> Asked {
    let ParsedQuestion { text, filters, notes } = reads.understand(text);
    Asked { text, filters, notes, ..Asked::default() }
}

/// The earlier question, narrowed down. `None` when the turn is a question of its own.
fn follow_up(before: &Asked, text: &str, reads: &dyn Reads) -> Option<Asked> {
    let rest = behind_going_on(text);
    let (goes_on, points_back) = (rest.len() < text.len(), points_back(text));
    let ParsedQuestion { text, filters, notes } = reads.understand(rest.trim_end_matches(['?', '!', '.']));
    let words: Vec<&str> = content_words(&text).collect();
    let constraint =
        |word: &&str| filters.iter().any(|filter| filter.words.to_lowercase().contains(&word.to_lowercase()));
    let only_narrows = !filters.is_empty() && words.iter().all(constraint);
    if !(goes_on || points_back || only_narrows) {
        return None;
    }
    let text = [before.text.as_str(), &words.join(" ")].join(" ").trim().to_owned();
    let mut asked = Asked { text, offset: 0, ..before.clone() };
    filters.into_iter().for_each(|filter| narrow(&mut asked.filters, filter));
    notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
    Some(asked)
}

/// Whether a constraint bounds a quantity.
pub(super) fn is_limit(filter: &Filter) -> bool {
    matches!(filter.test, Test::Within { .. })
}

/// Adds a note, unless it is there.
pub(super) fn push_new(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
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
    use serde_json::json;

    use super::*;

    /// Understands minutes, nuts and vegetarians.
    struct Cook;

    impl Reads for Cook {
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
            Wish::Items(asked) => {
                (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect(), asked.offset)
            }
            Wish::Introduction => panic!("`{text}` asks for an introduction"),
        }
    }

    #[test]
    fn greetings_and_empty_turns_ask_for_an_introduction() {
        for text in ["", " ", "hello", "Hi there!", "help", "?", "what can you do?", "Who are you", "more"] {
            assert_eq!(wish(&message(text, &[]), "recipes", 10, &Cook), Wish::Introduction, "{text}");
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
        assert_eq!(wish(&message("more", &turns(FOLLOW_UPS_MAX + 1)), "recipes", 10, &Cook), Wish::Introduction);
    }

    fn filtered(text: &str, data: Value, results: usize) -> Turn {
        let narrowing = SearchRefinement { results: Some(results), ..SearchRefinement::default() };
        Turn { narrowing, ..Turn::new(Role::User, vec![Part::text(text), Part::data(data)]) }
    }

    /// The words of the filters, and the offset.
    fn paged(history: Vec<Turn>, text: &str) -> (Vec<String>, usize) {
        let message = Message { history: history.into(), ..message(text, &[]) };
        let Wish::Items(asked) = wish(&message, "recipes", 10, &Cook) else { panic!("items") };
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
            let Wish::Items(asked) = wish(&asking, "recipes", 10, &Cook) else { panic!("items") };
            assert_eq!((asked.text.as_str(), asked.was_asked_back), ("pumpkin", true), "{text}");
        }
    }
}
