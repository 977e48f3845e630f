//! An alert in words.

use std::collections::BTreeMap;

use forecourt_admin::report::FiringAlert;
use forecourt_core::Timestamp;

use super::rule::{AlertRule, Measure};

impl AlertRule {
    /// An alert in words.
    pub(super) fn told(&self, group: &[String], value: f64, node: &str, now: Timestamp) -> FiringAlert {
        let labels: BTreeMap<String, String> = self.by.iter().cloned().zip(group.iter().cloned()).collect();
        let mut summary = self.summary.replace("{instance}", &format!("node {node}"));
        summary = summary.replace("{value}", &self.unit().words(value));
        for (label, value) in &labels {
            summary = summary.replace(&format!("{{{label}}}"), value);
        }
        FiringAlert {
            rule: self.name.clone(),
            severity: self.severity.name().to_owned(),
            labels,
            value,
            since: now,
            summary,
            description: self.description.clone(),
        }
    }

    /// What its values are of.
    pub(super) fn unit(&self) -> Unit {
        let metric = self.part.metric.as_str();
        match self.measure {
            Measure::Share => Unit::Percent,
            _ if self.whole.is_some() || metric.ends_with("_ratio") => Unit::Percent,
            Measure::Quantile | Measure::SecondsUntil => Unit::Seconds,
            Measure::Value | Measure::Distance if metric.ends_with("_seconds") => Unit::Seconds,
            _ => Unit::Count,
        }
    }
}

/// What a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Percent,
    Seconds,
    Count,
}

impl Unit {
    fn words(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{:.0} %", value * 100.0),
            Self::Seconds => match value.abs() {
                seconds if seconds < 120.0 => format!("{:.1} s", value).replace(".0 s", " s"),
                seconds if seconds < 7_200.0 => format!("{:.0} min", value / 60.0),
                seconds if seconds < 172_800.0 => format!("{:.0} h", value / 3_600.0),
                _ => format!("{:.0} days", value / 86_400.0),
            },
            Self::Count if value.fract() == 0.0 => format!("{value:.0}"),
            Self::Count => format!("{value:.2}"),
        }
    }
}
