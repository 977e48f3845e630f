//! Days and seasons that come back every year, as the files of languages write them: `12-24/12-26`, `easter+49`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A day of the year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum YearDay {
    /// A month and a day of it.
    Fixed(i8, i8),
    /// The last day of a month.
    LastOf(i8),
    /// So many days after Easter Sunday.
    Easter(i16),
}

/// Days that come back every year, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct YearlyDays {
    /// The first day.
    pub first: YearDay,
    /// The last one; of the next year where it comes before the first.
    pub last: YearDay,
    /// Whether a phrase means nothing else: "this summer" is a time, "summer" may be of a summer dress.
    pub stands_alone: bool,
}

impl YearDay {
    fn read(text: &str) -> Option<Self> {
        if let Some(days) = text.strip_prefix("easter") {
            return if days.is_empty() { Some(Self::Easter(0)) } else { days.parse().ok().map(Self::Easter) };
        }
        let (month, day) = text.split_once('-')?;
        let month = month.parse().ok().filter(|month| (1..=12).contains(month))?;
        match day {
            "last" => Some(Self::LastOf(month)),
            day => day.parse().ok().filter(|day| (1..=31).contains(day)).map(|day| Self::Fixed(month, day)),
        }
    }
}

impl fmt::Display for YearDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(month, day) => write!(f, "{month:02}-{day:02}"),
            Self::LastOf(month) => write!(f, "{month:02}-last"),
            Self::Easter(0) => write!(f, "easter"),
            Self::Easter(days) => write!(f, "easter{days:+}"),
        }
    }
}

impl TryFrom<String> for YearlyDays {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (days, stands_alone) = text.strip_prefix('!').map_or((text.as_str(), false), |days| (days, true));
        let (first, last) = days.split_once('/').unwrap_or((days, days));
        let read = |day: &str| YearDay::read(day).ok_or_else(|| format!("`{day}` is not a day of a year"));
        Ok(Self { first: read(first)?, last: read(last)?, stands_alone })
    }
}

impl From<YearlyDays> for String {
    fn from(days: YearlyDays) -> Self {
        let lead = if days.stands_alone { "!" } else { "" };
        match days.first == days.last {
            true => format!("{lead}{}", days.first),
            false => format!("{lead}{}/{}", days.first, days.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_they_are_read() {
        for text in ["12-24/12-26", "!06-01/08-31", "12-01/02-last", "easter", "easter-2/easter+1", "05-01"] {
            assert_eq!(String::from(YearlyDays::try_from(text.to_owned()).unwrap()), text);
        }
        for text in ["", "13-01", "01-32", "easter?", "1", "01-01/"] {
            assert!(YearlyDays::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
