//! The rule `maintenance` closes an agent: until further notice, between two moments, or in windows that come back each
//! week.

use std::sync::Arc;

use forecourt_core::policy::{Objection, RefusalKind};
use forecourt_core::{Clock, Timestamp};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::WINDOWS_MAX;
use crate::{BuiltRule, RuleContext, RuleProblem, RuleWords, refused_unless_valid, rule};

/// When it is closed. Without `from`, `until` and `weekly`: now, and until the rule is taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaintenanceRule {
    /// Seconds to wait, if known. Default: to the end of the window.
    pub retry_after_seconds: Option<u64>,
    /// Closed from this moment on: RFC 3339, such as `2027-01-31T02:00:00Z`.
    #[schemars(with = "Option<String>")]
    pub from: Option<Timestamp>,
    /// Open again from this moment on.
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// Windows that come back each week. At most 50.
    pub weekly: Vec<WeeklyWindow>,
    /// The time zone of the windows, such as `Europe/Berlin`. Default: `UTC`.
    pub time_zone: Option<String>,
}

/// A window that comes back each week. One that ends before it begins ends on the next day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeeklyWindow {
    /// On which days it begins: `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`. Every day when empty.
    #[serde(default)]
    pub days: Vec<Day>,
    /// When it begins, such as `02:00`.
    #[schemars(with = "String")]
    pub from: Time,
    /// When it ends, such as `04:30`.
    #[schemars(with = "String")]
    pub until: Time,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "a day is a day")]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// Whether an agent is closed, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClosedUntil {
    No,
    Until(Timestamp),
    /// Nobody knows.
    Open,
}

/// The settings of the rule with their time zone, looked up.
struct Windows {
    settings: MaintenanceRule,
    zone: TimeZone,
}

impl MaintenanceRule {
    /// When it is closed, in a few words.
    pub(crate) fn summary(&self) -> String {
        match (self.weekly.len(), self.from, self.until) {
            (0, None, None) => "until further notice".to_owned(),
            (0, from, until) => {
                let from = from.map(|from| format!("from {from}"));
                let until = until.map(|until| format!("until {until}"));
                [from, until].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            (count, ..) => format!("{count} weekly"),
        }
    }

    pub(crate) fn build(&self, words: &RuleWords, context: &RuleContext<'_>) -> Result<BuiltRule, RuleProblem> {
        let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: self.retry_after_seconds };
        let refusal = words.refusal(kind, "This agent is closed for maintenance.");
        refused_unless_valid(&refusal, context.site)?;
        let windows = self.windows()?;
        let (clock, own): (Arc<dyn Clock>, _) = (context.clock.clone(), self.retry_after_seconds);
        Ok(rule(move |_, _| {
            let now = clock.now();
            let left = match windows.closed(now) {
                ClosedUntil::No => return Ok(()),
                ClosedUntil::Open => None,
                ClosedUntil::Until(end) => Some(seconds_until(now, end)),
            };
            let mut part = refusal.clone();
            part.kind = RefusalKind::ServiceUnavailable { retry_after_seconds: own.or(left) };
            Err(Objection::from(part))
        }))
    }

    fn windows(&self) -> Result<Windows, RuleProblem> {
        if self.weekly.len() > WINDOWS_MAX {
            return Err(RuleProblem::of("weekly", format!("must hold {WINDOWS_MAX} windows at most")));
        }
        if self.weekly.iter().any(|window| window.from == window.until) {
            return Err(RuleProblem::of("weekly", "a window must not end when it begins"));
        }
        if !self.weekly.is_empty() && (self.from.is_some() || self.until.is_some()) {
            return Err(RuleProblem::of("weekly", "stands without `from` and `until` beside it: write two rules"));
        }
        if let (Some(from), Some(until)) = (self.from, self.until)
            && until <= from
        {
            return Err(RuleProblem::of("until", "must be after `from`"));
        }
        let zone = match self.time_zone.as_deref() {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name).map_err(|_| {
                let text = format!("there is no time zone `{name}` on this machine (it needs its tzdata)");
                RuleProblem::of("time_zone", text)
            })?,
        };
        Ok(Windows { settings: self.clone(), zone })
    }
}

impl Windows {
    fn closed(&self, now: Timestamp) -> ClosedUntil {
        let MaintenanceRule { from, until, weekly, .. } = &self.settings;
        if !weekly.is_empty() {
            let here = now.to_zoned(self.zone.clone());
            // Windows may overlap: closed to the end of the last one that is open.
            return weekly
                .iter()
                .filter_map(|window| window.end_if_open(&here))
                .max()
                .map_or(ClosedUntil::No, ClosedUntil::Until);
        }
        match (from, until) {
            (Some(from), _) if now < *from => ClosedUntil::No,
            (_, Some(until)) if now >= *until => ClosedUntil::No,
            (_, Some(until)) => ClosedUntil::Until(*until),
            (_, None) => ClosedUntil::Open,
        }
    }
}

impl WeeklyWindow {
    /// When the window ends that is open at `now`: one that began today, or yesterday and goes on past midnight.
    fn end_if_open(&self, now: &Zoned) -> Option<Timestamp> {
        let today = now.date();
        let begins = [Some(today), today.yesterday().ok()].into_iter().flatten();
        begins.filter(|date| self.begins_on(date.weekday())).find_map(|date| {
            let (from, until) = self.bounds(date)?;
            // A time that the clocks leave out is the one just as much later; of two that are alike, the earlier.
            let at = |time: DateTime| now.time_zone().to_timestamp(time).ok();
            let (from, until) = (at(from)?, at(until)?);
            (from..until).contains(&now.timestamp()).then_some(until)
        })
    }

    fn begins_on(&self, day: Weekday) -> bool {
        self.days.is_empty() || self.days.iter().any(|listed| listed.weekday() == day)
    }

    fn bounds(&self, date: Date) -> Option<(DateTime, DateTime)> {
        let last = if self.until <= self.from { date.checked_add(1.day()).ok()? } else { date };
        Some((date.to_datetime(self.from), last.to_datetime(self.until)))
    }
}

impl Day {
    fn weekday(self) -> Weekday {
        match self {
            Self::Mon => Weekday::Monday,
            Self::Tue => Weekday::Tuesday,
            Self::Wed => Weekday::Wednesday,
            Self::Thu => Weekday::Thursday,
            Self::Fri => Weekday::Friday,
            Self::Sat => Weekday::Saturday,
            Self::Sun => Weekday::Sunday,
        }
    }
}

/// Whole seconds, at least one.
fn seconds_until(now: Timestamp, end: Timestamp) -> u64 {
    let left = end.duration_since(now);
    let seconds = left.as_secs() + i64::from(left.subsec_nanos() > 0);
    u64::try_from(seconds).unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests;
