//! What is wrong with the settings, said so that it can be put right.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::place::Place;

/// The most problems reported in one go; what comes after them is counted only.
pub const PROBLEMS_MAX: usize = 100;

/// What a sentence goes on with whose subject is a file.
const VERBS: [&str; 4] = ["is ", "has ", "cannot ", "holds "];

/// One thing to put right: what, where, and how if that is known.
///
/// Never holds a value that came from the environment or from a key that names a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    message: String,
    file: PathBuf,
    place: Option<Place>,
    hint: Option<String>,
}

impl Problem {
    /// A problem of a whole file or folder, such as one that can't be read.
    pub fn of_file(file: &Path, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), file: file.to_path_buf(), place: None, hint: None }
    }

    /// A problem of one line of a file that is no settings file; `excerpt` is that line.
    pub fn of_line(file: &Path, line: usize, excerpt: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem::at(file, Place { line, column: 1, excerpt: excerpt.into() }, message)
    }

    pub(crate) fn at(file: &Path, place: Place, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), file: file.to_path_buf(), place: Some(place), hint: None }
    }

    /// Adds the next step, shown as a `hint:` line.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, if that is known.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The file to change.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The line to change, counted from 1. `None`: the file as a whole.
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.line)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What is said of a whole file has it as its subject.
        match self.place.is_none() && VERBS.iter().any(|verb| self.message.starts_with(verb)) {
            true => write!(f, "error: {} {}", self.file.display(), without_controls(&self.message))?,
            false => write!(f, "error: {}\n  --> {}", without_controls(&self.message), self.file.display())?,
        }
        if let Some(Place { line, column, excerpt }) = &self.place {
            let (gutter, excerpt) = (line.to_string().len(), without_controls(excerpt));
            write!(f, ":{line}:{column}\n{:gutter$} |\n{line} | {excerpt}\n{:gutter$} |", "", "")?;
            if *column <= excerpt.chars().count() {
                write!(f, " {:>column$}", "^")?;
            }
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", without_controls(hint)),
            None => Ok(()),
        }
    }
}

/// A text in which a terminal finds no commands: lines of content, which are quoted here, may be anybody's. Each control
/// character has another one in its place, so that columns stay.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_command = |one: char| one.is_control() && one != '\n' && one != '\t';
    match text.contains(is_command) {
        true => text.replace(is_command, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// Everything that is wrong, in the order in which it was found. At most [`PROBLEMS_MAX`] are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    kept: Vec<Problem>,
    dropped: usize,
}

impl Problems {
    /// No problem yet.
    pub fn new() -> Problems {
        Problems::default()
    }

    /// Adds one more. The same one again, as when several agents read one file, is not told twice.
    pub fn push(&mut self, problem: Problem) {
        if self.kept.contains(&problem) {
            return;
        }
        if self.kept.len() < PROBLEMS_MAX { self.kept.push(problem) } else { self.dropped += 1 }
    }

    /// The value, or its problems added to these and `None`: the way to go on after a failure.
    pub fn absorb<T>(&mut self, result: Result<T, impl Into<Problems>>) -> Option<T> {
        result.map_err(|problems| self.extend(problems.into())).ok()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many were found, the dropped ones included.
    pub fn len(&self) -> usize {
        self.kept.len() + self.dropped
    }

    /// The problems that were kept.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.kept.iter()
    }

    /// Sorted by line, for problems of one file that were found in another order.
    pub(crate) fn in_file_order(mut self) -> Problems {
        self.kept.sort_by_key(Problem::line);
        self
    }

    /// `value` when nothing is wrong.
    pub fn into_result<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems { kept: vec![problem], dropped: 0 }
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.kept.into_iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.kept.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{problem}")?;
        }
        match self.dropped {
            0 => Ok(()),
            dropped => write!(f, "\n\nand {dropped} more"),
        }
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_like_a_compiler_message() {
        let place = Place { line: 7, column: 1, excerpt: "colour = \"red\"".into() };
        let problem = Problem::at(Path::new("agents/gate.toml"), place, "unknown key `colour` in [backend]")
            .hint("did you mean `color`?");
        let expected = "error: unknown key `colour` in [backend]\n  --> agents/gate.toml:7:1\n  |\n7 | colour = \"red\"\n  | ^\n  hint: did you mean `color`?";
        assert_eq!(problem.to_string(), expected);
    }

    #[test]
    fn what_is_quoted_of_a_file_commands_no_terminal() {
        let problem = Problem::of_line(Path::new("a.csv"), 1, "\u{1b}[31mx\ty\u{9b}2J\u{7}", "no name: \u{1b}[31mx")
            .hint("mend \u{1b}]0;it");
        let told = problem.to_string();
        assert!(told.chars().all(|one| !one.is_control() || one == '\n' || one == '\t'), "{told:?}");
        assert!(told.contains("1 | \u{fffd}[31mx\ty"), "{told:?}");
    }

    #[test]
    fn problems_are_kept_up_to_the_cap_and_counted_beyond() {
        let mut problems = Problems::new();
        problems.extend((0..PROBLEMS_MAX).map(|n| Problem::of_file(Path::new("a"), format!("x{n}"))));
        assert!(!problems.to_string().contains("more"));
        problems.push(Problem::of_file(Path::new("a"), "x"));
        assert_eq!((problems.len(), problems.iter().count()), (PROBLEMS_MAX + 1, PROBLEMS_MAX));
        assert!(problems.to_string().ends_with("and 1 more"));
    }
}
