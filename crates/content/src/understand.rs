//! Constraints in a question, found without a language model: limits of time, price, rating, date, size and the
//! like, things that must be absent or there, orders and counts, people, places, and kinds of items. English,
//! German, French and Spanish: what words mean is data of the vocabulary.
//!
//! Careful on purpose. A rule speaks up only when the index has facts that it could ask about; what is understood
//! leaves the text and becomes a filter with its own wording, so that an answer can say what it did. What looks
//! like a limit and can't be checked is told as it was written. A limit is a limit: items that do not state the
//! fact are left out, and a note says so.
//!
//! | file | holds |
//! |---|---|
//! | `reader.rs` | a question as tokens, and what they mean |
//! | `amount.rs`, `quantity.rs` | numbers with units, and what is compared with them |
//! | `moment.rs`, `named_date.rs`, `date.rs` | dates |
//! | `things.rs`, `without.rs`, `wanted.rs` | lists of things that must be absent, or there |
//! | `order.rs`, `stock.rs` | superlatives, counts, availability, sizes |
//! | `found.rs`, `draft.rs` | what rules find, and what becomes of the question |
//! | `contradiction.rs` | limits that no item can keep together |
//! | `people.rs`, `place.rs`, `value.rs`, `kind.rs` | what the data has a value for |
//! | `named.rs` | constraints that a caller gives by name |
//! | `sample.rs` | what items have, judged by some of them |

mod amount;
mod contradiction;
mod date;
mod draft;
mod found;
mod kind;
mod moment;
mod named;
mod named_date;
mod order;
mod people;
mod place;
mod quantity;
mod reader;
mod sample;
mod stock;
mod things;
mod value;
mod wanted;
mod without;

use forecourt_core::Language;
use forecourt_vocabulary::{QuestionLexicon, Vocabulary, WordClass};
use jiff::civil::Date;
use regex::Regex;
use tantivy::Term;

use crate::analysis::{LanguageAnalyzer, Words, fact_word, whole_fact};
use crate::index::Snapshot;
use crate::limits::QUERY_BYTES_MAX;
use crate::search::{Filter, SortOrder, has_any, has_name};

pub use contradiction::{Contradiction, QuestionReading};
pub(crate) use named::named;
pub(crate) use sample::Sample;

use draft::Draft;
use found::UnderstoodPart;
use reader::Reader;

/// A question taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedQuestion {
    /// What is left to search for by words.
    pub text: String,
    /// Constraints, each with its wording; at most [`crate::limits::FILTERS_MAX`].
    pub filters: Vec<Filter>,
    /// What a person should know about the constraints, a sentence each.
    pub notes: Vec<String>,
    /// Limits that the question states and that could not be turned into a constraint, as they are written.
    /// They are told, never claimed.
    pub not_understood: Vec<String>,
    /// The order that the question asks for: "the cheapest".
    pub order: Option<SortOrder>,
    /// How many items the question asks for: "three soups".
    pub count: Option<usize>,
    /// Limits of which one rules out what is asked for all the same, with both ways to read the question.
    pub contradictions: Vec<Contradiction>,
}

/// By what a question is read.
#[derive(Clone, Copy)]
pub(crate) struct ReadingAids<'a> {
    /// What there is to ask about.
    pub(crate) known: &'a dyn QuestionScope,
    /// What words of items mean.
    pub(crate) vocabulary: &'a Vocabulary,
    /// What words of questions mean.
    pub(crate) lexicon: &'a QuestionLexicon,
    /// The language in which limits are said back.
    pub(crate) answer_in: &'a Language,
    /// The day that it is. Without it, "tomorrow" is not understood.
    pub(crate) today: Option<Date>,
}

