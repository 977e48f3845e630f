//! What the tests of all rules share.

use std::sync::LazyLock;

use forecourt_core::Language;
use forecourt_vocabulary::{QuestionLexicon, Vocabulary};
use jiff::civil::Date;

use crate::filter::Filter;
use crate::learnt::LearntProperties;
use crate::named::named;
use crate::parsed_question::ParsedQuestion;
use crate::question::understand;
use crate::scope::{QuestionScope, ReadingAids};

/// What a question means, read with the vocabulary that comes with the program.
pub(crate) fn understood(text: &str, known: &dyn QuestionScope) -> ParsedQuestion {
    understood_in(text, known, "en")
}

/// The same, said back in a language, at noon of Monday, the 23rd of November 2026.
pub(crate) fn understood_in(text: &str, known: &dyn QuestionScope, language: &str) -> ParsedQuestion {
    with_aids(known, language, |aids| understand(text, aids))
}

/// The same in an index whose items state what was learnt from them.
pub(crate) fn understood_with(text: &str, known: &dyn QuestionScope, learnt: &LearntProperties) -> ParsedQuestion {
    with_aids(known, "en", |aids| understand(text, ReadingAids { learnt, ..aids }))
}

fn with_aids<T>(known: &dyn QuestionScope, language: &str, read: impl FnOnce(ReadingAids<'_>) -> T) -> T {
    static LEXICON: LazyLock<QuestionLexicon> = LazyLock::new(|| QuestionLexicon::of(&Vocabulary::shipped()));
    let (vocabulary, answer_in) = (Vocabulary::shipped(), Language::parse(language).unwrap());
    static NOTHING: LazyLock<LearntProperties> = LazyLock::new(LearntProperties::default);
    let today = Some(Date::constant(2026, 11, 23));
    read(ReadingAids {
        known,
        vocabulary: &vocabulary,
        lexicon: &LEXICON,
        answer_in: &answer_in,
        learnt: &NOTHING,
        today,
        minute: Some(12 * 60),
    })
}

/// What is read with an index, for an answer in a language.
pub(crate) fn read_with<T>(known: &dyn QuestionScope, language: &str, read: impl FnOnce(ReadingAids<'_>) -> T) -> T {
    with_aids(known, language, read)
}

/// What a caller means by a name and a value, read in the same way.
pub(crate) fn read_named(name: &str, value: &serde_json::Value) -> Vec<Filter> {
    with_aids(&Everything, "en", |aids| named(name, value, aids))
}

/// An index of recipes and movies with prices.
pub(crate) struct Everything;

impl QuestionScope for Everything {
    fn has_number(&self, path: &str) -> bool {
        matches!(path, "totalTime" | "datePublished" | "offers.price" | "aggregateRating.ratingValue" | "geo.latitude")
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

    fn states(&self, area: &str) -> bool {
        area == "food"
    }

    fn position(&self, name: &str) -> Option<(f64, f64)> {
        name.eq_ignore_ascii_case("porto").then_some((41.15, -8.61))
    }
}

/// An index of bare texts that state one number at most, at this path.
pub(crate) struct Bare(pub(crate) &'static str);

impl QuestionScope for Bare {
    fn has_number(&self, path: &str) -> bool {
        path == self.0
    }

    fn has_word(&self, _: &str, _: &str) -> bool {
        false
    }

    fn has_value(&self, _: &str, _: &str) -> bool {
        false
    }

    fn share(&self, path: &str) -> f64 {
        f64::from(u8::from(path == self.0))
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

    fn states(&self, _: &str) -> bool {
        false
    }
}

/// An index of items that state numbers at these paths, or at paths that begin so with a dot.
pub(crate) struct Stating(pub(crate) &'static [&'static str]);

impl QuestionScope for Stating {
    fn has_number(&self, path: &str) -> bool {
        self.0.iter().any(|known| path == *known || (known.ends_with('.') && path.starts_with(known)))
    }

    fn has_word(&self, _: &str, _: &str) -> bool {
        false
    }

    fn has_value(&self, path: &str, value: &str) -> bool {
        self.0.iter().any(|known| known.split_once('=') == Some((path, value)))
    }

    fn share(&self, path: &str) -> f64 {
        f64::from(u8::from(self.has_number(path)))
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

    fn states(&self, _: &str) -> bool {
        false
    }
}

/// Items that state numbers where `has_number` says so, of which some are found as `finds` says.
pub(crate) struct Numbered {
    pub(crate) has_number: fn(&str) -> bool,
    pub(crate) finds: fn(&str, &[Filter]) -> bool,
}

/// Items that have prices, stars and a first day, of which some keep any limits.
pub(crate) const FINDING: Numbered = Numbered {
    has_number: |path| ["offers.price", "starRating.ratingValue", "datePosted", "jobStartDate"].contains(&path),
    finds: |_, _| true,
};

impl QuestionScope for Numbered {
    fn has_number(&self, path: &str) -> bool {
        (self.has_number)(path)
    }
    fn has_word(&self, _: &str, _: &str) -> bool {
        false
    }
    fn has_value(&self, _: &str, _: &str) -> bool {
        false
    }
    fn share(&self, path: &str) -> f64 {
        f64::from(u8::from(QuestionScope::has_number(self, path)))
    }
    fn quantile(&self, _: &str, _: f64) -> Option<f64> {
        None
    }
    fn finds(&self, text: &str, filters: &[Filter]) -> bool {
        (self.finds)(text, filters)
    }
    fn is_name(&self, _: &str) -> bool {
        false
    }
    fn states(&self, _: &str) -> bool {
        false
    }
}

/// The text that is left, and the wordings of the filters.
pub(crate) fn parts(text: &str) -> (String, Vec<String>) {
    let found = understood(text, &Everything);
    (found.text, found.filters.into_iter().map(|filter| filter.words).collect())
}
