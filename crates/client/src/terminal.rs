//! This module talks to the person at the terminal: shows progress, puts the questions of forms, sends to pages.

use std::io::{self, IsTerminal, stdin};

use forecourt_core::Progress;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::form::{AnswerKind, Choice, Field, Form};
use crate::output::{stderr, stderrln};
use crate::printable::{line, printable};

/// Characters of somebody else's sentence.
const WORDS_CHARS_MAX: usize = 500;
/// How often a question is put until its answer fits.
const TRIES: usize = 3;

/// Whoever reads and types here.
pub struct Terminal {
    is_attended: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Terminal {
    /// A person is there when both what is asked and what is typed are a terminal's.
    pub fn new() -> Self {
        Self { is_attended: stdin().is_terminal() && io::stderr().is_terminal() }
    }

    /// Whether somebody is there to answer.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// Puts the questions of a form, one after the other: the values by the names of the fields. `None` when it was
    /// declined.
    pub fn fill_in(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        // A person takes their time: typing must not hold a thread of the runtime.
        async { spawn_blocking(|| fill_in(form)).await.ok().flatten() }.boxed()
    }

    /// Sends the person to a page, and gives whether it went there.
    pub fn open_page(&self, words: String, url: String) -> BoxFuture<'static, bool> {
        let visit = move || {
            stderrln!("{}\nOpen {} and come back.", printable(words.trim()), line(&url, WORDS_CHARS_MAX));
            read_line("Done? [y/N] ").is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
        };
        async { spawn_blocking(visit).await.unwrap_or(false) }.boxed()
    }
}

/// Shows how far work has come.
pub fn show_progress(progress: Progress) {
    let percent = progress.fraction.map(|fraction| format!("{:.0}%", fraction * 100.0));
    let note = progress.note.map(|note| line(&note, WORDS_CHARS_MAX));
    let words: Vec<String> = percent.into_iter().chain(note).collect();
    stderrln!("[{}]", words.join(" "));
}

/// Puts the questions of a form, one after the other. An end of input declines.
fn fill_in(form: Form) -> Option<Map<String, Value>> {
    if !form.text.trim().is_empty() {
        stderrln!("{}", printable(form.text.trim()));
    }
    let mut given = Vec::new();
    for field in form.fields {
        let value = ask(&field)?;
        given.push((field, value));
    }
    Field::values(&given)
}

/// What was answered to a question: nothing, when it may stay open. `None` when no answer fits.
fn ask(field: &Field) -> Option<Option<Value>> {
    let prompt = prompt(field);
    for _ in 0..TRIES {
        let answer = read_line(&prompt)?;
        match field.value(&answer) {
            Some(value) => return Some(Some(value)),
            None if answer.trim().is_empty() && !field.required => return Some(None),
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
fn read_line(prompt: &str) -> Option<String> {
    stderr(format_args!("{prompt}"));
    let mut typed = String::new();
    let read = stdin().read_line(&mut typed).ok()?;
    (read > 0).then_some(typed)
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
