//! "From 1999", "in the 90s", "since 2010", "between 1980 and 1985", "after 1 May 2021", "this weekend", "in March".

use forecourt_vocabulary::{PhraseMeaning, Quantity, RelativeDate, WordClass};
use jiff::ToSpan;
use jiff::civil::Date;

use crate::date_list::{DateList, listed};
use crate::date_part::{part, skip_leads};
use crate::filter::{Filter, Test};
use crate::found::{FoundMeaning, Rank, UnderstoodPart};
use crate::learnt::{LearntProperty, StatedValues};
use crate::measure::days_of;
use crate::moment::TO_MIDNIGHT;
use crate::named_date::{name, relative_end};
use crate::paths::EVENT_DAYS;
use crate::plain_date::{DaysLimit, NamedDate, Wording, day_number};
use crate::quantity::within;
use crate::reader::Reader;
use crate::{date_ends, months, weekly};

/// How the names of dates end on which something was made, and on none of which anybody can have it.
const PUBLISHED: [&str; 4] = ["datePublished", "dateCreated", "copyrightYear", "productionDate"];

/// Whether today is when somebody wants to have something: who would have a book today asks for none that was published
/// today.
fn is_day_of_wish(reader: &Reader<'_>, tokens: &std::ops::Range<usize>) -> bool {
    let is_today = |meaning: &PhraseMeaning| (*meaning == PhraseMeaning::Relative(RelativeDate::Today)).then_some(());
    let says_today = tokens.clone().any(|at| reader.longest(at, is_today).is_some_and(|((), end)| end == tokens.end));
    let is_published = || tokens.clone().any(|at| reader.class(at, WordClass::Made).is_some());
    let is_of_making = |path: &str| PUBLISHED.iter().any(|end| path.ends_with(end));
    says_today && !is_published() && reader.path(Quantity::Date).is_some_and(is_of_making)
}

/// The dates that a question is limited to here.
pub(crate) fn read(reader: &Reader<'_>, at: usize, floor: usize) -> Option<UnderstoodPart> {
    let (limit, tokens) = either(reader, limit(reader, at, floor)?);
    // "Currently" says something of what takes place, and nothing of a shoe.
    let is_now = |meaning: &PhraseMeaning| (*meaning == PhraseMeaning::Relative(RelativeDate::Now)).then_some(());
    let is_event = EVENT_DAYS.iter().all(|path| reader.aids.known.has_number(path));
    if !is_event && tokens.clone().any(|at| reader.longest(at, is_now).is_some()) {
        return None;
    }
    if !is_event && is_day_of_wish(reader, &tokens) {
        return (!reader.is_name()).then(|| UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood));
    }
    // A film `set in the 80s` is not one of the 80s; a concert takes place then.
    let is_story = tokens.start.checked_sub(1).is_some_and(|before| reader.is_single(before, WordClass::Story));
    if is_story && !is_event {
        return None;
    }
    let ahead = date_ends::of_days_ahead(reader, &tokens, limit.as_ref());
    if let Some(part) = ahead.or_else(|| date_ends::closing(reader, &tokens, limit.as_ref())) {
        return Some(part);
    }
    let path = reader.path(Quantity::Date);
    let months = limit.as_ref().and_then(|(all, words)| months::limit(reader, all, words));
    match (path, limit) {
        // What is dated says when it takes place, and what is not may name its months.
        (None, Some(_)) if months.is_some() => {
            Some(UnderstoodPart::limit(tokens, Rank::Quantity(Quantity::Date), months?))
        }
        (Some(path), Some((all, words))) => {
            let ends = |(from, to): (Option<Date>, Option<Date>)| {
                (from.map(days_of), to.map(|day| days_of(day) + TO_MIDNIGHT))
            };
            let is_weekday = is_weekday(reader, &tokens);
            let each = all.into_iter().map(|days| on_days(reader, path, ends(days), is_weekday, &words));
            let dated: Vec<Filter> = each.chain(months).collect();
            let mut filters = vec![Filter::any_of(dated, words.clone())];
            let mut tokens = tokens;
            // German verbs come last: "seit dem 1. Dezember ausgeschrieben".
            if reader.is_single(tokens.end, WordClass::Made) && reader.ends_clause(tokens.end + 1) {
                tokens.end += 1;
            }
            // "Tonight", "on Friday evening": a time beside the day.
            if let Some((time, both)) = weekly::of_date(reader, &tokens, floor) {
                filters.push(time);
                tokens = reader.absorb(reader.absorb(both.start, WordClass::Article, floor), WordClass::AtTime, floor)
                    ..both.end;
            }
            Some(UnderstoodPart::new(tokens, FoundMeaning::Limits(Rank::Quantity(Quantity::Date), filters)))
        }
        (None, Some((all, words))) if states_year(reader) => {
            let each = all.into_iter().map(|(from, to)| of_years(reader, from, to, &words));
            let filter = Filter::any_of(each.collect(), words.clone());
            Some(UnderstoodPart::limit(tokens, Rank::Quantity(Quantity::Date), filter))
        }
        _ => {
            let is_limit = reader.states_facts() && !reader.is_name();
            is_limit.then(|| UnderstoodPart::new(tokens, FoundMeaning::NotUnderstood))
        }
    }
}

