//! Months that items name in a property of their own, such as a season or the time of flowering, and questions for them.

use forecourt_vocabulary::{
    PhraseMeaning, Quantity, QuestionLexicon, QuestionToken, WordClass, compared, folded, tokens,
};
use jiff::civil::Date;

use crate::filter::Filter;
use crate::paths::CALENDAR_MONTH;
use crate::quantity::within;
use crate::reader::Reader;

/// Bytes of the longest text that is read as months.
const MONTHS_BYTES_MAX: usize = 60;
/// Months of a year.
const YEAR: u8 = 12;
/// What stands for all months, folded.
const ALL_YEAR: &[&str] = &[
    "all year",
    "all year round",
    "year round",
    "year-round",
    "open all year",
    "ganzjahrig",
    "ganzjahrig geoffnet",
    "das ganze jahr",
    "toute l'annee",
    "todo el ano",
    "all seasons",
];
/// Words beside the names of months that say nothing of their own, without accents.
const BESIDE: &[&str] =
    &["from", "von", "vom", "de", "du", "d", "del", "desde", "in", "im", "en", "the", "der", "den", "el", "le"];
/// What stands between the ends of a range, without accents.
const TIES: &[&str] = &["to", "until", "till", "through", "bis", "a", "au", "al", "hasta", "-", "–"];
/// Letters of the beginning by which a word of a question names a property.
const BEGIN_LETTERS: usize = 4;
/// How German participles begin.
const DONE: &str = "ge";
/// The same of one property alone.
const NEAR_LETTERS: usize = 3;

