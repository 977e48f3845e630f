//! What texts must have so that a pattern of ours can match them, read off the pattern. A test writes it down.

use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor};

use super::{RequiredWord, lower, plain};

/// Words of one pattern that are told apart; one with more can have anything.
const WORDS_MAX: usize = 1_000;

/// What a text must have, one of which is enough. `None`: it can have anything.
pub(crate) fn of(pattern: &str) -> Option<Vec<RequiredWord>> {
    // Up to the white space behind the first word, so that it does not matter which one and how much.
    let text = plain(&pattern.trim_start_matches(r"\s+").replace(r"\s", " "));
    let parsed = regex_syntax::parse(&text).ok()?;
    let first = |text: &str| text.split_inclusive(' ').next().unwrap_or_default().to_owned();
    let last = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    if let Some(words) = literals(&parsed, ExtractKind::Prefix, first) {
        return Some(words.into_iter().map(RequiredWord::Beginning).collect());
    }
    let words = literals(&parsed, ExtractKind::Suffix, last)?;
    Some(words.into_iter().map(RequiredWord::End).collect())
}

/// A part of everything that one pattern begins or ends with. `None` where that can be nothing.
fn literals(pattern: &Hir, kind: ExtractKind, part: impl Fn(&str) -> String) -> Option<Vec<String>> {
    let found = Extractor::new().kind(kind.clone()).limit_total(WORDS_MAX).extract(pattern);
    let words = found.literals()?.iter().map(|literal| {
        // Of one that was cut in the middle of a letter, what is whole.
        let whole = literal.as_bytes().utf8_chunks().map(|chunk| chunk.valid()).max_by_key(|whole| whole.len());
        Some(lower(&part(whole.unwrap_or_default()))).filter(|word| !word.trim().is_empty())
    });
    let mut words = words.collect::<Option<Vec<String>>>()?;
    words.sort_unstable();
    // Who has the longer one has the shorter one.
    let is_in = |short: &String, long: &String| match kind {
        ExtractKind::Suffix => long.ends_with(short.as_str()),
        _ => long.starts_with(short.as_str()),
    };
    let all = words.clone();
    words.retain(|word| !all.iter().any(|other| other != word && is_in(other, word)));
    words.dedup();
    Some(words)
}

#[test]
fn the_first_word_is_required_or_else_the_last() {
    let beginnings =
        |words: &[&str]| Some(words.iter().map(|word| RequiredWord::Beginning((*word).to_owned())).collect());
    assert_eq!(of(r"\?+"), beginnings(&["?"]));
    assert_eq!(of(r"\s+Instead\s+of"), beginnings(&["instead "]));
    assert_eq!(of(r"(?:good\s+)?day|dayo|L'a"), beginnings(&["day", "good ", "l'a", "l’a"]));
    assert_eq!(
        of(r"\w+\s+(?:allergy|free)\b"),
        Some(["allergy", "free"].map(|end| RequiredWord::End(end.into())).into())
    );
    assert_eq!(of("(?:please )?"), None);
    assert_eq!(of(".+ please.*"), None);
}
