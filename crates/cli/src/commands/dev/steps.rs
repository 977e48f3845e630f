//! This module makes steps of the spans of a request: what each was, what it came to and how long it took, each below
//! the one that it is a part of.

use std::time::Duration;

use forecourt::development::{COST_MICROS, FinishedSpan, FinishedTrace};

/// Micros of one unit of money.
const MICROS: f64 = 1_000_000.0;

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// A request as it came in.
    Request,
    /// A message on its way through the host.
    Message,
    /// The rules before an agent.
    Gate,
    /// An agent at work.
    Agent,
    /// A call of an endpoint.
    Endpoint,
    /// A request to a model.
    Model,
    /// A tool that a model, or a program, called.
    Tool,
    /// A request to somebody else.
    Upstream,
    /// An operation of the store.
    Store,
    /// Work in the background.
    Task,
    /// Anything else.
    Other,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepEnd {
    /// Well.
    Fine,
    /// It was given up before it was over.
    Cancelled,
    /// It failed.
    Failed,
}

/// A step of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) label: String,
    /// What it came to, in words.
    pub(super) details: String,
    pub(super) took: Duration,
    pub(super) end: StepEnd,
    /// How many operations it is: one, unless it is of the store and has others beside it.
    operations: usize,
    pub(super) inner: Vec<Step>,
}

impl StepKind {
    /// What a span is.
    pub(super) fn of(span: &FinishedSpan) -> Self {
        let has = |name: &str| span.text(name).is_some();
        match (span.text("gen_ai.operation.name").as_deref(), span.name.as_str()) {
            (Some("invoke_agent"), _) => Self::Agent,
            (Some("chat"), _) => Self::Model,
            (Some("execute_tool"), _) => Self::Tool,
            (_, "gate") => Self::Gate,
            (_, "receive") => Self::Message,
            _ if has("db.operation.name") => Self::Store,
            _ if has("forecourt.egress.purpose") => Self::Upstream,
            (_, name) if name == "invoke" || name.starts_with("invoke ") => Self::Endpoint,
            (_, name) if name.starts_with("task ") => Self::Task,
            _ if has("forecourt.protocol") && (has("http.request.method") || has("network.protocol.name")) => {
                Self::Request
            }
            _ => Self::Other,
        }
    }
}

/// Whether a trace is of somebody who asked an agent, an endpoint or a tool something.
pub(super) fn is_message(trace: &FinishedTrace) -> bool {
    // A tool that nothing else is asked for is one of a server behind this host.
    let asks =
        |span: &FinishedSpan| matches!(StepKind::of(span), StepKind::Message | StepKind::Endpoint | StepKind::Tool);
    trace.spans.iter().any(asks)
}

/// Whether a trace is of a request that came in, and not of work that began here.
pub(super) fn is_request(trace: &FinishedTrace) -> bool {
    roots(trace).next().is_some_and(|root| StepKind::of(root) == StepKind::Request)
}

/// The spans that are a part of no other one here.
pub(super) fn roots(trace: &FinishedTrace) -> impl Iterator<Item = &FinishedSpan> {
    trace.spans.iter().filter(|span| !trace.spans.iter().any(|other| other.id == span.parent))
}

/// The steps of a request, below the span that is the whole of it.
pub(super) fn steps(trace: &FinishedTrace) -> Vec<Step> {
    let mut found = Vec::new();
    for (at, root) in roots(trace).enumerate() {
        match (at, StepKind::of(root)) {
            // It has a line of its own.
            (0, StepKind::Request) => found.extend(below(trace, root)),
            _ => found.extend(step(trace, root)),
        }
    }
    joined(found)
}

fn below(trace: &FinishedTrace, span: &FinishedSpan) -> Vec<Step> {
    let inner = trace.spans.iter().filter(|other| other.parent == span.id && other.id != span.id);
    joined(inner.flat_map(|inner| step(trace, inner)).collect())
}

/// A span as a step; those of a message stand in its place, since the message is the request.
fn step(trace: &FinishedTrace, span: &FinishedSpan) -> Vec<Step> {
    let (kind, inner) = (StepKind::of(span), below(trace, span));
    let has_failed = span.text("error.type").is_some();
    if kind == StepKind::Message && !has_failed {
        return inner;
    }
    let end = end_of(kind, span);
    let (label, details) = (label(kind, span), details(kind, span, end));
    vec![Step { kind, label, details, took: span.took, end, operations: 1, inner }]
}

fn end_of(kind: StepKind, span: &FinishedSpan) -> StepEnd {
    let outcome = span.text("forecourt.outcome");
    let is_cancelled = outcome.as_deref().is_some_and(|outcome| outcome.starts_with("cancel"));
    match span.text("error.type").as_deref() {
        Some("caller_left" | "cancelled" | "canceled") => StepEnd::Cancelled,
        Some(_) => StepEnd::Failed,
        // An agent says how its answer ended, unless nobody waited for that.
        None if is_cancelled || (kind == StepKind::Agent && outcome.is_none()) => StepEnd::Cancelled,
        None => StepEnd::Fine,
    }
}

