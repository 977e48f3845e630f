//! Which shelf a question is about, by how the items are sorted in: "a laptop under 800" is asked of the laptops, and of no
//! vacuum cleaner. What a shelf is called is learnt from the items.

use forecourt_vocabulary::{LANGUAGES, PhraseMeaning, QuestionToken, TokenKind, WordClass, tokens};

use crate::filter::Filter;
use crate::limits::{SHELF_WORDS_MAX, SHELVES_MEANT_MAX};
use crate::scope::ReadingAids;
use crate::shelves::{Shelves, is_head_first};

/// The property that sorts items in.
const CATEGORY: &str = "category";
/// The part of the items that has to be sorted in, for a shelf to be a limit.
const SHARE_MIN: f64 = 0.9;
/// Letters of the shortest name of a shelf: "TV".
const LETTERS_MIN: usize = 2;

/// Words behind which stands what a thing is for, made of or where it is, without accents.
const BESIDE: &[&str] = &[
    "for", "with", "without", "from", "of", "in", "on", "at", "near", "against", "about", "fur", "mit", "ohne", "aus",
    "von", "vom", "im", "auf", "bei", "zu", "zum", "zur", "gegen", "pour", "avec", "sans", "de", "du", "des", "dans",
    "sur", "contre", "para", "con", "sin", "del", "en", "sobre", "contra", "like", "wie", "comme", "como",
];
/// Words that may stand behind a thing and are no other thing, without accents: what is said of it begins.
const BEHIND: &[&str] = &[
    "that",
    "which",
    "who",
    "whose",
    "would",
    "will",
    "can",
    "could",
    "should",
    "do",
    "does",
    "did",
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "to",
    "not",
    "please",
    "here",
    "there",
    "you",
    "we",
    "they",
    "i",
    "my",
    "it",
    "so",
    "as",
    "than",
    "no",
    "only",
    "also",
    "too",
    "available",
    "made",
    "suitable",
    "costing",
    "die",
    "der",
    "das",
    "den",
    "ist",
    "sind",
    "hat",
    "haben",
    "kann",
    "man",
    "es",
    "ich",
    "gibt",
    "bitte",
    "da",
    "hier",
    "nicht",
    "auch",
    "sie",
    "ihr",
    "wird",
    "werden",
    "qui",
    "que",
    "est",
    "sont",
    "a",
    "ont",
    "ne",
    "pas",
    "il",
    "y",
    "esta",
    "estan",
    "tiene",
    "tienen",
    "hay",
    "no",
    "son",
    "se",
    "if",
    "fit",
    "fits",
    "within",
    "wenn",
    "si",
    "cuyo",
    "dont",
];
/// Words that tie two things together of which any will do, without accents.
const EITHER: &[&str] = &["or", "and", "oder", "und", "ou", "et", "o", "u", "y", "e"];

/// Words of a question that are the name of shelves.
struct ShelfName {
    end: usize,
    shelves: Vec<usize>,
    /// What is called so: these words, and others for the same.
    names: Vec<String>,
}

/// The limit that an item lies on the shelf that a text names as what is wanted, or is called so. `None`: it names none,
/// or many items lie on no shelf.
pub fn limit(text: &str, aids: ReadingAids<'_>) -> Option<Filter> {
    named(text, aids, false)
}

/// The same where shelves with narrower names alone count, too: what is asked of "a harness" is stated by "Dog
/// harnesses", though others may lie elsewhere.
pub(crate) fn widely(text: &str, aids: ReadingAids<'_>) -> Option<Filter> {
    named(text, aids, true)
}

