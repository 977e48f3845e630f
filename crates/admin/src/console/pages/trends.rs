//! What happened over time, as charts.

use forecourt_pages::escape::query;

use crate::api_error::ApiError;
use crate::console::view::{Body, ChartView, Filter, Page, Section, Tab};
use crate::desk::Ask;
use crate::nouns::trends::{self, TrendSpan, Trends};

/// The charts on the page of an agent.
const OF_AN_AGENT: [&str; 4] = ["requests", "refusals", "failures", "cost"];

pub(super) async fn trends_page(ask: Ask) -> Result<Page, ApiError> {
    let agents = ask.house.host.directory().iter().map(|resident| resident.card.handle().to_string()).collect();
    let trends = trends::list(ask).await?;
    let span = TrendSpan::from_name(&trends.span).unwrap_or(TrendSpan::Day);
    let of = |name: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!("&{name}={}", query(value))).unwrap_or_default()
    };
    let kept = format!("{}{}", of("agent", &trends.agent), of("node", &trends.node));
    let tab = |one: TrendSpan| Tab {
        href: format!("/console/trends?span={}{kept}", one.name()),
        label: one.words(),
        is_current: one == span,
    };
    let filter = |name, label, value: &Option<String>, choices| Filter {
        name,
        label,
        value: value.clone().unwrap_or_default(),
        choices,
    };
    let (shown, without) = charts(&trends, span);
    let mut sections = vec![match shown.is_empty() {
        true => Section::new("Nothing yet", Body::Empty(NOTHING_YET.to_owned())),
        false => Section::new(span.words(), Body::Charts(shown)).lead(lead(span)),
    }];
    if !without.is_empty() && without.len() < trends.charts.len() {
        sections.push(Section::new("Nothing was counted of", Body::List(without)));
    }
    Ok(Page {
        lead: Some(LEAD.to_owned()),
        tabs: TrendSpan::ALL.into_iter().map(tab).collect(),
        kept: vec![("span", span.name().to_owned())],
        filters: vec![
            filter("agent", "Agent", &trends.agent, agents),
            filter("node", "Node", &trends.node, trends.nodes.clone()),
        ],
        sections,
        ..Page::new("/console/trends", "Trends")
    })
}

const LEAD: &str = "Of every node, a minute behind at most. Minutes are kept for a day, ten minutes for a week, hours for \
                    thirty days. `forecourt admin trends --csv` has all numbers.";
const NOTHING_YET: &str = "The first numbers come when a minute is over.";

/// What a span shows, and where one has to be careful.
fn lead(span: TrendSpan) -> String {
    let step = match span {
        TrendSpan::Hour => "a minute",
        TrendSpan::Day => "half an hour",
        TrendSpan::Week => "three hours",
        TrendSpan::Month => "twelve hours",
    };
    format!(
        "A step is {step}; the last one is not over yet. Where a line is interrupted, no node counted. Times are UTC."
    )
}

/// The charts that have lines, and the titles of the others.
fn charts(trends: &Trends, span: TrendSpan) -> (Vec<ChartView>, Vec<String>) {
    let (mut shown, mut without) = (Vec::new(), Vec::new());
    for chart in &trends.charts {
        match ChartView::new(chart, span, &trends.times) {
            Some(view) => shown.push(view),
            None => without.push(chart.title.clone()),
        }
    }
    (shown, without)
}

/// Small charts of one agent for its own page; none where it did nothing.
pub(super) async fn of_agent(ask: &Ask, handle: &str) -> Result<Option<Section>, ApiError> {
    let span = TrendSpan::Day;
    let mut trends = trends::of(ask, span, Some(handle.to_owned()), None).await?;
    trends.charts.retain(|chart| OF_AN_AGENT.contains(&chart.chart.as_str()));
    let (shown, _) = charts(&trends, span);
    let small: Vec<ChartView> = shown.into_iter().map(ChartView::small).collect();
    Ok((!small.is_empty()).then(|| Section::new(span.words(), Body::Charts(small))))
}
