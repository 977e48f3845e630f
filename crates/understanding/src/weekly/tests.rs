use super::*;
use crate::tests::{Bare, Numbered, Stating, understood};

const EVENTS: Stating = Stating(&["startDate", "eventDays."]);
const SHOPS: Stating = Stating(&["openingTimes.", "offers.price"]);

/// The words of the limits, and what is told as not understood.
fn limits(text: &str, known: &Stating) -> String {
    let found = understood(text, known);
    let told = found.not_understood.into_iter().map(|words| format!("? {words}"));
    found.filters.into_iter().map(|filter| filter.words).chain(told).collect::<Vec<_>>().join("; ")
}

#[test]
fn times_of_day_limit_when_something_begins() {
    for (text, said) in [
        ("concerts in the evening", "in the evening (17:00 to 23:59)"),
        ("concerts after 6 pm", "after 6 pm (18:00 to 23:59)"),
        ("concerts before noon", "before noon (0:00 to 11:59)"),
        ("concerts between 6 and 8 pm", "between 6 and 8 pm (18:00 to 20:00)"),
        ("concerts at 7:30 p.m.", "at 7:30 p.m (19:30)"),
        ("concerts at 12 am", "at 12 am (0:00)"),
        ("Konzerte ab 18 Uhr", "ab 18 Uhr (18:00 to 23:59)"),
        ("Konzerte um 18.30 Uhr", "um 18.30 Uhr (18:30)"),
        ("Konzerte am Abend", "am Abend (17:00 to 23:59)"),
        ("Konzerte vor 12 Uhr mittags", "vor 12 Uhr mittags (0:00 to 11:59)"),
        ("Konzerte um 8 Uhr abends", "um 8 Uhr abends (20:00)"),
        ("concerts le matin", "le matin (5:00 to 11:59)"),
        ("concerts après 18h30", "après 18h30 (18:30 to 23:59)"),
        ("concerts de 18h à 20h", "de 18h à 20h (18:00 to 20:00)"),
        ("conciertos por la tarde", "por la tarde (12:00 to 19:59)"),
        ("conciertos a partir de las 6 de la tarde", "a partir de las 6 de la tarde (18:00 to 23:59)"),
        ("concerts on weekdays", "on weekdays"),
        ("concerts on Saturday mornings", "on Saturday mornings (5:00 to 11:59)"),
        ("Kurse samstags vormittags", "samstags vormittags (5:00 to 11:59); Course"),
    ] {
        assert_eq!(limits(text, &EVENTS), said, "{text}");
    }
}

#[test]
fn days_can_be_ruled_out() {
    for (text, said) in [
        ("concerts not on Sundays", "not on Sundays"),
        ("Konzerte nicht am Sonntag", "not am Sonntag"),
        ("concerts except Mondays", "not Mondays"),
    ] {
        assert_eq!(limits(text, &EVENTS), said, "{text}");
    }
}

#[test]
fn what_comes_back_every_week_is_there_on_its_days() {
    let on = |text: &str| match &understood(text, &EVENTS).filters[0].test {
        Test::AnyOf(all) => all.iter().skip(1).map(|one| (one.fields[0].clone(), one.test.clone())).collect(),
        _ => Vec::new(),
    };
    let day = |path: &str, day: f64| (path.to_owned(), Test::Within { from: Some(day), to: Some(day) });
    assert_eq!(on("concerts on Friday"), [day(EVENT_EVERY, 5.0), day(EVENT_SERIES, 5.0)]);
    // Between two dates only what is asked for by its day.
    assert_eq!(on("concerts tomorrow"), [day(EVENT_EVERY, 2.0)]);
    assert!(on("concerts in 2025").is_empty());
}

