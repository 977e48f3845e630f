//! Countries: "in Italy", "aus Spanien", "French wine". Items write them as codes or as names in any language.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use forecourt_vocabulary::{LANGUAGES, QuestionToken, ValueArea, Vocabulary, compared, tokens};

use crate::draft::Draft;
use crate::filter::{Filter, Test};
use crate::learnt::StatedValues;
use crate::paths::{PLACE_PATHS, SHARE_MIN};
use crate::scope::QuestionScope;

/// A country by one of its names.
#[derive(Debug, Clone, Copy)]
struct NamedCountry {
    /// Its place among all of them.
    at: usize,
    /// Whether it is the country itself, and not what comes from it.
    is_noun: bool,
}

/// What all countries are called.
struct Countries {
    /// Of each country how items write it: its code and its names.
    written: Vec<Vec<String>>,
    /// For each of [`LANGUAGES`], what phrases mean.
    named: [HashMap<String, NamedCountry>; LANGUAGES.len()],
}

static COUNTRIES: LazyLock<Countries> = LazyLock::new(|| {
    let mut all = Countries { written: Vec::new(), named: Default::default() };
    let vocabulary = Vocabulary::shipped();
    for country in vocabulary.values().iter().filter(|value| value.area == Some(ValueArea::Country)) {
        let at = all.written.len();
        let is_noun = |name: &String| country.values.iter().any(|value| value.to_lowercase() == *name);
        for (named, code) in all.named.iter_mut().zip(LANGUAGES) {
            for name in country.names(code) {
                named.entry(compared(name, code)).or_insert(NamedCountry { at, is_noun: is_noun(name) });
            }
        }
        all.written.push(country.values.clone());
    }
    all
});

/// Words of the longest name of a country.
const NAME_WORDS_MAX: usize = 4;
/// Words that lead to a country, without accents, and those between them and its name.
const LEADS: &[&str] = &["in", "from", "aus", "en", "de", "d", "du", "des", "del", "a", "au", "aux", "near", "made"];
const ARTICLES: &[&str] = &["the", "der", "den", "dem", "die", "la", "le", "les", "el", "los", "las", "l"];
/// What properties of a site's own are called that say where a thing is from, each in a word of the name, in lower case.
const ORIGINS: &[&str] =
    &["country", "origin", "herkunft", "herkunftsland", "land", "pays", "origine", "país", "origen"];

/// The countries that the names of one mean, as items write them. Empty: it is no name of one.
pub(crate) fn spellings(name: &str) -> &'static [String] {
    let known = LANGUAGES.iter().zip(&COUNTRIES.named).find_map(|(code, named)| named.get(&compared(name, code)));
    known.filter(|known| known.is_noun).map_or(&[], |known| &COUNTRIES.written[known.at])
}

/// The country that a question names, and the bytes that say it. What no item is from is a limit, too, where items say
/// where they are from.
pub(crate) fn read(draft: &Draft<'_>) -> Option<(Range<usize>, Filter)> {
    let text = draft.out.text.as_str();
    let tokens = tokens(text);
    (0..tokens.len()).find_map(|at| {
        let (named, end) = named(&tokens, at)?;
        let start = lead(text, &tokens, at);
        let is_alone =
            tokens.iter().all(|token| !token.is_word() || (at..end).any(|of| tokens[of].range == token.range));
        let is_meant = !named.is_noun || start < at || is_alone;
        let said = text[tokens[at].range.start..tokens[end - 1].range.end].trim();
        let filter = limit(draft, named, said, !is_alone).filter(|_| is_meant)?;
        Some((tokens[start].range.start..tokens[end - 1].range.end, filter))
    })
}

/// The country that the longest phrase here names, and the token behind it.
fn named(tokens: &[QuestionToken], at: usize) -> Option<(NamedCountry, usize)> {
    let ends = (at + 1..=(at + NAME_WORDS_MAX).min(tokens.len())).rev();
    ends.filter(|end| tokens[at..*end].iter().all(QuestionToken::is_word)).find_map(|end| {
        let words = tokens[at..end].iter().map(|token| token.word.as_str()).collect::<Vec<_>>().join(" ");
        let known = LANGUAGES.iter().zip(&COUNTRIES.named).find_map(|(code, named)| named.get(&compared(&words, code)));
        known.map(|known| (*known, end))
    })
}

/// Where the words begin that lead to a name.
fn lead(text: &str, tokens: &[QuestionToken], at: usize) -> usize {
    let is = |at: usize, words: &[&str]| tokens.get(at).is_some_and(|token| words.contains(&token.word.as_str()));
    let article = at.checked_sub(1).filter(|before| is(*before, ARTICLES)).unwrap_or(at);
    let led = article.checked_sub(1).filter(|before| is(*before, LEADS)).unwrap_or(at);
    // "a turkey" is none: where the word is an article too, only a capital letter makes a country of the next one.
    let is_article = is(led, &["a"]) && !text[tokens[at].range.clone()].starts_with(char::is_uppercase);
    if is_article { at } else { led }
}

/// What is in a country or from it, by whichever properties say that.
fn limit(draft: &Draft<'_>, country: NamedCountry, said: &str, may_be_none: bool) -> Option<Filter> {
    let known = draft.known;
    let written = &COUNTRIES.written[country.at];
    let is_origin = |path: &str| path.contains("countryOfOrigin");
    let own = draft.learnt().all().map(|(_, property)| property).filter(|property| {
        let is_text = matches!(property.stated.values, StatedValues::Texts(_));
        is_text && property.name("en").split(' ').any(|word| ORIGINS.contains(&word))
    });
    let own: Vec<String> = own.map(|property| property.stated.path.clone()).collect();
    let places =
        PLACE_PATHS.iter().filter(|path| if country.is_noun { path.contains("ountry") } else { is_origin(path) });
    let paths: Vec<String> = places.map(|path| (*path).to_owned()).chain(own).collect();
    let stated: Vec<&String> = paths.iter().filter(|path| known.share(path) > 0.0).collect();
    let words = if country.is_noun { draft.say("in_place", &[said]) } else { said.to_owned() };
    let all: Vec<Filter> = places_of(known, &paths, written);
    let is_told = stated.iter().map(|path| known.share(path)).sum::<f64>() >= SHARE_MIN;
    match all.is_empty() {
        // An adjective may be of much else: it is a limit where most items say where they are from.
        false if country.is_noun || is_told => Some(Filter::any_of(all, words)),
        // One word alone may be of what something is about.
        true if is_told && may_be_none => {
            let fields = stated.into_iter().cloned().collect();
            Some(Filter { fields, test: Test::Is(written.first()?.clone()), words })
        }
        _ => None,
    }
}

/// The limits that some item is at: in one of these properties by one of these spellings.
fn places_of(known: &dyn QuestionScope, paths: &[String], written: &[String]) -> Vec<Filter> {
    let each = paths.iter().flat_map(|path| written.iter().map(move |value| (path, value)));
    each.filter(|(path, value)| known.has_value(path, value)).map(|(path, value)| Filter::is(path, value)).collect()
}
