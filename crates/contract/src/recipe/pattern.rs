//! This module has the pattern of a recipe: which proposals it answers.

use regex::{Regex, RegexBuilder};

use super::settings::PatternSettings;
use crate::catalog::Catalog;
use crate::limits::{PATTERN_BYTES_MAX, PATTERN_COMPILED_BYTES_MAX};
use crate::method::Method;

/// The parts of a proposal that patterns look at.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The method that is wanted.
    pub method: &'a Method,
    /// The path that is wanted; the root when none is.
    pub path: &'a str,
    /// The names of the declared parameters.
    pub parameters: &'a [String],
    /// The vocabulary in use.
    pub catalog: &'a Catalog,
}

/// Conditions that must all hold.
#[derive(Clone, Debug)]
pub struct Pattern {
    name: Option<Text>,
    category: Option<String>,
    has_parameters: Vec<String>,
    path: Option<Text>,
}

/// A condition on a text: the whole of it, in one of two ways.
#[derive(Clone, Debug)]
enum Text {
    Exact(String),
    Regex(Regex),
}

impl Pattern {
    /// Builds the pattern of a recipe.
    ///
    /// # Errors
    /// A sentence: no condition at all, two on one thing, a category that the catalog does not have,
    /// or an expression that is empty, too large or needs more than linear time.
    pub(super) fn new(settings: &PatternSettings, catalog: &Catalog) -> Result<Pattern, String> {
        let PatternSettings { name_exact, name_regex, category, has_parameters, path_exact, path_regex } = settings;
        let name = one("name", name_exact.as_ref(), name_regex.as_ref())?;
        let path = one("path", path_exact.as_ref(), path_regex.as_ref())?;
        if let Some(unknown) = category.as_ref().filter(|category| !catalog.has_category(category)) {
            return Err(format!("the catalog has no category `{unknown}`"));
        }
        if name.is_none() && path.is_none() && category.is_none() && has_parameters.is_empty() {
            return Err("a pattern needs a condition, or it would answer every proposal".to_owned());
        }
        Ok(Pattern { name, category: category.clone(), has_parameters: has_parameters.clone(), path })
    }

    /// Whether every condition holds.
    pub fn matches(&self, candidate: &Candidate<'_>) -> bool {
        let Candidate { method, path, parameters, catalog } = candidate;
        let in_category =
            |category: &String| catalog.verb(method.as_str()).is_some_and(|verb| verb.categories.contains(category));
        self.name.as_ref().is_none_or(|name| name.matches(method.as_str()))
            && self.category.as_ref().is_none_or(in_category)
            && self.path.as_ref().is_none_or(|condition| condition.matches(path))
            && self.has_parameters.iter().all(|name| parameters.contains(name))
    }

    /// The method that it is for, when it is for one.
    pub fn method(&self) -> Option<&str> {
        self.name.as_ref().and_then(Text::exact)
    }

    /// The path that it is for, when it is for one.
    pub fn path_exact(&self) -> Option<&str> {
        self.path.as_ref().and_then(Text::exact)
    }

    /// The expression that paths match, anchored at both ends. `None` when it is for one path.
    pub fn path_regex(&self) -> Option<String> {
        match &self.path {
            None => Some("^/.*$".to_owned()),
            Some(Text::Regex(regex)) => Some(regex.as_str().to_owned()),
            Some(Text::Exact(_)) => None,
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        let conditions = |pattern: &Pattern| (pattern.category.clone(), pattern.has_parameters.clone());
        let texts = |pattern: &Pattern| [&pattern.name, &pattern.path].map(|text| text.as_ref().map(Text::source));
        conditions(self) == conditions(other) && texts(self) == texts(other)
    }
}

impl Text {
    fn matches(&self, text: &str) -> bool {
        match self {
            Text::Exact(exact) => exact == text,
            Text::Regex(regex) => regex.is_match(text),
        }
    }

    fn exact(&self) -> Option<&str> {
        match self {
            Text::Exact(exact) => Some(exact),
            Text::Regex(_) => None,
        }
    }

    fn source(&self) -> (bool, String) {
        match self {
            Text::Exact(exact) => (true, exact.clone()),
            Text::Regex(regex) => (false, regex.as_str().to_owned()),
        }
    }
}

fn one(of: &str, exact: Option<&String>, regex: Option<&String>) -> Result<Option<Text>, String> {
    match (exact, regex) {
        (Some(_), Some(_)) => Err(format!("write `{of}_exact` or `{of}_regex`, not both")),
        (Some(exact), None) => Ok(Some(Text::Exact(exact.clone()))),
        (None, Some(regex)) => anchored(regex).map(Text::Regex).map(Some).map_err(|why| format!("`{of}_regex` {why}")),
        (None, None) => Ok(None),
    }
}

/// Compiles an expression that must match the whole text. It is compiled alone first: `a)|(b` is an error by itself,
/// and inside the anchored group it would match more than the whole.
fn anchored(pattern: &str) -> Result<Regex, String> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("has 1 to {PATTERN_BYTES_MAX} bytes"));
    }
    compiled(pattern)?;
    compiled(&format!("^(?:{pattern})$"))
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        // Both limits: `a{1000}{1000}` is short as a text, and the lazy automaton grows while it matches.
        .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build();
    built.map_err(|error| {
        // The last line says what is wrong; the lines before it repeat the pattern with a marker.
        let text = error.to_string();
        format!(
            "is not a valid regular expression: {}",
            text.lines().last().unwrap_or_default().trim_start_matches("error: ")
        )
    })
}
