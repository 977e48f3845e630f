//! "in Berlin", "near Boise, Idaho": places that items are at, where the data has that place.

use std::sync::LazyLock;

use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::paths::PLACE_PATHS;
use crate::pattern::pattern;
use crate::scope::QuestionScope;

/// Words of the longest place.
const PLACE_WORDS_MAX: usize = 4;
/// Countries whose code is often written for their name.
const COUNTRIES: &[(&str, &str)] = &[
    ("austria", "AT"),
    ("belgium", "BE"),
    ("brazil", "BR"),
    ("britain", "GB"),
    ("canada", "CA"),
    ("china", "CN"),
    ("denmark", "DK"),
    ("france", "FR"),
    ("germany", "DE"),
    ("great britain", "GB"),
    ("india", "IN"),
    ("ireland", "IE"),
    ("italy", "IT"),
    ("japan", "JP"),
    ("mexico", "MX"),
    ("netherlands", "NL"),
    ("poland", "PL"),
    ("portugal", "PT"),
    ("spain", "ES"),
    ("sweden", "SE"),
    ("switzerland", "CH"),
    ("uk", "GB"),
    ("united kingdom", "GB"),
    ("united states", "US"),
    ("usa", "US"),
];

static LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:located\s+in|based\s+in|in|near|around|from|at|aus|bei|nahe|à|près\s+de|en|cerca\s+de)\s+(?:the\s+)?",
    )
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\S*[^\s,.?!;:]"));

pub(crate) fn read(draft: &mut Draft<'_>) {
    let text = &draft.out.text;
    let found = LEAD.find_iter(text).find_map(|lead| {
        let rest = &text[lead.end()..];
        let ends: Vec<usize> = WORD.find_iter(rest).take(PLACE_WORDS_MAX).map(|word| word.end()).collect();
        // The longest first: `New York City` before `New York`.
        ends.iter().rev().find_map(|end| {
            let filter = filter(draft.known, &rest[..*end])?;
            Some((lead.start()..lead.end() + end, filter))
        })
    });
    if let Some((range, filter)) = found.filter(|_| draft.has_room(1)) {
        draft.take(range, vec![filter]);
    }
}

/// What is at a place. `None` when no item is.
pub(crate) fn filter(known: &dyn QuestionScope, place: &str) -> Option<Filter> {
    let folded = place.trim().to_lowercase();
    let code = COUNTRIES.iter().find(|(name, _)| *name == folded).map(|(_, code)| *code);
    // The name before the code: both may be a value, and what was written counts.
    [Some(folded.as_str()), code]
        .into_iter()
        .flatten()
        .find_map(|place| at(known, place))
        .map(|(value, fields)| Filter { fields, test: Test::Is(value), words: format!("in {}", place.trim()) })
}

/// The properties that have exactly this place.
fn at(known: &dyn QuestionScope, place: &str) -> Option<(String, Vec<String>)> {
    let has = |path: &&&str| known.has_value(path, place);
    let fields: Vec<String> = PLACE_PATHS.iter().filter(has).map(|path| (*path).to_owned()).collect();
    (!fields.is_empty()).then(|| (place.to_owned(), fields))
}

#[cfg(test)]
mod tests {
    use crate::tests::parts;

    #[test]
    fn places_that_the_data_has_are_constraints() {
        for (text, left, limit) in [
            ("concerts in Berlin", "concerts", "in Berlin"),
            ("concerts near New York please", "concerts please", "in New York"),
            ("hotels in Italy", "hotels", "in Italy"),
            ("Konzerte in Berlin", "Konzerte", "in Berlin"),
            ("des concerts à Berlin", "des concerts", "in Berlin"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        for text in ["concerts in Atlantis", "from scratch", "in", "Berlin wall"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }
}
