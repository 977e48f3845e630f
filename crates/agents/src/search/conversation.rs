//! What is asked, after what was asked before. Goes by the caller's turns alone, so that the same
//! conversation always means the same.

use std::sync::LazyLock;

use forecourt_content::{Filter, Test, Understood};
use forecourt_core::message::text_of;
use forecourt_core::{Message, Narrowing, Part, Role, Turn, behind_mention};
use regex::Regex;
use serde_json::Value;

use super::{elicit, facets};
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
    /// Filters by name, which hold only if the content has such a property at all.
    pub(super) named: Vec<Named>,
    /// Names of filters whose values say nothing that could be looked for.
    pub(super) unread: Vec<String>,
    /// What a person should know about the constraints.
    pub(super) notes: Vec<String>,
    /// Items that were shown before.
    pub(super) offset: usize,
    /// Items wanted, when the caller says so.
    pub(super) results: Option<usize>,
    /// Whether this answers a question of ours, so that none follows.
    pub(super) was_asked_back: bool,
}

/// A filter by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// The name that the caller gave.
    pub(super) name: String,
    /// What it means.
    pub(super) filter: Filter,
    /// What it means where no item has a value that is exactly this one.
    pub(super) loosely: Vec<Filter>,
}

impl Named {
    fn new(name: &str, filter: Filter) -> Self {
        Self { name: name.to_owned(), filter, loosely: Vec::new() }
    }
}

/// Takes a question apart into words and constraints.
pub(super) type Understand<'a> = &'a dyn Fn(&str) -> Understood;

static HELLO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:hi|hello|hey|hallo|greetings|good\s+(?:morning|day|afternoon|evening)|help|start|\?+|(?:what|how)\s+(?:can|do|could)\s+(?:you|i)\s+(?:do|ask|help|use\s+(?:you|this))(?:\s+(?:you|here|for\s+me|me\s+with))?|who\s+are\s+you|what\s+(?:is\s+this|are\s+you)|how\s+does\s+(?:this|it)\s+work)(?:\s+(?:there|you|everyone|please))?",
    )
});
static MORE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:and\s+|yes,?\s+|ok(?:ay)?,?\s+)?(?:(?:show|give|tell)\s+(?:me\s+)?)?(?:some\s+|any\s+|the\s+)?(?:more|next|continue|go\s+on|others)(?:\s+(?:please|results?|items?|ones|page|ten|of\s+(?:them|these|those|the\s+same)))*",
    )
});
/// Words at the beginning that go on with what was said before.
static GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    start(
        r"(?:(?:and|but|only|just|also|plus|ok(?:ay)?|now|then|yes|please|rather|instead|make\s+(?:it|them)|(?:which|any|some)\s+of\s+(?:them|these|those)|(?:can|could)\s+(?:it|they)\s+be|show\s+(?:me\s+)?(?:only|just))\b[\s,]*)+",
    )
});
/// Words that point at what was shown before.
static POINTS_BACK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:ones?|them|these|those)\b").expect("a pattern of our own"));
/// Words that ask for nothing by themselves.
const FILLERS: [&str; 48] = [
    "a",
    "about",
    "an",
    "any",
    "anything",
    "are",
    "be",
    "can",
    "dishes",
    "do",
    "find",
    "for",
    "give",
    "have",
    "i",
    "ideas",
    "in",
    "is",
    "it",
    "like",
    "looking",
    "make",
    "me",
    "need",
    "of",
    "one",
    "ones",
    "only",
    "please",
    "ready",
    "show",
    "should",
    "some",
    "something",
    "stuff",
    "that",
    "the",
    "them",
    "these",
    "they",
    "thing",
    "things",
    "those",
    "to",
    "want",
    "what",
    "which",
    "with",
];
/// Bytes of a turn that asks for more.
const MORE_BYTES_MAX: usize = 100;
/// Words in a turn that points back; a longer one stands for itself.
const POINTING_WORDS_MAX: usize = 10;

/// A pattern for a whole turn.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!(r"(?i)^\s*(?:{text})[\s!.?,]*$")).expect("a pattern of our own")
}

/// A pattern for the beginning of a turn.
fn start(text: &str) -> Regex {
    Regex::new(&format!(r"(?i)^\s*{text}")).expect("a pattern of our own")
}