/// What there is to ask about.
pub(crate) trait QuestionScope {
    /// Whether some item has a quantity at this path.
    fn has_number(&self, path: &str) -> bool;
    /// Whether some item has this word in the property at this path.
    fn has_word(&self, path: &str, word: &str) -> bool;
    /// Whether some item has exactly this value at this path, apart from case.
    fn has_value(&self, path: &str, value: &str) -> bool;
    /// The part of the items that have this property, 0 to 1, about.
    fn share(&self, path: &str) -> f64;
    /// The quantity at this path that `part` of the items do not exceed, about.
    fn quantile(&self, path: &str, part: f64) -> Option<f64>;
    /// Whether some item has all words of a text and keeps all limits.
    fn finds(&self, text: &str, filters: &[Filter]) -> bool;
    /// Whether a text may be the name of an item: all its neighbouring words stand together in names.
    fn is_name(&self, text: &str) -> bool;
}

/// A rule: what it finds at a token. The third argument is the token before which nothing may be taken.
type Rule = fn(&Reader<'_>, usize, usize) -> Option<UnderstoodPart>;

/// The first one that finds something counts.
const RULES: &[Rule] = &[
    order::read_count,
    order::read,
    date::read,
    quantity::read,
    stock::read,
    quantity::read_level,
    without::read_behind,
    without::read,
    without::read_word,
    wanted::read,
];

/// Takes a question apart. Reads none that is longer than [`QUERY_BYTES_MAX`] bytes.
pub(crate) fn understand(text: &str, aids: ReadingAids<'_>) -> ParsedQuestion {
    if text.len() > QUERY_BYTES_MAX {
        return ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
    }
    let reader = Reader::new(text, aids);
    let mut draft = Draft::new(aids, read(&reader), &reader);
    for rule in [people::read, place::read, value::read, kind::read] {
        rule(&mut draft);
    }
    draft.finish(text)
}

/// What the rules find, in the order of the question.
fn read(reader: &Reader<'_>) -> Vec<UnderstoodPart> {
    let (mut all, mut at, mut floor) = (Vec::new(), 0, 0);
    while at < reader.tokens.len() {
        if let Some(end) = reader.class(at, WordClass::Exception) {
            at = end;
            continue;
        }
        match RULES.iter().find_map(|rule| rule(reader, at, floor)) {
            Some(found) => {
                at = found.tokens.end.max(at + 1);
                floor = at;
                all.push(found);
            }
            None => at += 1,
        }
    }
    all
}

impl QuestionScope for Snapshot {
    fn has_number(&self, path: &str) -> bool {
        self.summary.numbers.contains(path)
    }

    fn has_word(&self, path: &str, word: &str) -> bool {
        let in_tongue = |tongue| {
            let words = Words::of(word, tongue);
            words.len() > 0 && words.iter().all(|word| self.has_fact(&fact_word(path, word)))
        };
        in_tongue(LanguageAnalyzer::ENGLISH) || self.summary.tongues().any(in_tongue)
    }

    fn has_value(&self, path: &str, value: &str) -> bool {
        self.has_fact(&whole_fact(path, value))
    }

    fn share(&self, path: &str) -> f64 {
        self.sample().share(path)
    }

    fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        self.sample().quantile(path, part)
    }

    fn finds(&self, text: &str, filters: &[Filter]) -> bool {
        has_any(self, text, filters)
    }

    fn is_name(&self, text: &str) -> bool {
        has_name(self, text)
    }
}

impl Snapshot {
    fn has_fact(&self, fact: &str) -> bool {
        self.doc_freq(&Term::from_field_text(self.fields.facts, fact)) > 0
    }
}

