//! Charts as SVG that is made here: lines, a point for every few steps that shows its values to whoever points at it or
//! comes to it by keyboard, and the same values as a table.

use askama::Template;
use forecourt_core::Timestamp;
use forecourt_pages::clean;
use jiff::tz::TimeZone;

use crate::nouns::shortened;
use crate::nouns::trends::{Chart, Line, TrendSpan};

/// The width and height in which lines are drawn; pages stretch them.
const WIDTH: f64 = 1000.0;
/// See [`WIDTH`].
const HEIGHT: f64 = 200.0;
/// Characters of a name at a point.
const SHORT_CHARS_MAX: usize = 14;
/// What stands for a value that nobody counted.
const NOTHING: &str = "–";

/// A chart, laid out.
#[derive(Template)]
#[template(path = "chart.html")]
pub(crate) struct ChartView {
    /// Names it on its page.
    id: String,
    title: String,
    desc: String,
    /// What the upper edge stands for.
    top: String,
    lines: Vec<LineView>,
    points: Vec<PointView>,
    axis: Vec<String>,
    is_small: bool,
}

struct LineView {
    name: String,
    /// Its name where there is little room.
    short: String,
    total: String,
    path: String,
}

/// Some steps together.
struct PointView {
    when: String,
    values: Vec<String>,
}

impl ChartView {
    /// A chart of these steps; `None` where it has no line.
    pub(crate) fn new(chart: &Chart, span: TrendSpan, times: &[Timestamp]) -> Option<Self> {
        if chart.lines.is_empty() {
            return None;
        }
        let values = || chart.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
        let top = nice(values().fold(0.0, f64::max));
        let shown = |value| number(value, &chart.unit);
        let line = |line: &Line| LineView {
            name: clean::line(&line.name),
            short: shortened(&clean::line(&line.name), SHORT_CHARS_MAX),
            total: line.total.map_or_else(|| NOTHING.to_owned(), shown),
            path: path(&line.values, top),
        };
        let lines: Vec<LineView> = chart.lines.iter().map(line).collect();
        let points = points(chart, span, times);
        let totals: Vec<String> = lines.iter().map(|line| format!("{} {}", line.name, line.total)).collect();
        let desc = format!("{}: {}. The upper edge is {}.", span.words(), totals.join(", "), shown(top));
        let label = |at: Option<&Timestamp>| at.map(|at| moment(*at, span)).unwrap_or_default();
        let axis = [times.first(), times.get(times.len() / 2), times.last()].map(label).to_vec();
        let (id, title) = (chart.chart.clone(), clean::line(&chart.title));
        Some(Self { id, title, desc, top: shown(top), lines, points, axis, is_small: false })
    }

    /// The same for a page that is about more than charts.
    pub(crate) fn small(self) -> Self {
        Self { is_small: true, ..self }
    }