/// What the caller wants with this message, at `page` items an answer of things called `noun`.
pub(super) fn wish(message: &Message, noun: &str, page: usize, understand: Understand<'_>) -> Wish {
    let (mut before, mut about) = (None, None);
    for turn in recent(&message.history) {
        match turn.role {
            Role::User => before = step(before, &said(turn, message), about.take(), noun, page, understand),
            _ => about = elicit::asked_about(&text_of(&turn.parts)),
        }
    }
    let text = message.addressed_text();
    let (mut named, unread) = named_filters(&message.parts, understand);
    let narrowing: Vec<Narrowing> = message.parts.iter().filter_map(Narrowing::from_part).collect();
    named.extend(narrowed(&narrowing, understand));
    // Some callers tell no turns of ours, but name what they answer.
    let about = about.or_else(|| answered(&named, &text));
    if named.is_empty() && (text.trim().is_empty() || HELLO.is_match(&text)) {
        return Wish::Introduction;
    }
    let asked = match step(before, &text, about, noun, page, understand) {
        Some(mut asked) => {
            asked.named.retain(|earlier| named.iter().all(|named| named.name != earlier.name));
            asked.named.extend(named);
            Asked { unread, ..asked }
        }
        None if named.is_empty() => return Wish::Introduction,
        None => Asked { named, unread, ..Asked::default() },
    };
    Wish::Items(Asked {
        results: narrowing.iter().rev().find_map(|narrowing| narrowing.results),
        was_asked_back: asked.was_asked_back || narrowing.iter().any(|narrowing| narrowing.decided),
        ..asked
    })
}

/// The values that were chosen, each exactly as it is where there are such items.
fn narrowed(narrowing: &[Narrowing], understand: Understand<'_>) -> Vec<Named> {
    let chosen = narrowing.iter().flat_map(|narrowing| &narrowing.exactly).take(QUESTION_FILTERS_MAX);
    let exactly = |(name, value): &(String, String)| Named {
        loosely: named(name, &Value::String(value.clone()), understand),
        ..Named::new(name, Filter { words: value.clone(), ..Filter::is(name, value) })
    };
    chosen.map(exactly).collect()
}

/// The turns behind which a question may stand: those since the last [`FOLLOW_UPS_MAX`] of the caller.
fn recent(history: &[Turn]) -> &[Turn] {
    let users = history.iter().enumerate().rev().filter(|(_, turn)| turn.role == Role::User);
    let first = users.take(FOLLOW_UPS_MAX).last().map_or(history.len(), |(at, _)| at);
    &history[first..]
}

/// The property that a message answers a question about, when its text says no more than its filter.
fn answered(named: &[Named], text: &str) -> Option<&'static str> {
    let is_said = |named: &&Named| match &named.filter.test {
        Test::Is(value) | Test::Mentions(value) => value.eq_ignore_ascii_case(text.trim()),
        Test::Lacks { .. } | Test::Within { .. } => false,
    };
    named.iter().find(is_said).and_then(|named| facets::known(&named.name))
}

/// What is asked after another turn, which may have been a question of ours `about` a property.
fn step(
    before: Option<Asked>,
    text: &str,
    about: Option<&'static str>,
    noun: &str,
    page: usize,
    understand: Understand<'_>,
) -> Option<Asked> {
    let (Some(mut asked), Some(field)) = (before.clone(), about) else {
        return next(before, text, noun, page, understand);
    };
    if text.split_whitespace().count() > POINTING_WORDS_MAX {
        return next(before, text, noun, page, understand);
    }
    asked.was_asked_back = true;
    if !elicit::is_any(text) {
        let value = text.trim().trim_end_matches(['.', '!']);
        let filter = if field == "@type" { Filter::is(field, value) } else { Filter::mentions(field, value) };
        asked.named.push(Named::new(field, filter));
    }
    Some(asked)
}

/// What an earlier turn said to this agent.
fn said(turn: &Turn, message: &Message) -> String {
    let text = text_of(&turn.parts);
    behind_mention(&text, &message.recipient).to_owned()
}

/// What is asked after another turn. `None`: nothing yet.
fn next(before: Option<Asked>, text: &str, noun: &str, page: usize, understand: Understand<'_>) -> Option<Asked> {
    if text.trim().is_empty() || HELLO.is_match(text) {
        return before;
    }
    if is_more(text, noun) {
        return before.map(|asked| Asked { offset: asked.offset + page, ..asked });
    }
    match before {
        Some(before) => Some(follow_up(&before, text, understand).unwrap_or_else(|| fresh(text, understand))),
        None => Some(fresh(text, understand)),
    }
}

/// Whether a turn asks for more of the same, and for nothing else.
pub(super) fn is_more(text: &str, noun: &str) -> bool {
    // "More recipes" is "more items", whatever they are called.
    text.len() <= MORE_BYTES_MAX && MORE.is_match(&text.to_lowercase().replace(&noun.to_lowercase(), "items"))
}

fn fresh(text: &str, understand: Understand<'_>) -> Asked {
    let Understood { text, filters, notes } = understand(text);
    Asked { text, filters, notes, ..Asked::default() }
}

/// The earlier question, narrowed down. `None` when the turn is a question of its own.
fn follow_up(before: &Asked, text: &str, understand: Understand<'_>) -> Option<Asked> {
    let rest = GOES_ON.replace(text, "");
    let goes_on = rest.len() < text.len();
    let points_back = POINTS_BACK.is_match(text) && text.split_whitespace().count() <= POINTING_WORDS_MAX;
    let Understood { text, filters, notes } = understand(rest.trim_end_matches(['?', '!', '.']));
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
    asked.notes.extend(notes);
    asked.notes.dedup();
    Some(asked)
}

