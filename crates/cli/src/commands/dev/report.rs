//! This module writes a request that is over as a line, and its steps below it as a tree.

use std::fmt::Write as _;
use std::time::Duration;

use forecourt::development::{CALLER, FinishedSpan, FinishedTrace, MESSAGE};
use forecourt_core::Timestamp;
use jiff::tz::TimeZone;

use super::steps::{Step, StepEnd, StepKind, is_message, roots, steps};
use crate::commands::printable;

/// Characters of what is said that are shown.
const MESSAGE_CHARS: usize = 60;
/// Characters of any other text.
const TEXT_CHARS: usize = 80;
/// The column at which the time of a step stands, behind its label.
const LABEL_CHARS: usize = 44;
/// The protocol of the operator's own requests, of which only messages are shown: the console asks every few seconds.
const OPERATOR: &str = "operator";

/// Styles of ECMA-48 8.3.117.
const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// How requests are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Report {
    pub(super) has_styles: bool,
    pub(super) has_trees: bool,
}

impl Report {
    /// A request in a line, with its steps below it. `None` for one that is not worth a line.
    pub(super) fn text(self, trace: &FinishedTrace) -> Option<String> {
        let root = roots(trace).next()?;
        let is_message = is_message(trace);
        if !is_message && root.text("forecourt.protocol").is_some_and(|protocol| protocol == OPERATOR) {
            return None;
        }
        let mut out = String::new();
        if trace.traces_left_out > 0 {
            let _ =
                writeln!(out, "{} requests before this one are not shown: they came too fast", trace.traces_left_out);
        }
        self.line(trace, root, &mut out);
        let is_background = StepKind::of(root) == StepKind::Task;
        if self.has_trees && (is_message || is_background) {
            self.tree(&steps(trace), root.took, "  ", &mut out);
            if trace.spans_left_out > 0 {
                let _ = writeln!(out, "  and {} more steps", trace.spans_left_out);
            }
        }
        Some(out)
    }

    fn line(self, trace: &FinishedTrace, root: &FinishedSpan, out: &mut String) {
        let of = |kind: StepKind| trace.spans.iter().find(|span| StepKind::of(span) == kind);
        let gate = of(StepKind::Gate);
        let agent = gate.or(of(StepKind::Agent)).and_then(|span| span.text("gen_ai.agent.name"));
        let endpoint = || of(StepKind::Endpoint).and_then(|span| span.text("forecourt.endpoint"));
        let target = agent.map(|agent| format!("@{agent}")).or_else(endpoint).unwrap_or_else(|| root.name.clone());
        let wire = root.text("forecourt.protocol").unwrap_or_else(|| "host".to_owned());
        let caller = gate.and_then(|span| span.text(CALLER)).unwrap_or_else(|| "-".to_owned());
        let (outcome, end) = outcome(trace, root);
        let outcome = self.styled(style_of(end), &printable::line(&outcome, TEXT_CHARS));
        let took = self.styled(BOLD, &took(root.took));
        let (target, caller) = (printable::line(&target, TEXT_CHARS), printable::line(&caller, TEXT_CHARS));
        let _ = write!(out, "{}  {wire:<10} {target:<16} {caller:<14} {outcome}  {took}", time(root));
        if let Some(said) = gate.and_then(|span| span.text(MESSAGE)).filter(|said| !said.trim().is_empty()) {
            let said = format!("\"{}\"", printable::line(&said, MESSAGE_CHARS));
            let _ = write!(out, "  {}", self.styled(DIM, &said));
        }
        let cut = if trace.is_cut { "  (not over yet)" } else { "" };
        let _ = writeln!(out, "{cut}");
    }

