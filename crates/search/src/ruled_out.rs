//! A turn that rules out things by a word of their name: "not clay", after litter of several sorts.

use forecourt_understanding::{Filter, Test};
use forecourt_vocabulary::folded;

use super::name_role::{is_same, tokens};
use super::request::ItemLookup;

/// Words that rule out what stands behind them, folded.
const NOT: &[&str] = &["not", "no", "without", "nicht", "kein", "keine", "keinen", "ohne", "pas", "sans", "sin"];
/// Words between those and what they rule out, folded.
const BETWEEN: &[&str] = &[
    "the", "a", "an", "any", "der", "die", "das", "den", "ein", "eine", "einen", "le", "la", "les", "l", "de", "du",
    "des", "d", "un", "une", "el", "los", "las", "una", "ones", "one", "please", "bitte",
];
/// Words of what is ruled out.
const WORDS_MAX: usize = 2;
/// How a turn begins that wants nothing of something, in lower case, and how the same limit begins.
const NOTHING: &[(&str, &str)] = &[
    ("nothing for ", "not for "),
    ("nothing from ", "not from "),
    ("nothing in ", "not in "),
    ("nothing with ", "without "),
    ("nichts für ", "nicht für "),
    ("nichts aus ", "nicht aus "),
    ("nichts von ", "nicht von "),
    ("nichts in ", "nicht in "),
    ("nichts mit ", "ohne "),
    ("rien pour ", "pas pour "),
    ("rien avec ", "sans "),
    ("nada para ", "no para "),
    ("nada con ", "sin "),
    ("nada de ", "sin "),
];

/// A turn that wants nothing of something, worded as a limit: "nichts für Kinder" is "nicht für Kinder".
pub(super) fn as_limit(text: &str) -> Option<String> {
    let text = text.trim_start();
    NOTHING.iter().find_map(|(nothing, not)| {
        let front = text.get(..nothing.len()).filter(|front| front.to_lowercase() == *nothing)?;
        Some(format!("{not}{}", &text[front.len()..]))
    })
}

/// The limit of a turn that says nothing but that something is not wanted, which items have in their name. `None`: it says
/// more, or no item is called so.
pub(super) fn by_name(text: &str, reads: &dyn ItemLookup) -> Option<Filter> {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().filter(|first| NOT.contains(&folded(first).as_str()))?;
    let what: Vec<&str> = words.filter(|word| !BETWEEN.contains(&folded(word).as_str())).collect();
    if what.is_empty() || what.len() > WORDS_MAX {
        return None;
    }
    let what = what.join(" ");
    let is_called = |name: &String| {
        let own = tokens(name);
        what.split(' ').all(|word| own.iter().any(|other| is_same(other, &word.to_lowercase())))
    };
    reads.names(&what).iter().any(is_called).then(|| Filter {
        fields: Vec::new(),
        test: Test::Without { classes: Vec::new(), words: vec![what.clone()] },
        words: text.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanting_nothing_of_something_is_a_limit() {
        for (text, limit) in [
            ("Nichts für Kinder bitte", Some("nicht für Kinder bitte")),
            ("nothing from Poland", Some("not from Poland")),
            ("rien avec du gluten", Some("sans du gluten")),
            ("nada de fines de semana", Some("sin fines de semana")),
            ("nothing over 80", None),
            ("nichts", None),
            ("né", None),
        ] {
            assert_eq!(as_limit(text).as_deref(), limit, "{text}");
        }
    }
}
