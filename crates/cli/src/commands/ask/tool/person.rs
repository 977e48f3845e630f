//! The person at the terminal: sees progress, fills in forms, visits pages.

use std::io::{self, IsTerminal, stdin};

use forecourt_core::Progress;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::commands::printable::{line, printable};
use crate::output::{stderr, stderrln};
use forecourt::registry::mcp::{AnswerKind, Choice, Field, Form, Person};

/// Characters of somebody else's sentence.
const WORDS_CHARS_MAX: usize = 500;
/// How often a question is put until its answer fits.
const TRIES: usize = 3;

/// Whoever reads and types here.
pub(in crate::commands::ask) struct Terminal {
    present: bool,
}

impl Terminal {
    /// A person is there when both what is asked and what is typed are a terminal's.
    pub(in crate::commands::ask) fn new() -> Self {
        Self { present: stdin().is_terminal() && io::stderr().is_terminal() }
    }
}

impl Person for Terminal {
    fn told(&self, progress: Progress) {
        let percent = progress.fraction.map(|fraction| format!("{:.0}%", fraction * 100.0));
        let note = progress.note.map(|note| line(&note, WORDS_CHARS_MAX));
        let said: Vec<String> = percent.into_iter().chain(note).collect();
        stderrln!("[{}]", said.join(" "));
    }

    fn answers(&self) -> bool {
        self.present
    }

    fn asked(&self, form: Form) -> BoxFuture<'_, Option<Map<String, Value>>> {
        async { spawn_blocking(|| filled_in(form)).await.ok().flatten() }.boxed()
    }

    fn sent(&self, words: String, url: String) -> BoxFuture<'_, bool> {
        let visit = move || {
            stderrln!("{}\nOpen {} and come back.", printable(words.trim()), line(&url, WORDS_CHARS_MAX));
            typed("Done? [y/N] ").is_some_and(|said| matches!(said.trim(), "y" | "Y" | "yes"))
        };
        async { spawn_blocking(visit).await.unwrap_or(false) }.boxed()
    }
}

/// Puts the questions of a form, one after the other. An end of input declines.
pub(in crate::commands::ask) fn filled_in(form: Form) -> Option<Map<String, Value>> {
    if !form.text.trim().is_empty() {
        stderrln!("{}", printable(form.text.trim()));
    }
    let mut given = Vec::new();
    for field in form.fields {
        let value = put(&field)?;
        given.push((field, value));
    }
    Field::values(&given)
}

/// What was answered to a question: nothing, when it may stay open. `None` when no answer fits.
fn put(field: &Field) -> Option<Option<Value>> {
    let prompt = prompt(field);
    for _ in 0..TRIES {
        let said = typed(&prompt)?;
        match field.value(&said) {
            Some(value) => return Some(Some(value)),
            None if said.trim().is_empty() && !field.required => return Some(None),
            None => stderrln!("That is no answer to this question."),
        }
    }
    None
}

fn prompt(field: &Field) -> String {
    let listed = |choices: &[Choice]| {
        let all = choices.iter().enumerate().map(|(n, one)| format!("{} {}", n + 1, line(&one.title, 60)));
        all.collect::<Vec<_>>().join(", ")
    };
    let choices = match &field.kind {
        AnswerKind::One(choices) => format!(" ({})", listed(choices)),
        AnswerKind::Many(choices) => format!(" (any of {}; commas between)", listed(choices)),
        AnswerKind::Boolean => " (y/n)".to_owned(),
        AnswerKind::Text | AnswerKind::Number { .. } => String::new(),
    };
    let default = match &field.default {
        Some(value) => format!(" [{}]", line(&plain(value), 60)),
        None => String::new(),
    };
    format!("{}{choices}{default}: ", line(&field.title, WORDS_CHARS_MAX))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // Whole numbers without the point that they have on the wire.
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Bool(yes) => (if *yes { "y" } else { "n" }).to_owned(),
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Object(_) => value.to_string(),
    }
}

/// A line that was typed; `None` at the end of the input.
fn typed(prompt: &str) -> Option<String> {
    stderr(format_args!("{prompt}"));
    let mut said = String::new();
    let read = stdin().read_line(&mut said).ok()?;
    (read > 0).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_what_can_be_answered_and_nothing_that_a_terminal_obeys() {
        let choice = |text: &str| Choice { value: text.into(), title: text.into() };
        let field = Field {
            name: "diet".into(),
            title: "Which \u{1b}[31mdiet?".into(),
            kind: AnswerKind::One(vec![choice("vegan"), choice("any")]),
            required: true,
            default: Some("any".into()),
        };
        assert_eq!(prompt(&field), "Which [31mdiet? (1 vegan, 2 any) [any]: ");
        let number = Field { kind: AnswerKind::Number { whole: false }, default: Some(30.0.into()), ..field };
        assert!(prompt(&number).ends_with("diet? [30]: "));
    }
}
