//! What is told to a collector of OpenTelemetry: spans, metrics and lines of the log, over OTLP/HTTP. It goes out
//! through `egress` as everything else does; what finds no room or no collector is dropped and counted, and nobody waits
//! for it.
//!
//! | file | holds |
//! |---|---|
//! | `export.rs` | one request to the collector |
//! | `queue.rs` | what waits to be sent |
//! | `traces.rs` | which spans are made and recorded |
//! | `metrics.rs` | the operator's metrics, read again and sent |
//! | `conventions.rs` | which of them OpenTelemetry has names for |

mod conventions;
mod export;
mod metrics;
mod queue;
mod traces;

use std::sync::Arc;
use std::time::Duration;

use forecourt_egress::Egress;
use forecourt_host::SystemEntropy;
use forecourt_telemetry::{TracePolicy, know_methods, start};
use futures::future::BoxFuture;
use opentelemetry::KeyValue;
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus_client::registry::Registry;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Metadata;
use tracing_subscriber::Layer;

use crate::deployment::Deployment;
use crate::error::Error;
use crate::export_metrics::Signal;
pub use crate::settings::telemetry::{SampledFlagTrust, SignalUrls, TelemetrySettings};
pub use crate::span_layer::BoxedLayer;
use crate::span_layer::span_layer;
use export::Exporter;
use queue::{LogQueue, Queue, SpanQueue};
use traces::Sampler;

/// How long what waits may take to be sent at the end.
pub(crate) const FINISH_TIME_MAX: Duration = Duration::from_secs(5);

/// What tells a collector, at work.
pub struct Telemetry {
    exporter: Option<Arc<Exporter>>,
    settings: crate::settings::telemetry::Telemetry,
    spans: Option<Queue<opentelemetry_sdk::trace::SpanData>>,
    logs: Option<Queue<queue::LogItem>>,
    metrics: Option<(JoinHandle<()>, CancellationToken)>,
    resource: Arc<ResourceAttributesWithSchema>,
}

/// The layers that have to be in the subscriber.
#[derive(Default)]
pub struct TelemetryLayers {
    /// Makes spans for the collector of those of [`forecourt_telemetry::spans`]. It filters by itself.
    pub traces: Option<BoxedLayer>,
    /// Sends lines of the log. To be given one filter: that which lines on the terminal have, and [`may_be_sent`].
    pub logs: Option<BoxedLayer>,
}

impl Telemetry {
    /// Begins to tell what `[telemetry]` of a deployment says. Within a runtime; once in a process.
    ///
    /// # Errors
    /// The way out can't be set up.
    pub fn start(deployment: &Deployment) -> Result<(Self, TelemetryLayers), Error> {
        let settings = deployment.telemetry.clone();
        let about = resource(&settings.settings, deployment);
        let resource = Arc::new(ResourceAttributesWithSchema::from(&about));
        let mut telemetry =
            Self { exporter: None, settings, spans: None, logs: None, metrics: None, resource: resource.clone() };
        let mut layers = TelemetryLayers::default();
        if let Some(methods) = telemetry.settings.methods.clone() {
            know_methods(methods);
        }
        if !telemetry.settings.is_on() {
            return Ok((telemetry, layers));
        }
        let wrong = |error: forecourt_egress::SetupError| Error::new(format!("[egress] cannot be set up: {error}"));
        // A way out of its own: the process has one collector, and its deployments come and go.
        let egress = Egress::builder(deployment.egress.clone())
            .base(&deployment.dir)
            .metrics(deployment.meters.egress.clone())
            .build()
            .map_err(wrong)?;
        let timeout = Duration::from_secs(telemetry.settings.settings.timeout_seconds.get().into());
        let (headers, counts) = (telemetry.settings.headers.clone(), deployment.meters.exports.clone());
        let exporter = Arc::new(Exporter::new(egress, headers, timeout, counts));
        telemetry.exporter = Some(exporter.clone());
        let (urls, queue_max) = (telemetry.settings.urls.clone(), telemetry.settings.settings.queue_max.get());
        if let Some(url) = urls.traces {
            let queue = queue::spans(exporter.clone(), url, queue_max, resource.clone());
            let share = telemetry.settings.settings.traces;
            start(TracePolicy { share, flag: telemetry.settings.settings.trust_sampled_flag.into() });
            let provider = SdkTracerProvider::builder()
                .with_span_processor(SpanQueue(queue.clone()))
                .with_sampler(Sampler { share })
                .with_resource(about.clone())
                .build();
            (telemetry.spans, layers.traces) = (Some(queue), Some(span_layer(&provider)));
        }
        if let Some(url) = urls.logs {
            let queue = queue::logs(exporter, url, queue_max, resource);
            let provider =
                SdkLoggerProvider::builder().with_log_processor(LogQueue(queue.clone())).with_resource(about).build();
            (telemetry.logs, layers.logs) = (Some(queue), Some(OpenTelemetryTracingBridge::new(&provider).boxed()));
        }
        Ok((telemetry, layers))
    }

    /// Sends what `registry` has, now and then.
    pub fn send_metrics_of(&mut self, registry: Arc<Registry>) {
        let (Some(exporter), Some(url)) = (self.exporter.clone(), self.settings.urls.metrics.clone()) else { return };
        let every = Duration::from_secs(self.settings.settings.metrics_seconds.get().into());
        let stop = CancellationToken::new();
        let sending = metrics::send(exporter, url, registry, self.resource.clone(), every, stop.clone());
        self.metrics = Some((tokio::spawn(sending), stop));
    }

    /// Sends what still waits, and the metrics as they are at the end. Takes 5 s at most.
    pub fn finish(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Self { spans, logs, metrics, .. } = self;
            let flush = async {
                if let Some((sending, stop)) = metrics {
                    // The metrics go first: they are one request, and tell how the process ended.
                    stop.cancel();
                    let _ = sending.await;
                }
                if let Some(spans) = spans {
                    spans.flush().await;
                }
                if let Some(logs) = logs {
                    logs.flush().await;
                }
            };
            let _ = tokio::time::timeout(FINISH_TIME_MAX, flush).await;
        })
    }
}

/// Whether the collector is told of a line of the log: not of those about telling it, or one that fails would make the
/// next.
pub fn may_be_sent(about: &Metadata<'_>) -> bool {
    !about.target().starts_with(module_path!())
}

impl Signal {
    /// What it is called in metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
        }
    }
}

/// What the collector is told of this service.
fn resource(settings: &TelemetrySettings, deployment: &Deployment) -> Resource {
    let own = [
        KeyValue::new("service.name", settings.service_name.clone()),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        // Another one in each process: the numbers of several nodes would be taken for those of one otherwise.
        KeyValue::new("service.instance.id", forecourt_core::ids::mint(&SystemEntropy)),
        KeyValue::new("forecourt.domain", deployment.top.domain.as_str().to_owned()),
    ];
    let more = settings.resource.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    Resource::builder_empty().with_attributes(own.into_iter().chain(more)).build()
}