#[test]
fn a_day_and_its_time_are_two_limits() {
    for (text, said) in [
        ("concerts tonight", "from 2026-11-23; tonight (17:00 to 23:59)"),
        ("concerts on Friday evening", "from 2026-11-27; evening (17:00 to 23:59)"),
        ("concerts on Friday after 8 pm", "from 2026-11-27; after 8 pm (20:00 to 23:59)"),
        ("concerts on the evening of 10 December", "from 2026-12-10; evening (17:00 to 23:59)"),
        ("Konzerte am Abend des 10. Dezember", "from 2026-12-10; am Abend (17:00 to 23:59)"),
        ("concerts le soir du 10 décembre", "from 2026-12-10; le soir (17:00 to 23:59)"),
        ("Konzerte am Freitagabend", "from 2026-11-27; Freitagabend (17:00 to 23:59)"),
        ("Konzerte morgen Abend", "from 2026-11-24; morgen Abend (17:00 to 23:59)"),
        ("Konzerte am Freitag ab 18 Uhr", "from 2026-11-27; ab 18 Uhr (18:00 to 23:59)"),
        ("concerts ce soir", "from 2026-11-23; ce soir (17:00 to 23:59)"),
        ("conciertos mañana por la tarde", "from 2026-11-24; mañana por la tarde (12:00 to 19:59)"),
    ] {
        assert_eq!(limits(text, &EVENTS), said, "{text}");
    }
}

#[test]
fn what_is_open_is_asked_of_the_hours_of_each_day() {
    for (text, said) in [
        ("open on Sunday mornings", "open on Sunday mornings (5:00 to 11:59)"),
        ("open now", "open now (12:00)"),
        ("cafés open after 8", "open after 8 (20:00 to 23:59)"),
        ("cafés open on Sundays", "open on Sundays"),
        ("cafés open until 8 pm", "open until 8 pm (0:00 to 19:59)"),
        ("cafés at 7 am on Monday", "open at 7 am on Monday (7:00)"),
        ("sonntags geöffnet", "open sonntags"),
        ("Cafés, jetzt geöffnet", "jetzt geöffnet (12:00)"),
        ("Cafés nach 20 Uhr offen", "open nach 20 Uhr (20:00 to 23:59)"),
        ("cafés ouverts le dimanche", "open le dimanche"),
        ("cafés ouverts le dimanche matin", "open le dimanche matin (5:00 to 11:59)"),
        ("cafés abiertos los domingos", "open los domingos"),
        ("cafés abiertos ahora", "abiertos ahora (12:00)"),
    ] {
        assert_eq!(limits(text, &SHOPS), said, "{text}");
    }
    let shops = Stating(&["offers.price"]);
    assert_eq!(limits("cafés open on Sundays", &shops), "? open on Sundays");
}

#[test]
fn a_time_that_no_item_states_is_told() {
    let events = Stating(&["startDate", "offers.price"]);
    for (text, told) in [
        ("concerts in the evening", "? in the evening"),
        ("Konzerte ab 18 Uhr", "? ab 18 Uhr"),
        ("concerts après 18h", "? après 18h"),
        ("conciertos por la noche", "? por la noche"),
    ] {
        assert_eq!(limits(text, &events), told, "{text}");
    }
    for text in ["open air concerts", "evening dress", "what do you have open", "for 8 people", "at 20 euros"] {
        assert!(!understood(text, &Bare("startDate")).reading.iter().any(|part| part.role.told().contains(':')));
    }
}

#[test]
fn a_part_of_the_day_in_front_of_a_noun_is_when_that_begins() {
    /// Events of which some begin at any time.
    const AT_ANY_TIME: Numbered = Numbered { has_number: |path| path.starts_with("eventDays"), finds: |_, _| true };

    for text in ["evening classes", "morning yoga for two", "afternoon concerts in May"] {
        let found = understood(text, &AT_ANY_TIME);
        let begins = found.filters.iter().any(|filter| filter.fields.contains(&EVENT_BEGINS.to_owned()));
        assert!(begins, "{text}: {found:?}");
    }
    for text in ["evening", "dress for the evening, please"] {
        let found = understood(text, &Bare("offers.price"));
        assert!(found.filters.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn days_that_come_back_are_days_of_the_week() {
    let found = understood("courses on Sundays", &EVENTS);
    assert_eq!(found.filters[0].test, Test::Within { from: Some(7.0), to: Some(7.0) });
    let found = understood("courses on Sunday mornings", &EVENTS);
    assert!(!found.filters.is_empty());
}
