//! What was expected and did not come.

use std::collections::BTreeMap;

use forecourt_client::printable::line;
use serde_json::Value;

use crate::answer::{Answer, Ending, ToolUse, units_of_money};
use crate::file::Turn;
use crate::limit::Standing;
use crate::limits::{SHOWN_CHARS_MAX, SHOWN_ITEMS_MAX};
use crate::settings::{CallExpectation, ItemExpectation};

/// The name of every refusal, and of every failure.
const ANY: &str = "any";
/// All tools.
const ALL: &str = "*";

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What was expected, as a clause.
    pub expected: String,
    /// What came in its place.
    pub came: String,
}

impl Mismatch {
    /// Expected and got.
    pub fn new(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { expected: expected.into(), came: came.into() }
    }
}

/// All that does not hold of an answer.
pub fn mismatches(turn: &Turn, answer: &Answer) -> Vec<Mismatch> {
    let mut found = Vec::new();
    of_ending(turn, answer, &mut found);
    of_text(turn, answer, &mut found);
    of_items(&turn.expect.items, answer, &mut found);
    of_limits(turn, answer, &mut found);
    of_calls(turn, answer, &mut found);
    for name in turn.expect.files.0.iter().filter(|name| !answer.files.contains(name)) {
        found.push(Mismatch::new(
            format!("a file `{name}`"),
            listed("no file", answer.files.iter().map(String::as_str)),
        ));
    }
    if let Some(most) = turn.expect.cost_max {
        let cost = units_of_money(answer.cost_micros);
        if cost > most {
            found.push(Mismatch::new(format!("a cost of at most {most}"), format!("it cost {cost}")));
        }
    }
    found
}

/// How an answer ended, for people.
pub fn told(ending: &Ending) -> String {
    let (what, message) = match ending {
        Ending::Complete => return "an answer".to_owned(),
        Ending::Question(words) => ("a question".to_owned(), words),
        Ending::Refusal { kind, message } => (format!("the refusal `{kind}`"), message),
        Ending::Failure { code, message } if code.is_empty() => ("a failure".to_owned(), message),
        Ending::Failure { code, message } => (format!("the failure `{code}`"), message),
    };
    format!("{what}: {}", line(message, SHOWN_CHARS_MAX))
}

fn of_ending(turn: &Turn, answer: &Answer, found: &mut Vec<Mismatch>) {
    let expect = &turn.expect;
    let is = |wanted: &str, found: &str| wanted == ANY || wanted == found;
    let (wanted, holds) = match (&expect.refusal, &expect.failure) {
        (Some(wanted), _) => {
            let holds = matches!(&answer.ending, Ending::Refusal { kind, .. } if is(wanted, kind));
            (format!("the refusal `{wanted}`"), holds)
        }
        (None, Some(wanted)) => {
            let holds = matches!(&answer.ending, Ending::Failure { code, .. } if is(wanted, code));
            (format!("the failure `{wanted}`"), holds)
        }
        (None, None) => {
            let is_bad = matches!(answer.ending, Ending::Refusal { .. } | Ending::Failure { .. });
            // Who expects a status has said what is to be: 402 comes with a refusal.
            ("an answer".to_owned(), !is_bad || expect.status.is_some_and(|status| status >= 400))
        }
    };
    if !holds {
        found.push(Mismatch::new(wanted, told(&answer.ending)));
    }
    if let Some(status) = expect.status.filter(|status| answer.status != Some(*status)) {
        let came = answer.status.map_or("none".to_owned(), |status| status.to_string());
        found.push(Mismatch::new(format!("the status {status}"), came));
    }
    if let Some(words) = &expect.asks {
        let asked = match &answer.ending {
            Ending::Question(asked) => asked,
            other => return found.push(Mismatch::new(format!("a question with “{words}”"), told(other))),
        };
        if !has_words(asked, words) {
            found.push(Mismatch::new(format!("a question with “{words}”"), told(&answer.ending)));
        }
    }
}

fn has_words(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(&words.to_lowercase())
}