/// One of the patterns that some rules are made of, without regard to case.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::classes::STATED;
    use crate::limits::FILTERS_MAX;

    /// What a question means, read with the vocabulary that comes with the program.
    pub(crate) fn understood(text: &str, known: &dyn QuestionScope) -> ParsedQuestion {
        understood_in(text, known, "en")
    }

    /// The same, said back in a language, on Monday, the 23rd of November 2026.
    pub(crate) fn understood_in(text: &str, known: &dyn QuestionScope, language: &str) -> ParsedQuestion {
        with_aids(known, language, |aids| understand(text, aids))
    }

    fn with_aids<T>(known: &dyn QuestionScope, language: &str, read: impl FnOnce(ReadingAids<'_>) -> T) -> T {
        static LEXICON: LazyLock<QuestionLexicon> = LazyLock::new(|| QuestionLexicon::of(&Vocabulary::shipped()));
        let (vocabulary, answer_in) = (Vocabulary::shipped(), Language::parse(language).unwrap());
        let today = Some(Date::constant(2026, 11, 23));
        read(ReadingAids { known, vocabulary: &vocabulary, lexicon: &LEXICON, answer_in: &answer_in, today })
    }

    /// What a caller means by a name and a value, read in the same way.
    pub(crate) fn read_named(name: &str, value: &serde_json::Value) -> Vec<Filter> {
        with_aids(&Everything, "en", |aids| named(name, value, aids))
    }

    /// An index of recipes and movies with prices.
    pub(crate) struct Everything;

    impl QuestionScope for Everything {
        fn has_number(&self, path: &str) -> bool {
            matches!(path, "totalTime" | "datePublished" | "offers.price" | "aggregateRating.ratingValue")
        }

        fn has_word(&self, path: &str, word: &str) -> bool {
            let ingredients =
                ["nuts", "almond", "milk", "eggs", "egg", "cilantro", "bake", "chicken", "flour", "vegetarian"];
            path == "recipeIngredient" && ingredients.contains(&word)
        }

        fn has_value(&self, path: &str, value: &str) -> bool {
            let value = value.to_lowercase();
            let values: &[&str] = match path {
                "@type" => &["recipe", "movie"],
                "genre" => &["comedy", "romance", "science fiction", "war", "dance"],
                "actor.name" => &["bill murray", "sandra oh"],
                "author.name" => &["ursula k. le guin"],
                "location.address.addressLocality" => &["berlin", "new york"],
                "address.addressCountry" => &["it"],
                STATED => &["food"],
                _ => &[],
            };
            values.contains(&value.as_str())
        }

        fn share(&self, path: &str) -> f64 {
            if path == "genre" { 1.0 } else { 0.1 }
        }

        /// Quantities from 1 to 30.
        fn quantile(&self, _: &str, part: f64) -> Option<f64> {
            Some((part * 30.0).round())
        }

        fn finds(&self, _: &str, _: &[Filter]) -> bool {
            false
        }

        fn is_name(&self, _: &str) -> bool {
            false
        }
    }

    /// An index of bare texts.
    struct Nothing;

    impl QuestionScope for Nothing {
        fn has_number(&self, _: &str) -> bool {
            false
        }

        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }

        fn has_value(&self, _: &str, _: &str) -> bool {
            false
        }

        fn share(&self, _: &str) -> f64 {
            0.0
        }

        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }

        fn finds(&self, _: &str, _: &[Filter]) -> bool {
            false
        }

        fn is_name(&self, _: &str) -> bool {
            false
        }
    }

    /// The text that is left, and the wordings of the filters.
    pub(crate) fn parts(text: &str) -> (String, Vec<String>) {
        let found = understood(text, &Everything);
        (found.text, found.filters.into_iter().map(|filter| filter.words).collect())
    }

    #[test]
    fn a_question_can_hold_several_constraints() {
        let (text, words) = parts("something quick with chickpeas, no nuts");
        assert_eq!(text, "something with chickpeas");
        assert_eq!(words, ["30 minutes or less", "no nuts"]);
        let (text, words) = parts("Movies from 1999 about ships under $20");
        assert_eq!(text, "about ships");
        assert_eq!(words, ["at most 20", "from 1999", "Movie"]);
    }

    #[test]
    fn what_the_index_does_not_know_stays_text() {
        for text in ["quick soup under 30 minutes", "films from the 90s under $5", "heat flow without shear"] {
            let found = understood(text, &Nothing);
            assert_eq!(found, ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() });
        }
        // What somebody may be allergic to is told wherever it is.
        let found = understood("soup, no nuts", &Nothing);
        assert_eq!((found.text.as_str(), found.not_understood), ("soup", vec!["no nuts".to_owned()]));
    }

    #[test]
    fn a_long_text_is_left_alone() {
        let text = |bytes: usize| format!("quick {}", "x".repeat(bytes - 6));
        assert_eq!(understood(&text(QUERY_BYTES_MAX), &Everything).filters.len(), 1);
        assert_eq!(understood(&text(QUERY_BYTES_MAX + 1), &Everything).filters.len(), 0);
    }

    #[test]
    fn what_is_more_than_a_query_can_have_stays_text() {
        for (constraint, is_whole) in
            [("comedies, ", true), ("from 1999, ", true), ("no nuts; ", false), ("with Bill Murray; ", false)]
        {
            let count = |times: usize| understood(&constraint.repeat(times), &Everything).filters.len();
            let most = count(FILTERS_MAX + 1);
            assert!(most <= FILTERS_MAX && (most == FILTERS_MAX || !is_whole), "{constraint}: {most}");
            assert_eq!(count(FILTERS_MAX / 2), FILTERS_MAX / 2, "{constraint}");
            let and_more = format!("movies in Berlin, {}", constraint.repeat(FILTERS_MAX));
            assert!(understood(&and_more, &Everything).filters.len() <= FILTERS_MAX, "{constraint}");
        }
    }

    #[test]
    fn contradictions_are_told_with_both_readings() {
        let found = understood("vegan beef stew", &Everything).contradictions;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].limit.text.as_str(), found[0].demand.text.as_str()), ("stew", "beef stew"));
        assert_eq!((found[0].limit.filters.len(), found[0].demand.filters.len()), (1, 0));
        assert_eq!(understood("wine under $5 but over $20", &Everything).contradictions.len(), 1);
        assert!(understood("vegan stew under $5", &Everything).contradictions.is_empty());
    }

    #[test]
    fn orders_and_counts_are_understood() {
        let order =
            |text: &str| understood(text, &Everything).order.map(|order| (order.fields[0].clone(), order.descending));
        assert_eq!(order("the cheapest wine"), Some(("offers.price".to_owned(), false)));
        assert_eq!(order("most recent films"), Some(("datePublished".to_owned(), true)));
        assert_eq!(order("la película más reciente"), Some(("datePublished".to_owned(), true)));
        assert_eq!(order("schnellste Suppe"), Some(("totalTime".to_owned(), false)));
        assert_eq!(understood("the easiest soup", &Everything).not_understood, ["the easiest"]);
        let count = |text: &str| understood(text, &Everything).count;
        assert_eq!(
            (count("top 5 soups"), count("give me three ideas"), count("3 movies")),
            (Some(5), Some(3), Some(3))
        );
        for text in
            ["three cheese pizza", "12 angry men", "seven samurai", "give me a soup", "7 up", "0 movies", "101 movies"]
        {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn long_lists_are_read_in_time_that_grows_with_them() {
        let text = |bytes: usize| "no nuts or ".chars().cycle().take(bytes).collect::<String>();
        let found = understood(&text(QUERY_BYTES_MAX), &Everything);
        assert!(found.filters.len() <= FILTERS_MAX);
    }

    proptest! {
        #[test]
        fn any_text_is_understood_somehow(text in any::<String>()) {
            understood(&text, &Everything);
        }

        #[test]
        fn almost_constraints_are_understood_somehow(
            text in "(under|no|without|in|from|the|between|and|or|quick|nuts|-free|minutes|\\$|[0-9]{1,9}|s|'|,|é| ){0,30}"
        ) {
            let found = understood(&text, &Everything);
            prop_assert!(found.text.len() <= text.len() + 1);
        }
    }
}
