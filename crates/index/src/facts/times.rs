//! When an item begins, on which days of the week it takes place, and when it is open: by the clocks of where it is, which
//! is how items write it.

use forecourt_loaders::item::type_name;
use forecourt_understanding::{
    DAY_MINUTES, EVENT_BEGINS, EVENT_EVERY, EVENT_SERIES, EVENT_WEEKDAYS, OPEN_SPANS_MAX, open_span,
};
use forecourt_vocabulary::folded;
use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;

use super::derived::{all, takes_place, text};

/// Days of the week, with the two letters and the words that stand for them, folded, Monday first.
const DAYS: [(&str, [&str; 4]); 7] = [
    ("mo", ["monday", "montag", "lundi", "lunes"]),
    ("tu", ["tuesday", "dienstag", "mardi", "martes"]),
    ("we", ["wednesday", "mittwoch", "mercredi", "miercoles"]),
    ("th", ["thursday", "donnerstag", "jeudi", "jueves"]),
    ("fr", ["friday", "freitag", "vendredi", "viernes"]),
    ("sa", ["saturday", "samstag", "samedi", "sabado"]),
    ("su", ["sunday", "sonntag", "dimanche", "domingo"]),
];
/// Minutes of a day.
const DAY: u16 = DAY_MINUTES as u16;
/// Times of an item at which it is held: further ones say nothing of when it begins.
const HELD_MAX: usize = 50;
/// Bytes of a text of opening hours.
const HOURS_BYTES_MAX: usize = 256;

/// A day and a time, each as far as it is known: 0 is Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Begin {
    weekday: usize,
    minute: Option<u16>,
}

impl Begin {
    /// What is kept of it: a path, a number, and how it is told.
    pub(super) fn facts(self) -> impl Iterator<Item = (&'static str, f64, Option<String>)> {
        let day = (EVENT_WEEKDAYS, (self.weekday + 1) as f64, None);
        let begin = self.minute.map(|minute| {
            let told = format!("{}:{:02}", minute / 60, minute % 60);
            (EVENT_BEGINS, self.weekday as f64 * DAY_MINUTES + f64::from(minute), Some(told))
        });
        std::iter::once(day).chain(begin)
    }
}

/// When an item begins: an event on each of its days, a course each time that it is held.
pub(super) fn begins(item: &Value) -> Vec<Begin> {
    let mut found = by_schedule(item);
    if takes_place(item) && found.is_empty() {
        found.extend(own_begins(item));
    }
    let held = ["hasCourseInstance", "subEvent"].into_iter().flat_map(|key| all(item, key));
    for one in held.take(HELD_MAX) {
        // A course from January to March that is held on Tuesdays is held on no other day.
        let own = by_schedule(one);
        found.extend(if own.is_empty() { own_begins(one) } else { own });
    }
    found.sort_unstable();
    found.dedup();
    // A day with a time says the day, too.
    let timed: Vec<usize> = found.iter().filter(|begin| begin.minute.is_some()).map(|begin| begin.weekday).collect();
    found.retain(|begin| begin.minute.is_some() || !timed.contains(&begin.weekday));
    found
}

/// The days of the week that the schedules of something name.
fn by_schedule(item: &Value) -> Vec<Begin> {
    let schedules = ["eventSchedule", "courseSchedule"].into_iter().flat_map(|key| all(item, key));
    schedules.take(HELD_MAX).flat_map(scheduled).collect()
}

/// The days of one event, and the time at which it begins.
fn own_begins(item: &Value) -> Vec<Begin> {
    let Some(start) = text(item, "startDate") else { return Vec::new() };
    let Some(first) = date(start) else { return Vec::new() };
    let last = text(item, "endDate").and_then(date).filter(|last| *last >= first).unwrap_or(first);
    let minute = time_of(start).or_else(|| text(item, "doorTime").and_then(time_of));
    let days = (0..DAYS.len() as i64).map_while(|days| first.checked_add(days.days()).ok().filter(|day| *day <= last));
    days.map(|day| Begin { weekday: weekday(day), minute }).collect()
}

/// The days of a schedule of what comes back every week.
fn scheduled(schedule: &Value) -> Vec<Begin> {
    let minute = text(schedule, "startTime").and_then(time_of);
    let days = all(schedule, "byDay").filter_map(Value::as_str).flat_map(days_named);
    days.map(|weekday| Begin { weekday, minute }).collect()
}

