//! What is known of a caller beside the question: NLWeb's `context.text` and `context.memory`, and contexts of
//! other types, as data parts give them. Diets, allergies and limits become constraints that are named in
//! the answer and can be set aside; what else it says lets items come earlier, and leaves none out.

use std::sync::LazyLock;

use forecourt_core::{Message, Part, Role};
use forecourt_understanding::{Filter, ParsedQuestion, Test};
use regex::Regex;
use serde_json::{Map, Value};

use super::filters::data;
use super::phrases::content_words;
use super::request::{QuestionParser, SearchRequest, is_limit, push_new};
use crate::limits::{
    BACKGROUND_BYTES_MAX, BACKGROUND_CLAUSES_MAX, BACKGROUND_CONSTRAINTS_MAX, BACKGROUND_TEXTS_MAX, LEANINGS_MAX,
};

/// What a caller's context says: constraints that hold, and words that let items come earlier.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CallerContext {
    constraints: Vec<Filter>,
    /// What a person should know about them.
    notes: Vec<String>,
    leanings: Vec<String>,
}

/// Keys whose values are things to leave out.
const UNWANTED: [&str; 5] = ["allerg", "avoid", "dislike", "exclude", "intoleran"];
/// Words of a caller's memory that say nothing about items.
const EMPTY: [&str; 20] = [
    "always",
    "been",
    "context",
    "different",
    "enjoys",
    "from",
    "has",
    "her",
    "his",
    "likes",
    "looking",
    "loves",
    "often",
    "options",
    "planning",
    "prefers",
    "their",
    "user",
    "usually",
    "wants",
];

/// Words that turn what they say around.
static NEGATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:no|not|never|without|avoids?|hates?|dislikes?|allerg\w*|(?:do|does|can)n['’]t|cannot|ohne|sans|sin)\b",
    )
});
fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}

/// What a message says about its caller, or the last turn before it that did.
pub(super) fn background(message: &Message, reads: &dyn QuestionParser) -> CallerContext {
    context(message).map(|context| read(context, reads)).unwrap_or_default()
}

/// The context of a message, or of the last turn before it that had one.
pub(super) fn context(message: &Message) -> Option<&Map<String, Value>> {
    let mut earlier = message.history.iter().rev().filter(|turn| turn.role == Role::User);
    context_in(&message.parts).or_else(|| earlier.find_map(|turn| context_in(&turn.parts)))
}

fn context_in(parts: &[Part]) -> Option<&Map<String, Value>> {
    parts.iter().filter_map(data).find_map(|data| data.get("context")?.as_object())
}

/// Text about the occasion constrains by what it rules out alone; memory by limits as well.
fn read(context: &Map<String, Value>, reads: &dyn QuestionParser) -> CallerContext {
    let mut background = CallerContext::default();
    for (key, value) in context.iter().filter(|(key, _)| !key.starts_with('@')).take(BACKGROUND_TEXTS_MAX) {
        let unwanted = UNWANTED.iter().any(|word| key.to_lowercase().contains(word));
        let Some(text) = words(value, if unwanted { ", " } else { "; " }) else { continue };
        // A memory that lists `allergies: nuts` says without words that they are not wanted.
        let text = if unwanted { format!("no {text}") } else { text };
        background.add(&text, key != "text", reads);
    }
    background
}

/// The texts of a value. Links say nothing.
fn words(value: &Value, between: &str) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between),
        _ => return None,
    };
    let says = !text.is_empty() && text.len() <= BACKGROUND_BYTES_MAX && !text.starts_with("http");
    says.then_some(text)
}

impl CallerContext {
    /// Adds what earlier turns said of the caller, in front of the rest.
    pub(super) fn with(mut self, told: Vec<Filter>) -> Self {
        self.constraints.splice(..0, told);
        self.constraints.dedup();
        self
    }