/// Times of which any will do: "before the 12th or after the 20th".
fn either(reader: &Reader<'_>, first: (Limit, std::ops::Range<usize>)) -> (Limit, std::ops::Range<usize>) {
    let (mut limit, mut tokens) = first;
    while let Some((all, words)) = limit.as_mut().filter(|(all, _)| all.len() < EITHER_MAX)
        && let Some(behind) = reader.class(tokens.end, WordClass::Or)
        && let Some((Some((more, said)), other)) = self::limit(reader, behind, behind)
    {
        all.extend(more);
        *words = reader.say("or", &[words, &said]);
        tokens.end = other.end;
    }
    (limit, tokens)
}

/// Times of which one question names any.
const EITHER_MAX: usize = 8;

/// What the vocabulary calls the year in which a thing was made.
const YEAR_MADE: &str = "year-built";

/// The properties in which items say the year that they are from.
fn years(reader: &Reader<'_>) -> impl Iterator<Item = String> {
    let is_year = |property: &&LearntProperty| {
        property.id.as_deref() == Some(YEAR_MADE) && matches!(property.stated.values, StatedValues::Numbers { .. })
    };
    reader.aids.learnt.all().map(|(_, property)| property).filter(is_year).map(|property| property.stated.path.clone())
}

fn states_year(reader: &Reader<'_>) -> bool {
    years(reader).next().is_some()
}

/// What is from these years: a house that was built after 2010, a wine of 2018.
fn of_years(reader: &Reader<'_>, from: Option<Date>, to: Option<Date>, words: &str) -> Filter {
    let year = |day: Date| f64::from(day.year());
    let test = Test::Within { from: from.map(year), to: to.map(year) };
    Filter { fields: years(reader).collect(), test, words: words.to_owned() }
}

/// What is dated so. An event is on every day from its first one to its last.
fn on_days(
    reader: &Reader<'_>,
    path: &str,
    (from, to): (Option<f64>, Option<f64>),
    is_weekday: bool,
    words: &str,
) -> Filter {
    let words = words.to_owned();
    let is_event = EVENT_STARTS.contains(&path) && EVENT_DAYS.iter().all(|path| reader.aids.known.has_number(path));
    match is_event {
        true => {
            let fields = EVENT_DAYS.iter().map(|path| (*path).to_owned()).collect();
            let dated = Filter { fields, test: Test::Overlaps { from, to, or_unstated: false }, words: words.clone() };
            let weekly = weekly::on_days_of(reader, (from, to), is_weekday, &words);
            Filter::any_of(std::iter::once(dated).chain(weekly).collect(), words)
        }
        false => within(path, from, to, words),
    }
}

/// Whether a date is a day of the week and nothing more: "on Monday". What comes back on Mondays is meant, too.
fn is_weekday(reader: &Reader<'_>, tokens: &std::ops::Range<usize>) -> bool {
    let is = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::Weekday(_)).then_some(());
    let is_written = |at: usize| reader.token(at).is_some_and(|token| token.number().is_some());
    tokens.clone().any(|at| reader.longest(at, is).is_some()) && !tokens.clone().any(is_written)
}

/// The properties that say when an event begins, or a course.
const EVENT_STARTS: [&str; 2] = ["startDate", "hasCourseInstance.startDate"];

/// `None`: the limit depends on today, which is not known.
type Limit = Option<DaysLimit>;

fn one(first: Option<Date>, last: Option<Date>, words: String) -> Limit {
    Some((vec![(first, last)], words))
}

