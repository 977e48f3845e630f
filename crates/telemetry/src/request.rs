//! What one request is traced by, from where it comes in to the end of its answer.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, ContextGuard};
use pin_project_lite::pin_project;
use tracing::Span;
use tracing::span::Entered;

use crate::lines::LinedWork;
use crate::outgoing::trace_id;
use crate::w3c::RemoteParent;

/// What one request is traced by.
#[derive(Debug, Clone)]
pub struct RequestTrace(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// Nobody traces.
    Off,
    /// A span of its own, with others below it.
    Recorded(Span),
    /// The trace goes on through here, and nothing is recorded: no span, which would cost more than all of it.
    Carried(Context),
}

impl RequestTrace {
    /// Nobody traces.
    pub fn off() -> Self {
        Self(Kind::Off)
    }

    pub(crate) fn recorded(span: Span) -> Self {
        Self(Kind::Recorded(span))
    }

    /// A request that is not recorded. What is sent on its behalf belongs to the trace of `parent`, or to one whose
    /// name is made of `random`: it opens nothing, and must only be another one each time.
    pub(crate) fn carried(parent: Option<RemoteParent>, random: u64) -> Self {
        let [high, low, span] = mixed(random);
        let (trace, state) = match parent {
            Some(parent) => parent.into_parts(),
            None => (TraceId::from(u128::from(high) << 64 | u128::from(low)), TraceState::default()),
        };
        let here = SpanContext::new(trace, SpanId::from(span), TraceFlags::default(), false, state);
        Self(Kind::Carried(Context::new().with_remote_span_context(here)))
    }

    /// Has what happens now, on this thread, belong to the request: until the value is dropped.
    pub fn enter(&self) -> EnteredTrace<'_> {
        match &self.0 {
            Kind::Off => EnteredTrace { _span: None, _context: None },
            Kind::Recorded(span) => EnteredTrace { _span: Some(span.enter()), _context: None },
            // Without a span to enter, the context itself is attached: requests to others are named by it.
            Kind::Carried(context) => EnteredTrace { _span: None, _context: Some(context.clone().attach()) },
        }
    }

    /// Has what `work` does belong to the request, on whatever thread it goes on.
    pub fn carry<F: Future>(&self, work: F) -> CarriedWork<F> {
        CarriedWork { work, trace: self.clone() }
    }

    /// The span, if it is recorded.
    pub fn span(&self) -> Option<&Span> {
        match &self.0 {
            Kind::Recorded(span) => Some(span),
            Kind::Off | Kind::Carried(_) => None,
        }
    }

    /// The id of the trace, as it is written.
    pub fn trace_id(&self) -> Option<String> {
        match &self.0 {
            Kind::Off => None,
            Kind::Recorded(span) => trace_id(span),
            Kind::Carried(context) => Some(context.span().span_context().trace_id().to_string()),
        }
    }
}

/// Three ids out of one random number by SplitMix64, none of them 0: that is no valid id.
fn mixed(random: u64) -> [u64; 3] {
    let mut state = random;
    std::array::from_fn(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    })
}

/// For as long as it is there, what happens on this thread belongs to a request.
pub struct EnteredTrace<'a> {
    _span: Option<Entered<'a>>,
    _context: Option<ContextGuard>,
}

pin_project! {
    /// Work that belongs to a request.
    pub struct CarriedWork<F> {
        #[pin]
        work: F,
        trace: RequestTrace,
    }
}

impl<F: Future> Future for CarriedWork<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.trace.enter();
        this.work.poll(cx)
    }
}

/// Work that goes on elsewhere, such as in a task of its own, and belongs to the request that is answered now.
pub fn going_on<F: Future>(work: F) -> LinedWork<CarriedWork<tracing::instrument::Instrumented<F>>> {
    use tracing::Instrument;
    let trace = match crate::is_on() {
        // A request that is not recorded has no span to go on in, only a context.
        true => RequestTrace(Kind::Carried(Context::current())),
        false => RequestTrace::off(),
    };
    LinedWork::of_current(CarriedWork { work: work.in_current_span(), trace })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_that_is_not_recorded_goes_on_under_its_name_and_a_new_span() {
        let trace = RequestTrace::carried(RemoteParent::parse(PARENT, Some("a=1")), 7);
        assert_eq!(trace.trace_id().as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        assert!(trace.span().is_none());
        let seen = || Context::map_current(|context| context.span().span_context().clone());
        assert!(!seen().is_valid());
        let within = {
            let _entered = trace.enter();
            seen()
        };
        assert!(within.is_valid() && !within.is_sampled() && within.trace_state().header() == "a=1");
        assert_ne!(within.span_id().to_string(), "00f067aa0ba902b7");
        assert!(!seen().is_valid(), "and no longer");
    }

    #[test]
    fn names_of_traces_are_others_each_time() {
        let names: HashSet<_> = (0..1_000).map(|random| RequestTrace::carried(None, random).trace_id()).collect();
        assert_eq!(names.len(), 1_000);
        assert_eq!(RequestTrace::off().trace_id(), None);
    }
}
