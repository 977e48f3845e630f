//! "at least 4 stars", "rated 4.5 or better", "highly rated".

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Draft, amount, pattern, within};
use crate::search::Filter;

/// Properties that say what people think of an item.
pub(super) const PATHS: &[&str] = &[
    "aggregateRating.ratingValue",
    "starRating.ratingValue",
    "review.reviewRating.ratingValue",
    "reviewRating.ratingValue",
    "ratingValue",
];
/// Of all ratings, the part that "highly rated" leaves out.
const TWO_THIRDS: f64 = 2.0 / 3.0;

const NUMBER: &str = r"(\d(?:[.,]\d)?)";
const STARS: &str = r"[\s-]*(?:stars?|sternen?|étoiles?|estrellas?)";
const OR_MORE: &str = r"(?:\s*\+|\s+(?:or|and)\s+(?:more|better|higher|above|up|over))";
const LEAST: &str = r"(?:at\s+least|over|above|more\s+than|better\s+than|min(?:imum)?|mindestens|über|au\s+moins|plus\s+de|al\s+menos|más\s+de)";

static AT_LEAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(?:(?:rated|with|of)\s+)?{LEAST}\s+{NUMBER}\+?{STARS}\b")));
static OR_BETTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b(?:rated\s+)?{NUMBER}(?:{STARS}{OR_MORE}?|\+{STARS})(?:\s+(?:rated|rating))?\b"))
});
static RATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b(?:rated|rating|with\s+a\s+rating)\s+(?:of\s+)?(?:{LEAST}\s+)?{NUMBER}(?:{OR_MORE}|\b)"))
});
static AT_MOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(r"\b(?:rated\s+)?(?:under|below|less\s+than|at\s+most|up\s+to)\s+{NUMBER}{STARS}\b"))
});
static HIGHLY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:highly|well|best|top)[\s-]rated\b"));

pub(super) fn read(draft: &mut Draft<'_>) {
    let Some(path) = draft.number_path(PATHS) else { return };
    let known = draft.known;
    let number = |found: &Captures<'_>| amount(found.get(1)?.as_str());
    let at_least = |found: &Captures<'_>, _: &str| number(found).map(|from| least(path, from));
    let mut limited = draft.each(&AT_MOST, |found, _| {
        let to = number(found)?;
        Some(within(path, None, Some(to), format!("rated {to} or less")))
    });
    limited |= [&AT_LEAST, &OR_BETTER, &RATED].into_iter().fold(false, |any, it| draft.each(it, at_least) | any);
    limited |= draft.each(&HIGHLY, |_, _| known.quantile(path, TWO_THIRDS).map(|from| least(path, from)));
    if limited {
        draft.note("Items without a rating are left out.");
    }
}

fn least(path: &str, from: f64) -> Filter {
    within(path, Some(from), None, format!("rated {from} or better"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::parts;

    #[test]
    fn ratings_are_read_in_many_forms() {
        for (text, left, limit) in [
            ("hotel with at least 4 stars", "hotel", "rated 4 or better"),
            ("4-star hotel", "hotel", "rated 4 or better"),
            ("hotel, 4+ stars", "hotel", "rated 4 or better"),
            ("hotel 4.5 stars or better", "hotel", "rated 4.5 or better"),
            ("hotel rated over 4", "hotel", "rated 4 or better"),
            ("hotel under 3 stars", "hotel", "rated 3 or less"),
            ("Hotel mit mindestens 4 Sternen", "Hotel mit", "rated 4 or better"),
            ("highly rated hotel", "hotel", "rated 20 or better"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
        for text in ["star wars", "hotel 4", "movie stars", "seven stars"] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }
}