    /// It as HTML.
    pub(super) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

/// A line through the values; where nobody counted it is interrupted.
fn path(values: &[Option<f64>], top: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than a hundred steps")]
    let at = |step: usize| ((step as f64 + 0.5) * WIDTH / values.len() as f64).round();
    let y = |value: f64| (HEIGHT - 2.0 - value.max(0.0) / top * (HEIGHT - 4.0)).round();
    let mut path = String::new();
    for (step, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let follows = step > 0 && values[step - 1].is_some();
        let goes_on = values.get(step + 1).is_some_and(Option::is_some);
        path.push_str(&format!("{}{} {}", if follows { 'L' } else { 'M' }, at(step), y(*value)));
        if !follows && !goes_on {
            // A line without length is a dot, by its round ends.
            path.push_str("h0");
        }
    }
    path
}

fn points(chart: &Chart, span: TrendSpan, times: &[Timestamp]) -> Vec<PointView> {
    let at_once = span.steps_at_once();
    let groups = times.chunks(at_once).enumerate();
    let point = |(n, group): (usize, &[Timestamp])| {
        let end = group.last().and_then(|last| last.checked_add(span.step()).ok());
        let when = match (group.first(), end) {
            (Some(begin), Some(end)) => format!("{}–{}", moment(*begin, span), moment(end, span)),
            _ => String::new(),
        };
        let value = |line: &Line| {
            let steps = line.values.iter().skip(n * at_once).take(at_once).flatten().copied();
            together(chart, steps).map_or_else(|| NOTHING.to_owned(), |value| number(value, &chart.unit))
        };
        PointView { when, values: chart.lines.iter().map(value).collect() }
    };
    groups.map(point).collect()
}

/// Several steps as one value: what adds up is added up, of levels the last one counts, and of times the longest.
fn together(chart: &Chart, steps: impl Iterator<Item = f64>) -> Option<f64> {
    match (chart.is_level, chart.chart.as_str()) {
        (_, "latency") => steps.reduce(f64::max),
        (true, _) => steps.last(),
        (false, _) => steps.reduce(|a, b| a + b),
    }
}

/// The next number above that people like to read: 1, 2 or 5 and zeros. Never 0.
fn nice(highest: f64) -> f64 {
    if highest <= 0.0 || !highest.is_finite() {
        return 1.0;
    }
    let unit = 10_f64.powf(highest.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * unit).find(|nice| *nice >= highest * 0.999_999);
    nice.unwrap_or(highest)
}

fn moment(at: Timestamp, span: TrendSpan) -> String {
    let format = match span {
        TrendSpan::Hour | TrendSpan::Day => "%H:%M",
        TrendSpan::Week => "%a %H:%M",
        TrendSpan::Month => "%-d %b",
    };
    at.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

/// A number of a unit, as people read it.
pub(crate) fn number(value: f64, unit: &str) -> String {
    match unit {
        "seconds" => duration(value),
        "count" => grouped(value),
        _ => decimal(value, 6),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..0.01 => format!("{} ms", decimal(seconds * 1e3, 1)),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..90.0 => format!("{} s", decimal(seconds, 1)),
        ..5_400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

/// Digits in groups of three; a part only of small numbers that have one.
fn grouped(value: f64) -> String {
    if value.fract() != 0.0 && value < 100.0 {
        return decimal(value, 1);
    }
    let digits = format!("{value:.0}");
    let begin = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    groups.extend(digits.get(..begin).filter(|group| !group.is_empty()));
    groups.extend((begin..digits.len()).step_by(3).filter_map(|at| digits.get(at..at + 3)));
    groups.join("\u{202f}")
}

/// At most so many places, and no zeros at their end.
fn decimal(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: &[(&str, &[Option<f64>])], unit: &str) -> Chart {
        let line = |(name, values): &(&str, &[Option<f64>])| Line {
            name: (*name).to_owned(),
            values: values.to_vec(),
            total: Some(values.iter().flatten().sum()),
        };
        Chart {
            chart: "requests".to_owned(),
            title: "Requests".to_owned(),
            unit: unit.to_owned(),
            is_level: false,
            lines: lines.iter().map(line).collect(),
        }
    }

    fn times(span: TrendSpan) -> Vec<Timestamp> {
        (0..span.steps()).map(|n| Timestamp::UNIX_EPOCH + span.step() * u32::try_from(n).unwrap()).collect()
    }

    #[test]
    fn a_line_is_interrupted_where_nobody_counted() {
        assert_eq!(path(&[Some(0.0), Some(10.0), None, Some(5.0)], 10.0), "M125 198L375 2M875 100h0");
        assert_eq!(path(&[None, None], 1.0), "");
    }

    #[test]
    fn numbers_are_as_people_read_them() {
        let told = |value, unit| number(value, unit);
        assert_eq!(told(1_234_567.0, "count"), "1\u{202f}234\u{202f}567");
        assert_eq!([told(7.0, "count"), told(100.0, "count"), told(0.5, "count")], ["7", "100", "0.5"]);
        assert_eq!(
            [told(0.001_25, "seconds"), told(0.25, "seconds"), told(12.34, "seconds")],
            ["1.2 ms", "250 ms", "12.3 s"]
        );
        assert_eq!(
            [told(600.0, "seconds"), told(7_200.0, "seconds"), told(400_000.0, "seconds")],
            ["10 min", "2 h", "5 days"]
        );
        assert_eq!([told(0.05, "money"), told(3.0, "money"), told(0.000_001, "money")], ["0.05", "3", "0.000001"]);
        assert_eq!(
            [nice(0.0), nice(3.0), nice(10.0), nice(51.0), nice(0.03)].map(|n| decimal(n, 3)),
            ["1", "5", "10", "100", "0.05"]
        );
    }

    #[test]
    fn names_that_somebody_chose_are_text() {
        let evil = "<script>alert(1)</script>\"><img src=x>\u{202e}";
        let mut chart = chart(&[(evil, &[Some(1.0)])], "count");
        chart.title = evil.to_owned();
        let html = ChartView::new(&chart, TrendSpan::Hour, &times(TrendSpan::Hour)).unwrap().html();
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains('\u{202e}'), "{html}");
        assert!(!html.contains(" style=") && !html.contains(" on"), "{html}");
    }

    #[test]
    fn the_largest_charts_of_a_page_are_below_100_kb() {
        let values: Vec<Option<f64>> = (0..60).map(|n| Some(123_456.0 + f64::from(n))).collect();
        let names: Vec<String> = (0..5).map(|n| format!("an-agent-with-a-long-name-{n}")).collect();
        let lines: Vec<(&str, &[Option<f64>])> = names.iter().map(|name| (name.as_str(), &*values)).collect();
        let span = TrendSpan::Month;
        let bytes = |lines| ChartView::new(&chart(lines, "count"), span, &times(span)).unwrap().html().len();
        // Tasks, tokens and latency have two lines at most; the page around them has 8 KB.
        let all = 8 * bytes(&lines) + 3 * bytes(&lines[..2]) + 8_000;
        assert!(all < 100_000, "{all}");
    }

    #[test]
    fn a_chart_says_in_words_and_numbers_what_it_shows() {
        let values: Vec<Option<f64>> = (0..60).map(|n| (n != 7).then_some(2.0)).collect();
        let chart = chart(&[("chef", &values)], "count");
        let html = ChartView::new(&chart, TrendSpan::Hour, &times(TrendSpan::Hour)).unwrap().html();
        for words in [
            "<title>Requests</title>",
            "Last hour: chef 118. The upper edge is 2.",
            "<li tabindex=\"0\"><span><b>00:05–00:10</b><br>chef 8</span>",
            "<th scope=\"row\">00:00–00:05</th><td>10</td>",
        ] {
            assert!(html.contains(words), "{words}\n{html}");
        }
        assert!(ChartView::new(&Chart { lines: Vec::new(), ..chart }, TrendSpan::Hour, &[]).is_none());
    }
}