    fn add(&mut self, text: &str, with_limits: bool, reads: &dyn QuestionParser) {
        let constrains = |filter: &Filter| match filter.test {
            Test::Without { .. } => true,
            Test::Within { .. } => with_limits,
            _ => false,
        };
        let ParsedQuestion { filters, notes, .. } = reads.understand(text);
        // Notes speak of all limits in a text, so they hold only if those do.
        if filters.iter().all(|filter| constrains(filter) || !is_limit(filter)) {
            notes.into_iter().for_each(|note| push_new(&mut self.notes, note));
        }
        self.constraints.extend(filters.into_iter().filter(constrains));
        self.constraints.truncate(BACKGROUND_CONSTRAINTS_MAX);
        // Clause by clause, so that `I love soup, but no mushrooms` lets soups come first and not mushrooms.
        let clauses = text.split([',', ';', '.', '\n']).take(BACKGROUND_CLAUSES_MAX);
        for clause in clauses.filter(|clause| !NEGATION.is_match(clause)) {
            let ParsedQuestion { text, filters, .. } = reads.understand(clause);
            let sorts = filters.iter().filter(|filter| !constrains(filter)).map(|filter| filter.words.to_lowercase());
            let left = content_words(&text).map(str::to_lowercase);
            let leanings = left.chain(sorts).filter(|word| word.len() > 2 && !EMPTY.contains(&word.as_str()));
            self.leanings.extend(leanings);
            self.leanings.truncate(LEANINGS_MAX);
        }
    }

    /// The question with this behind it. What the question itself says goes first.
    pub(super) fn behind(self, mut asked: SearchRequest, question: &str, reads: &dyn QuestionParser) -> SearchRequest {
        let (mut kept, mut said) = (Vec::new(), Vec::new());
        for constraint in self.constraints {
            if asked.filters.iter().chain(&kept).any(|own| goes_before(own, &constraint)) {
                continue;
            }
            if is_wanted(&constraint, question, reads) {
                said.push(format!("You asked for it, so “{}” was set aside.", constraint.words));
            } else {
                kept.push(constraint);
            }
        }
        if !kept.is_empty() {
            let words: Vec<&str> = kept.iter().map(|filter| filter.words.as_str()).collect();
            let known = words.join("; ");
            said.push(format!("As you told before: {known}. Say “ignore my preferences” to leave that out."));
            said.extend(self.notes);
        }
        asked.filters.extend(kept.iter().cloned());
        asked.known = kept;
        said.into_iter().for_each(|note| push_new(&mut asked.notes, note));
        asked.leanings = self.leanings;
        asked
    }
}

/// Whether a constraint makes another one needless: the same again, or another limit of the same property.
fn goes_before(own: &Filter, constraint: &Filter) -> bool {
    let are_limits = is_limit(own) && is_limit(constraint);
    own.words == constraint.words || (are_limits && own.fields == constraint.fields)
}

/// Words in front of something that is wanted.
const WITH: [&str; 5] = ["with", "including", "mit", "avec", "con"];
/// Words behind something that may be there.
const FINE: [&str; 6] = ["is fine", "are fine", "is ok", "are ok", "ist ok", "sind ok"];

