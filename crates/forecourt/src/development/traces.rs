//! This module collects the spans of each request, and hands them on once none of them is open any more.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use forecourt_core::{Clock, Timestamp};
use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use parking_lot::Mutex;
use tokio::sync::mpsc::Sender;

/// Spans of one trace that are kept. Further ones are counted.
const TRACE_SPANS_MAX: usize = 1_000;
/// Traces that are open at once. Of more, the oldest is handed on as it is.
const TRACES_OPEN_MAX: usize = 256;
/// How long a trace may be open, by the time of the next span of any trace. An older one is handed on as it is.
const TRACE_AGE_MAX: Duration = Duration::from_secs(15 * 60);
/// Traces that wait for whoever shows them. Further ones are counted, and not kept.
pub(super) const WAITING_MAX: usize = 256;

/// A request that is over, with everything that it came to.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedTrace {
    /// The id of the trace, 32 hexadecimal digits.
    pub id: String,
    /// Its spans, by the time at which they began.
    pub spans: Vec<FinishedSpan>,
    /// Spans that were not kept, since there were too many.
    pub spans_left_out: u64,
    /// Whether it was handed on before it was over.
    pub is_cut: bool,
    /// Traces before this one that nobody was shown, since too many waited.
    pub traces_left_out: u64,
}

/// A step of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedSpan {
    /// What it is called among the spans of its trace.
    pub id: SpanId,
    /// The span that it is a part of; of a request of somebody else, one that is in no trace of ours.
    pub parent: SpanId,
    /// What it is, as [`forecourt_telemetry::spans`] names it.
    pub name: String,
    /// When it began.
    pub begun: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// What is told of it, in the order in which it was.
    attributes: Vec<(String, Value)>,
}

impl FinishedSpan {
    /// A span as a program puts it together that shows some: its number and that of its parent, what it is, how long it
    /// took, and what is told of it.
    pub fn new((id, parent): (u64, u64), name: &str, took: Duration, told: &[(&str, &str)]) -> Self {
        let attributes = told.iter().map(|(name, value)| ((*name).to_owned(), Value::from((*value).to_owned())));
        Self {
            id: SpanId::from(id),
            parent: SpanId::from(parent),
            name: name.to_owned(),
            begun: SystemTime::UNIX_EPOCH,
            took,
            attributes: attributes.collect(),
        }
    }

    /// What is told of it under a name, the last one where it was told again.
    pub fn text(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str().into_owned())
    }

    /// The sum of the numbers that are told of it under a name.
    pub fn sum(&self, name: &str) -> Option<i64> {
        let numbers = self.attributes.iter().filter(|(known, _)| known == name).filter_map(|(_, value)| match value {
            Value::I64(number) => Some(*number),
            _ => None,
        });
        numbers.reduce(i64::saturating_add)
    }
}

/// Collects spans. It is asked within requests, and never waits.
pub(super) struct TraceCollector {
    open: Mutex<OpenTraces>,
    finished: Sender<FinishedTrace>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct OpenTraces {
    traces: HashMap<TraceId, OpenTrace>,
    /// Traces that found no room with whoever shows them.
    left_out: u64,
}

struct OpenTrace {
    begun: Timestamp,
    spans: Vec<FinishedSpan>,
    /// Spans that have begun and not ended.
    open: usize,
    left_out: u64,
}

impl TraceCollector {
    pub(super) fn new(finished: Sender<FinishedTrace>, clock: Arc<dyn Clock>) -> Self {
        Self { open: Mutex::default(), finished, clock }
    }

    fn begin(&self, id: TraceId) {
        let now = self.clock.now();
        let mut open = self.open.lock();
        self.let_go_of_old(&mut open, now);
        if !open.traces.contains_key(&id)
            && open.traces.len() >= TRACES_OPEN_MAX
            && let Some(oldest) = open.traces.iter().min_by_key(|(_, trace)| trace.begun).map(|(id, _)| *id)
        {
            self.hand_on(&mut open, oldest, true);
        }
        let begun = || OpenTrace { begun: now, spans: Vec::new(), open: 0, left_out: 0 };
        open.traces.entry(id).or_insert_with(begun).open += 1;
    }

    fn end(&self, span: SpanData) {
        let (id, now) = (span.span_context.trace_id(), SystemTime::from(self.clock.now()));
        let mut open = self.open.lock();
        // One that was handed on already: what is left of it is for nobody.
        let Some(trace) = open.traces.get_mut(&id) else { return };
        trace.open = trace.open.saturating_sub(1);
        match trace.spans.len() < TRACE_SPANS_MAX {
            true => trace.spans.push(finished(span, now)),
            false => trace.left_out += 1,
        }
        if trace.open == 0 {
            self.hand_on(&mut open, id, false);
        }
    }

    fn let_go_of_old(&self, open: &mut OpenTraces, now: Timestamp) {
        let is_old = |trace: &OpenTrace| {
            Duration::try_from(now.duration_since(trace.begun)).is_ok_and(|age| age > TRACE_AGE_MAX)
        };
        let old: Vec<TraceId> = open.traces.iter().filter(|(_, trace)| is_old(trace)).map(|(id, _)| *id).collect();
        old.into_iter().for_each(|id| self.hand_on(open, id, true));
    }

