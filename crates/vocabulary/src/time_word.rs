//! What words of questions say of times of day, of parts of a month or a year, and of days that come back every week.

use serde::Deserialize;

/// A part of every day: the keys of `[times]` and of `[times_of_days]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum DayPart {
    /// Up to noon.
    Morning,
    /// Twelve o'clock.
    Noon,
    /// When people eat in the middle of the day.
    Lunchtime,
    /// From noon on.
    Afternoon,
    /// From noon on until people have dinner, where that is late: "por la tarde".
    LongAfternoon,
    /// From the end of work up to midnight.
    Evening,
    /// From late in the evening on until it gets light.
    Night,
    /// Twelve o'clock at night.
    Midnight,
}

/// What a word does beside a time of day: the keys of `[time_words]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum TimeWord {
    /// In front of the first time.
    After,
    /// In front of the last time.
    Before,
    /// In front of the time itself.
    At,
    /// Behind an hour of the first half of the day.
    Am,
    /// Behind an hour of the second half.
    Pm,
    /// Behind an hour: "o'clock".
    Clock,
    /// In front of an hour that has no word behind it: "a las 6".
    Lead,
    /// What is open.
    Open,
    /// What is open at this moment.
    OpenNow,
}

/// A part of a month or a year, or one of its weeks or weekends: the keys of `[date_words]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum DateWord {
    /// Its first third.
    Beginning,
    /// The third in the middle.
    Middle,
    /// Its last third.
    End,
    /// The first one.
    First,
    /// The second one.
    Second,
    /// The third one.
    Third,
    /// The fourth one.
    Fourth,
    /// The last one.
    Last,
    /// A weekend.
    Weekend,
    /// Every weekend.
    Weekends,
    /// Every day from Monday to Friday.
    Weekdays,
}
