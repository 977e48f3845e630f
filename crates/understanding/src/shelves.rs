//! The shelves that items lie on, and what they are called: learnt from the items.

use std::collections::HashMap;

use forecourt_vocabulary::{LANGUAGES, compared};

use crate::limits::SHELVES_MAX;

/// What stands between the steps of a path of shelves: "Computers > Laptops".
const STEPS: [char; 4] = ['>', '/', '|', '›'];
/// The shelves that items lie on.
#[derive(Debug, Default)]
pub struct Shelves {
    /// Their names, as items write them.
    pub(crate) values: Vec<String>,
    /// For each step of a path, by a language of [`LANGUAGES`] and its name as it is compared, the shelves that it leads to.
    steps: HashMap<(usize, String), Vec<usize>>,
}

impl Shelves {
    /// Learns the names of shelves. Of more than [`SHELVES_MAX`] the first ones count.
    pub fn of<'v>(values: impl Iterator<Item = &'v str>) -> Self {
        let mut shelves = Self::default();
        for value in values.take(SHELVES_MAX) {
            let at = shelves.values.len();
            shelves.values.push(value.to_owned());
            let steps = value.split(STEPS).flat_map(|step| std::iter::once(step).chain(parts(step)));
            for step in steps.filter(|step| step.chars().any(char::is_alphabetic)) {
                for (language, form) in (0..LANGUAGES.len()).flat_map(|of| forms(step, of).map(move |form| (of, form)))
                {
                    let leads_to = shelves.steps.entry((language, form)).or_default();
                    if leads_to.last() != Some(&at) {
                        leads_to.push(at);
                    }
                }
            }
        }
        shelves
    }

    /// The shelves that are called so, by a name of a language.
    pub(crate) fn called(&self, name: &str, language: usize) -> impl Iterator<Item = usize> {
        forms(name, language).filter_map(move |form| self.steps.get(&(language, form))).flatten().copied()
    }

    /// The shelves with a narrower name: "Robot vacuums", where vacuums are asked for. Items are called as those speak who
    /// ask for them.
    pub(crate) fn narrower(&self, name: &str, language: usize, spoken: &str) -> Vec<usize> {
        if is_head_first(LANGUAGES[language]) != is_head_first(spoken) {
            return Vec::new();
        }
        let all: Vec<String> = forms(name, language).collect();
        let name = compared(name, LANGUAGES[language]);
        // "Esstische", where a table is asked for.
        let is_compound = |step: &str| {
            let before = |form: &String| step.strip_suffix(form.as_str()).map_or(0, |before| before.chars().count());
            let is_long = |form: &&String| form.chars().count() >= COMPOUND_END_MIN;
            LANGUAGES[language] == "de"
                && !step.contains(' ')
                && all.iter().filter(is_long).any(|form| before(form) >= COMPOUND_BEGIN_MIN)
        };
        let is_narrower = |step: &str| match is_head_first(LANGUAGES[language]) {
            true => step.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(' ')),
            false => step.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with(' ')) || is_compound(step),
        };
        let steps = self.steps.iter().filter(|((of, step), _)| *of == language && is_narrower(step));
        steps.flat_map(|(_, shelves)| shelves).copied().collect()
    }
}

/// Letters of the end of a compound that a thing is called by, and of what stands before it.
const COMPOUND_END_MIN: usize = 4;
const COMPOUND_BEGIN_MIN: usize = 3;
/// What stands between the names of a shelf that has several: "Child seats and trailers".
const TIES: [&str; 7] = [" & ", " and ", " und ", " et ", " y ", " + ", ", "];

/// The names of a step that has several. None of one that is a name by itself.
fn parts(step: &str) -> impl Iterator<Item = &str> {
    let mut parts = vec![step];
    for tie in TIES {
        parts = parts.into_iter().flat_map(|part| part.split(tie)).collect();
    }
    if parts.len() < 2 {
        parts.clear();
    }
    parts.into_iter().map(str::trim)
}

/// Endings of German plurals, and of a singular that has another one, the longest first, and the letters that a word keeps without one.
const PLURALS: [&str; 5] = ["en", "er", "um", "n", "e"];
const STEM_LETTERS_MIN: usize = 3;

/// A name as it is compared in a language, and in German its stem, too: "Zimmerpflanze" and "Zimmerpflanzen" are one.
fn forms(name: &str, language: usize) -> impl Iterator<Item = String> + use<> {
    let name = compared(name, LANGUAGES[language]);
    let is_german = LANGUAGES[language] == "de";
    let stem = PLURALS.iter().filter(|_| is_german).find_map(|ending| name.strip_suffix(ending)).map(str::to_owned);
    let stem = stem.filter(|stem| stem.chars().count() >= STEM_LETTERS_MIN);
    std::iter::once(name).chain(stem)
}

/// Whether names of a language begin with what a thing is.
pub(crate) fn is_head_first(language: &str) -> bool {
    matches!(language, "fr" | "es")
}
