//! What happened over time: the series that the store keeps, as lines of charts. Pages, JSON and the shell show the same
//! lines.

mod latency;
mod lines;
mod span;

use std::collections::BTreeSet;

use forecourt_core::Timestamp;
use forecourt_store::trends::{Metric, Slice, read};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::NODES_TOLD_MAX;
pub(crate) use latency::of_counts as latency_of;
use lines::{By, Series};
pub use span::TrendSpan;

/// What happened in a span of time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Trends {
    /// `hour`, `day`, `week` or `month`.
    pub span: String,
    /// The agent that it is about; none for all of them.
    pub agent: Option<String>,
    /// The node that it is about; none for all of them together.
    pub node: Option<String>,
    /// Seconds of a step.
    pub step_seconds: u64,
    /// When each step begins, oldest first. The last one is not over yet.
    #[schemars(with = "Vec<String>")]
    pub times: Vec<Timestamp>,
    /// The nodes that counted something, by what they are called here; another one after each start.
    pub nodes: Vec<String>,
    /// Charts, of which those without any line were not counted.
    pub charts: Vec<Chart>,
}

/// Some lines with one unit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Chart {
    /// Names it: `requests`, `refusals`, `failures`, `latency`, `tasks`, `tokens`, `cost`, `payments`, `items`,
    /// `load_age` or `unfound`.
    pub chart: String,
    /// The same for people.
    pub title: String,
    /// `count`, `seconds` or `money`: units of the currency that a line names, or of the prices of models.
    pub unit: String,
    /// Whether values are levels at a moment, which do not add up.
    pub is_level: bool,
    /// The lines, the largest first; what finds no room is `others`.
    pub lines: Vec<Line>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// What it is about.
    pub name: String,
    /// The value of each step; none where no node counted.
    pub values: Vec<Option<f64>>,
    /// All of them together: the sum, of a level the last one, of latency that of all requests.
    pub total: Option<f64>,
}

pub(crate) const QUERY: &[(&str, &str)] = &[
    ("span", "hour, day, week or month: how far back; a day where it is left out"),
    ("agent", "Only of this agent"),
    ("node", "Only of this node, by what `nodes` calls it"),
];

pub(crate) async fn list(ask: Ask) -> Result<Trends, ApiError> {
    let span = match ask.query("span") {
        None => TrendSpan::Day,
        Some(name) => TrendSpan::from_name(name).ok_or_else(|| {
            ApiError::invalid(format!("`{name}` is not a span")).hint("there are hour, day, week, month")
        })?,
    };
    let agent = ask.query("agent").map(|agent| agent.trim_start_matches('@').to_owned());
    let node = ask.query("node").map(str::to_owned);
    of(&ask, span, agent, node).await
}

/// What happened in a span, of one agent or of all.
pub(crate) async fn of(
    ask: &Ask,
    span: TrendSpan,
    agent: Option<String>,
    node: Option<String>,
) -> Result<Trends, ApiError> {
    let now = ask.now();
    let times = span.times(now);
    let since = times.first().copied().unwrap_or(now);
    let slices = read(&*ask.desk.reads, span.resolution(), since, now).await?;
    // Each start of a node has a name of its own: the last ones are told.
    let mut nodes = BTreeSet::new();
    for slice in slices.iter().rev() {
        let room = NODES_TOLD_MAX.saturating_sub(nodes.len());
        nodes.extend(slice.nodes.keys().take(room));
    }
    let nodes = nodes.into_iter().cloned().collect();
    let charts = charts(&slices, (span, &times), agent.as_deref(), node.as_deref());
    Ok(Trends { span: span.name().to_owned(), agent, node, step_seconds: span.step().as_secs(), times, nodes, charts })
}