/// Whether a question asks in so many words for what a constraint leaves out. "With nuts" does; "chicken soup"
/// does not make a vegetarian eat meat, nor does coconut milk make one tolerate milk.
fn is_wanted(constraint: &Filter, question: &str, reads: &dyn QuestionParser) -> bool {
    let Test::Without { classes, words } = &constraint.test else { return false };
    let question = question.to_lowercase();
    let things = classes.iter().flat_map(|limit| reads.class_names(&limit.class)).chain(words.iter().cloned());
    things.map(|thing| thing.to_lowercase()).any(|thing| {
        let before = WITH.iter().map(|with| format!("{with} {thing}"));
        before.chain(FINE.iter().map(|fine| format!("{thing} {fine}"))).any(|words| question.contains(&words))
    })
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Handle, MessageId, Turn};
    use serde_json::json;

    use super::*;

    /// Knows nuts, vegetarians and twenty minutes.
    struct Cook;

    impl QuestionParser for Cook {
        fn understand(&self, text: &str) -> ParsedQuestion {
            let mut out = ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
            let lacks = |words: &[&str]| {
                let words = words.iter().map(|word| (*word).to_owned()).collect();
                Test::Without { classes: Vec::new(), words }
            };
            for (words, test) in [
                ("no nuts", lacks(&["nuts"])),
                ("vegetarian", lacks(&["meat", "fish"])),
                ("20 minutes", Test::Within { from: None, to: Some(20.0) }),
                ("soups", Test::Is("Soup".to_owned())),
            ] {
                if out.text.contains(words) {
                    out.text = out.text.replace(words, "");
                    let words = if words == "vegetarian" { "vegetarian: no meat, no fish" } else { words };
                    if words == "20 minutes" {
                        out.notes.push("Others are left out.".to_owned());
                    }
                    out.filters.push(Filter { fields: vec![words[..2].to_owned()], test, words: words.to_owned() });
                }
            }
            out
        }

        fn named(&self, _: &str, _: &Value) -> Vec<Filter> {
            Vec::new()
        }

        fn class_names(&self, class: &str) -> Vec<String> {
            vec![class.to_owned()]
        }
    }

    fn message(context: Option<Value>) -> Message {
        let (id, recipient) = (MessageId::parse("1").unwrap(), Handle::parse("a").unwrap());
        let parts = context.map(|context| Part::data(json!({ "context": context }))).into_iter().collect();
        Message::new(id, recipient, parts, "test", forecourt_core::Timestamp::UNIX_EPOCH)
    }

    fn known(context: Value) -> (Vec<String>, Vec<String>) {
        let background = background(&message(Some(context)), &Cook);
        (background.constraints.into_iter().map(|filter| filter.words).collect(), background.leanings)
    }

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn s3_2_memory_constrains_and_leans() {
        let vegetarian = "vegetarian: no meat, no fish";
        for (context, constraints, leanings) in [
            (json!({"memory": "vegetarian, has a sweet tooth"}), &[vegetarian][..], &["sweet", "tooth"][..]),
            (json!({"memory": ["no nuts", "20 minutes", "likes soups"]}), &["no nuts", "20 minutes"], &["soups"]),
            (json!({"text": "a party, no nuts, 20 minutes"}), &["no nuts"], &["party", "20 minutes"]),
            (
                json!({"@type": "UserDiet", "@context": "https://x.example/vegetarian", "restrictions": ["vegetarian"],
                "allergies": ["nuts", "soups"]}),
                &["no nuts", vegetarian],
                &["soups"],
            ),
            (json!({"memory": "hates opera, never sings"}), &[], &[]),
            (json!({"memory": 3, "x": {"memory": "vegetarian"}, "y": null}), &[], &[]),
        ] {
            assert_eq!(known(context.clone()), (texts(constraints), texts(leanings)), "{context}");
        }
    }

    #[test]
    fn the_last_context_of_a_conversation_counts() {
        let turn = |memory: &str| Turn {
            parts: vec![Part::data(json!({"context": {"memory": memory}}))],
            ..Turn::text(Role::User, "x")
        };
        let mut asking = message(None);
        asking.history = vec![turn("vegetarian"), turn("no nuts"), Turn::text(Role::User, "y")].into();
        assert_eq!(background(&asking, &Cook).constraints[0].words, "no nuts");
    }

    fn asked(question: &str, memory: &str) -> (Vec<String>, Vec<String>) {
        let ParsedQuestion { text, filters, .. } = Cook.understand(question);
        let background = background(&message(Some(json!({ "memory": memory }))), &Cook);
        let asked = background.behind(SearchRequest { text, filters, ..SearchRequest::default() }, question, &Cook);
        (asked.filters.into_iter().map(|filter| filter.words).collect(), asked.notes)
    }

    #[test]
    fn s3_2_what_is_known_is_named_and_can_be_set_aside() {
        let (filters, notes) = asked("soup", "vegetarian, no nuts");
        assert_eq!(filters, ["no nuts", "vegetarian: no meat, no fish"]);
        assert!(notes[0].contains("As you told before: no nuts") && notes[0].contains("ignore my preferences"));
        let (filters, notes) = asked("soup with nuts", "vegetarian, no nuts");
        assert_eq!(filters, ["vegetarian: no meat, no fish"]);
        assert!(notes[0].contains("“no nuts” was set aside"), "{notes:?}");
        assert_eq!(asked("soup with meat", "vegetarian").0, [] as [String; 0]);
        assert_eq!(asked("chicken soup", "vegetarian").0.len(), 1);
    }

    #[test]
    fn s3_2_what_the_question_says_goes_first() {
        assert_eq!(asked("soup no nuts", "no nuts"), (vec!["no nuts".to_owned()], vec![]));
        assert_eq!(asked("soup in 20 minutes", "20 minutes").0, ["20 minutes"]);
    }

    #[test]
    fn s3_2_what_holds_of_known_limits_is_said_with_them() {
        let (_, notes) = asked("soup", "20 minutes");
        assert_eq!((notes.len(), notes[1].as_str()), (2, "Others are left out."));
        assert_eq!(background(&message(Some(json!({"text": "20 minutes"}))), &Cook).notes, [] as [String; 0]);
    }

    #[test]
    fn what_is_read_of_all_texts_is_bounded() {
        let texts = |before: usize| {
            let mut context: Map<String, Value> = (0..before).map(|n| (format!("a{n:02}"), json!("x"))).collect();
            context.insert("z".to_owned(), "no nuts".into());
            known(context.into()).0.len()
        };
        assert_eq!((texts(BACKGROUND_TEXTS_MAX - 1), texts(BACKGROUND_TEXTS_MAX)), (1, 0));
        let clauses = |before: usize| known(json!({"memory": "a,".repeat(before) + "peas"})).1.len();
        assert_eq!((clauses(BACKGROUND_CLAUSES_MAX - 1), clauses(BACKGROUND_CLAUSES_MAX)), (1, 0));
    }

    /// Rules out whatever it reads, each word by itself.
    struct Strict;

    impl QuestionParser for Strict {
        fn understand(&self, text: &str) -> ParsedQuestion {
            let rule = |word: &str| Filter {
                fields: Vec::new(),
                test: Test::Without { classes: Vec::new(), words: vec![word.to_owned()] },
                words: word.to_owned(),
            };
            ParsedQuestion { filters: text.split_whitespace().map(rule).collect(), ..ParsedQuestion::default() }
        }

        fn named(&self, _: &str, _: &Value) -> Vec<Filter> {
            Vec::new()
        }

        fn class_names(&self, class: &str) -> Vec<String> {
            vec![class.to_owned()]
        }
    }

    #[test]
    fn constraints_end_at_the_bound() {
        let of = |count: usize| {
            let context = Some(json!({"memory": "x ".repeat(count)}));
            background(&message(context), &Strict).constraints.len()
        };
        assert_eq!(of(BACKGROUND_CONSTRAINTS_MAX), BACKGROUND_CONSTRAINTS_MAX);
        assert_eq!(of(BACKGROUND_CONSTRAINTS_MAX + 1), BACKGROUND_CONSTRAINTS_MAX);
    }

    #[test]
    fn what_is_known_is_bounded() {
        let of = |bytes: usize| known(json!({"memory": format!("no nuts{}", " ".repeat(bytes - 8) + "x")})).0.len();
        assert_eq!((of(BACKGROUND_BYTES_MAX), of(BACKGROUND_BYTES_MAX + 1)), (1, 0));
        let words = |count: usize| {
            let words: Vec<String> = (0..count).map(|n| format!("word{n}")).collect();
            known(json!({"memory": words.join(" ")})).1.len()
        };
        assert_eq!((words(LEANINGS_MAX), words(LEANINGS_MAX + 1)), (LEANINGS_MAX, LEANINGS_MAX));
    }
}