fn limit(reader: &Reader<'_>, at: usize, floor: usize) -> Option<(Limit, std::ops::Range<usize>)> {
    let made = reader.skip(at, &[WordClass::Made]);
    let class = |class| reader.class(made, class);
    let absorbed = |end: usize| reader.absorb(reader.absorb(at, WordClass::Made, floor), WordClass::AtTime, floor)..end;
    let led_range = class(WordClass::Between).and_then(|at| between(reader, at));
    if let Some(between) = led_range.or_else(|| bare_range(reader, made)) {
        return Some((between.0, absorbed(between.1)));
    }
    if let Some((limit, end)) = from_day(reader, made) {
        return Some((limit, absorbed(end)));
    }
    let named = |class: WordClass| reader.class(made, class).and_then(|at| name(reader, skip_leads(reader, at)));
    if let Some(found) = named(WordClass::After) {
        let named = found?;
        // After a year is from the first day of the next one on: the named time itself is left out.
        let day = named.last.and_then(|last| last.checked_add(1.day()).ok());
        return Some((one(day, None, later(reader, day?)), absorbed(named.end)));
    }
    if let Some(found) = named(WordClass::Before) {
        let named = found?;
        let day = named.first.checked_sub(1.day()).ok();
        return Some((one(None, day, earlier(reader, day?)), absorbed(named.end)));
    }
    if let Some(Some(named)) = named(WordClass::Since) {
        return Some((one(Some(named.first), None, later(reader, named.first)), absorbed(named.end)));
    }
    if let Some(Some(named)) = named(WordClass::Until) {
        return named.last.map(|last| (one(None, Some(last), earlier(reader, last)), absorbed(named.end)));
    }
    // "Early March" is a part of it, and "early" alone only leads to a date.
    let begins_part = part(reader, made).is_some();
    let led = class(WordClass::AtTime).filter(|_| !begins_part).map(|at| skip_leads(reader, at));
    let start = led.unwrap_or(made);
    if let Some(list) = listed(reader, start).filter(|list| led.is_some() || list.stands_alone) {
        let words = list_words(reader, &list, start);
        let days = list.days.iter().map(|(first, last)| (Some(*first), Some(*last))).collect();
        return Some((Some((days, words)), absorbed(list.end)));
    }
    let named = name(reader, start).or_else(|| name(reader, made))?;
    let Some(named) = named else {
        let end = relative_end(reader, start).or_else(|| relative_end(reader, made))?;
        return Some((None, absorbed(end)));
    };
    if let Some(end) = reader.class(named.end, WordClass::OrLater) {
        return Some((one(Some(named.first), None, later(reader, named.first)), absorbed(end)));
    }
    if let (Some(end), Some(last)) = (reader.class(named.end, WordClass::OrEarlier), named.last) {
        return Some((one(None, Some(last), earlier(reader, last)), absorbed(end)));
    }
    (led.is_some() || named.stands_alone).then(|| {
        let words = in_words(reader, &named, start);
        (one(Some(named.first), named.last, words), absorbed(named.end))
    })
}

/// Words behind which what takes place from a day on is meant.
const FROM: &[&str] = &["from", "vom"];
/// Words that may stand behind that day.
const ON: &[&str] = &["on", "an"];

/// "From 11 December", of what takes place: on that day or later.
fn from_day(reader: &Reader<'_>, at: usize) -> Option<(Limit, usize)> {
    let takes_place = EVENT_DAYS.iter().all(|path| reader.aids.known.has_number(path));
    let led = if takes_place && reader.says(at, FROM) { skip_leads(reader, at + 1) } else { return None };
    let named = name(reader, led)??;
    let is_day = named.last == Some(named.first);
    let end = named.end + usize::from(reader.says(named.end, ON));
    let end = reader.class(end, WordClass::OrLater).unwrap_or(end);
    is_day.then(|| (one(Some(named.first), None, later(reader, named.first)), end))
}

/// "1 to 10 December", with nothing in front of it.
fn bare_range(reader: &Reader<'_>, at: usize) -> Option<(Limit, usize)> {
    let (_, behind) = day_number(reader, at)?;
    let low_end = name(reader, at).flatten().map_or(behind, |low| low.end);
    // "The 1st and the 10th" are two days.
    let is_list = [WordClass::And, WordClass::Or].iter().any(|class| reader.class(low_end, *class).is_some());
    if is_list { None } else { between(reader, at) }
}

fn between(reader: &Reader<'_>, at: usize) -> Option<(Limit, usize)> {
    let begin = skip_leads(reader, at);
    let low = name(reader, begin).flatten();
    // "Between the 1st and the 10th of December": the month is told once.
    let (low_end, day) = match &low {
        Some(low) => (low.end, None),
        None => day_number(reader, begin).map(|(day, end)| (end, Some(day)))?,
    };
    let to = reader.class(low_end, WordClass::To)?;
    let high = name(reader, skip_leads(reader, to))??;
    let low = match (low, day) {
        (Some(low), _) => (low.first, low.last?),
        (None, Some(day)) => {
            let first = Date::new(high.first.year(), high.first.month(), day).ok();
            let first = first.filter(|first| high.last == Some(high.first) && *first <= high.first)?;
            (first, first)
        }
        (None, None) => return None,
    };
    let (first, last) = (low.0.min(high.first), low.1.max(high.last?));
    let words = reader.say("date_between", &[&spell(first, false), &spell(last, true)]);
    Some((one(Some(first), Some(last), words), high.end))
}

