//! Constraints in a question, found without a language model: time limits, prices, ratings, dates, things
//! that must be absent, people, places, and kinds of items. English, and the commonest forms of German,
//! French and Spanish.
//!
//! Careful on purpose. A rule speaks up only when the index has facts that it could ask about, so a
//! collection without times keeps "under 30 minutes" as mere words; what is understood leaves the
//! text and becomes a filter with its own wording, so that an answer can say what it did. A limit
//! is a limit: items that do not state the fact are left out, and a note says so.
//!
//! | file | holds |
//! |---|---|
//! | `time.rs`, `price.rs`, `rating.rs`, `date.rs` | limits |
//! | `without.rs` | what must be absent |
//! | `people.rs`, `place.rs`, `value.rs`, `kind.rs` | what the data has a value for |
//! | `named.rs` | constraints that a caller gives by name |
//! | `sample.rs` | what items have, judged by some of them |

mod date;
mod kind;
mod named;
mod people;
mod place;
mod price;
mod rating;
mod sample;
mod time;
mod value;
mod without;

use std::ops::Range;

use forecourt_core::Language;
use forecourt_vocabulary::Vocabulary;
use regex::{Captures, Regex};
use tantivy::Term;

use crate::analysis::{LanguageAnalyzer, Words, fact_word, whole_fact};
use crate::index::Snapshot;
use crate::limits::{FILTERS_MAX, QUERY_BYTES_MAX};
use crate::search::{Filter, SortOrder, Test};

pub(crate) use named::named;
pub(crate) use sample::Sample;

/// A question taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedQuestion {
    /// What is left to search for by words.
    pub text: String,
    /// Constraints, each with its wording; at most [`FILTERS_MAX`].
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
}

/// By what a question is read.
#[derive(Clone, Copy)]
pub(crate) struct ReadingAids<'a> {
    /// What there is to ask about.
    pub(crate) known: &'a dyn Known,
    /// What words mean.
    pub(crate) vocabulary: &'a Vocabulary,
    /// The language in which limits are said back.
    pub(crate) answer_in: &'a Language,
}

/// What there is to ask about.
pub(crate) trait Known {
    /// Whether some item has a quantity at this path.
    fn has_number(&self, path: &str) -> bool;
    /// Whether some item has this word in the property at this path.
    fn has_word(&self, path: &str, word: &str) -> bool;
    /// Whether some item has exactly this value at this path, apart from case.
    fn has_value(&self, path: &str, value: &str) -> bool;
    /// Whether items are in the language of this code.
    fn speaks(&self, code: &str) -> bool;
    /// The part of the items that have this property, 0 to 1, about.
    fn share(&self, path: &str) -> f64;
    /// The quantity at this path that `part` of the items do not exceed, about.
    fn quantile(&self, path: &str, part: f64) -> Option<f64>;
}

/// Takes a question apart. Reads at most [`QUERY_BYTES_MAX`] bytes of it.
pub(crate) fn understand(text: &str, aids: ReadingAids<'_>) -> ParsedQuestion {
    if text.len() > QUERY_BYTES_MAX {
        return ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
    }
    let ReadingAids { known, vocabulary, answer_in } = aids;
    let out = ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() };
    let mut draft = Draft { known, vocabulary, answer_in, out };
    let limits = [time::read, price::read, rating::read, date::read, without::read];
    let values = [people::read, place::read, value::read, kind::read];
    for rule in limits.into_iter().chain(values) {
        rule(&mut draft);
    }
    draft.finish(text)
}

/// A question while the rules go over it, one after the other.
struct Draft<'k> {
    known: &'k dyn Known,
    vocabulary: &'k Vocabulary,
    answer_in: &'k Language,
    out: ParsedQuestion,
}