fn of_text(turn: &Turn, answer: &Answer, found: &mut Vec<Mismatch>) {
    let expect = &turn.expect;
    // What a refusal or a failure says is all that its caller reads.
    let text = match &answer.ending {
        Ending::Refusal { message, .. } | Ending::Failure { message, .. } => format!("{}\n{message}", answer.text),
        Ending::Question(words) if !answer.text.contains(words.as_str()) => format!("{}\n{words}", answer.text),
        _ => answer.text.clone(),
    };
    let came = || match text.trim() {
        "" => "no words".to_owned(),
        text => line(text, SHOWN_CHARS_MAX),
    };
    let mut hold = |holds: bool, expected: String| {
        if !holds {
            found.push(Mismatch::new(expected, came()));
        }
    };
    expect.contains.0.iter().for_each(|words| hold(has_words(&text, words), format!("text with “{words}”")));
    expect.not_contains.0.iter().for_each(|words| hold(!has_words(&text, words), format!("text without “{words}”")));
    turn.matches.iter().for_each(|pattern| hold(pattern.is_match(&text), format!("text that matches `{pattern}`")));
    let none = turn.not_matches.iter();
    none.for_each(|pattern| hold(!pattern.is_match(&text), format!("text that does not match `{pattern}`")));
}

fn of_items(expect: &ItemExpectation, answer: &Answer, found: &mut Vec<Mismatch>) {
    let count = answer.items.len();
    let all = || listed("no item", answer.items.iter().map(Answer::label_of));
    let is = |item: &Value, wanted: &str| Answer::names_of(item).any(|name| name.eq_ignore_ascii_case(wanted));
    if let Some(least) = expect.at_least.filter(|least| count < *least) {
        found.push(Mismatch::new(format!("at least {least} items"), format!("{count}: {}", all())));
    }
    if let Some(most) = expect.at_most.filter(|most| count > *most) {
        found.push(Mismatch::new(format!("at most {most} items"), format!("{count}: {}", all())));
    }
    if let Some(first) = expect.first.as_ref().filter(|first| !answer.items.first().is_some_and(|item| is(item, first)))
    {
        found.push(Mismatch::new(format!("`{first}` as the first item"), all()));
    }
    for wanted in expect.include.0.iter().filter(|wanted| !answer.items.iter().any(|item| is(item, wanted))) {
        found.push(Mismatch::new(format!("`{wanted}` among the items"), all()));
    }
    for unwanted in expect.exclude.0.iter().filter(|unwanted| answer.items.iter().any(|item| is(item, unwanted))) {
        found.push(Mismatch::new(format!("items without `{unwanted}`"), all()));
    }
}

fn of_limits(turn: &Turn, answer: &Answer, found: &mut Vec<Mismatch>) {
    for limit in &turn.limits {
        if answer.items.is_empty() {
            // A limit that nothing is held against is kept by an answer that lost all of its items.
            found.push(Mismatch::new(format!("items with {limit}"), "no item"));
        }
        let broken = answer.items.iter().filter_map(|item| match limit.standing(item) {
            Standing::Kept => None,
            Standing::Broken(value) => Some(format!("{} has {value}", Answer::label_of(item))),
            Standing::Unstated => Some(format!("{} does not state it", Answer::label_of(item))),
        });
        let broken: Vec<String> = broken.collect();
        if !broken.is_empty() {
            let came = listed("", broken.iter().map(String::as_str));
            found.push(Mismatch::new(format!("items with {limit}"), came));
        }
    }
}

fn of_calls(turn: &Turn, answer: &Answer, found: &mut Vec<Mismatch>) {
    let shown = |call: &ToolUse| format!("{} {}", call.tool, call.arguments);
    let made: Vec<String> = answer.calls.iter().map(shown).collect();
    let came = || listed("no call", made.iter().map(String::as_str));
    for CallExpectation { tool, arguments } in &turn.expect.calls {
        let is_it = |call: &&ToolUse| call.tool == *tool && has_arguments(&call.arguments, arguments);
        if answer.calls.iter().find(is_it).is_none() {
            let with = serde_json::to_string(arguments).unwrap_or_default();
            found.push(Mismatch::new(format!("a call of `{tool}` with {with}"), came()));
        }
    }
    for tool in &turn.expect.not_called.0 {
        if answer.calls.iter().any(|call| tool == ALL || call.tool == *tool) {
            let what = if tool == ALL { "no call of a tool".to_owned() } else { format!("no call of `{tool}`") };
            found.push(Mismatch::new(what, came()));
        }
    }
}

fn has_arguments(given: &Value, wanted: &BTreeMap<String, Value>) -> bool {
    wanted.iter().all(|(name, value)| given.get(name).is_some_and(|given| is_same(given, value)))
}

/// TOML tells whole numbers from others, and models do not.
fn is_same(given: &Value, wanted: &Value) -> bool {
    match (given.as_f64(), wanted.as_f64()) {
        (Some(given), Some(wanted)) => (given - wanted).abs() < f64::EPSILON,
        _ => given == wanted,
    }
}