/// The days of the week on which an item comes back every week, 1 (Monday) to 7: without an end, or between two dates.
pub(super) fn weekly(item: &Value) -> Vec<(&'static str, f64)> {
    let is_dated = |one: &Value| ["startDate", "endDate"].iter().any(|key| one.get(*key).is_some());
    let schedules = |one: &'_ Value, is_within: bool| -> Vec<(&'static str, f64)> {
        let all = ["eventSchedule", "courseSchedule"].into_iter().flat_map(|key| all(one, key)).take(HELD_MAX);
        let each = all.flat_map(|schedule| {
            let path = if is_within || is_dated(schedule) { EVENT_SERIES } else { EVENT_EVERY };
            scheduled(schedule).into_iter().map(move |begin| (path, (begin.weekday + 1) as f64))
        });
        each.collect()
    };
    let mut found = schedules(item, is_dated(item));
    for one in ["hasCourseInstance", "subEvent"].into_iter().flat_map(|key| all(item, key)).take(HELD_MAX) {
        found.extend(schedules(one, is_dated(one)));
    }
    found.sort_unstable_by(|(path, day), (other, next)| path.cmp(other).then(day.total_cmp(next)));
    found.dedup();
    found
}

/// The minutes of each day of the week at which an item is open, Monday first, as paths and numbers.
pub(super) fn opening(item: &Value) -> Vec<(String, f64)> {
    let mut week: [Vec<(u16, u16)>; 7] = Default::default();
    for hours in all(item, "openingHours").filter_map(Value::as_str).filter(|text| text.len() <= HOURS_BYTES_MAX) {
        written_hours(hours, &mut week);
    }
    for hours in all(item, "openingHoursSpecification") {
        specified_hours(hours, &mut week);
    }
    let mut out = Vec::new();
    for (day, spans) in week.iter_mut().enumerate() {
        for (at, (from, to)) in merged(spans).into_iter().take(OPEN_SPANS_MAX).enumerate() {
            let [first, last] = open_span(day as i8 + 1, at);
            out.extend([(first, f64::from(from)), (last, f64::from(to - 1))]);
        }
    }
    out
}

/// `Mo-Fr 09:00-12:00`, `Tu,Th 18:00-20:00`, `Mo-Su`.
fn written_hours(text: &str, week: &mut [Vec<(u16, u16)>; 7]) {
    let Some((days, times)) = text.trim().split_once(' ').or(Some((text.trim(), ""))) else { return };
    let times: Vec<(u16, u16)> = match times.trim() {
        "" => vec![(0, DAY)],
        times => times.split(',').filter_map(|span| span.split_once(['-', '–'])).filter_map(ends).collect(),
    };
    for days in days.split(',') {
        let (first, last) = days.split_once(['-', '–']).unwrap_or((days, days));
        let (Some(first), Some(last)) = (day_named(first), day_named(last)) else { return };
        // "Fr-Mo" goes over the end of the week.
        let count = (last + DAYS.len() - first) % DAYS.len();
        (0..=count).for_each(|ahead| times.iter().for_each(|times| open(week, (first + ahead) % DAYS.len(), *times)));
    }
}

/// One entry of `openingHoursSpecification`. What is so on some dates alone says nothing of every week.
fn specified_hours(hours: &Value, week: &mut [Vec<(u16, u16)>; 7]) {
    let is_exception = ["validFrom", "validThrough"].iter().any(|key| hours.get(*key).is_some());
    let (opens, closes) = (text(hours, "opens"), text(hours, "closes"));
    let Some(times) = opens.zip(closes).and_then(ends).filter(|_| !is_exception) else { return };
    if opens == closes {
        return;
    }
    let named: Vec<usize> = all(hours, "dayOfWeek").filter_map(Value::as_str).filter_map(day_named).collect();
    let days = if hours.get("dayOfWeek").is_none() { (0..DAYS.len()).collect() } else { named };
    days.into_iter().for_each(|day| open(week, day, times));
}

/// The ends of a time: its end is the next day's where it is not behind the beginning.
fn ends((opens, closes): (&str, &str)) -> Option<(u16, u16)> {
    let (from, to) = (minutes(opens)?, minutes(closes)?);
    // 23:59 is written for midnight.
    let to = if to == DAY - 1 { DAY } else { to };
    Some((from, if to > from { to } else { to + DAY }))
}

