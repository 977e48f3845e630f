//! Which spans are made, and which are recorded.
//!
//! It was decided where the request came in. Below a request that is not recorded no span is asked for at all.

use opentelemetry::trace::{Link, SpanKind, TraceContextExt, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SamplingDecision, SamplingResult, ShouldSample};

/// Records every span, since none is made below a request that is not recorded; of deliveries, which nobody decided
/// on before, a share.
#[derive(Debug, Clone)]
pub(super) struct Sampler {
    pub(super) share: f64,
}

impl ShouldSample for Sampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        _: &SpanKind,
        _: &[KeyValue],
        _: &[Link],
    ) -> SamplingResult {
        let parent =
            parent.filter(|parent| parent.has_active_span()).map(|parent| parent.span().span_context().clone());
        let is_recorded = match &parent {
            Some(parent) => parent.is_sampled(),
            None if name.starts_with("deliver ") => is_in_share(trace, self.share),
            None => true,
        };
        SamplingResult {
            decision: if is_recorded { SamplingDecision::RecordAndSample } else { SamplingDecision::Drop },
            attributes: Vec::new(),
            trace_state: parent.map_or_else(TraceState::default, |parent| parent.trace_state().clone()),
        }
    }
}

/// Whether a trace that begins here, and whose id is random, is within the share.
fn is_in_share(trace: TraceId, share: f64) -> bool {
    let bytes = trace.to_bytes();
    let random =
        // The last 8 bytes, as W3C Trace Context advises: other systems leave the first ones at zero.
        u64::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]]);
    share >= 1.0 || (random as f64) < share * (u64::MAX as f64)
}
