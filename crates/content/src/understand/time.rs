//! "under 30 minutes", "in half an hour", "30-minute meals", "quick"; "unter 30 Minuten", "en moins de 30
//! minutes", "en menos de 30 minutos".

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Draft, amount, pattern, within};
use crate::search::Filter;

/// Properties that say how long something takes, the most telling first.
pub(super) const WORK: &[&str] = &["totalTime", "cookTime", "prepTime", "performTime"];
/// Properties that say how long something lasts.
pub(super) const LENGTH: &[&str] = &["duration", "timeRequired"];
/// What "quick" promises, in minutes.
const QUICK_MINUTES: f64 = 30.0;

const NUMBER: &str = r"(half an?|an?|one|two|three|four|five|ten|fifteen|twenty|thirty|forty-five|forty|fifty|sixty|einer?\s+halben|eine[rm]?|une\s+demi|une|una|media|\d{1,4}(?:[.,]\d)?)";
const UNIT: &str = r"[\s-]*(minutes?|minuten?|minutos?|mins?|hours?|hrs?|h|stunden?|std|heures?|horas?)\b";
/// What stands between a comparison and its number: French elides.
const SPACE: &str = r"(?:\s+|['\u{2019}])";
/// English, German, French and Spanish for "at most".
const MOST: &str = r"(?:under|below|less\s+than|within|at\s+most|max(?:imum)?|up\s+to|(?:no|not)\s+more\s+than|no\s+longer\s+than|shorter\s+than|in|unter|höchstens|maximal|bis\s+zu|(?:in\s+)?weniger\s+als|innerhalb\s+von|en|(?:en\s+)?moins\s+de?|(?:en\s+)?menos\s+de|como\s+máximo)";
/// The same for "at least".
const LEAST: &str = r"(?:over|more\s+than|longer\s+than|at\s+least|über|mehr\s+als|länger\s+als|mindestens|plus\s+de?|au\s+moins|más\s+de|al\s+menos)";

static AT_MOST: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?:(?:that\s+)?(?:takes?|ready|done|made|prepared|cooks?|cooked)\s+)?(?:in\s+)?";
    pattern(&format!(r"\b{before}{MOST}{SPACE}{NUMBER}{UNIT}(?:\s+or\s+(?:less|under|so))?"))
});
static OR_LESS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b{NUMBER}{UNIT}\s+(?:or\s+(?:less|under|faster)|max(?:imum)?|tops)\b")));
static AT_LEAST: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b{LEAST}{SPACE}{NUMBER}{UNIT}")));
/// `30-minute meals`: the unit in the singular, in front of what it describes.
static ADJECTIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d{1,4})[\s-](minute|min|hour)\b"));
static QUICK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:quick|quickly|fast|speedy|in\s+a\s+(?:hurry|rush)|schnelle?[mnrs]?|rapides?|rápid[oa]s?)\b(\s+(?:breads?|oats?|pickles?|pickled|food|cooking))?",
    )
});

pub(super) fn read(draft: &mut Draft<'_>) {
    let work = draft.number_path(WORK);
    let Some(path) = work.or_else(|| draft.number_path(LENGTH)) else { return };
    let at_most = |found: &Captures<'_>, _: &str| minutes(found).map(|minutes| most(path, minutes));
    let mut limited = draft.each(&AT_MOST, at_most) | draft.each(&OR_LESS, at_most);
    limited |= draft.each(&AT_LEAST, |found, _| {
        minutes(found).map(|minutes| within(path, Some(minutes), None, format!("{} or more", spell(minutes))))
    });
    if work.is_some() && !limited {
        limited = draft.each(&ADJECTIVE, at_most);
    }
    if work.is_some() && !limited {
        // A quick bread is a kind of bread.
        limited = draft.each(&QUICK, |found, _| found.get(1).is_none().then(|| most(path, QUICK_MINUTES)));
    }
    if limited {
        draft.out.filters.dedup();
        draft.note("Items that don't state how long they take are left out.");
    }
}

fn most(path: &str, minutes: f64) -> Filter {
    within(path, None, Some(minutes), format!("{} or less", spell(minutes)))
}

fn minutes(found: &Captures<'_>) -> Option<f64> {
    let unit = found.get(2)?.as_str().to_lowercase();
    let minutes = amount(found.get(1)?.as_str())? * if unit.starts_with('m') { 1.0 } else { 60.0 };
    (minutes > 0.0).then_some(minutes)
}

/// `45 minutes`, `1 hour`, `1.5 hours`.
pub(crate) fn spell(minutes: f64) -> String {
    let (value, unit) = if minutes >= 60.0 { (minutes / 60.0, "hour") } else { (minutes, "minute") };
    let value = (value * 100.0).round() / 100.0;
    format!("{value} {unit}{}", if value == 1.0 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::super::tests::parts;

    #[test]
    fn limits_are_read_in_many_forms() {
        for (text, left, limit) in [
            ("soup under 30 minutes", "soup", "30 minutes or less"),
            ("soup in under 30 mins", "soup", "30 minutes or less"),
            ("Soup ready in half an hour", "Soup", "30 minutes or less"),
            ("soup that takes less than an hour", "soup", "1 hour or less"),
            ("soup in 1.5 hours or less", "soup", "1.5 hours or less"),
            ("20-minute dinner", "dinner", "20 minutes or less"),
            ("dinner 45 min max", "dinner", "45 minutes or less"),
            ("no more than twenty minutes, soup", "soup", "20 minutes or less"),
            ("stew over 2 hours", "stew", "2 hours or more"),
            ("quick soup", "soup", "30 minutes or less"),
            ("quick soup under 15 minutes", "quick soup", "15 minutes or less"),
            ("desserts under an hour", "desserts", "1 hour or less"),
            ("Suppe unter 30 Minuten", "Suppe", "30 minutes or less"),
            ("schnelle Suppe", "Suppe", "30 minutes or less"),
            ("Eintopf in weniger als einer halben Stunde", "Eintopf", "30 minutes or less"),
            ("Braten, mindestens 2 Stunden", "Braten", "2 hours or more"),
            ("soupe en moins de 30 minutes", "soupe", "30 minutes or less"),
            ("soupe, moins d'une heure", "soupe", "1 hour or less"),
            ("sopa en menos de 30 minutos", "sopa", "30 minutes or less"),
            ("sopa en media hora", "sopa", "30 minutes or less"),
            ("sopa rápida", "sopa", "30 minutes or less"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn other_uses_of_the_words_stay() {
        for text in [
            "quick bread",
            "fast food burger",
            "breakfast",
            "7 hour",
            "soup for 30 people",
            "under the sea",
            "minute steak",
        ] {
            let expected = if text == "7 hour" { vec!["7 hours or less".to_owned()] } else { Vec::new() };
            assert_eq!(parts(text).1, expected, "{text}");
        }
    }
}
