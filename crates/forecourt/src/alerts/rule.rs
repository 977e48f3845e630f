//! A rule of an alert: what is measured, by which labels, and from where on it is too much.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::selector::{Selector, is_name};

/// Labels that tell alerts of a rule apart.
const LABELS_MAX: usize = 4;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 60;
/// Characters of a text of a rule.
const TEXT_CHARS_MAX: usize = 300;
/// Seconds back to which is measured.
const WITHIN_SECONDS: std::ops::RangeInclusive<u64> = 60..=900;
/// Seconds for which something has to be so.
const FOR_SECONDS_MAX: u64 = 24 * 60 * 60;

/// `[[admin.alert]]`: a rule, evaluated once a minute on each node over what it counts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlertSettings {
    /// Its name, such as `ChefIsSlow`: letters and digits, at most 60. One of a shipped rule takes the place of that one.
    pub name: String,
    /// What is measured, as Prometheus writes it: `forecourt_replies_total{agent="chef", ending="failed"}`. Alternatives
    /// are words with `|` between (`ending=~"failed|canceled"`); other patterns are not understood. Of a histogram the
    /// name alone.
    pub metric: String,
    /// How it is measured.
    #[serde(default)]
    pub measure: Measure,
    /// What `share` measures a part of, and what `value` is divided by.
    pub of: Option<String>,
    /// Labels that tell alerts apart, such as `["agent"]`, at most 4; what has the same ones is added up, of `value` the
    /// one nearest to the bound counts.
    #[serde(default)]
    pub by: Vec<String>,
    /// The same for `of`, where that is another.
    pub of_by: Option<Vec<String>>,
    /// It alerts above this. One of `over` and `under` is needed.
    pub over: Option<f64>,
    /// It alerts below this.
    pub under: Option<f64>,
    /// Seconds back to which `rate`, `increase`, `share` and `quantile` are measured: 60 to 900.
    #[serde(default = "within")]
    pub within_seconds: u64,
    /// Seconds for which it has to be so before it alerts: at most a day. 0: at once.
    #[serde(default)]
    pub for_seconds: u64,
    /// How much it hurries.
    #[serde(default)]
    pub severity: Severity,
    /// What is told, at most 300 characters: `{agent}` stands for a label of `by`, `{value}` for what was measured.
    pub summary: String,
    /// What to do about it, at most 300 characters.
    #[serde(default)]
    pub description: String,
}

fn within() -> u64 {
    300
}

/// How something is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// As it is now; with `of`, divided by that.
    #[default]
    Value,
    /// How far it is from 0, either way.
    Distance,
    /// By how much it grew in the last `within_seconds`.
    Increase,
    /// The same in a second.
    Rate,
    /// By how much it grew, as a part of what `of` grew by.
    Share,
    /// What 19 of 20 stayed below in the last `within_seconds`: of a histogram.
    Quantile,
    /// Seconds from now to the moment that it is, in seconds of Unix time.
    SecondsUntil,
}

/// How much an alert hurries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody should look at it today.
    #[default]
    Warning,
    /// Somebody should look at it now.
    Critical,
}

impl Severity {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// From where on it is too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AlertBound {
    /// Above this.
    Over(f64),
    /// Below this.
    Under(f64),
}

impl AlertBound {
    /// Whether a value is on the wrong side.
    pub(super) fn is_crossed(self, value: f64) -> bool {
        match self {
            Self::Over(bound) => value > bound,
            Self::Under(bound) => value < bound,
        }
    }

    /// Of two values the one that is nearer to the wrong side, as Prometheus takes `max` or `min`.
    pub(super) fn nearest(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Over(_) => a.max(b),
            Self::Under(_) => a.min(b),
        }
    }
}

/// A rule that was checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AlertRule {
    pub(crate) name: String,
    pub(super) part: Selector,
    pub(super) measure: Measure,
    pub(super) whole: Option<Selector>,
    pub(super) by: Vec<String>,
    pub(super) whole_by: Vec<String>,
    pub(super) bound: AlertBound,
    pub(super) within: Duration,
    pub(crate) held_for: Duration,
    pub(crate) severity: Severity,
    pub(crate) summary: String,
    pub(crate) description: String,
}

