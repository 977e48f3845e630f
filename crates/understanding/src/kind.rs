//! "movies about ships": the kind of item, where the index has items of that type.

use std::ops::Range;
use std::sync::LazyLock;

use forecourt_vocabulary::{ItemKind, Synonym, folded};
use regex::Regex;

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::paths::EVENT_EVERY;
use crate::pattern::pattern;

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}&]{1,30}"));
/// What may stand behind a word that is a kind in the singular.
static LEADS_ON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\s+(?:has|have|is|are|hat|haben|ist|sind|est|sont|ont|es|son|está|están|abre|abren|from|for|about|with|without|by|of|in|near|at|under|that|which|where|mit|wo|où|donde|ohne|in|im|am|vom|bei|beim|ab|bis|unter|für|zur|zum|avec|sans|à|au|pour|en|de|dans|con|sin|para|por)\b|\s*[,?!.]|\s*$)",
    )
});
/// The type of what says when something comes back: among the types of a kind, what has one is of it.
const SCHEDULE: &str = "Schedule";
/// Words of the longest name of a kind: "bed and breakfast".
const NAME_WORDS_MAX: usize = 4;
/// Letters of a word that is a kind.
const LETTERS_MIN: usize = 3;

/// Takes out the first plural that is a kind, or the first such word in front of a preposition. A name of several words
/// leaves no doubt.
pub(crate) fn read(draft: &mut Draft<'_>) {
    let text = draft.out.text.as_str();
    let words: Vec<Range<usize>> = WORD.find_iter(text).map(|word| word.range()).collect();
    let is_gap = |between: &str| between.chars().all(|c| c.is_whitespace() || c == '-');
    // The word has to be a type of the index: `movies` limits nothing where no item is a `Movie`.
    let found = (0..words.len()).find_map(|first| {
        let of_one = |two: &[Range<usize>]| is_gap(&text[two[0].end..two[1].start]);
        let together = 1 + words[first..].windows(2).take_while(|two| of_one(two)).count();
        (1..=together.min(NAME_WORDS_MAX)).rev().find_map(|count| {
            let range = words[first].start..words[first + count - 1].end;
            let name = &text[range.clone()];
            // A gap is where a limit was: "restaurant with parking and ...".
            let is_before_limit = text[range.end..].starts_with("  ");
            let leads_on = count > 1 || is_before_limit || LEADS_ON.is_match(&text[range.end..]);
            let is_word = name.chars().count() >= LETTERS_MIN;
            let kind = forms(name, leads_on).filter(|_| is_word).find_map(|form| kind(draft, &form))?;
            Some((range, kind))
        })
    });
    let found = found.or_else(|| compounded(draft, &words));
    let is_kept = |(range, filter): &(Range<usize>, Filter)| {
        !is_part_of_name(draft, &words, range) && !is_typed_otherwise(draft, range, filter)
    };
    if let Some((range, filter)) = found.filter(|_| draft.has_room(1)).filter(is_kept) {
        draft.take(range, vec![filter]);
    }
}

/// Whether nothing of the type keeps the other limits, and something that only calls itself so does: workshops may be
/// plain events.
fn is_typed_otherwise(draft: &Draft<'_>, range: &Range<usize>, filter: &Filter) -> bool {
    let others = &draft.out.filters;
    let with: Vec<Filter> = others.iter().chain([filter]).cloned().collect();
    !others.is_empty()
        && !draft.known.finds("", &with)
        && draft.known.has_written(&draft.out.text[range.clone()])
        && draft.known.finds(&draft.out.text[range.clone()], others)
}

/// Whether a kind is the end of what a thing of the vocabulary is called, and some item is it: an eye doctor is no doctor of
/// any kind.
fn is_part_of_name(draft: &Draft<'_>, words: &[Range<usize>], range: &Range<usize>) -> bool {
    let text = draft.out.text.as_str();
    let at = words.iter().position(|word| *word == *range);
    let Some(before) = at.and_then(|at| at.checked_sub(1)).and_then(|before| words.get(before)) else { return false };
    let folded = [folded(&text[before.clone()]), folded(&text[range.clone()])];
    let subjects = draft.vocabulary().subjects_in(&[folded[0].as_str(), folded[1].as_str()]);
    let is_one = subjects.iter().any(|subject| subject.is_written && subject.words.len() == 2);
    is_one && draft.known.finds(&text[before.start..range.end], &draft.out.filters)
}

/// Letters of the end of a German compound that is a kind, and of what stands before it.
const COMPOUND_END_MIN: usize = 4;
const COMPOUND_BEGIN_MIN: usize = 3;

