//! This module says how a command ends: data on stdout, the rest on stderr, and exit codes that mean something.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use forecourt_settings::{Problem, Problems};
use serde_json::{Value, json};

/// The exit codes, as `--help` shows them.
pub const EXIT_CODES: &str = "Exit codes:
  0  done
  1  refused, or something is wrong that the message names
  2  the command line is not right
  3  the other side can't be reached, failed, or broke off";

/// Writes to standard output and ends the line; see [`stdout`].
#[macro_export]
macro_rules! stdoutln {
    () => { $crate::output::stdout(::std::format_args!("\n")) };
    ($($words:tt)*) => { $crate::output::stdout(format_args!("{}\n", format_args!($($words)*))) };
}

/// Writes to standard error and ends the line; see [`stderr`].
#[macro_export]
macro_rules! stderrln {
    () => { $crate::output::stderr(format_args!("\n")) };
    ($($words:tt)*) => { $crate::output::stderr(format_args!("{}\n", format_args!($($words)*))) };
}

pub use crate::{stderrln, stdoutln};

/// Why something that was said on standard output is not there, the first time that it happened.
static UNSAID: OnceLock<String> = OnceLock::new();

/// Writes to standard output. A reader that went away, such as `head`, has what it wanted; any other fault is told
/// when the command ends.
pub fn stdout(words: Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(words).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(UNSAID.set(error.to_string())),
        _ => {}
    }
}

/// Writes to standard error, where nobody has to listen.
pub fn stderr(words: Arguments<'_>) {
    drop(io::stderr().lock().write_fmt(words));
}

/// What writing to standard output comes to. A reader that went away, such as `head`, has what it wanted.
///
/// # Errors
/// Anything else that went wrong.
pub fn ignore_broken_pipe(written: io::Result<()>) -> Outcome {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// What a command comes to, unless its output was lost on the way.
pub fn finished(outcome: Outcome) -> Outcome {
    outcome?;
    match UNSAID.get() {
        Some(reason) => Err(Failure::yours(format!("standard output can't be written: {reason}"))),
        None => Ok(()),
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
    /// Each thing that is wrong, where there is more than a sentence.
    problems: Option<Problems>,
}

/// The result of every command.
pub type Outcome = Result<(), Failure>;

impl Failure {
    /// A refusal, or something for the user to change. Exit code 1.
    pub fn yours(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: 1, problems: None }
    }

    /// Something that should not have happened on this machine. Exit code 1.
    pub fn ours(message: impl Into<String>) -> Self {
        Self::yours(message)
    }

    /// A command line that makes no sense, found before anything was done. Exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, ..Self::yours(message) }
    }

    /// The other side can't be reached, failed, or broke off: trying again may help. Exit code 3.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self { code: 3, ..Self::yours(message) }
    }

    /// The same failure with a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// All that is wrong, for programs: `file` and `line` where it is known which.
    pub fn as_json(&self) -> Value {
        let all: Vec<Value> = match &self.problems {
            Some(problems) => problems.iter().map(problem_json).collect(),
            None => vec![json!({"message": self.message, "file": null, "line": null, "hint": self.hint})],
        };
        json!({ "problems": all })
    }

    /// The same failure, for a command that tells by its exit code whether it did anything at all. Exit code 2.
    #[must_use]
    pub fn before_anything(self) -> Self {
        Self { code: 2, ..self }
    }

    /// The same failure, of which nothing more is said.
    #[must_use]
    pub fn said(self) -> Self {
        Self { message: String::new(), hint: None, ..self }
    }

    /// Prints the failure and gives its exit code.
    pub fn report(&self) -> ExitCode {
        if !self.message.is_empty() {
            let prefix = if self.message.starts_with("error") { "" } else { "error: " };
            stderrln!("{prefix}{}", self.message);
        }
        if let Some(hint) = &self.hint {
            stderrln!("hint: {hint}");
        }
        ExitCode::from(self.code)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self { problems: Some(problems.clone()), ..Self::yours(problems.to_string()) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        if matches!(error.kind(), StorageFull | QuotaExceeded) {
            return Self::yours(format!("the disk is full: {error}"))
                .hint("make room on it, or name another data folder with --data DIR");
        }
        Self::ours(error.to_string())
    }
}

fn problem_json(problem: &Problem) -> Value {
    json!({
        "message": problem.message(),
        "file": problem.file(),
        "line": problem.line(),
        "hint": problem.next_step(),
    })
}

/// Prints a value as indented JSON on stdout. What a terminal would obey is escaped: the values may be a
/// stranger's.
pub fn print_json(value: &impl serde::Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::ours(e.to_string()))?;
    stdoutln!("{}", escaped(&text));
    Ok(())
}

/// Whether a terminal would obey it: a control character, or a mark that turns the direction of writing
/// around.
pub fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same JSON without a character that a terminal would obey. Below U+0020 there is none left but line
/// ends, and all that it could be is within a string.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c != '\n' && is_obeyed(c) {
            true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_without_what_terminals_obey() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[31m\u{7f}\u{202e}\n\té\u{1f600}"});
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| c == '\n' || !is_obeyed(c)), "{text}");
        assert!(text.contains("é\u{1f600}"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