impl AlertSettings {
    /// The rule, or what is wrong with which key.
    pub(super) fn check(&self) -> Result<AlertRule, (&'static str, String)> {
        let is_named = self.name.starts_with(|c: char| c.is_ascii_alphabetic())
            && self.name.len() <= NAME_CHARS_MAX
            && self.name.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_named {
            return Err(("name", format!("has 1 to {NAME_CHARS_MAX} letters and digits, and begins with a letter")));
        }
        for (key, text) in [("summary", &self.summary), ("description", &self.description)] {
            if text.chars().count() > TEXT_CHARS_MAX || text.contains(char::is_control) {
                return Err((key, format!("is one line of at most {TEXT_CHARS_MAX} characters")));
            }
        }
        let (by, whole_by) = (self.by.clone(), self.of_by.clone().unwrap_or_else(|| self.by.clone()));
        if by.len() > LABELS_MAX || !by.iter().chain(&whole_by).all(|label| is_name(label)) {
            return Err(("by", format!("has at most {LABELS_MAX} names of labels")));
        }
        if !whole_by.iter().all(|label| by.contains(label)) {
            return Err(("of_by", "has only labels of `by`".to_owned()));
        }
        if !WITHIN_SECONDS.contains(&self.within_seconds) {
            let (least, most) = (WITHIN_SECONDS.start(), WITHIN_SECONDS.end());
            return Err(("within_seconds", format!("is {least} to {most}")));
        }
        if self.for_seconds > FOR_SECONDS_MAX {
            return Err(("for_seconds", format!("is at most {FOR_SECONDS_MAX}")));
        }
        let part = Selector::parse(&self.metric).map_err(|wrong| ("metric", wrong))?;
        Ok(AlertRule {
            name: self.name.clone(),
            part,
            measure: self.measure,
            whole: self.whole()?,
            by,
            whole_by,
            bound: self.bound()?,
            within: Duration::from_secs(self.within_seconds),
            held_for: Duration::from_secs(self.for_seconds),
            severity: self.severity,
            summary: self.summary.clone(),
            description: self.description.clone(),
        })
    }

    fn whole(&self) -> Result<Option<Selector>, (&'static str, String)> {
        match (&self.of, self.measure) {
            (None, Measure::Share) => Err(("of", "is needed for a share: what it is a part of".to_owned())),
            (Some(_), measure) if !matches!(measure, Measure::Share | Measure::Value) => {
                Err(("of", "is for `share` and `value` alone".to_owned()))
            }
            (of, _) => of.as_deref().map(Selector::parse).transpose().map_err(|wrong| ("of", wrong)),
        }
    }

    fn bound(&self) -> Result<AlertBound, (&'static str, String)> {
        match (self.over, self.under) {
            (Some(over), None) if over.is_finite() => Ok(AlertBound::Over(over)),
            (None, Some(under)) if under.is_finite() => Ok(AlertBound::Under(under)),
            _ => Err(("over", "is needed, or `under`: one of them, and a number".to_owned())),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A rule with more lines.
    pub(in crate::alerts) fn of(lines: &str) -> AlertSettings {
        let text = format!("name = \"A\"\nmetric = \"a_total\"\nsummary = \"s\"\n{lines}");
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_rule_that_makes_no_sense_names_its_key() {
        let over = "over = 1";
        assert!(of(over).check().is_ok());
        let name = "x".repeat(NAME_CHARS_MAX);
        assert!(AlertSettings { name: name.clone(), ..of(over) }.check().is_ok());
        let wrong = |settings: AlertSettings| settings.check().unwrap_err().0;
        assert_eq!(wrong(AlertSettings { name: format!("{name}x"), ..of(over) }), "name");
        assert_eq!(wrong(AlertSettings { name: "a b".to_owned(), ..of(over) }), "name");
        assert_eq!(wrong(AlertSettings { summary: "x".repeat(TEXT_CHARS_MAX + 1), ..of(over) }), "summary");
        for (lines, key) in [
            ("", "over"),
            ("over = 1\nunder = 1", "over"),
            ("over = nan", "over"),
            ("over = 1\nwithin_seconds = 59", "within_seconds"),
            ("over = 1\nwithin_seconds = 901", "within_seconds"),
            ("over = 1\nfor_seconds = 86401", "for_seconds"),
            ("over = 1\nmeasure = \"share\"", "of"),
            ("over = 1\nmeasure = \"rate\"\nof = \"b\"", "of"),
            ("over = 1\nby = [\"a\", \"b\", \"c\", \"d\", \"e\"]", "by"),
            ("over = 1\nby = [\"a\"]\nof_by = [\"b\"]", "of_by"),
        ] {
            assert_eq!(wrong(of(lines)), key, "{lines}");
        }
        assert!(
            of("over = 1\nwithin_seconds = 900\nfor_seconds = 86400\nby = [\"a\", \"b\", \"c\", \"d\"]")
                .check()
                .is_ok()
        );
    }
}