fn listed<'a>(none: &str, all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    let more = all.len().saturating_sub(SHOWN_ITEMS_MAX);
    let mut text =
        all.iter().take(SHOWN_ITEMS_MAX).map(|one| line(one, SHOWN_CHARS_MAX)).collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        none.clone_into(&mut text);
    }
    if more > 0 { format!("{text} and {more} more") } else { text }
}

#[cfg(test)]
mod tests {
    use regex::Regex;
    use serde_json::json;

    use super::*;
    use crate::limit::Limit;
    use crate::settings::{Expectation, Texts};

    fn turn(expect: Value) -> Turn {
        let expect: Expectation = serde_json::from_value(expect).unwrap();
        let patterns = |texts: &Texts| texts.0.iter().map(|text| Regex::new(text).unwrap()).collect();
        let limits = expect.limits.0.iter().map(|text| Limit::parse(text).unwrap()).collect();
        let (matches, not_matches) = (patterns(&expect.matches), patterns(&expect.not_matches));
        Turn { line: 1, say: "a".to_owned(), expect, matches, not_matches, limits }
    }

    fn answer() -> Answer {
        Answer {
            text: "Two soups.".to_owned(),
            items: vec![
                json!({"name": "Leek Soup", "offers": {"price": 3}}),
                json!({"name": "Pea Soup", "@id": "p", "offers": {"price": "5.5"}}),
            ],
            files: vec!["a.csv".to_owned()],
            calls: vec![ToolUse { tool: "search".to_owned(), arguments: json!({"q": "soup", "n": 2}) }],
            status: Some(200),
            cost_micros: 1_000,
            ..Answer::default()
        }
    }

    #[test]
    fn what_holds_is_silent_and_what_does_not_is_told_once() {
        for (expect, wrong) in [
            (json!({}), 0),
            (json!({"contains": "SOUPS", "not_contains": ["fish"], "matches": "^Two", "not_matches": "x$"}), 0),
            (json!({"contains": ["soups", "fish"], "not_contains": "two", "matches": "^two", "not_matches": "s"}), 4),
            (
                json!({"items": {"at_least": 2, "at_most": 2, "first": "leek soup", "include": ["p"], "exclude": ["x"]}}),
                0,
            ),
            (json!({"items": {"at_least": 3, "at_most": 1, "first": "p", "include": ["x"], "exclude": ["p"]}}), 5),
            (json!({"limits": ["price <= 5.5", "price > 2"]}), 0),
            (json!({"limits": ["price < 5.5", "weight < 3"]}), 2),
            (json!({"calls": [{"tool": "search", "arguments": {"n": 2.0}}], "not_called": ["book"]}), 0),
            (json!({"calls": [{"tool": "search", "arguments": {"n": 3}}, {"tool": "book"}], "not_called": ["*"]}), 3),
            (json!({"files": ["a.csv"], "cost_max": 0.001, "status": 200}), 0),
            (json!({"files": ["b.csv"], "cost_max": 0.0009, "status": 402}), 3),
            (json!({"refusal": "any"}), 1),
            (json!({"failure": "any"}), 1),
            (json!({"asks": "Which"}), 1),
        ] {
            let found = mismatches(&turn(expect.clone()), &answer());
            assert_eq!(found.len(), wrong, "{expect}: {found:?}");
        }
    }

    #[test]
    fn a_refusal_nobody_expected_is_wrong_and_one_that_was_expected_is_read() {
        let refusal = Ending::Refusal { kind: "payment_required".to_owned(), message: "Two coins.".to_owned() };
        let refused = Answer { ending: refusal, status: Some(402), ..Answer::default() };
        for (expect, wrong) in [
            (json!({}), 1),
            (json!({"refusal": "payment_required", "contains": "two coins"}), 0),
            (json!({"refusal": "any", "status": 402}), 0),
            (json!({"status": 402}), 0),
            (json!({"refusal": "forbidden"}), 1),
            (json!({"failure": "any"}), 1),
            // No item is no item that keeps a limit.
            (json!({"refusal": "any", "limits": ["price < 1"]}), 1),
        ] {
            let found = mismatches(&turn(expect.clone()), &refused);
            assert_eq!(found.len(), wrong, "{expect}: {found:?}");
        }
        let asked = Answer { ending: Ending::Question("Which size?".to_owned()), ..Answer::default() };
        assert!(mismatches(&turn(json!({"asks": "which SIZE", "contains": "size"})), &asked).is_empty());
    }
}