    fn tree(self, steps: &[Step], whole: Duration, indent: &str, out: &mut String) {
        for (at, step) in steps.iter().enumerate() {
            let is_last = at + 1 == steps.len();
            let (branch, deeper) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let label = printable::line(&step.label, TEXT_CHARS);
            let width = LABEL_CHARS.saturating_sub(indent.chars().count() + branch.chars().count());
            let label = self.styled(style_of(step.end), &format!("{label:<width$}"));
            let details = printable::line(&step.details, TEXT_CHARS);
            let mark = match step.end {
                StepEnd::Fine => "",
                StepEnd::Cancelled => "cancelled: ",
                StepEnd::Failed => "failed: ",
            };
            let mark = if mark.trim_end_matches(": ") == details { "" } else { mark };
            let line = format!(
                "{}{label} {:>9} {:>5}  {mark}{details}",
                self.styled(DIM, &format!("{indent}{branch}")),
                took(step.took),
                share(step.took, whole),
            );
            let _ = writeln!(out, "{}", line.trim_end());
            self.tree(&step.inner, whole, &format!("{indent}{deeper}"), out);
        }
    }

    fn styled(self, style: &str, text: &str) -> String {
        match self.has_styles && !style.is_empty() {
            true => format!("{style}{text}{PLAIN}"),
            false => text.to_owned(),
        }
    }
}

fn style_of(end: StepEnd) -> &'static str {
    match end {
        StepEnd::Fine => "",
        StepEnd::Cancelled => YELLOW,
        StepEnd::Failed => RED,
    }
}

/// What became of a request: how the answer of its agent ended, else why it did not get there, else its status.
fn outcome(trace: &FinishedTrace, root: &FinishedSpan) -> (String, StepEnd) {
    let of = |kind: StepKind| trace.spans.iter().filter(move |span| StepKind::of(span) == kind);
    let told = |kind: StepKind| of(kind).find_map(|span| span.text("forecourt.outcome"));
    let refused = told(StepKind::Gate).filter(|told| told != "admitted");
    let code = refused
        .or_else(|| told(StepKind::Agent))
        .or_else(|| told(StepKind::Message))
        .or_else(|| told(StepKind::Endpoint))
        .or_else(|| told(StepKind::Task))
        .or_else(|| root.text("http.response.status_code"));
    let has_failed = |kind| of(kind).any(|span| span.text("error.type").is_some());
    match root.text("error.type").as_deref() {
        Some("caller_left") => ("caller left".to_owned(), StepEnd::Cancelled),
        Some(kind) => (code.unwrap_or_else(|| kind.to_owned()), StepEnd::Failed),
        None if has_failed(StepKind::Agent) || has_failed(StepKind::Message) => {
            (code.unwrap_or_else(|| "failed".to_owned()), StepEnd::Failed)
        }
        None => match code {
            Some(code) if code.starts_with("cancel") => (code, StepEnd::Cancelled),
            code => (code.unwrap_or_else(|| "-".to_owned()), StepEnd::Fine),
        },
    }
}