impl Draft<'_> {
    /// Offers every match of a pattern to `take`; where that is a filter, it is kept and the match
    /// leaves the text. Returns whether there was one.
    fn each(&mut self, pattern: &Regex, take: impl Fn(&Captures<'_>, &str) -> Option<Filter>) -> bool {
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for found in pattern.captures_iter(&self.out.text) {
            if !self.has_room(1) {
                break;
            }
            let Some(range) = found.get(0).map(|all| all.range()) else { continue };
            if let Some(filter) = take(&found, &self.out.text[..range.start]) {
                self.out.filters.push(filter);
                cuts.push(range);
            }
        }
        cuts.iter().rev().for_each(|range| self.cut(range.clone()));
        !cuts.is_empty()
    }

    /// Whether so many filters more are no more than a query can have. What comes after that stays text.
    fn has_room(&self, filters: usize) -> bool {
        self.out.filters.len() + filters <= FILTERS_MAX
    }

    fn cut(&mut self, range: Range<usize>) {
        self.out.text.replace_range(range, " ");
    }

    fn note(&mut self, note: &str) {
        self.out.notes.push(note.to_owned());
    }

    /// The first of the paths that some item has a quantity at.
    fn number_path(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.known.has_number(path))
    }

    fn finish(mut self, original: &str) -> ParsedQuestion {
        if self.out.filters.is_empty() {
            self.out.text = original.to_owned();
            return self.out;
        }
        let text = self.out.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = [" ,", " ?", " !", " ."].iter().fold(text, |text, gap| text.replace(gap, gap.trim_start()));
        self.out.text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | '-')).to_owned();
        self.out
    }
}

impl Known for Snapshot {
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

    fn speaks(&self, code: &str) -> bool {
        self.summary.tongues().any(|tongue| tongue.code() == code)
    }

    fn share(&self, path: &str) -> f64 {
        self.sample().share(path)
    }

    fn quantile(&self, path: &str, part: f64) -> Option<f64> {
        self.sample().quantile(path, part)
    }
}

impl Snapshot {
    fn has_fact(&self, fact: &str) -> bool {
        self.doc_freq(&Term::from_field_text(self.fields.facts, fact)) > 0
    }
}

/// One of the patterns that the rules are made of, without regard to case.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}

/// A number as people write it in a question: digits, or `a`, `half an`, `two`, `einer halben` …
fn amount(text: &str) -> Option<f64> {
    const WORDS: &[(&str, f64)] = &[
        ("a", 1.0),
        ("an", 1.0),
        ("one", 1.0),
        ("half an", 0.5),
        ("half a", 0.5),
        ("eine", 1.0),
        ("einem", 1.0),
        ("einer", 1.0),
        ("einer halben", 0.5),
        ("une", 1.0),
        ("une demi", 0.5),
        ("una", 1.0),
        ("media", 0.5),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("ten", 10.0),
        ("fifteen", 15.0),
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("forty-five", 45.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
    ];
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let word = WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    word.or_else(|| text.replace(',', ".").parse().ok()).filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

fn within(path: &str, from: Option<f64>, to: Option<f64>, words: String) -> Filter {
    Filter { fields: vec![path.to_owned()], test: Test::Within { from, to }, words }
}

/// The last word of a text, in lower case.
fn last_word(text: &str) -> String {
    text.split_whitespace().next_back().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a question means, read with the vocabulary that comes with the program.
    pub(crate) fn understood(text: &str, known: &dyn Known) -> ParsedQuestion {
        let (vocabulary, answer_in) = (Vocabulary::shipped(), Language::english());
        understand(text, ReadingAids { known, vocabulary: &vocabulary, answer_in: &answer_in })
    }

    /// What a caller means by a name and a value, read in the same way.
    pub(crate) fn read_named(name: &str, value: &serde_json::Value) -> Vec<Filter> {
        let (vocabulary, answer_in) = (Vocabulary::shipped(), Language::english());
        named(name, value, ReadingAids { known: &Everything, vocabulary: &vocabulary, answer_in: &answer_in })
    }

    /// An index of recipes and movies with prices.
    pub(crate) struct Everything;

    impl Known for Everything {
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
                _ => &[],
            };
            values.contains(&value.as_str())
        }

        fn speaks(&self, code: &str) -> bool {
            code == "en"
        }

        fn share(&self, path: &str) -> f64 {
            if path == "genre" { 1.0 } else { 0.1 }
        }

        /// Quantities from 1 to 30.
        fn quantile(&self, _: &str, part: f64) -> Option<f64> {
            Some((part * 30.0).round())
        }
    }

    /// An index of bare texts.
    struct Nothing;

    impl Known for Nothing {
        fn has_number(&self, _: &str) -> bool {
            false
        }

        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }

        fn has_value(&self, _: &str, _: &str) -> bool {
            false
        }

        fn speaks(&self, _: &str) -> bool {
            false
        }

        fn share(&self, _: &str) -> f64 {
            0.0
        }

        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
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
        for text in ["quick soup, no nuts, under 30 minutes", "films from the 90s under $5", "heat flow without shear"]
        {
            let found = understood(text, &Nothing);
            assert_eq!(found, ParsedQuestion { text: text.to_owned(), ..ParsedQuestion::default() });
        }
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
