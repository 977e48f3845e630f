//! This module says why a deployment was not served: in one sentence with a next step, or file by file.

use std::fmt;
use std::path::Path;

use forecourt_client::Failure;
use forecourt_settings::{Problem, Problems};

/// Why something was not done: what happened, and what to do about it.
#[derive(Debug, Clone)]
pub struct Error {
    message: String,
    hint: Option<String>,
    problems: Option<Problems>,
}

impl Error {
    /// A failure in one sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, problems: None }
    }

    /// The same failure with a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Each thing that is wrong with the files, where it is files that are wrong.
    pub fn problems(&self) -> Option<&Problems> {
        self.problems.as_ref()
    }

    /// As one problem of a file.
    pub(crate) fn into_problem(self, file: &Path) -> Problem {
        let problem = Problem::of_file(file, self.message);
        match self.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }

    /// Each thing that is wrong; of `file`, where only a sentence is known.
    pub fn into_problems(self, file: &Path) -> Problems {
        match self.problems {
            Some(problems) => problems,
            None => self.into_problem(file).into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = match error.problems {
            Some(problems) => Self::from(problems),
            None => Self::yours(error.message),
        };
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        Self { message: problems.to_string(), hint: None, problems: Some(problems) }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        // A full disk is common and easy to mend, so it is told in words of its own.
        if matches!(error.kind(), StorageFull | QuotaExceeded) {
            return Self::new(format!("the disk is full: {error}"))
                .hint("make room on it, or name another data folder with --data DIR");
        }
        Self::new(error.to_string())
    }
}
