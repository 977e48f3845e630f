//! Nodes side by side: a column each.

use forecourt_core::Timestamp;

use crate::api_error::ApiError;
use crate::console::view::{Cell, Page, Section, Tone};
use crate::desk::Ask;
use crate::limits::NODES_BESIDE_MAX;
use crate::nouns::nodes::{self, Node};
use crate::report::NodeReport;

const LEAD: &str = "Runs of the program that share the store, each in a column. What sets one apart is marked. One whose signs \
                    of life do not rise has died.";
const MEBIBYTE: u64 = 1024 * 1024;

pub(super) async fn nodes_page(ask: Ask) -> Result<Page, ApiError> {
    let now = ask.now();
    let nodes = nodes::list(ask).await?.nodes;
    let shown = &nodes[..nodes.len().min(NODES_BESIDE_MAX)];
    let head: Vec<String> =
        std::iter::once("What".to_owned()).chain(shown.iter().map(|node| node.node.clone())).collect();
    let rows = if shown.is_empty() { Vec::new() } else { rows(shown, now) };
    let section = Section::table("Side by side", head, rows, "None has said that it is alive.");
    let section = match nodes.len() - shown.len() {
        0 => section,
        more => section.lead(format!("{more} more: `forecourt admin nodes` lists all.")),
    };
    Ok(Page {
        lead: Some(LEAD.to_owned()),
        sections: vec![section],
        is_live: true,
        ..Page::new("/console/nodes", "Nodes")
    })
}

/// A line for each thing that there is to say.
fn rows(nodes: &[Node], now: Timestamp) -> Vec<Vec<Cell>> {
    let row = |name: &str, cell: &dyn Fn(&Node) -> Cell| -> Vec<Cell> {
        std::iter::once(Cell::text(name)).chain(nodes.iter().map(cell)).collect()
    };
    let told = |what: &'static str, read: fn(&NodeReport) -> Cell| {
        move |node: &Node| marked(node, what, node.report.as_ref().map_or(Cell::Nothing, read))
    };
    let number = |read: fn(&NodeReport) -> Option<u64>| {
        move |node: &Node| node.report.as_ref().and_then(read).map_or(Cell::Nothing, Cell::Number)
    };
    let seconds = |seconds: Option<f64>| seconds.map_or(Cell::Nothing, |seconds| Cell::text(format!("{seconds:.3} s")));
    vec![
        row("Which", &|node| if node.is_this { Cell::text("this one") } else { Cell::Nothing }),
        row("Said so", &|node| {
            let said = node.report.as_ref().map_or(Cell::text("nothing yet"), |report| Cell::time(report.at, now));
            marked(node, "report", said)
        }),
        row("Version", &told("version", |report| Cell::text(&report.version))),
        row("Settings", &told("settings", |report| Cell::Code(report.settings.clone()))),
        row("Running since", &|node| {
            let began = node.report.as_ref().and_then(|report| report.started_at);
            began.map_or(Cell::Nothing, |at| Cell::time(at, now))
        }),
        row(
            "Clock, from the store\u{2019}s",
            &told("clock", |report| {
                report.clock_seconds.map_or(Cell::Nothing, |apart| Cell::text(format!("{apart:+.1} s")))
            }),
        ),
        row(
            "Load of its machine",
            &told("load", |report| report.load.map_or(Cell::Nothing, |load| Cell::text(format!("{load:.2}")))),
        ),
        row(
            "Memory",
            &told("memory", |report| {
                report.memory_bytes.map_or(Cell::Nothing, |bytes| Cell::text(format!("{} MiB", bytes / MEBIBYTE)))
            }),
        ),
        row("Files open", &number(|report| report.open_files)),
        row("Requests in ten minutes", &|node| Cell::Number(node.requests)),
        row("Refusals", &|node| Cell::Number(node.refusals)),
        row("Failures", &|node| Cell::Number(node.failures)),
        row("Half of answers begin within", &|node| seconds(node.latency_p50)),
        row("19 of 20 within", &|node| marked(node, "latency", seconds(node.latency_p95))),
        row("Answers in the making", &number(|report| report.running)),
        row("Tasks at work", &|node| Cell::Number(node.tasks)),
        row("Wait for the store", &number(|report| report.store_waiting)),
        row("Wait for the bus", &number(|report| report.bus_waiting)),
        row(
            "Deliveries are late by",
            &told("late", |report| {
                report.deliveries_late_seconds.map_or(Cell::Nothing, |late| Cell::text(format!("{late:.0} s")))
            }),
        ),
        row("Alerts firing", &number(|report| Some(report.alerts.len() as u64))),
        row("Signs of life", &|node| Cell::Number(node.beats)),
    ]
}

/// A value that sets its node apart stands out, and says so in words.
fn marked(node: &Node, what: &str, cell: Cell) -> Cell {
    match node.differs.iter().any(|differs| differs == what) {
        true => Cell::Several(vec![cell, Cell::Badge { tone: Tone::Warn, text: "differs".to_owned() }]),
        false => cell,
    }
}
