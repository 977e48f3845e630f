//! The layer of the subscriber that makes our spans: a collector is told them, and a developer is shown them.

use forecourt_telemetry::TARGET;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::Metadata;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry as Subscriber};

/// What is told that our spans, metrics and lines come from.
pub(crate) const SCOPE: &str = "forecourt";

/// A layer of the subscriber.
pub type BoxedLayer = Box<dyn Layer<Subscriber> + Send + Sync>;

/// The layer that makes our spans, for whatever processes those of `provider`.
pub(crate) fn span_layer(provider: &SdkTracerProvider) -> BoxedLayer {
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(SCOPE))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false);
    layer.with_filter(filter_fn(is_ours)).boxed()
}

/// Whether a span is one of ours: no line of the log is, and no span of the log.
fn is_ours(about: &Metadata<'_>) -> bool {
    about.is_span() && about.target() == TARGET
}