/// Times that are told one by one; more of them are told as they are written.
const TOLD_MAX: usize = 3;

/// A list in words.
fn list_words(reader: &Reader<'_>, list: &DateList, start: usize) -> String {
    if let ([(first, _), .., (_, last)], true) = (list.days.as_slice(), list.days.len() > TOLD_MAX) {
        let written = reader.written(start..list.end);
        return reader.say("date_within", &[written, &first.to_string(), &last.to_string()]);
    }
    let one = |(first, last): &(Date, Date)| match first == last {
        true => reader.say("date_in", &[&first.to_string()]),
        false => reader.say("date_between", &[&first.to_string(), &last.to_string()]),
    };
    let mut each = list.days.iter().map(one);
    let first = each.next().unwrap_or_default();
    each.fold(first, |all, next| reader.say("or", &[&all, &next]))
}

fn later(reader: &Reader<'_>, day: Date) -> String {
    reader.say("date_least", &[&spell(day, false)])
}

fn earlier(reader: &Reader<'_>, day: Date) -> String {
    reader.say("date_most", &[&spell(day, true)])
}

/// A day, or the year that begins or ends with it.
fn spell(day: Date, is_end: bool) -> String {
    let is_whole = (day.month(), day.day()) == if is_end { (12, 31) } else { (1, 1) };
    if is_whole { day.year().to_string() } else { day.to_string() }
}