fn named(text: &str, aids: ReadingAids<'_>, is_wide: bool) -> Option<Filter> {
    let shelves = aids.known.shelves().filter(|_| aids.known.share(CATEGORY) >= SHARE_MIN)?;
    let tokens = tokens(text);
    let is_beside = |token: &QuestionToken| BESIDE.contains(&token.word.as_str());
    let begin = usize::from(tokens.first().is_some_and(is_beside)) * tokens.len();
    let end = tokens.iter().position(is_beside).unwrap_or(tokens.len());
    let (at, mut named) = (begin..end).find_map(|at| Some((at, read(shelves, text, &tokens, at, (aids, is_wide))?)))?;
    let is_denied = |at: usize| {
        [WordClass::Not, WordClass::Without].iter().any(|class| says(aids, &tokens, at, *class))
            || tokens[at].word == "but"
    };
    if (at.saturating_sub(2)..at).any(is_denied) {
        return None;
    }
    // "A laptop or a tablet": both, or what is wanted is not known.
    while tokens.get(named.end).is_some_and(|tie| EITHER.contains(&tie.word.as_str())) {
        let mut next = named.end + 1;
        while tokens.get(next).is_some_and(|_| says(aids, &tokens, next, WordClass::Article)) {
            next += 1;
        }
        if next >= tokens.len() || is_limit(aids, &tokens, next) {
            break;
        }
        let other = read(shelves, text, &tokens, next, (aids, is_wide))?;
        named.end = other.end;
        named.shelves.extend(other.shelves);
        named.names.extend(other.names);
    }
    named.shelves.sort_unstable();
    named.shelves.dedup();
    let words = text[tokens[at].range.start..tokens[named.end - 1].range.end].to_owned();
    let lying = named.shelves.iter().map(|at| Filter::is(CATEGORY, &shelves.values[*at]));
    let called = named.names.iter().map(|name| Filter::mentions("name", name));
    let is_clear = named.shelves.len() + named.names.len() <= SHELVES_MEANT_MAX;
    is_clear.then(|| Filter::any_of(lying.chain(called).collect(), words))
}