/// When a request came, by the clock on the wall.
fn time(root: &FinishedSpan) -> String {
    let begun = Timestamp::try_from(root.begun).unwrap_or_default();
    begun.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// A time in the unit in which it is easily read.
fn took(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 0.01 => format!("{:.0} ms", seconds * 1e3),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// The part of the whole that a step took, from one percent on.
fn share(part: Duration, whole: Duration) -> String {
    let percent = part.as_secs_f64() * 100.0 / whole.as_secs_f64().max(f64::MIN_POSITIVE);
    if percent >= 1.0 { format!("{:.0} %", percent.min(100.0)) } else { String::new() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A span with a number, that of its parent, its name, milliseconds and what is told of it.
    pub(in super::super) fn span(id: u64, parent: u64, name: &str, ms: u64, told: &[(&str, &str)]) -> FinishedSpan {
        FinishedSpan::new((id, parent), name, Duration::from_millis(ms), told)
    }

    pub(in super::super) fn trace(spans: Vec<FinishedSpan>) -> FinishedTrace {
        FinishedTrace { id: "7".repeat(32), spans, spans_left_out: 0, is_cut: false, traces_left_out: 0 }
    }

    const PLAINLY: Report = Report { has_styles: false, has_trees: true };

    fn asked(told_of_root: &[(&str, &str)], told_of_agent: &[(&str, &str)]) -> FinishedTrace {
        let root =
            [("forecourt.protocol", "rest"), ("http.request.method", "GET"), ("http.response.status_code", "200")];
        let agent = [("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "chef")];
        let gate = [
            ("gen_ai.agent.name", "chef"),
            ("forecourt.outcome", "admitted"),
            (CALLER, "ann@example.com"),
            (MESSAGE, "soup \x1b[31m under\n30 minutes"),
        ];
        trace(vec![
            span(1, 0, "GET /~{handle}", 1_240, &[&root, told_of_root].concat()),
            span(2, 1, "receive", 10, &[]),
            span(3, 2, "gate", 2, &gate),
            span(4, 1, "invoke_agent chef", 1_200, &[&agent, told_of_agent].concat()),
        ])
    }

    #[test]
    fn a_request_is_a_line_with_its_steps_below_it() {
        let text = PLAINLY.text(&asked(&[], &[("forecourt.outcome", "complete")])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let words: Vec<&str> = lines[0].split_whitespace().collect();
        assert_eq!(words[1..7], ["rest", "@chef", "ann@example.com", "complete", "1.24", "s"]);
        assert!(lines[0].ends_with("\"soup [31m under 30 minutes\""), "nothing that a terminal obeys: {}", lines[0]);
        assert!(lines[1].starts_with("  ├─ gate") && lines[1].ends_with("admitted"), "{}", lines[1]);
        assert!(lines[2].starts_with("  └─ agent @chef") && lines[2].contains("97 %"), "{}", lines[2]);
        assert_eq!(lines.len(), 3);
        let line = Report { has_trees: false, ..PLAINLY }.text(&asked(&[], &[])).unwrap();
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn what_failed_and_what_was_given_up_is_marked() {
        let failed = [("forecourt.outcome", "failed"), ("error.type", "failed")];
        let text = PLAINLY.text(&asked(&[], &failed)).unwrap();
        assert!(text.lines().next().unwrap().contains(" failed ") && text.lines().nth(2).unwrap().ends_with("failed"));
        let text = PLAINLY.text(&asked(&[("error.type", "caller_left")], &[])).unwrap();
        assert!(text.contains("caller left") && text.lines().nth(2).unwrap().ends_with("cancelled"), "{text}");
        let styled = Report { has_styles: true, ..PLAINLY }.text(&asked(&[], &failed)).unwrap();
        assert!(styled.contains(RED) && !PLAINLY.text(&asked(&[], &failed)).unwrap().contains('\x1b'));
    }

    #[test]
    fn a_refusal_is_told_by_its_code() {
        let root =
            [("forecourt.protocol", "rest"), ("http.request.method", "GET"), ("http.response.status_code", "402")];
        let gate = [("gen_ai.agent.name", "chef"), ("forecourt.outcome", "payment_required")];
        let refused =
            trace(vec![span(1, 0, "GET", 1, &root), span(2, 1, "receive", 1, &[]), span(3, 2, "gate", 1, &gate)]);
        let line = PLAINLY.text(&refused).unwrap();
        assert!(line.lines().next().unwrap().contains("payment_required"), "{line}");
    }

    #[test]
    fn the_console_that_looks_every_few_seconds_is_not_shown() {
        let root = [("forecourt.protocol", "operator"), ("http.request.method", "GET")];
        assert_eq!(PLAINLY.text(&trace(vec![span(1, 0, "GET", 1, &root)])), None);
        let tried = trace(vec![span(1, 0, "POST", 1, &root), span(2, 1, "receive", 1, &[])]);
        assert!(PLAINLY.text(&tried).is_some());
    }

    #[test]
    fn times_are_told_in_the_unit_that_is_easily_read() {
        let told = [1_240_000, 12_400, 1_240, 40].map(|micros| took(Duration::from_micros(micros)));
        assert_eq!(told, ["1.24 s", "12 ms", "1.2 ms", "0.0 ms"]);
        assert_eq!(share(Duration::from_millis(5), Duration::from_millis(1_000)), "");
        assert_eq!(share(Duration::from_millis(5), Duration::ZERO), "100 %");
    }
}
