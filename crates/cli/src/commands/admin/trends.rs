//! What happened over time, as lines of a terminal and as CSV.

use forecourt_client::printable::line;
use serde_json::Value;

use super::csv;

/// Marks of a line, the lowest first.
const MARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands where no node counted.
const NOBODY: char = '·';
/// Characters of a name.
const NAME_CHARS_MAX: usize = 40;

/// A heading for each chart that has lines, and each line with its sum and what became of it over time.
pub(super) fn shown(told: &Value) -> String {
    let charts = list(&told["charts"]).iter().filter(|chart| !list(&chart["lines"]).is_empty());
    let charts: Vec<String> = charts.map(chart).collect();
    if charts.is_empty() {
        return "nothing was counted yet: the first numbers come when a minute is over".to_owned();
    }
    let begin = |at: Option<&Value>| at.and_then(Value::as_str).unwrap_or_default().to_owned();
    let times = list(&told["times"]);
    let steps = format!(
        "{} to {}, {} s a step; {NOBODY} where no node counted",
        begin(times.first()),
        begin(times.last()),
        told["step_seconds"]
    );
    [steps].into_iter().chain(charts).collect::<Vec<_>>().join("\n\n")
}

fn chart(chart: &Value) -> String {
    let lines = list(&chart["lines"]);
    let highest = lines.iter().flat_map(|one| list(&one["values"])).filter_map(Value::as_f64).fold(0.0, f64::max);
    let unit = match chart["unit"].as_str() {
        None | Some("count") => String::new(),
        Some(unit) => format!(" ({})", line(unit, NAME_CHARS_MAX)),
    };
    let name = |one: &Value| line(one["name"].as_str().unwrap_or_default(), NAME_CHARS_MAX);
    let widest = lines.iter().map(|one| name(one).chars().count()).max().unwrap_or_default();
    let row = |one: &Value| {
        let marks: String = list(&one["values"]).iter().map(|value| mark(value.as_f64(), highest)).collect();
        format!("  {:<widest$}  {:>12}  {marks}", name(one), one["total"].as_f64().map_or("-".to_owned(), decimal))
    };
    let title = line(chart["title"].as_str().unwrap_or_default(), NAME_CHARS_MAX);
    std::iter::once(format!("{title}{unit}")).chain(lines.iter().map(row)).collect::<Vec<_>>().join("\n")
}

fn mark(value: Option<f64>, highest: f64) -> char {
    let Some(value) = value else { return NOBODY };
    if value <= 0.0 || highest <= 0.0 {
        return MARKS[0];
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    let place = (value / highest * 7.0).round() as usize;
    MARKS[place.min(MARKS.len() - 1)]
}

/// At most six places, and no zeros at their end.
fn decimal(value: f64) -> String {
    format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A row for each value that was counted: when, of which chart and line, and how much. RFC 4180.
pub(super) fn as_csv(told: &Value) -> String {
    let mut rows = vec!["time,chart,unit,line,value".to_owned()];
    for chart in list(&told["charts"]) {
        for one in list(&chart["lines"]) {
            let of = [&chart["chart"], &chart["unit"], &one["name"]].map(csv::field).join(",");
            let values = list(&told["times"]).iter().zip(list(&one["values"])).filter(|(_, value)| !value.is_null());
            rows.extend(values.map(|(at, value)| format!("{},{of},{value}", csv::field(at))));
        }
    }
    rows.join("\r\n")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told() -> Value {
        json!({"step_seconds": 60, "times": ["2026-11-30T12:00:00Z", "2026-11-30T12:01:00Z", "2026-11-30T12:02:00Z"],
            "charts": [
                {"chart": "requests", "title": "Requests", "unit": "count", "lines": [
                    {"name": "=chef\u{1b}[2J", "values": [0.0, null, 7.0], "total": 7.0},
                    {"name": "a", "values": [3.5, 0.1, 0.0], "total": 3.6}]},
                {"chart": "cost", "title": "Cost", "unit": "money", "lines": []}]})
    }

    #[test]
    fn lines_are_drawn_in_marks_and_obey_nobody() {
        let text = shown(&told());
        assert!(text.contains("3.6  ▅▁▁") && text.contains("7  ▁·█"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("Cost"), "{text}");
        assert!(shown(&json!({"charts": []})).starts_with("nothing was counted yet"));
    }

    #[test]
    fn each_value_that_was_counted_is_a_row_and_no_formula() {
        let rows = as_csv(&told());
        let rows: Vec<&str> = rows.split("\r\n").collect();
        assert_eq!(rows.len(), 6);
        assert!(rows[1].starts_with("2026-11-30T12:00:00Z,requests,count,'=chef"), "{rows:?}");
        assert_eq!(rows[3], "2026-11-30T12:00:00Z,requests,count,a,3.5");
    }
}