    fn hand_on(&self, open: &mut OpenTraces, id: TraceId, is_cut: bool) {
        let Some(OpenTrace { mut spans, left_out, .. }) = open.traces.remove(&id) else { return };
        spans.sort_by_key(|span| span.begun);
        let traces_left_out = open.left_out;
        let id = id.to_string();
        let trace = FinishedTrace { id, spans, spans_left_out: left_out, is_cut, traces_left_out };
        // A terminal that takes nothing must not hold up requests.
        open.left_out = if self.finished.try_send(trace).is_ok() { 0 } else { traces_left_out + 1 };
    }
}

fn finished(span: SpanData, now: SystemTime) -> FinishedSpan {
    // A span that nothing happens within until it ends, such as that of a model that is waited for, has the time at which
    // something last did as its end.
    let ended = span.end_time.max(now);
    FinishedSpan {
        id: span.span_context.span_id(),
        parent: span.parent_span_id,
        name: span.name.into_owned(),
        begun: span.start_time,
        took: ended.duration_since(span.start_time).unwrap_or_default(),
        attributes: span.attributes.into_iter().map(|one| (one.key.to_string(), one.value)).collect(),
    }
}

impl fmt::Debug for TraceCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceCollector").finish_non_exhaustive()
    }
}

impl SpanProcessor for TraceCollector {
    fn on_start(&self, span: &mut Span, _: &Context) {
        use opentelemetry::trace::Span as _;
        self.begin(span.span_context().trace_id());
    }

    fn on_end(&self, span: SpanData) {
        self.end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::HandClock;
    use opentelemetry::KeyValue;
    use opentelemetry::trace::{Span as _, TraceContextExt, Tracer, TracerProvider};
    use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
    use tokio::sync::mpsc::{Receiver, channel};

    use super::*;

    fn collector(room: usize) -> (SdkTracer, Receiver<FinishedTrace>, Arc<HandClock>) {
        let (finished, traces) = channel(room);
        let clock = Arc::new(HandClock::default());
        let collector = TraceCollector::new(finished, clock.clone());
        let provider = SdkTracerProvider::builder().with_span_processor(collector).build();
        (provider.tracer("test"), traces, clock)
    }

    #[test]
    fn a_trace_is_handed_on_whole_when_none_of_its_spans_is_open() {
        let (tracer, mut traces, _) = collector(10);
        let root = Context::new().with_span(tracer.start_with_context("root", &Context::new()));
        let mut child = tracer.start_with_context("child", &root);
        child.set_attribute(KeyValue::new("tokens", 3));
        child.set_attribute(KeyValue::new("tokens", 4));
        child.set_attribute(KeyValue::new("outcome", "complete"));
        child.end();
        assert!(traces.try_recv().is_err(), "its root is open");
        root.span().end();
        let trace = traces.try_recv().unwrap();
        let [root, child] = trace.spans.as_slice() else { panic!("{trace:?}") };
        assert_eq!((root.name.as_str(), child.name.as_str(), child.parent), ("root", "child", root.id));
        assert_eq!((child.sum("tokens"), child.text("outcome").as_deref()), (Some(7), Some("complete")));
        assert_eq!((child.sum("outcome"), child.text("none")), (None, None));
        assert!(!trace.is_cut && trace.spans_left_out == 0 && trace.id.len() == 32);
    }

    #[test]
    fn so_many_spans_of_a_trace_are_kept_and_no_more() {
        for (spans, left_out) in [(TRACE_SPANS_MAX, 0), (TRACE_SPANS_MAX + 1, 1)] {
            let (tracer, mut traces, _) = collector(10);
            let root = Context::new().with_span(tracer.start_with_context("root", &Context::new()));
            (1..spans).for_each(|_| tracer.start_with_context("child", &root).end());
            root.span().end();
            let trace = traces.try_recv().unwrap();
            assert_eq!((trace.spans.len(), trace.spans_left_out), (TRACE_SPANS_MAX, left_out));
        }
    }

    #[test]
    fn so_many_traces_are_open_and_the_oldest_goes() {
        let (tracer, mut traces, clock) = collector(10);
        let begin = || {
            clock.advance(Duration::from_millis(1));
            tracer.start_with_context("root", &Context::new())
        };
        let first = begin();
        let others: Vec<_> = (1..TRACES_OPEN_MAX).map(|_| begin()).collect();
        assert!(traces.try_recv().is_err());
        let last = begin();
        let cut = traces.try_recv().unwrap();
        assert!(cut.is_cut && cut.id == first.span_context().trace_id().to_string());
        drop((first, last, others));
    }

    #[test]
    fn a_trace_is_open_for_so_long_and_no_longer() {
        let (tracer, mut traces, clock) = collector(10);
        let mut old = tracer.start_with_context("old", &Context::new());
        clock.advance(TRACE_AGE_MAX);
        tracer.start_with_context("other", &Context::new()).end();
        assert_eq!(traces.try_recv().unwrap().spans[0].name, "other");
        clock.advance(Duration::from_millis(1));
        tracer.start_with_context("other", &Context::new()).end();
        assert!(traces.try_recv().unwrap().is_cut);
        assert_eq!(traces.try_recv().unwrap().spans[0].name, "other");
        old.end();
        assert!(traces.try_recv().is_err(), "what is left of it is for nobody");
    }

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let (tracer, mut traces, _) = collector(1);
        (0..3).for_each(|_| tracer.start_with_context("root", &Context::new()).end());
        assert_eq!(traces.try_recv().unwrap().traces_left_out, 0);
        assert!(traces.try_recv().is_err());
        tracer.start_with_context("root", &Context::new()).end();
        assert_eq!(traces.try_recv().unwrap().traces_left_out, 2);
    }
}
