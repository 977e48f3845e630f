//! Dates of which any will do: "on Friday or on Sunday", "in March or May", "am 3. oder 10. Dezember".

use forecourt_vocabulary::WordClass;
use jiff::ToSpan;
use jiff::civil::Date;

use crate::date_part::{each, skip_leads};
use crate::limits::LISTED_DATES_MAX;
use crate::moment::days;
use crate::named_date::name;
use crate::plain_date::day_number;
use crate::reader::Reader;

/// Times of which any will do, in their order, those that touch as one.
#[derive(Debug)]
pub(crate) struct DateList {
    pub(crate) days: Vec<(Date, Date)>,
    /// The token behind it.
    pub(crate) end: usize,
    /// Whether it can mean nothing but dates, so that no word has to lead to it.
    pub(crate) stands_alone: bool,
}

/// One entry of a list.
enum Entry {
    Days(Vec<(Date, Date)>),
    /// The day of a month that another entry names.
    Day(i8),
}

/// The list that begins here. `None`: one date alone, or none.
pub(crate) fn listed(reader: &Reader<'_>, at: usize) -> Option<DateList> {
    let (first, mut end, mut stands_alone) = entry(reader, at)?;
    let mut entries = vec![(first, end)];
    let (mut is_tied, mut after_comma) = (false, None);
    while let Some((next, is_comma)) = tie(reader, end).filter(|_| entries.len() < LISTED_DATES_MAX) {
        let Some((further, behind, alone)) = entry(reader, skip_leads(reader, next)) else { break };
        if is_comma && !is_tied {
            after_comma.get_or_insert(entries.len());
        }
        is_tied |= !is_comma;
        stands_alone |= alone;
        entries.push((further, behind));
        end = behind;
    }
    // "On Friday, in March" are two limits.
    entries.truncate(if is_tied { entries.len() } else { after_comma.unwrap_or(entries.len()) });
    resolved(entries, stands_alone)
}

/// What ties a list together here, the token behind it, and whether it is a comma alone.
fn tie(reader: &Reader<'_>, at: usize) -> Option<(usize, bool)> {
    let behind = at + usize::from(reader.is_mark(at, ','));
    let word = [WordClass::Or, WordClass::And].into_iter().find_map(|class| reader.class(behind, class));
    word.map(|end| (end, false)).or_else(|| (behind > at).then_some((behind, true)))
}

fn entry(reader: &Reader<'_>, at: usize) -> Option<(Entry, usize, bool)> {
    if let Some((days, end)) = each(reader, at) {
        return Some((Entry::Days(days), end, true));
    }
    if let Some(named) = name(reader, at) {
        let named = named?;
        return Some((Entry::Days(vec![(named.first, named.last?)]), named.end, named.stands_alone));
    }
    let (day, end) = day_number(reader, at)?;
    // "12 December or 3 people": a day has nothing behind it that it could count.
    let is_bare = reader.ends_clause(end) || tie(reader, end).is_some();
    is_bare.then_some((Entry::Day(day), end, false))
}

/// The days of a list, each day without a month in that of the date behind it, else of the one before.
fn resolved(mut entries: Vec<(Entry, usize)>, stands_alone: bool) -> Option<DateList> {
    let months: Vec<Option<(i16, i8)>> = entries.iter().map(|(entry, _)| month_of_day(entry)).collect();
    let month = |at: usize| {
        let (before, behind) = months.split_at(at);
        behind.iter().flatten().next().or_else(|| before.iter().flatten().last()).copied()
    };
    let day_of = |at: usize, day: i8| month(at).and_then(|(year, month)| days(year, Some(month), Some(day)));
    let of = |(at, (entry, _)): (usize, &(Entry, usize))| match entry {
        Entry::Days(days) => Some(days.clone()),
        Entry::Day(day) => day_of(at, *day).map(|days| vec![days]),
    };
    let known: Vec<Vec<(Date, Date)>> = entries.iter().enumerate().map_while(of).collect();
    entries.truncate(known.len());
    let end = entries.last()?.1;
    let is_list = entries.len() > 1 || known.iter().any(|days| days.len() > 1);
    is_list.then(|| DateList { days: merged(known.into_iter().flatten().collect()), end, stands_alone })
}

/// The month of an entry that is one day.
fn month_of_day(entry: &Entry) -> Option<(i16, i8)> {
    match entry {
        Entry::Days(days) if days.len() == 1 && days[0].0 == days[0].1 => Some((days[0].0.year(), days[0].0.month())),
        _ => None,
    }
}

/// Times in their order, those that touch as one.
fn merged(mut all: Vec<(Date, Date)>) -> Vec<(Date, Date)> {
    all.sort_unstable();
    let mut out: Vec<(Date, Date)> = Vec::new();
    for (first, last) in all {
        match out.last_mut() {
            Some(before) if before.1.checked_add(1.day()).is_ok_and(|after| first <= after) => {
                before.1 = before.1.max(last);
            }
            _ => out.push((first, last)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::filter::Test;
    use crate::tests::{Bare, understood};

    const EVENTS: Bare = Bare("startDate");

    #[test]
    fn any_of_several_dates_is_one_limit() {
        for (text, said) in [
            ("concerts on Friday or on Sunday", "from 2026-11-27 or from 2026-11-29"),
            ("concerts in March or May", "from 2027-03-01 to 2027-03-31 or from 2027-05-01 to 2027-05-31"),
            ("concerts on the 3rd or the 10th of December", "from 2026-12-03 or from 2026-12-10"),
            ("concerts on December 3 or 10", "from 2026-12-03 or from 2026-12-10"),
            ("concerts on 3, 10 or 17 December", "from 2026-12-03 or from 2026-12-10 or from 2026-12-17"),
            ("Konzerte am 3. oder 10. Dezember", "from 2026-12-03 or from 2026-12-10"),
            ("Konzerte am Freitag oder am Sonntag", "from 2026-11-27 or from 2026-11-29"),
            ("Konzerte im März oder Mai", "from 2027-03-01 to 2027-03-31 or from 2027-05-01 to 2027-05-31"),
            ("concerts le 3 ou le 10 décembre", "from 2026-12-03 or from 2026-12-10"),
            ("concerts vendredi ou dimanche", ""),
            ("concerts en mars ou en mai", "from 2027-03-01 to 2027-03-31 or from 2027-05-01 to 2027-05-31"),
            ("conciertos el viernes o el domingo", "from 2026-11-27 or from 2026-11-29"),
            ("conciertos el 3 o el 10 de diciembre", "from 2026-12-03 or from 2026-12-10"),
            ("concerts on Friday and Saturday", "from 2026-11-27 to 2026-11-28"),
            ("concerts on 12 December or 3 people", "from 2026-12-12"),
        ] {
            let found = understood(text, &EVENTS);
            let limits: Vec<String> = found.filters.iter().map(|filter| filter.words.clone()).collect();
            assert_eq!(limits.join("; "), said, "{text}");
        }
    }

    #[test]
    fn a_list_of_dates_holds_each_of_them_and_nothing_between() {
        let found = understood("concerts in January or March", &EVENTS);
        let Test::AnyOf(all) = &found.filters[0].test else { panic!("{found:?}") };
        let days = |at: usize| match all[at].test {
            Test::Within { from: Some(from), to: Some(to) } => to - from,
            _ => panic!("{all:?}"),
        };
        assert!(all.len() == 2 && (30.0..31.0).contains(&days(0)) && (30.0..31.0).contains(&days(1)));
        assert_eq!(found.filters[0].fields, ["startDate"]);
    }
}