fn label(kind: StepKind, span: &FinishedSpan) -> String {
    let text = |name: &str| span.text(name).unwrap_or_default();
    match kind {
        StepKind::Agent => format!("agent @{}", text("gen_ai.agent.name")),
        StepKind::Model => format!("model {}", text("gen_ai.request.model")),
        StepKind::Tool => format!("tool {}", text("gen_ai.tool.name")),
        StepKind::Endpoint => match text("forecourt.endpoint").as_str() {
            "" => "endpoint".to_owned(),
            endpoint => format!("endpoint {endpoint}"),
        },
        StepKind::Upstream => {
            format!("{} {}:{}", text("http.request.method"), text("server.address"), text("server.port"))
        }
        StepKind::Store => format!("store {}", text("db.operation.name")),
        StepKind::Message => "message".to_owned(),
        StepKind::Gate | StepKind::Request | StepKind::Task | StepKind::Other => span.name.clone(),
    }
}

fn details(kind: StepKind, span: &FinishedSpan, end: StepEnd) -> String {
    let mut told = Vec::new();
    if let (Some(read), Some(written)) = (span.sum("gen_ai.usage.input_tokens"), span.sum("gen_ai.usage.output_tokens"))
    {
        told.push(format!("{read} tokens read, {written} written"));
    }
    if let Some(micros) = span.sum(COST_MICROS) {
        told.push(format!("cost {}", cost(micros)));
    }
    let status = span.text("http.response.status_code");
    let outcome = span.text("forecourt.outcome").or(status.filter(|_| kind == StepKind::Upstream));
    told.extend(outcome.or_else(|| span.text("error.type")));
    if end == StepEnd::Cancelled && told.is_empty() {
        told.push("cancelled".to_owned());
    }
    told.join(", ")
}

/// Money to four places, or to as many as show anything.
fn cost(micros: i64) -> String {
    let amount = micros as f64 / MICROS;
    if micros < 100 { format!("{amount:.6}") } else { format!("{amount:.4}") }
}

/// Operations of the store beside each other are one step: there are many of them, and each is short.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps {
        let is_more = |before: &Step| {
            let are_of_store = before.kind == StepKind::Store && step.kind == StepKind::Store;
            are_of_store && before.end == step.end
        };
        match joined.last_mut().filter(|before| is_more(before)) {
            // Those of a message were joined before they came here.
            Some(before) => {
                before.operations += step.operations;
                before.took += step.took;
                before.label = format!("store, {} operations", before.operations);
            }
            None => joined.push(step),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{span, trace};
    use super::*;

    #[test]
    fn a_message_is_its_steps_and_operations_of_the_store_are_one() {
        let trace = trace(vec![
            span(1, 0, "GET /~{handle}", 100, &[("forecourt.protocol", "rest"), ("http.request.method", "GET")]),
            span(2, 1, "receive", 90, &[]),
            span(3, 2, "gate", 1, &[("gen_ai.agent.name", "chef"), ("forecourt.outcome", "admitted")]),
            span(4, 2, "load", 2, &[("db.operation.name", "load")]),
            span(5, 2, "save", 3, &[("db.operation.name", "save")]),
            span(
                6,
                1,
                "invoke_agent chef",
                80,
                &[("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "chef")],
            ),
            span(
                7,
                6,
                "chat small",
                50,
                &[("gen_ai.operation.name", "chat"), ("gen_ai.request.model", "small"), ("error.type", "timeout")],
            ),
        ]);
        let found = steps(&trace);
        let labels: Vec<_> = found.iter().map(|step| (step.label.as_str(), step.end)).collect();
        let wanted =
            [("gate", StepEnd::Fine), ("store, 2 operations", StepEnd::Fine), ("agent @chef", StepEnd::Cancelled)];
        assert_eq!(labels, wanted, "the agent was left before it said how it ended");
        assert_eq!(found[1].took, Duration::from_millis(5));
        let model = &found[2].inner[0];
        assert_eq!(
            (model.label.as_str(), model.end, model.details.as_str()),
            ("model small", StepEnd::Failed, "timeout")
        );
        assert!(is_message(&trace));
    }

    #[test]
    fn operations_of_the_store_are_counted_on_where_a_message_ends() {
        let of_store = |id, parent| span(id, parent, "save", 1, &[("db.operation.name", "save")]);
        let root = span(1, 0, "GET /", 9, &[("forecourt.protocol", "rest"), ("http.request.method", "GET")]);
        let receive = span(2, 1, "receive", 5, &[]);
        let found = steps(&trace(vec![root, receive, of_store(3, 2), of_store(4, 2), of_store(5, 1)]));
        let told: Vec<_> = found.iter().map(|step| (step.label.as_str(), step.took)).collect();
        assert_eq!(told, [("store, 3 operations", Duration::from_millis(3))]);
    }

    #[test]
    fn what_a_model_used_is_told_with_its_cost() {
        assert_eq!([cost(7), cost(99), cost(100), cost(1_234_567)], ["0.000007", "0.000099", "0.0001", "1.2346"]);
    }

    #[test]
    fn a_page_that_is_looked_at_is_no_message() {
        let page = span(1, 0, "GET /", 1, &[("forecourt.protocol", "pages"), ("http.request.method", "GET")]);
        assert!(!is_message(&trace(vec![page])));
    }
}