fn charts(
    slices: &[Slice],
    (span, times): (TrendSpan, &[Timestamp]),
    agent: Option<&str>,
    node: Option<&str>,
) -> Vec<Chart> {
    let series = Series::new(slices, (span, times), agent, node);
    // Of one agent, what tells its lines apart is the other label.
    let by = if agent.is_some() { By::Second } else { By::First };
    let chart = |chart: &str, title: &str, unit: &str, lines| Chart {
        chart: chart.to_owned(),
        title: title.to_owned(),
        unit: unit.to_owned(),
        is_level: false,
        lines,
    };
    let level = |name, title, unit, lines| Chart { is_level: true, ..chart(name, title, unit, lines) };
    let named =
        |names: &[(Metric, &str)]| names.iter().flat_map(|(metric, name)| series.whole(*metric, name)).collect();
    let tasks = named(&[(Metric::TasksBegun, "begun"), (Metric::TasksEnded, "ended")]);
    let tokens = named(&[(Metric::TokensRead, "read"), (Metric::TokensWritten, "written")]);
    let mut payments = series.lines(Metric::Paid, By::Second, "");
    payments.extend(series.lines(Metric::GivenBack, By::Second, "given back "));
    let mut all = vec![
        chart("requests", "Requests", "count", series.lines(Metric::Requests, by, "")),
        chart("refusals", "Refusals", "count", series.lines(Metric::Refusals, By::Second, "")),
        chart("failures", "Failures", "count", series.lines(Metric::Failures, By::Second, "")),
    ];
    // Requests are not told apart by agent where their time is taken.
    if agent.is_none() {
        all.push(level("latency", "Time until an answer begins", "seconds", latency::lines(&series)));
    }
    all.extend([
        chart("tasks", "Tasks", "count", tasks),
        chart("tokens", "Tokens", "count", tokens),
        chart("cost", "Cost of models", "money", series.lines(Metric::Cost, by, "")),
        chart("payments", "Payments", "money", payments),
        level("items", "Items that can be found", "count", series.lines(Metric::Items, By::First, "")),
        level("load_age", "Age of the newest load", "seconds", series.lines(Metric::LoadAge, By::First, "")),
        chart("unfound", "Questions that found nothing", "count", series.lines(Metric::Unfound, By::First, "")),
    ]);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forecourt_store::trends::{Counts, Series as Label};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn slice(begins: &str, node: &str, counted: &[(Metric, [&str; 2], u64)]) -> Slice {
        let mut counts = Counts::default();
        counted.iter().for_each(|(metric, labels, count)| counts.add(Label::new(*metric, *labels), *count));
        Slice { at: at(begins), nodes: BTreeMap::from([(node.to_owned(), counts)]) }
    }

    fn line<'a>(charts: &'a [Chart], chart: &str, name: &str) -> &'a Line {
        let chart = charts.iter().find(|one| one.chart == chart).unwrap();
        chart.lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("{name}: {:?}", chart.lines))
    }

    #[test]
    fn lines_are_those_of_agents_and_of_one_agent_those_of_protocols() {
        let times = TrendSpan::Hour.times(at("2026-11-30T12:59:30Z"));
        let counted = [(Metric::Requests, ["chef", "a2a"], 3), (Metric::Requests, ["guide", "mcp"], 1)];
        let slices = [slice("2026-11-30T12:00:00Z", "a", &counted), slice("2026-11-30T12:02:00Z", "b", &counted[..1])];
        let all = charts(&slices, (TrendSpan::Hour, &times), None, None);
        let chef = line(&all, "requests", "chef");
        assert_eq!((chef.total, &chef.values[..3]), (Some(6.0), &[Some(3.0), None, Some(3.0)][..]));
        assert_eq!(line(&all, "requests", "guide").values[2], Some(0.0), "somebody counted, and counted none");
        let own = charts(&slices, (TrendSpan::Hour, &times), Some("chef"), Some("b"));
        let a2a = line(&own, "requests", "a2a");
        assert_eq!((a2a.total, &a2a.values[..3]), (Some(3.0), &[None, None, Some(3.0)][..]));
        assert!(own.iter().all(|chart| chart.chart != "latency"));
    }

    #[test]
    fn money_is_in_its_unit_and_levels_do_not_add_up() {
        let times = TrendSpan::Month.times(at("2026-11-30T12:59:30Z"));
        let paid = |hour: &str, items| {
            let counted = [
                (Metric::Paid, ["cook", "USDC"], 50_000),
                (Metric::GivenBack, ["cook", "USDC"], 50_000),
                (Metric::Cost, ["cook", "tiny"], 1_500),
                (Metric::Items, ["cook", ""], items),
            ];
            slice(&format!("2026-11-30T{hour}:00:00Z"), "a", &counted)
        };
        let charts = charts(&[paid("03", 7), paid("04", 9)], (TrendSpan::Month, &times), None, None);
        assert_eq!(line(&charts, "payments", "USDC").total, Some(0.1));
        assert_eq!(line(&charts, "payments", "given back USDC").total, Some(0.1));
        assert_eq!(line(&charts, "cost", "cook").total, Some(0.003));
        let items = line(&charts, "items", "cook");
        assert_eq!((items.total, items.values[58]), (Some(9.0), Some(9.0)), "the last one of the twelve hours");
    }
}
