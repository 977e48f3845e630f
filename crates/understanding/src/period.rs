//! What money is paid for: an hour, a day, a week, a month or a year.

use forecourt_vocabulary::{Unit, folded};

/// Hours of a week of work, by which pay of an hour is compared with others.
const WEEK_HOURS: f64 = 40.0;
/// Weeks of a year.
const YEAR_WEEKS: f64 = 52.0;
/// Days of a week of work.
const WORK_DAYS: f64 = 5.0;
/// Days of a month, about.
const MONTH_DAYS: f64 = 365.0 / 12.0;

/// A time for which something is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A night in a bed.
    Night,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A year.
    Year,
}

/// How items write each: codes of UN/CEFACT first, then words in lower case without accents.
const NAMES: &[(Period, &[&str])] = &[
    (Period::Hour, &["hur", "hour", "hourly", "h", "hr", "stunde", "heure", "hora"]),
    (Period::Day, &["day", "daily", "d", "tag", "jour", "dia"]),
    (Period::Night, &["night", "nightly", "nacht", "nuit", "nuitee", "noche"]),
    (Period::Week, &["wee", "week", "weekly", "woche", "semaine", "semana"]),
    (Period::Month, &["mon", "month", "monthly", "pcm", "monat", "mois", "mes"]),
    (Period::Year, &["ann", "year", "yearly", "annual", "annually", "jahr", "an", "annee", "ano"]),
];
/// Such words between what is paid for and the time.
const PER_AGAIN: &[&str] = &[" per ", " pro ", " par ", " por ", " a ", " la "];
/// Words in front of such a name.
const PER: &[&str] = &["per ", "a ", "pro ", "par ", "por ", "la ", "/"];

impl Period {
    /// The period that an item writes as a unit: `MONTH`, `MON`, `per hour`.
    pub fn of_text(text: &str) -> Option<Self> {
        let text = folded(text.trim());
        // "Per room per night" is for a night.
        let last = PER_AGAIN.iter().filter_map(|per| text.rfind(per).map(|at| at + 1)).max().unwrap_or(0);
        let text = text[last..].to_owned();
        let bare = PER.iter().find_map(|per| text.strip_prefix(per)).unwrap_or(&text).trim();
        NAMES.iter().find(|(_, names)| names.contains(&bare)).map(|(period, _)| *period)
    }

    /// The period of a unit of time.
    pub(crate) fn of_unit(unit: Unit) -> Option<Self> {
        Some(match unit {
            Unit::Hour => Self::Hour,
            Unit::Day => Self::Day,
            Unit::Night => Self::Night,
            Unit::Week => Self::Week,
            Unit::Month => Self::Month,
            Unit::Year => Self::Year,
            _ => return None,
        })
    }

    /// The period for which somebody is paid so much who says none.
    pub(crate) fn of_pay(amount: f64) -> Self {
        match amount {
            10_000.0.. => Self::Year,
            300.0.. => Self::Month,
            _ => Self::Hour,
        }
    }

    /// How often it is paid in a year of work.
    pub fn in_year(self) -> f64 {
        match self {
            Self::Hour => WEEK_HOURS * YEAR_WEEKS,
            Self::Day | Self::Night => WORK_DAYS * YEAR_WEEKS,
            Self::Week => YEAR_WEEKS,
            Self::Month => 12.0,
            Self::Year => 1.0,
        }
    }

    /// How often it is paid in a month for what is had all the time, such as a home. `None`: what is paid by the hour is
    /// not.
    pub fn in_month(self) -> Option<f64> {
        Some(match self {
            Self::Hour => return None,
            Self::Day | Self::Night => MONTH_DAYS,
            Self::Week => YEAR_WEEKS / 12.0,
            Self::Month => 1.0,
            Self::Year => 1.0 / 12.0,
        })
    }

    /// The last part of the keys of its wordings.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Night => "night",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_write_periods_as_codes_and_words() {
        for (text, period) in [
            ("MONTH", Some(Period::Month)),
            ("MON", Some(Period::Month)),
            ("per hour", Some(Period::Hour)),
            ("/Stunde", Some(Period::Hour)),
            ("par an", Some(Period::Year)),
            ("per room per night", Some(Period::Night)),
            ("pro Zimmer pro Nacht", Some(Period::Night)),
            ("por persona a la semana", Some(Period::Week)),
            ("per room", None),
            ("Año", Some(Period::Year)),
            ("EUR", None),
            ("", None),
        ] {
            assert_eq!(Period::of_text(text), period, "{text}");
        }
        assert_eq!((Period::of_pay(60_000.0), Period::of_pay(4_000.0)), (Period::Year, Period::Month));
        assert_eq!((Period::of_pay(25.0), Period::Hour.in_month()), (Period::Hour, None));
    }
}
