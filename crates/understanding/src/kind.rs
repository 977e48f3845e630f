//! "movies about ships": the kind of item, where the index has items of that type.

use std::sync::LazyLock;

use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::pattern::pattern;

/// A word, and perhaps a preposition behind it.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(\p{L}{3,30})\b(\s+(?:from|for|about|with|without|by|of|in|near|at|under|that|which|mit|ohne|in|ab|bis|unter|für|zur|zum|avec|sans|à|au|pour|en|de|dans|con|sin|para|por)\b|\s*[,?!.]|\s*$)?",
    )
});

/// Takes out the first plural that is a kind, or the first such word in front of a preposition.
pub(crate) fn read(draft: &mut Draft<'_>) {
    // The word has to be a type of the index: `movies` limits nothing where no item is a `Movie`.
    let found = WORD.captures_iter(&draft.out.text).find_map(|found| {
        let word = found.get(1)?;
        let leads_on = found.get(2).is_some();
        let kind = forms(word.as_str(), leads_on).find_map(|form| kind(draft, &form))?;
        Some((word.range(), kind))
    });
    if let Some((range, filter)) = found.filter(|_| draft.has_room(1)) {
        draft.take(range, vec![filter]);
    }
}

/// What the word could be the plural of; itself only when it leads on.
fn forms(word: &str, leads_on: bool) -> impl Iterator<Item = String> {
    let word = word.to_lowercase();
    let plural = |end: &str, single: &str| word.strip_suffix(end).map(|stem| format!("{stem}{single}"));
    let forms =
        [plural("s", ""), plural("es", ""), plural("ies", "y"), (leads_on || word == "people").then(|| word.clone())];
    forms.into_iter().flatten()
}

/// The types that a word means, as far as there are such items.
fn kind(draft: &Draft<'_>, word: &str) -> Option<Filter> {
    let known = draft.known;
    let has = |kind: &String| known.has_value("@type", &kind.to_lowercase());
    let named = draft.vocabulary().kind_named(word).map(|kind| kind.types.iter().filter(|kind| has(kind)).cloned());
    let named: Vec<String> = named.into_iter().flatten().collect();
    match named.as_slice() {
        [] => {
            let mut chars = word.chars();
            let own: String = chars.next()?.to_uppercase().chain(chars).collect();
            has(&own).then(|| Filter { words: own.clone(), ..Filter::is("@type", own) })
        }
        [only] => Some(Filter { words: only.clone(), ..Filter::is("@type", only) }),
        [first, ..] => {
            let words = first.clone();
            Some(Filter { fields: vec!["@type".to_owned()], test: Test::OneOf(named), words })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::parts;

    #[test]
    fn kinds_are_plurals_or_lead_on() {
        for (text, left, kind) in [
            ("movies about ships", "about ships", "Movie"),
            ("space films", "space", "Movie"),
            ("recipe for soup", "for soup", "Recipe"),
            ("Show me RECIPES with peas", "Show me with peas", "Recipe"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![kind.to_owned()]), "{text}");
        }
        for text in ["movie star", "ships", "events in town", "s"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }
}