/// The longest name of shelves that begins at a token and is what is wanted, and no part of another name.
fn read(
    shelves: &Shelves,
    text: &str,
    tokens: &[QuestionToken],
    at: usize,
    (aids, is_wide): (ReadingAids<'_>, bool),
) -> Option<ShelfName> {
    let most = tokens[at..].iter().take_while(|token| token.is_word()).count().min(SHELF_WORDS_MAX);
    (at + 1..=at + most).rev().find_map(|end| {
        let phrase = tokens[at..end].iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ");
        let is_long = phrase.chars().count() >= LETTERS_MIN;
        let mut named =
            is_long.then(|| called(shelves, &phrase, aids, is_wide))?.filter(|named| !named.shelves.is_empty())?;
        named.end = end;
        is_head(text, tokens, at..end, aids).then_some(named)
    })
}

/// The shelves that a phrase names, by its own words and others for the same in all languages, with those that are narrower.
fn called(shelves: &Shelves, phrase: &str, aids: ReadingAids<'_>, is_wide: bool) -> Option<ShelfName> {
    let own = (0..LANGUAGES.len()).map(|language| (language, phrase));
    let others = LANGUAGES.iter().flat_map(|code| aids.vocabulary.names_of(phrase, code));
    let others = others.filter_map(|(code, name)| Some((LANGUAGES.iter().position(|known| *known == code)?, name)));
    let names: Vec<(usize, &str)> = own.chain(others).collect();
    let mut found = ShelfName { end: 0, shelves: Vec::new(), names: vec![phrase.to_owned()] };
    for (language, name) in &names {
        found.shelves.extend(shelves.called(name, *language));
    }
    if found.shelves.is_empty() && !is_wide {
        return None;
    }
    for (language, name) in &names {
        found.shelves.extend(shelves.narrower(name, *language, aids.answer_in.as_str()));
    }
    if found.shelves.is_empty() {
        return None;
    }
    for (_, name) in names {
        if !found.names.iter().any(|known| known == name) && aids.known.has_word("name", name) {
            found.names.push(name.to_owned());
        }
    }
    found.shelves.sort_unstable();
    found.shelves.dedup();
    Some(found)
}

/// Whether words are what is wanted, and no part of what something else is called: the laptops, and no laptop bag.
fn is_head(text: &str, tokens: &[QuestionToken], words: std::ops::Range<usize>, aids: ReadingAids<'_>) -> bool {
    let Some(next) = tokens.get(words.end) else { return true };
    let goes_on = BESIDE.contains(&next.word.as_str()) || BEHIND.contains(&next.word.as_str());
    if !next.is_word() || (goes_on && !next.is_joined) {
        return true;
    }
    if EITHER.contains(&next.word.as_str()) || is_limit(aids, tokens, words.end) {
        return true;
    }
    // German writes compounds as one word, and nouns with a capital letter.
    let written = &text[next.range.clone()];
    match aids.answer_in.as_str() {
        "de" => !written.starts_with(char::is_uppercase) && !next.is_joined,
        code => is_head_first(code) && !next.is_joined,
    }
}

/// Whether what begins at a token says something of items: a limit, a comparison.
fn is_limit(aids: ReadingAids<'_>, tokens: &[QuestionToken], at: usize) -> bool {
    // A stand, a book and a sauce are things, whatever else these words may say.
    let is_thing = |(meaning, _): &(&PhraseMeaning, usize)| match meaning {
        PhraseMeaning::Word(class) => THINGS.contains(class),
        _ => false,
    };
    matches!(tokens[at].kind, TokenKind::Number(_)) || !aids.lexicon.meanings(&tokens[at..]).iter().all(is_thing)
}

/// Words of limits that may be things.
const THINGS: &[WordClass] = &[
    WordClass::Verb,
    WordClass::Head,
    WordClass::Kind,
    WordClass::How,
    WordClass::Substitute,
    WordClass::Story,
    WordClass::Made,
    WordClass::Intolerant,
];

fn says(aids: ReadingAids<'_>, tokens: &[QuestionToken], at: usize, class: WordClass) -> bool {
    let is = |(meaning, _): &(&PhraseMeaning, usize)| **meaning == PhraseMeaning::Word(class);
    aids.lexicon.meanings(&tokens[at..]).iter().any(is)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::SHELVES_MAX;
    use crate::scope::QuestionScope;
    use crate::tests::read_with;

    /// A shop whose items lie on shelves.
    struct Shop(Shelves);

    impl QuestionScope for Shop {
        fn has_number(&self, _: &str) -> bool {
            false
        }
        fn has_word(&self, _: &str, _: &str) -> bool {
            true
        }
        fn has_value(&self, _: &str, _: &str) -> bool {
            false
        }
        fn share(&self, _: &str) -> f64 {
            1.0
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, _: &str, _: &[Filter]) -> bool {
            true
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
        fn shelves(&self) -> Option<&Shelves> {
            Some(&self.0)
        }
    }

    /// The shelves that a question means.
    fn meant(values: &[&str], text: &str, language: &str) -> Vec<String> {
        shelves_of(values, text, language, limit)
    }

    /// The same with those that have a narrower name alone.
    fn meant_widely(values: &[&str], text: &str, language: &str) -> Vec<String> {
        shelves_of(values, text, language, widely)
    }

    fn shelves_of(
        values: &[&str],
        text: &str,
        language: &str,
        limit: fn(&str, ReadingAids<'_>) -> Option<Filter>,
    ) -> Vec<String> {
        let shop = Shop(Shelves::of(values.iter().copied()));
        let limit = read_with(&shop, language, |aids| limit(text, aids));
        let all = limit.iter().flat_map(Filter::alternatives).filter(|one| one.fields == [CATEGORY]);
        all.filter_map(|one| if let crate::filter::Test::Is(value) = &one.test { Some(value.clone()) } else { None })
            .collect()
    }

    #[test]
    fn what_is_wanted_names_a_shelf_and_what_it_is_for_does_not() {
        let shop = ["tools > drills", "tools > drill bits", "garden > hoses", "garden > garden chairs", "paint"];
        for (text, shelves) in [
            ("a drill under 100", &["tools > drills"][..]),
            ("which drills would be loud", &["tools > drills"]),
            ("drill bits for wood", &["tools > drill bits"]),
            ("do you have hoses longer than 20 m", &["garden > hoses"]),
            ("a hose or paint", &["garden > hoses", "paint"]),
            ("a chair that folds", &[]),
            ("a case for a drill", &[]),
            ("for my drill, something to clean it", &[]),
            ("a drill stand", &[]),
            ("drills or spades", &[]),
            ("not a drill", &[]),
            ("something green", &[]),
        ] {
            assert_eq!(meant(&shop, text, "en"), shelves, "{text}");
        }
    }

    #[test]
    fn shelves_are_named_in_all_languages_and_by_narrower_names() {
        let shelves = ["Zimmer > Lampen", "Zimmer > Stühle", "Bücher"];
        assert_eq!(meant(&shelves, "Lampen, die man dimmen kann", "de"), ["Zimmer > Lampen"]);
        assert_eq!(meant(&shelves, "günstige Bücher", "de"), ["Bücher"]);
        let shelves = ["Zimmerpflanzen", "Aquarien", "Uhren"];
        assert_eq!(meant(&shelves, "eine Zimmerpflanze für dunkle Ecken", "de"), ["Zimmerpflanzen"]);
        assert_eq!(meant(&shelves, "Aquarium mit Licht", "de"), ["Aquarien"]);
        assert_eq!(meant(&shelves, "Uhr unter 100 Euro", "de"), ["Uhren"]);
        let shelves = ["Esstische", "Couchtische", "Betten", "Tischwäsche"];
        assert_eq!(meant(&shelves, "ein Tisch für acht Personen", "de"), Vec::<String>::new());
        assert_eq!(meant_widely(&shelves, "ein Tisch für acht Personen", "de"), ["Esstische", "Couchtische"]);
        assert_eq!(meant_widely(&["dog harnesses", "dog beds"], "a harness for a puppy", "en"), ["dog harnesses"]);
        assert_eq!(meant_widely(&["lampes de bureau", "tapis"], "une lampe réglable", "fr"), ["lampes de bureau"]);
        assert_eq!(meant_widely(&["mesas de jardín", "sillas"], "una mesa barata", "es"), ["mesas de jardín"]);
        let shelves = ["vinos > vino tinto", "vinos > vino blanco", "quesos"];
        assert_eq!(meant(&shelves, "un vino barato", "es"), ["vinos > vino tinto", "vinos > vino blanco"]);
        assert_eq!(meant(&shelves, "quesos curados de oveja", "es"), ["quesos"]);
        let shelves = ["vélos > vélos électriques", "vélos > vélos pliants", "casques"];
        assert_eq!(meant(&shelves, "un casque blanc", "fr"), ["casques"]);
        let shelves = ["child seats and trailers", "pumps"];
        assert_eq!(meant(&shelves, "a child seat for a toddler", "en"), ["child seats and trailers"]);
        let shelves = ["Stifte und Farben", "Papier"];
        assert_eq!(meant(&shelves, "Farben für Stoff", "de"), ["Stifte und Farben"]);
        let shelves = ["aceites y vinagres", "quesos"];
        assert_eq!(meant(&shelves, "un vinagre suave", "es"), ["aceites y vinagres"]);
        let shelves = ["sacs et valises", "montres"];
        assert_eq!(meant(&shelves, "une valise rigide", "fr"), ["sacs et valises"]);
        let shelves = ["robot vacuums", "vacuums", "mops"];
        assert_eq!(meant(&shelves, "a vacuum under 200", "en"), ["robot vacuums", "vacuums"]);
    }

    #[test]
    fn no_more_shelves_are_learnt_or_meant_than_the_bounds() {
        let many = |n: usize| (0..n).map(|at| format!("x > y{at} zorgs")).collect::<Vec<_>>();
        let learnt = |n: usize| Shelves::of(many(n).iter().map(String::as_str)).values.len();
        assert_eq!((learnt(SHELVES_MAX), learnt(SHELVES_MAX + 1)), (SHELVES_MAX, SHELVES_MAX));
        let asked = |n: usize| {
            let mut values = many(n);
            values.push("zorgs".to_owned());
            meant(&values.iter().map(String::as_str).collect::<Vec<_>>(), "zorgs", "en").len()
        };
        let names = 1;
        assert_eq!(asked(SHELVES_MEANT_MAX - names - 1), SHELVES_MEANT_MAX - names);
        assert_eq!(asked(SHELVES_MEANT_MAX - names), 0);
    }

    proptest! {
        #[test]
        fn any_text_means_shelves_or_none(text in any::<String>(), shelf in "[a-z >/é]{0,20}") {
            meant(&[shelf.as_str(), "lamps"], &text, "en");
        }
    }
}
