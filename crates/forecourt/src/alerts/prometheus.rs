//! The shipped rules for Prometheus, written from the same data.

use std::fmt::Write;
use std::time::Duration;

use super::rule::{AlertBound, AlertRule, Measure};
use super::selector::Selector;
use super::shipped::shipped;
use super::words::Unit;

/// What only somebody outside can see.
const DOWN: &str = r#"      - alert: ForecourtDown
        expr: up{job="forecourt"} == 0
        for: 1m
        labels: {severity: critical}
        annotations:
          summary: "Forecourt on {{ $labels.instance }} does not answer"
          description: "Its operator's listener can't be scraped. Look at the log of the service."
"#;

/// The rules as a file of Prometheus, YAML.
pub fn prometheus_rules() -> String {
    let mut text = "# Alerts for Forecourt, written by `forecourt reference alerts`. Checked with `promtool check rules\n\
                    # alerts.yml`, tried with `promtool test rules alerts_test.yml`.\ngroups:\n  - name: forecourt\n    \
                    rules:\n"
        .to_owned();
    text.push_str(DOWN);
    for rules in shipped().chunk_by(|a, b| a.name == b.name) {
        let Some(first) = rules.first() else { continue };
        // Writing into a text can't fail.
        let _ = write!(text, "\n      - alert: {}\n        expr: >-\n          {}\n", first.name, condition(rules));
        if !first.held_for.is_zero() {
            let _ = writeln!(text, "        for: {}", span(first.held_for));
        }
        let _ = writeln!(text, "        labels: {{severity: {}}}\n        annotations:", first.severity.name());
        let _ = writeln!(text, "          summary: {}", quoted(first, &first.summary));
        if !first.description.is_empty() {
            let _ = writeln!(text, "          description: {}", quoted(first, &first.description));
        }
    }
    text
}

/// What rules of one name watch for: any of them is enough.
pub(super) fn condition(rules: &[AlertRule]) -> String {
    rules.iter().map(expression).collect::<Vec<_>>().join(" or ")
}

fn expression(rule: &AlertRule) -> String {
    let within = span(rule.within);
    let by = |labels: &[String], more: &[&str]| {
        let all: Vec<&str> = std::iter::once("instance").chain(labels.iter().map(String::as_str)).collect();
        format!("by ({})", [all, more.to_vec()].concat().join(", "))
    };
    let grown = |how: &str, of: &Selector, labels: &[String]| {
        format!("sum {} ({how}({}))", by(labels, &[]), ranged(of, "", &within))
    };
    let (nearest, bound) = match rule.bound {
        AlertBound::Over(bound) => ("max", format!("> {bound}")),
        AlertBound::Under(bound) => ("min", format!("< {bound}")),
    };
    let level = |of: &Selector| format!("{nearest} {} ({})", by(&rule.by, &[]), of.written(""));
    let measured = match (rule.measure, &rule.whole) {
        (Measure::Value, None) => level(&rule.part),
        (Measure::Value, Some(whole)) => format!("{} / {}", level(&rule.part), level(whole)),
        (Measure::Distance, _) => format!("{nearest} {} (abs({}))", by(&rule.by, &[]), rule.part.written("")),
        (Measure::SecondsUntil, _) => format!("{} - time()", level(&rule.part)),
        (Measure::Increase, _) => grown("increase", &rule.part, &rule.by),
        (Measure::Rate, _) | (Measure::Share, None) => grown("rate", &rule.part, &rule.by),
        (Measure::Share, Some(whole)) => {
            let apart: Vec<&str> =
                rule.by.iter().filter(|label| !rule.whole_by.contains(label)).map(String::as_str).collect();
            let joint =
                if apart.is_empty() { "/".to_owned() } else { format!("/ ignoring({}) group_left", apart.join(", ")) };
            let (part, whole) = (grown("rate", &rule.part, &rule.by), grown("rate", whole, &rule.whole_by));
            format!("{part} {joint} {whole}")
        }
        (Measure::Quantile, _) => {
            let buckets = ranged(&rule.part, "_bucket", &within);
            format!("histogram_quantile(0.95, sum {} (rate({buckets})))", by(&rule.by, &["le"]))
        }
    };
    format!("{measured} {bound}")
}

fn ranged(of: &Selector, suffix: &str, within: &str) -> String {
    format!("{}[{within}]", of.written(suffix))
}

/// A text with its places filled in by Prometheus, in quotes.
fn quoted(rule: &AlertRule, text: &str) -> String {
    let value = match rule.unit() {
        Unit::Percent => "{{ $value | humanizePercentage }}",
        Unit::Seconds => "{{ $value | humanizeDuration }}",
        Unit::Count => "{{ $value }}",
    };
    let mut text = text.replace("{value}", value);
    for label in rule.by.iter().map(String::as_str).chain(["instance"]) {
        text = text.replace(&format!("{{{label}}}"), &format!("{{{{ $labels.{label} }}}}"));
    }
    serde_json::Value::from(text).to_string()
}

/// A duration as Prometheus writes it.
fn span(of: Duration) -> String {
    match of.as_secs() {
        seconds if seconds % 3_600 == 0 => format!("{}h", seconds / 3_600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}