/// The months that a text names and nothing else, 1 to 12: "December to March", "1 April – 31 October", "May, June",
/// "ganzjährig". Empty: it says more, or something else.
pub fn of_text(text: &str) -> Vec<u8> {
    if text.len() > MONTHS_BYTES_MAX || !text.contains(char::is_alphabetic) {
        return Vec::new();
    }
    if ALL_YEAR.contains(&folded(text.trim()).as_str()) {
        return (1..=YEAR).collect();
    }
    let (tokens, lexicon) = (tokens(text), QuestionLexicon::shipped());
    let (mut all, mut at, mut is_range): (Vec<u8>, usize, bool) = (Vec::new(), 0, false);
    while at < tokens.len() {
        let meanings = lexicon.meanings(&tokens[at..]);
        let month = meanings.iter().find_map(|(meaning, length)| match meaning {
            PhraseMeaning::Month(month) => u8::try_from(*month).ok().map(|month| (month, *length)),
            _ => None,
        });
        let is_part = || {
            let is = |(meaning, _): &(&PhraseMeaning, usize)| {
                matches!(
                    meaning,
                    PhraseMeaning::DateWord(_) | PhraseMeaning::Word(WordClass::And | WordClass::OrdinalEnding)
                )
            };
            meanings.iter().any(is)
        };
        let word = tokens[at].word.as_str();
        match month {
            Some((month, length)) => {
                match all.last().filter(|_| is_range) {
                    Some(first) => all.extend(through(*first, month)),
                    None => all.push(month),
                }
                is_range = false;
                at += length;
                continue;
            }
            None if TIES.contains(&word) && !all.is_empty() => is_range = true,
            None if tokens[at].number().is_some() || BESIDE.contains(&word) || matches!(word, "," | ".") => {}
            None if is_part() => {}
            None => return Vec::new(),
        }
        at += 1;
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The months behind one up to another, over the end of a year, too.
fn through(first: u8, last: u8) -> Vec<u8> {
    (1..=YEAR).map(|step| (first - 1 + step) % YEAR + 1).take_while(|month| *month != last).chain([last]).collect()
}

/// What names a month of these days, where items name months in one property, or in one that the question names, and none
/// of those has a date of its own: what takes place in March is not on in December, though its season is.
pub(crate) fn limit(reader: &Reader<'_>, days: &[(Option<Date>, Option<Date>)], words: &str) -> Option<Filter> {
    let all = reader.aids.learnt.calendars();
    let is_named = |(name, _): &&(String, String)| name.split(' ').any(|word| is_asked(reader, word));
    let path = match all {
        [(_, path)] => path,
        several => several.iter().find(is_named).or_else(|| nearly_named(reader, several)).map(|(_, path)| path)?,
    };
    if has_dated(reader, path) {
        return None;
    }
    let mut months: Vec<u8> = Vec::new();
    for (from, to) in days {
        let ((Some(from), Some(to)), month) = ((from, to), |day: &Date| day.month().unsigned_abs()) else {
            return None;
        };
        months.push(month(from));
        if month(from) != month(to) || from.year() != to.year() {
            months.extend(through(month(from), month(to)));
        }
    }
    months.sort_unstable();
    months.dedup();
    let path = format!("{path}.{CALENDAR_MONTH}");
    let of = |month: &u8| within(&path, Some(f64::from(*month)), Some(f64::from(*month)), words.to_owned());
    (!months.is_empty()).then(|| Filter::any_of(months.iter().map(of).collect(), words.to_owned()))
}

/// The one property of which a word begins nearly like one of the question: the "Blütezeit" of what "blüht".
fn nearly_named<'a>(reader: &Reader<'_>, all: &'a [(String, String)]) -> Option<&'a (String, String)> {
    let is_near = |(name, _): &&(String, String)| name.split(' ').any(|word| begins_alike(reader, word, NEAR_LETTERS));
    let mut near = all.iter().filter(is_near);
    near.next().filter(|_| near.next().is_none())
}

/// Whether some item that names months in this property has a date, too.
fn has_dated(reader: &Reader<'_>, path: &str) -> bool {
    let known = reader.aids.known;
    let any = |path: &str| within(path, None, None, String::new());
    let months = any(&format!("{path}.{CALENDAR_MONTH}"));
    let mut dates = reader.table.paths(Quantity::Date).iter().filter(|date| known.has_number(date));
    dates.any(|date| known.finds("", &[months.clone(), any(date)]))
}

/// Whether a question has a word of a property's name, in whichever form: "sow" of a sowing time.
fn is_asked(reader: &Reader<'_>, word: &str) -> bool {
    begins_alike(reader, word, BEGIN_LETTERS)
}

/// Whether a word of a question has the first letters of a word.
fn begins_alike(reader: &Reader<'_>, word: &str, letters: usize) -> bool {
    let word = compared(word, "en");
    let begin = |text: &str| text.chars().take(letters).collect::<String>();
    let is_long = word.chars().count() >= letters;
    // "Geerntet", of a time of harvest.
    let forms = |token: &QuestionToken| [Some(token.word.clone()), token.word.strip_prefix(DONE).map(str::to_owned)];
    let is_form = |form: String| begin(&form) == begin(&word);
    is_long && reader.tokens.iter().any(|token| forms(token).into_iter().flatten().any(is_form))
}

#[cfg(test)]
mod tests {
    use forecourt_vocabulary::Vocabulary;
    use proptest::prelude::*;

    use super::*;
    use crate::learnt::{LearntProperties, StatedProperty, StatedValues};
    use crate::scope::QuestionScope;
    use crate::tests::understood_with;

    #[test]
    fn texts_name_months_in_many_forms() {
        for (text, months) in [
            ("May", &[5][..]),
            ("December–February", &[1, 2, 12]),
            ("1 April to 31 October", &[4, 5, 6, 7, 8, 9, 10]),
            ("Juni bis August", &[6, 7, 8]),
            ("junio a agosto", &[6, 7, 8]),
            ("de mars à mai", &[3, 4, 5]),
            ("March, April and June", &[3, 4, 6]),
            ("October to early December", &[10, 11, 12]),
            ("ganzjährig", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
            ("open all year", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ] {
            assert_eq!(of_text(text), months, "{text}");
        }
        for text in ["Mai Tai", "may contain nuts", "winter", "12", "", "March of the Penguins", "steel to oak"] {
            assert!(of_text(text).is_empty(), "{text}: {:?}", of_text(text));
        }
        assert!(of_text(&format!("May{}", " ".repeat(MONTHS_BYTES_MAX - 3))).len() == 1);
        assert!(of_text(&format!("May{}", " ".repeat(MONTHS_BYTES_MAX - 2))).is_empty());
    }

    /// Workshops with a date, and things with a season. The answer: whether something has both.
    struct Seasons(bool);

    impl QuestionScope for Seasons {
        fn has_number(&self, path: &str) -> bool {
            path == "startDate"
        }
        fn has_word(&self, _: &str, _: &str) -> bool {
            false
        }
        fn has_value(&self, _: &str, _: &str) -> bool {
            false
        }
        fn share(&self, _: &str) -> f64 {
            0.5
        }
        fn quantile(&self, _: &str, _: f64) -> Option<f64> {
            None
        }
        fn finds(&self, text: &str, _: &[Filter]) -> bool {
            text.is_empty() && self.0
        }
        fn is_name(&self, _: &str) -> bool {
            false
        }
        fn states(&self, _: &str) -> bool {
            false
        }
    }

    #[test]
    fn a_season_stands_in_for_a_date_only_where_nothing_has_both() {
        let path = format!("additionalProperty.Season.{CALENDAR_MONTH}");
        let values = StatedValues::Numbers { are_whole: true };
        let season = StatedProperty { path: path.clone(), share: 0.5, values };
        let learnt = LearntProperties::of(vec![season], &Vocabulary::shipped());
        for has_both in [false, true] {
            let found = understood_with("workshops in December", &Seasons(has_both), &learnt);
            let mut fields = found.filters.iter().flat_map(|filter| &filter.fields);
            assert_eq!(fields.any(|field| *field == path), !has_both, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_names_months_of_a_year_or_none(text in "(May|to|bis|-|,|1|March|de| |[a-z]){0,20}") {
            prop_assert!(of_text(&text).iter().all(|month| (1..=YEAR).contains(month)));
        }
    }
}