fn open(week: &mut [Vec<(u16, u16)>; 7], day: usize, (from, to): (u16, u16)) {
    week[day].push((from, to.min(DAY)));
    if to > DAY {
        week[(day + 1) % DAYS.len()].push((0, to - DAY));
    }
}

/// Times in their order, those that touch as one.
fn merged(spans: &mut [(u16, u16)]) -> Vec<(u16, u16)> {
    spans.sort_unstable();
    let mut out: Vec<(u16, u16)> = Vec::new();
    for (from, to) in spans.iter().copied().filter(|(from, to)| from < to) {
        match out.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

/// The days of the week that a text lists: "martes, jueves".
fn days_named(text: &str) -> impl Iterator<Item = usize> {
    text.split([',', ';', '+', '&']).filter(|text| text.len() <= HOURS_BYTES_MAX).filter_map(day_named)
}

/// A day of the week, by two letters, a word or an address of schema.org.
fn day_named(text: &str) -> Option<usize> {
    let name = folded(type_name(text.trim()));
    DAYS.iter().position(|(short, long)| name == *short || long.contains(&name.as_str()))
}

fn weekday(day: Date) -> usize {
    usize::try_from(day.weekday().to_monday_zero_offset()).unwrap_or_default()
}

fn date(text: &str) -> Option<Date> {
    text.trim().get(..10)?.parse().ok()
}

/// The time of `2026-12-04T19:30:00+01:00`, or of `19:30`, as it is written.
fn time_of(text: &str) -> Option<u16> {
    minutes(text.trim().split_once(['T', ' ']).map_or(text.trim(), |(_, time)| time))
}

/// Minutes of `9:30`, `09:30:00` and `19:30+01:00`.
fn minutes(text: &str) -> Option<u16> {
    let (hours, rest) = text.trim().split_once(':')?;
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, rest.get(..2)?.parse().ok()?);
    (hours <= 24 && minutes < 60).then(|| hours * 60 + minutes).filter(|minutes| *minutes <= DAY)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn told(item: &Value) -> Vec<String> {
        let one = |begin: Begin| {
            let minute =
                begin.minute.map_or_else(|| "?".to_owned(), |minute| format!("{}:{:02}", minute / 60, minute % 60));
            format!("{} {minute}", DAYS[begin.weekday].0)
        };
        begins(item).into_iter().map(one).collect()
    }

    #[test]
    fn an_item_begins_by_the_clocks_of_where_it_is() {
        for (item, begins) in [
            (json!({"@type": "MusicEvent", "startDate": "2026-12-04T19:30:00-08:00"}), vec!["fr 19:30"]),
            (json!({"@type": "Event", "startDate": "2026-12-04", "doorTime": "18:00"}), vec!["fr 18:00"]),
            (
                json!({"@type": "Event", "startDate": "2026-12-04", "endDate": "2026-12-06"}),
                vec!["fr ?", "sa ?", "su ?"],
            ),
            (json!({"@type": "Event", "startDate": "2026-12-04T25:00"}), vec!["fr ?"]),
            (
                json!({"@type": "Course", "hasCourseInstance": [
                    {"startDate": "2026-12-01T09:00"},
                    {"courseSchedule": {"byDay": ["https://schema.org/Saturday"], "startTime": "10:15:00"}}]}),
                vec!["tu 9:00", "sa 10:15"],
            ),
            (
                json!({"@type": "Course", "hasCourseInstance": {"startDate": "2026-12-01", "endDate": "2027-02-01",
                    "courseSchedule": {"byDay": ["mercredi", "Sábado, domingo"], "startTime": "18:00"}}}),
                vec!["we 18:00", "sa 18:00", "su 18:00"],
            ),
            (
                json!({"@type": "Event", "startDate": "2026-12-01", "endDate": "2027-02-01",
                    "eventSchedule": {"byDay": "Donnerstag"}}),
                vec!["th ?"],
            ),
            (json!({"@type": "Product", "startDate": "2026-12-04T19:30"}), vec![]),
            (json!({"@type": "Event", "startDate": "soon"}), vec![]),
        ] {
            assert_eq!(told(&item), begins, "{item}");
        }
    }

    #[test]
    fn what_comes_back_every_week_says_on_which_days_and_whether_it_ends() {
        let monday = json!({"byDay": "https://schema.org/Monday", "startTime": "18:00"});
        for (item, found) in [
            (json!({"@type": "Event", "eventSchedule": monday}), vec![(EVENT_EVERY, 1.0)]),
            (
                json!({"@type": "Event", "eventSchedule": {"byDay": ["Mo", "We"], "startDate": "2026-12-01"}}),
                vec![(EVENT_SERIES, 1.0), (EVENT_SERIES, 3.0)],
            ),
            (
                json!({"hasCourseInstance": {"startDate": "2027-01-18", "courseSchedule": monday}}),
                vec![(EVENT_SERIES, 1.0)],
            ),
            (json!({"hasCourseInstance": {"courseSchedule": monday}}), vec![(EVENT_EVERY, 1.0)]),
            (json!({"@type": "Event", "startDate": "2026-12-04"}), vec![]),
        ] {
            assert_eq!(weekly(&item), found, "{item}");
        }
    }

    #[test]
    fn opening_hours_are_spans_of_each_day() {
        let on = |item: Value, day: i8| -> Vec<(f64, f64)> {
            let facts = opening(&item);
            let number = |path: &str| facts.iter().find(|(known, _)| known == path).map(|(_, number)| *number);
            (0..OPEN_SPANS_MAX)
                .map_while(|span| {
                    let [from, to] = open_span(day, span);
                    Some((number(&from)?, number(&to)?))
                })
                .collect()
        };
        let shop = json!({"openingHours": ["Mo-Fr 09:00-12:00", "Mo,We 14:00-18:00", "Sa 9:00-13:00"]});
        assert_eq!(on(shop.clone(), 1), [(540.0, 719.0), (840.0, 1_079.0)]);
        assert_eq!((on(shop.clone(), 2).len(), on(shop.clone(), 6).len(), on(shop, 7).len()), (1, 1, 0));
        let bar = json!({"openingHoursSpecification": {"dayOfWeek": ["Friday", "https://schema.org/Sunday"],
            "opens": "18:00", "closes": "02:00"}});
        assert_eq!(on(bar.clone(), 5), [(1_080.0, 1_439.0)]);
        assert_eq!((on(bar.clone(), 6), on(bar, 1)), (vec![(0.0, 119.0)], vec![(0.0, 119.0)]));
        assert_eq!(on(json!({"openingHours": "Mo-Su"}), 3), [(0.0, 1_439.0)]);
        assert_eq!(on(json!({"openingHours": "Mo 08:00-10:00,10:00-12:00"}), 1), [(480.0, 719.0)]);
        for closed in [
            json!({"openingHoursSpecification": {"dayOfWeek": "Monday", "opens": "00:00", "closes": "00:00"}}),
            json!({"openingHoursSpecification": {"opens": "9:00", "closes": "17:00", "validFrom": "2026-12-24"}}),
            json!({"openingHours": "by appointment"}),
            json!({"openingHours": ["Mo x-y", 7]}),
        ] {
            assert!(on(closed.clone(), 1).is_empty(), "{closed}");
        }
        let many = |n: u16| {
            let spans: Vec<String> = (0..n).map(|at| format!("{0:02}:00-{0:02}:30", at + 8)).collect();
            on(json!({"openingHours": format!("Mo {}", spans.join(","))}), 1).len()
        };
        assert_eq!((many(OPEN_SPANS_MAX as u16), many(OPEN_SPANS_MAX as u16 + 1)), (OPEN_SPANS_MAX, OPEN_SPANS_MAX));
    }

    proptest! {
        #[test]
        fn any_texts_are_times_or_none(text in ".{0,20}", hours in "[MoTuWe,-]{0,8} [0-9:,-]{0,20}") {
            for text in [text, hours] {
                let item = json!({"@type": "Event", "startDate": text, "doorTime": text, "openingHours": text,
                    "openingHoursSpecification": [{"opens": text, "closes": text, "dayOfWeek": text}]});
                begins(&item);
                prop_assert!(opening(&item).iter().all(|(_, minute)| (0.0..DAY_MINUTES).contains(minute)));
            }
        }
    }
}