/// The words that ask for something.
pub(super) fn content_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty() && !FILLERS.contains(&word.to_lowercase().as_str()))
}

/// Adds a constraint. Another limit on the same property takes the place of the earlier one.
fn narrow(filters: &mut Vec<Filter>, filter: Filter) {
    let is_limit = |filter: &Filter| matches!(filter.test, Test::Within { .. });
    filters
        .retain(|other| *other != filter && !(is_limit(other) && is_limit(&filter) && other.fields == filter.fields));
    filters.push(filter);
}

/// The values of properties that data parts of the message ask for, and the names of those that say
/// nothing.
fn named_filters(parts: &[Part], understand: Understand<'_>) -> (Vec<Named>, Vec<String>) {
    let data = parts.iter().filter_map(|part| match part {
        Part::Data(data) => data.data.get("filters")?.as_object(),
        _ => None,
    });
    let (mut all, mut unread) = (Vec::new(), Vec::new());
    for (name, value) in data.flatten().take(QUESTION_FILTERS_MAX) {
        match named(name, value, understand) {
            filters if filters.is_empty() => unread.push(name.clone()),
            filters => all.extend(filters.into_iter().map(|filter| Named::new(name, filter))),
        }
    }
    (all, unread)
}

fn named(key: &str, value: &Value, understand: Understand<'_>) -> Vec<Filter> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => return Vec::new(),
    };
    match key {
        "itemType" | "type" | "@type" => vec![Filter::is("@type", text)],
        // "less than $20" and "under 30 minutes" name their property better than the key does.
        _ => match understand(&text).filters {
            filters if filters.is_empty() => vec![Filter::mentions(key, text)],
            filters => filters,
        },
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, MessageId, Turn};
    use serde_json::json;

    use super::*;

    /// Understands minutes, nuts and vegetarians.
    fn understand(text: &str) -> Understood {
        let mut out = Understood { text: text.to_owned(), ..Understood::default() };
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
        match wish(&message(text, history), "recipes", 10, &understand) {
            Wish::Items(asked) => {
                (asked.text, asked.filters.into_iter().map(|filter| filter.words).collect(), asked.offset)
            }
            Wish::Introduction => panic!("`{text}` asks for an introduction"),
        }
    }

    #[test]
    fn greetings_and_empty_turns_ask_for_an_introduction() {
        for text in ["", " ", "hello", "Hi there!", "help", "?", "what can you do?", "Who are you", "more"] {
            assert_eq!(wish(&message(text, &[]), "recipes", 10, &understand), Wish::Introduction, "{text}");
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
        assert_eq!(wish(&message("more", &turns(FOLLOW_UPS_MAX + 1)), "recipes", 10, &understand), Wish::Introduction);
    }

    #[test]
    fn what_was_clicked_narrows_and_ends_questions() {
        let mut asking = message("soup", &[]);
        let exactly = vec![("cuisine".to_owned(), "under 20 minutes".to_owned()); QUESTION_FILTERS_MAX + 1];
        asking.parts.push(Narrowing { exactly, results: Some(20), decided: true }.to_part());
        let Wish::Items(asked) = wish(&asking, "recipes", 10, &understand) else { panic!("items") };
        assert_eq!((asked.named.len(), asked.results, asked.was_asked_back), (QUESTION_FILTERS_MAX, Some(20), true));
        assert_eq!(asked.named[0].filter.test, Test::Is("under 20 minutes".to_owned()));
        assert_eq!(asked.named[0].loosely[0].words, "under 20 minutes");
    }

    #[test]
    fn values_can_be_asked_for_by_name() {
        let mut asking = message("", &[]);
        let filters =
            json!({"filters": {"itemType": "Recipe", "price": "under 20 minutes", "cuisine": "Indian", "x": [1]}});
        asking.parts.push(Part::data(filters));
        let Wish::Items(asked) = wish(&asking, "recipes", 10, &understand) else { panic!("items") };
        let words: Vec<&str> = asked.named.iter().map(|named| named.filter.words.as_str()).collect();
        assert_eq!(words, ["cuisine: Indian", "@type: Recipe", "under 20 minutes"]);
        assert_eq!(
            asked.named.iter().map(|named| named.name.as_str()).collect::<Vec<_>>(),
            ["cuisine", "itemType", "price"]
        );
        assert_eq!(asked.unread, ["x"]);
        let many: serde_json::Map<String, Value> =
            (0..=QUESTION_FILTERS_MAX).map(|n| (format!("k{n}"), json!("v"))).collect();
        asking.parts = vec![Part::data(json!({"filters": many}))];
        let Wish::Items(asked) = wish(&asking, "recipes", 10, &understand) else { panic!("items") };
        assert_eq!(asked.named.len(), QUESTION_FILTERS_MAX);
    }
}
