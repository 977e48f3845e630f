//! "comedies", "horror movies", "running shoes under $50": what sort of thing, by a property that nearly all
//! items have. Where only some say their sort, as words it finds the others too.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::paths::SORT_PATHS;
use crate::pattern::pattern;
use crate::scope::QuestionScope;

/// Those of them by which a site sorts things as it likes: a tent may lie on another shelf than "Tents".
const SHELVES: &[&str] = &["category", "articleSection", "eventType"];
/// The part of the items that has to have the property.
const SHARE_MIN: f64 = 0.9;
/// Words of the longest value.
const VALUE_WORDS_MAX: usize = 3;
/// What people say for what data calls otherwise.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("sci-fi", "science fiction"),
    ("scifi", "science fiction"),
    ("sf", "science fiction"),
    ("romantic", "romance"),
    ("biopic", "biography"),
    ("cartoon", "animated"),
    ("animation", "animated"),
    ("historic", "historical"),
    ("komödie", "comedy"),
    ("komödien", "comedy"),
    ("comédie", "comedy"),
    ("comedia", "comedy"),
];
/// Values that name a thing by themselves; others, such as "war", describe one.
const THINGS: &[&str] =
    &["biography", "comedy", "documentary", "drama", "musical", "mystery", "romance", "satire", "thriller", "western"];
/// Words after which a value is what something is about.
const ABOUT: &[&str] = &["about", "at", "during", "in", "into", "like", "of", "on", "to", "his", "her", "their"];

/// Words between such a word and a value.
const ARTICLES: &[&str] = &["a", "an", "the", "some", "any"];

/// What may stand behind the words of a value: a kind of thing, something else to say of it, or nothing.
static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?P<kind>\s+(?:movies?|films?|flicks?|books?|novels?|series|shows?|recipes?|dishes|songs?|events?|games?|articles?|filme?|películas?))\b|\s*(?:[,.?!;:]|$)|\s+(?:from|with|without|by|starring|featuring|set|about|that|which|where|for|under|before|after|since|between|made|released|mit|ohne|aus|von|avec|sans|de|con|sin)\b)",
    )
});
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}&'’-]+"));

pub(crate) fn read(draft: &mut Draft<'_>) {
    while draft.has_room(1)
        && let Some((range, filter)) = next(draft)
    {
        draft.take(range, vec![filter]);
    }
}

/// The last words that say a sort, so that "action comedy movies" gives up one word after the other.
fn next(draft: &Draft<'_>) -> Option<(Range<usize>, Filter)> {
    let text = draft.out.text.as_str();
    let words: Vec<Range<usize>> = WORD.find_iter(text).map(|word| word.range()).collect();
    (0..words.len()).rev().find_map(|last| {
        let behind = BEHIND.captures(&text[words[last].end..])?;
        let has_kind = behind.name("kind").is_some();
        let first = last.saturating_sub(VALUE_WORDS_MAX - 1);
        (first..=last).find_map(|first| {
            let range = words[first].start..words[last].end;
            let leads = !is_about(&text[..range.start]);
            let filter = sort(draft.known, &text[range.clone()], has_kind).filter(|_| leads)?;
            Some((range, filter))
        })
    })
}

/// Whether what follows is what something is about.
fn is_about(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().map(str::to_lowercase);
    words.find(|word| !ARTICLES.contains(&word.as_str())).is_some_and(|word| ABOUT.contains(&word.as_str()))
}

/// The sort that some words say.
fn sort(known: &dyn QuestionScope, words: &str, has_kind: bool) -> Option<Filter> {
    let (singular, is_plural) = singular(&words.to_lowercase());
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == singular).map(|(_, value)| (*value).to_owned());
    // As written first: `series` is its own plural.
    let values = [Some(words.to_lowercase()), other.clone(), Some(singular.clone())];
    // The plural of a describing word is another thing: star wars are no war movies.
    let is_named = |value: &String| is_plural && words.eq_ignore_ascii_case(value);
    let names_a_thing = |value: &String| has_kind || is_named(value) || THINGS.contains(&value.as_str());
    values.into_iter().flatten().filter(names_a_thing).find_map(|value| {
        // Where few items state it, the filter would hide the others, which words find.
        let path = SORT_PATHS.iter().find(|path| known.has_value(path, &value) && known.share(path) >= SHARE_MIN)?;
        if SHELVES.contains(path) && is_elsewhere(known, path, &value) {
            return None;
        }
        // A shelf may be named more exactly: "Kids rain trousers" are rain trousers.
        let of = if SHELVES.contains(path) { Filter::mentions(*path, &value) } else { Filter::is(*path, &value) };
        Some(Filter { words: value, ..of })
    })
}

/// Whether an item says these words that is sorted in elsewhere: then words find more than the value does.
fn is_elsewhere(known: &dyn QuestionScope, path: &str, value: &str) -> bool {
    let other = Test::NoneOf(vec![value.to_owned()]);
    known.finds(value, &[Filter { fields: vec![path.to_owned()], test: other, words: String::new() }])
}

/// Whether a word in the plural is a sort of thing that some item is of.
pub(crate) fn is_sort(known: &dyn QuestionScope, word: &str) -> bool {
    let (one, is_plural) = singular(&word.to_lowercase());
    is_plural && [one.as_str(), word].iter().any(|value| SORT_PATHS.iter().any(|path| known.has_value(path, value)))
}

/// A word, or several, in the singular, and whether it was a plural.
fn singular(words: &str) -> (String, bool) {
    if let Some(stem) = words.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return (format!("{stem}y"), true);
    }
    match words.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with(['s', 'u', 'i'])) {
        Some(stem) => (stem.to_owned(), true),
        None => (words.to_owned(), false),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::parts;

    #[test]
    fn sorts_of_things_are_constraints_where_nearly_all_items_have_one() {
        for (text, left, limits) in [
            ("comedies", "", &["comedy"][..]),
            ("a comedy about ships", "a about ships", &["comedy"]),
            ("romantic comedies with dogs", "with dogs", &["comedy", "romance"]),
            ("science fiction movies", "", &["science fiction", "Movie"]),
            ("sci-fi about robots", "sci-fi about robots", &[]),
            ("sci-fi films about robots", "about robots", &["science fiction", "Movie"]),
            ("war movies, no ships", "", &["war", "Movie"]),
        ] {
            let limits: Vec<String> = limits.iter().map(|limit| (*limit).to_owned()).collect();
            assert_eq!(parts(text), (left.to_owned(), limits), "{text}");
        }
    }

    #[test]
    fn what_something_is_about_stays_text() {
        for text in [
            "a town at war",
            "films of war",
            "dance teacher",
            "stories about war",
            "like a comedy",
            "star wars",
            "soup",
        ] {
            assert!(!parts(text).1.iter().any(|words| words == "war" || words == "comedy"), "{text}");
        }
    }
}