/// "Buchhaltungssoftware" is software, where no item is called so: the rest of the word stays to be looked for.
fn compounded(draft: &Draft<'_>, words: &[Range<usize>]) -> Option<(Range<usize>, Filter)> {
    let text = draft.out.text.as_str();
    let ends = |word: &Range<usize>| {
        let written = text[word.clone()].to_owned();
        if is_known_otherwise(draft, &written) {
            return None;
        }
        let cuts = written.char_indices().skip(COMPOUND_BEGIN_MIN).map(|(at, _)| at).collect::<Vec<_>>();
        let long = cuts.into_iter().filter(|at| written[*at..].chars().count() >= COMPOUND_END_MIN);
        let says = |at: &usize| !draft.known.has_written(&written) && draft.known.has_written(&written[..*at]);
        long.filter(says).find_map(|at| {
            let end = written[at..].to_lowercase();
            let is_german = |known: &ItemKind| known.names(GERMAN).contains(&end);
            draft.vocabulary().kind_named(&end).filter(|known| is_german(known))?;
            let filter = kind(draft, &end)?;
            Some((word.start + at..word.end, filter))
        })
    };
    words.iter().find_map(ends)
}

/// Whether items have another name of what a word names: a "Kochkurs" is a cooking class.
fn is_known_otherwise(draft: &Draft<'_>, word: &str) -> bool {
    let folded = folded(word);
    let subjects = draft.vocabulary().subjects_in(&[folded.as_str()]);
    let has = |phrase: &str| {
        phrase.split(' ').all(|word| draft.known.has_written(word)) && draft.known.finds(phrase, &draft.out.filters)
    };
    // Its own two words are no other name.
    let is_other = |synonym: &&Synonym| synonym.parts.concat() != folded;
    let others = subjects.iter().flat_map(|subject| &subject.synonyms).filter(is_other);
    others.into_iter().any(|synonym| has(&synonym.parts.join(" ")))
}

/// The language that makes one word of two.
const GERMAN: &str = "de";

/// What the word could be the plural of; itself only when it leads on.
fn forms(word: &str, leads_on: bool) -> impl Iterator<Item = String> {
    let word = word.to_lowercase();
    let plural = |end: &str, single: &str| word.strip_suffix(end).map(|stem| format!("{stem}{single}"));
    let forms =
        [plural("s", ""), plural("es", ""), plural("ies", "y"), (leads_on || word == "people").then(|| word.clone())];
    forms.into_iter().flatten()
}

/// The type of what takes place, whatever it is.
const EVENT: &str = "Event";

/// Whether a type is one of things that take place.
fn takes_place(kind: &str) -> bool {
    kind.ends_with(EVENT) || kind.starts_with("Course")
}

/// The types that a word means, as far as there are such items.
fn kind(draft: &Draft<'_>, word: &str) -> Option<Filter> {
    let known = draft.known;
    let has = |kind: &String| known.has_value("@type", &kind.to_lowercase());
    let types = draft.vocabulary().kind_named(word).map_or(&[][..], |kind| &kind.types);
    let named: Vec<String> = types.iter().filter(|kind| has(kind)).cloned().collect();
    // A class may be an event that comes back every week.
    if types.iter().any(|kind| kind == SCHEDULE) && known.has_number(EVENT_EVERY) {
        let words = named.first().or(types.first())?.clone();
        let weekly = Filter { words: words.clone(), ..Filter::within(EVENT_EVERY, Some(1.0), Some(7.0)) };
        let typed = (!named.is_empty()).then(|| Filter {
            fields: vec!["@type".to_owned()],
            test: Test::OneOf(named),
            words: words.clone(),
        });
        return Some(Filter::any_of(typed.into_iter().chain([weekly]).collect(), words));
    }
    match named.as_slice() {
        // Classes of a gym may be plain events.
        [] if types.iter().any(|kind| takes_place(kind)) && has(&EVENT.to_owned()) => {
            Some(Filter { words: EVENT.to_owned(), ..Filter::is("@type", EVENT) })
        }
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
    fn classes_may_be_plain_events() {
        use crate::tests::{Stating, understood};
        const EVENTS: Stating = Stating(&["startDate", "@type=event"]);
        const SHOP: Stating = Stating(&["offers.price", "@type=product"]);
        for text in ["classes for two", "Kurse für zwei", "clases para dos"] {
            let words =
                |known: &Stating| understood(text, known).filters.into_iter().map(|filter| filter.words).collect();
            let (gym, shop): (Vec<String>, Vec<String>) = (words(&EVENTS), words(&SHOP));
            assert!(gym.contains(&"Event".to_owned()) && shop.is_empty(), "{text}: {gym:?} {shop:?}");
        }
    }

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