fn in_words(reader: &Reader<'_>, named: &NamedDate, start: usize) -> String {
    match (named.wording, named.last) {
        (_, None) => later(reader, named.first),
        (Wording::Decade, _) => reader.say("date_decade", &[&named.first.year().to_string()]),
        (Wording::Written, _) => reader.say("date_in", &[reader.written(start..named.end)]),
        (Wording::Days, Some(last)) if last == named.first => reader.say("date_in", &[&last.to_string()]),
        (Wording::Days, Some(last)) => reader.say("date_between", &[&named.first.to_string(), &last.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::paths::LAST_DAY;
    use crate::tests::{Bare, Everything, Stating, parts, understood};

    #[test]
    fn years_and_decades_are_ranges() {
        for (text, left, limit) in [
            ("ships from 1999", "ships", "from 1999"),
            ("ships in the 90s", "ships", "from the 1990s"),
            ("80's ships", "ships", "from the 1980s"),
            ("1970s ships", "ships", "from the 1970s"),
            ("ships of the nineties", "ships", "from the 1990s"),
            ("ships since 2010", "ships", "2010 or later"),
            ("ships from 2010 onwards", "ships", "2010 or later"),
            ("ships, 2010 or newer", "ships", "2010 or later"),
            ("ships after 2010", "ships", "2011 or later"),
            ("ships made after May 1, 2021", "ships", "2021-05-02 or later"),
            ("ships after 2021-05", "ships", "2021-06-01 or later"),
            ("ships before 1990", "ships", "1989 or earlier"),
            ("ships before 12 March 1990", "ships", "1990-03-11 or earlier"),
            ("ships until 1990", "ships", "1990 or earlier"),
            ("ships from June 2020", "ships", "from June 2020"),
            ("ships released between 1985 and 1980", "ships", "from 1980 to 1985"),
            ("Schiffe aus den 90ern", "Schiffe", "from the 1990s"),
            ("Schiffe der 90er Jahre", "Schiffe", "from the 1990s"),
            ("Schiffe vor 1990", "Schiffe", "1989 or earlier"),
            ("Schiffe seit 2010", "Schiffe", "2010 or later"),
            ("bateaux des années 90", "bateaux", "from the 1990s"),
            ("bateaux après 2010", "bateaux", "2011 or later"),
            ("barcos de los años 90", "barcos", "from the 1990s"),
            ("barcos antes de 1990", "barcos", "1989 or earlier"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn titles_stories_and_ages_stay() {
        for text in [
            "2001 a space odyssey",
            "blade runner 2049",
            "a story set in 1944",
            "takes place in 1920",
            "50 ways",
            "people in their 30s",
            "room 2010b",
        ] {
            assert!(parts(text).1.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_year_ends_with_its_last_second() {
        let found = understood("ships from 1970", &Everything);
        let Test::Within { from: Some(from), to: Some(to) } = found.filters[0].test else { panic!() };
        assert!(from == 0.0 && to > 364.9 && to < 365.0);
    }

    #[test]
    fn dates_are_told_from_today() {
        for (text, left, limit) in [
            ("concerts tomorrow", "concerts", "from 2026-11-24"),
            ("concerts this weekend", "concerts", "from 2026-11-28 to 2026-11-29"),
            ("concerts next week", "concerts", "from 2026-11-30 to 2026-12-06"),
            ("concerts on Friday", "concerts", "from 2026-11-27"),
            ("concerts in the next 3 days", "concerts", "from 2026-11-23 to 2026-11-26"),
            ("Konzerte am Wochenende", "Konzerte", "from 2026-11-28 to 2026-11-29"),
            ("concerts ce week-end", "concerts", "from 2026-11-28 to 2026-11-29"),
            ("conciertos este fin de semana", "conciertos", "from 2026-11-28 to 2026-11-29"),
            ("ships from March", "ships", "from 2026-03-01 to 2026-03-31"),
        ] {
            assert_eq!(parts(text), (left.to_owned(), vec![limit.to_owned()]), "{text}");
        }
    }

    #[test]
    fn what_closes_on_days_that_are_not_over_closes_on_those() {
        for (text, first, last) in [
            ("applications closing by 12 December", date(2026, 11, 23), date(2026, 12, 12)),
            ("jobs closing this week", date(2026, 11, 23), date(2026, 11, 29)),
            ("jobs closing this month", date(2026, 11, 1), date(2026, 11, 30)),
            ("jobs closing in December", date(2026, 12, 1), date(2026, 12, 31)),
        ] {
            let found = understood(text, &Stating(&[LAST_DAY]));
            let tests: Vec<&Test> = found.filters.iter().map(|filter| &filter.test).collect();
            let test = Test::Within { from: Some(days_of(first)), to: Some(days_of(last) + TO_MIDNIGHT) };
            assert_eq!(tests, [&test], "{text}");
        }
    }

    /// What takes place.
    const EVENTS: Bare = Bare("startDate");

    #[test]
    fn holidays_and_seasons_are_those_that_come_next() {
        for (text, left, limit) in [
            ("concerts on new year's eve", "concerts", "from 2026-12-31"),
            ("concerts at Christmas", "concerts", "from 2026-12-24 to 2026-12-26"),
            ("concerts over Easter", "concerts", "from 2027-03-26 to 2027-03-29"),
            ("concerts this winter", "concerts", "from 2026-12-01 to 2027-02-28"),
            ("concerts in autumn", "concerts", "from 2026-09-01 to 2026-11-30"),
            ("concerts before Christmas", "concerts", "2026-12-23 or earlier"),
            ("Konzerte an Silvester", "Konzerte", "from 2026-12-31"),
            ("Konzerte im Sommer", "Konzerte", "from 2027-06-01 to 2027-08-31"),
            ("concerts cet automne", "concerts", "from 2026-09-01 to 2026-11-30"),
            ("conciertos en nochevieja", "conciertos", "from 2026-12-31"),
            ("concerts on satturday", "concerts", "from 2026-11-28"),
            ("concerts on Saturday 12 December", "concerts", "from 2026-12-12"),
            ("Konzerte am Samstag, dem 12. Dezember", "Konzerte", "from 2026-12-12"),
            ("concerts in January or February", "concerts", "from 2027-01-01 to 2027-02-28"),
            (
                "concerts before 5 December or after 20 December",
                "concerts",
                "2026-12-04 or earlier or 2026-12-21 or later",
            ),
            ("Konzerte vor Weihnachten oder nach Silvester", "Konzerte", "2026-12-23 or earlier or 2027 or later"),
            ("concerts in the Christmas holidays", "concerts", "from 2026-12-21 to 2027-01-06"),
            ("marché de noël avant Noël", "marché de noël", "2026-12-23 or earlier"),
        ] {
            let found = understood(text, &EVENTS);
            let limits: Vec<String> = found.filters.into_iter().map(|filter| filter.words).collect();
            assert_eq!((found.text.trim(), limits), (left, vec![limit.to_owned()]), "{text}");
        }
        // Names, and what is of a season all year.
        for text in ["Christmas concerts", "marché de noël", "the night of Halloween", "Konzert der Weihnachten"] {
            assert!(understood(text, &EVENTS).filters.is_empty(), "{text}");
        }
        for text in ["recipes for Christmas", "boots for winter", "robes d'été"] {
            assert!(parts(text).1.iter().all(|limit| !limit.contains("-12-") && !limit.contains("-06-")), "{text}");
        }
    }
}
