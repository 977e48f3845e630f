//! This module reads what a request says that it belongs to. W3C Trace Context.
//!
//! What a stranger sends is used to find its trace again, and for nothing else. What can't be read is as if it were
//! not there.

use std::str::FromStr;

use http::{HeaderMap, HeaderName};
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};

/// The header, and the key of MCP's `_meta`, that names the trace and the span before.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The header, and the key of MCP's `_meta`, with what tracing systems say to each other.
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// Bytes of a `tracestate` that is passed on. A longer one is dropped whole; the trace is kept.
pub(crate) const TRACESTATE_BYTES_MAX: usize = 512;

/// Bytes of a `traceparent` of version 00.
const TRACEPARENT_BYTES: usize = 55;

/// The span of somebody else that a request came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteParent {
    trace: TraceId,
    span: SpanId,
    /// Whether whoever sent it records the trace.
    pub(crate) is_sampled: bool,
    state: TraceState,
}

impl RemoteParent {
    /// What the one `traceparent` of `headers` says. Two of them, or one that is malformed, say nothing.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all(TRACEPARENT).iter();
        let (first, second) = (all.next()?, all.next());
        if second.is_some() {
            return None;
        }
        // It may be spread over several headers, which count as one list.
        let states: Vec<&str> = headers.get_all(TRACESTATE).iter().filter_map(|value| value.to_str().ok()).collect();
        Self::parse(first.to_str().ok()?, Some(&states.join(",")))
    }

    /// What the two texts say, for wires that carry them elsewhere than in HTTP headers.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let text = traceparent.trim();
        let version = hexadecimal(text.get(..2)?)?;
        let fits = match version {
            0 => text.len() == TRACEPARENT_BYTES,
            0xff => false,
            // What a later version adds comes behind a dash.
            _ => text.len() == TRACEPARENT_BYTES || text.as_bytes().get(TRACEPARENT_BYTES) == Some(&b'-'),
        };
        let dashes = [2, 35, 52].iter().all(|at| text.as_bytes().get(*at) == Some(&b'-'));
        if !fits || !dashes {
            return None;
        }
        let trace = TraceId::from(hexadecimal(text.get(3..35)?)?);
        let span = SpanId::from(u64::try_from(hexadecimal(text.get(36..52)?)?).ok()?);
        let flags = hexadecimal(text.get(53..55)?)?;
        let is_valid = trace != TraceId::INVALID && span != SpanId::INVALID;
        is_valid.then(|| Self { trace, span, is_sampled: flags & 1 == 1, state: bounded_state(tracestate) })
    }

    /// The id of the trace, as it is written.
    pub fn trace_id(&self) -> String {
        self.trace.to_string()
    }

    /// The trace, and what tracing systems say to each other of it.
    pub(crate) fn into_parts(self) -> (TraceId, TraceState) {
        (self.trace, self.state)
    }

    /// A context to begin spans in, which are recorded as `is_sampled` says and not as the sender does.
    pub(crate) fn context(self, is_sampled: bool) -> Context {
        let flags = if is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
        let parent = SpanContext::new(self.trace, self.span, flags, true, self.state);
        Context::new().with_remote_span_context(parent)
    }
}

/// Lower-case hexadecimal digits alone, as the specification has it.
fn hexadecimal(digits: &str) -> Option<u128> {
    // `from_str_radix` alone would take capitals and a `+` as well.
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let are_digits = digits.bytes().all(is_digit);
    are_digits.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}

fn bounded_state(text: Option<&str>) -> TraceState {
    // What is cut somewhere would be a state that nobody sent.
    let text = text.map(str::trim).filter(|text| !text.is_empty() && text.len() <= TRACESTATE_BYTES_MAX);
    text.and_then(|text| TraceState::from_str(text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_parent_is_read_as_it_is_written() {
        let parent = RemoteParent::parse(PARENT, Some("a=1,b=2")).unwrap();
        assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(parent.is_sampled);
        assert_eq!(parent.state.header(), "a=1,b=2");
        assert!(!RemoteParent::parse(&PARENT.replace("-01", "-00"), None).unwrap().is_sampled);
        assert!(RemoteParent::parse(&PARENT.replace("-01", "-03"), None).unwrap().is_sampled);
    }

    #[test]
    fn what_is_malformed_is_as_if_it_were_not_there() {
        let later = PARENT.replacen("00", "01", 1);
        assert!(RemoteParent::parse(&format!("{later}-more"), None).is_some(), "a later version may say more");
        for wrong in [
            String::new(),
            "00".to_owned(),
            PARENT.to_uppercase(),
            PARENT.replacen("00", "ff", 1),
            format!("{PARENT}-more"),
            format!("{later}more"),
            PARENT.replace('-', "_"),
            PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)),
            PARENT.replace("-01", "-0g"),
            PARENT.replace("4bf9", "+bf9"),
        ] {
            assert_eq!(RemoteParent::parse(&wrong, None), None, "{wrong:?}");
        }
    }

    #[test]
    fn two_parents_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(TRACEPARENT, HeaderValue::from_static(PARENT));
        assert!(RemoteParent::of(&headers).is_some());
        headers.append(TRACEPARENT, HeaderValue::from_static(PARENT));
        assert_eq!(RemoteParent::of(&headers), None);
    }

    #[test]
    fn a_state_of_the_bound_is_kept_and_one_byte_more_is_dropped_with_the_trace_kept() {
        let of = |bytes: usize| {
            let state = format!("a={0},b={0},c=", "x".repeat(200));
            let state = format!("{state}{}", "y".repeat(bytes - state.len()));
            assert_eq!(state.len(), bytes);
            RemoteParent::parse(PARENT, Some(&state)).unwrap().state.header().len()
        };
        assert_eq!(of(TRACESTATE_BYTES_MAX), TRACESTATE_BYTES_MAX);
        assert_eq!(of(TRACESTATE_BYTES_MAX + 1), 0);
        let odd = RemoteParent::parse(PARENT, Some("no state")).unwrap();
        assert_eq!(odd.state.header(), "");
    }

    proptest! {
        #[test]
        fn nothing_that_is_sent_breaks_the_reader(parent in "\\PC{0,70}", state in "\\PC{0,600}") {
            let _ = RemoteParent::parse(&parent, Some(&state));
        }

        #[test]
        fn what_nearly_is_a_parent_breaks_nothing(parent in "[0-9a-fA-F\u{e9}-]{50,60}") {
            let _ = RemoteParent::parse(&parent, None);
        }
    }
}
