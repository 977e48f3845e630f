//! Values in tables and among facts.

use forecourt_core::{Ending, FailureCause, Timestamp};
use forecourt_pages::clean;
use jiff::{SignedDuration, tz::TimeZone};

use super::Act;

/// A value in a table or among facts.
pub(crate) enum Cell {
    Text(String),
    Code(String),
    Number(u64),
    Link { href: String, text: String },
    Time { iso: String, absolute: String, relative: String },
    Badge { tone: Tone, text: String },
    Act(Box<Act>),
    Several(Vec<Cell>),
    Nothing,
}

/// How something is to be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Busy,
    Warn,
    Bad,
    Plain,
}

impl Tone {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Busy => "busy",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Plain => "plain",
        }
    }

    /// The tone of a state, whatever it is the state of.
    pub(crate) fn of(state: &str) -> Self {
        match state {
            "active" | "completed" | "complete" | "done" | "paid" | "verified" | "resumed" | "accepted" | "fine" => {
                Self::Good
            }
            "working" | "submitted" | "under_way" | "waiting" | "offered" | "issued" | "reserved" => Self::Busy,
            "suspended"
            | "deprecated"
            | "input_required"
            | "auth_required"
            | "deferred"
            | "already"
            | "high"
            | Ending::SIGN_IN
            | Ending::DECLINED => Self::Warn,
            code if FailureCause::from_code(code).is_some() => Self::Bad,
            "failed" | "failing" | "rejected" | "refused" | "retired" | "replayed" | "foreign" | "urgent"
            | "unpaid" => Self::Bad,
            _ => Self::Plain,
        }
    }
}

impl Cell {
    /// Text of anybody.
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        match text.as_ref() {
            "" => Self::Nothing,
            // Callers write what stands here: hidden and bidi characters could make one line look like another.
            text => Self::Text(clean::text(text).into_owned()),
        }
    }

    pub(crate) fn maybe(text: Option<impl AsRef<str>>) -> Self {
        text.map_or(Self::Nothing, Self::text)
    }

    pub(crate) fn link(href: impl Into<String>, text: impl AsRef<str>) -> Self {
        Self::Link { href: href.into(), text: clean::line(text.as_ref()) }
    }

    /// A state, with its tone.
    pub(crate) fn state(state: &str) -> Self {
        Self::Badge { tone: Tone::of(state), text: clean::line(&state.replace('_', " ")) }
    }

    /// A moment, as people say it and as it is.
    pub(crate) fn time(at: Timestamp, now: Timestamp) -> Self {
        let absolute = at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
        Self::Time { iso: at.to_string(), absolute, relative: relative(at.duration_since(now)) }
    }

    pub(crate) fn agent(handle: &str) -> Self {
        Self::link(format!("/console/agents/{}", forecourt_pages::escape::query(handle)), format!("@{handle}"))
    }

    pub(crate) fn task(task: &str) -> Self {
        Self::link(format!("/console/tasks/{}", forecourt_pages::escape::query(task)), task)
    }
}

/// How long ago, or until then.
fn relative(to_come: SignedDuration) -> String {
    let seconds = to_come.as_secs().unsigned_abs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "min"),
        3_600..172_800 => (seconds / 3_600, "h"),
        _ => (seconds / 86_400, "days"),
    };
    match to_come.is_positive() && seconds > 0 {
        true => format!("in {count} {unit}"),
        false if seconds == 0 => "just now".to_owned(),
        false => format!("{count} {unit} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_from_now() {
        let told = |seconds| relative(SignedDuration::from_secs(seconds));
        let said = [0, -5, 90, -7_200, 400_000].map(told);
        assert_eq!(said, ["just now", "5 s ago", "in 1 min", "2 h ago", "in 4 days"]);
    }
}
