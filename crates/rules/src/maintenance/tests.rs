use super::*;

fn windows(toml_like: MaintenanceRule) -> Windows {
    toml_like.windows().unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn weekly(days: Vec<Day>, from: &str, until: &str, zone: &str) -> Windows {
    let window = WeeklyWindow { days, from: from.parse().unwrap(), until: until.parse().unwrap() };
    windows(MaintenanceRule { weekly: vec![window], time_zone: Some(zone.to_owned()), ..MaintenanceRule::default() })
}

#[test]
fn without_a_time_it_is_closed_and_nobody_knows_how_long() {
    assert_eq!(windows(MaintenanceRule::default()).closed(at("2026-11-23T00:00:00Z")), ClosedUntil::Open);
}

#[test]
fn between_two_moments_it_is_closed_to_the_second_one() {
    let (from, until) = (Some(at("2026-11-23T02:00:00Z")), Some(at("2026-11-23T04:00:00Z")));
    let windows = windows(MaintenanceRule { from, until, ..MaintenanceRule::default() });
    assert_eq!(windows.closed(at("2026-11-23T01:59:59Z")), ClosedUntil::No);
    assert_eq!(windows.closed(at("2026-11-23T02:00:00Z")), ClosedUntil::Until(until.unwrap()));
    assert_eq!(windows.closed(at("2026-11-23T04:00:00Z")), ClosedUntil::No);
}

#[test]
fn a_weekly_window_is_in_its_own_time_zone() {
    let windows = weekly(vec![Day::Mon], "02:00", "04:00", "Europe/Berlin");
    // 2026-11-23 is a Monday; Berlin is an hour ahead then.
    assert_eq!(windows.closed(at("2026-11-23T01:30:00Z")), ClosedUntil::Until(at("2026-11-23T03:00:00Z")));
    assert_eq!(windows.closed(at("2026-11-23T03:00:00Z")), ClosedUntil::No);
    assert_eq!(windows.closed(at("2026-11-24T01:30:00Z")), ClosedUntil::No);
    // In summer two hours.
    assert_eq!(windows.closed(at("2026-07-20T00:30:00Z")), ClosedUntil::Until(at("2026-07-20T02:00:00Z")));
}

#[test]
fn a_window_goes_on_past_midnight() {
    let windows = weekly(vec![Day::Sun], "22:00", "06:00", "UTC");
    assert_eq!(windows.closed(at("2026-11-22T23:00:00Z")), ClosedUntil::Until(at("2026-11-23T06:00:00Z")));
    assert_eq!(windows.closed(at("2026-11-23T05:59:59Z")), ClosedUntil::Until(at("2026-11-23T06:00:00Z")));
    assert_eq!(windows.closed(at("2026-11-23T23:00:00Z")), ClosedUntil::No);
}

#[test]
fn clocks_that_are_put_forward_leave_a_window_with_an_end() {
    // On 2026-03-29 Berlin has no 02:30.
    let windows = weekly(vec![], "02:30", "03:30", "Europe/Berlin");
    assert_eq!(windows.closed(at("2026-03-29T01:15:00Z")), ClosedUntil::No);
    let windows = weekly(vec![], "01:30", "04:00", "Europe/Berlin");
    assert_eq!(windows.closed(at("2026-03-29T01:15:00Z")), ClosedUntil::Until(at("2026-03-29T02:00:00Z")));
}

#[test]
fn whole_seconds_are_left_at_least_one() {
    let end = at("2026-11-23T02:00:00Z");
    assert_eq!(seconds_until(at("2026-11-23T01:59:58.5Z"), end), 2);
    assert_eq!(seconds_until(at("2026-11-23T01:59:59.999Z"), end), 1);
}

#[test]
fn what_can_not_be_is_refused() {
    let rule = |from: &str, until: &str| MaintenanceRule {
        from: Some(at(from)),
        until: Some(at(until)),
        ..MaintenanceRule::default()
    };
    assert!(rule("2026-11-23T02:00:00Z", "2026-11-23T02:00:00Z").windows().is_err());
    let zone = MaintenanceRule { time_zone: Some("Mars/Olympus".into()), ..MaintenanceRule::default() };
    assert!(zone.windows().is_err());
}
