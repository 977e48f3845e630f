//! What waits to be sent: bounded, sent in batches by a task of its own, and never waited for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::logs::tonic::group_logs_by_resource_and_scope;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogProcessor, SdkLogRecord};
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use prost::Message;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::export::Exporter;
use crate::export_metrics::{ExportMetrics, Signal};

/// Items of one request.
const BATCH_MAX: usize = 512;
/// How long an item waits for others to be sent with.
const LINGER: Duration = Duration::from_secs(5);

/// Takes items. Cheap to clone.
pub(super) struct Queue<T> {
    jobs: Sender<Job<T>>,
    signal: Signal,
    counts: Arc<ExportMetrics>,
}

enum Job<T> {
    Item(T),
    /// Has everything sent that came before.
    Flush(oneshot::Sender<()>),
}

/// A line of the log, and where it comes from.
pub(super) type LogItem = (SdkLogRecord, InstrumentationScope);

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self { jobs: self.jobs.clone(), signal: self.signal, counts: self.counts.clone() }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("signal", &self.signal).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Queue<T> {
    /// A queue of `max` items, of which each batch becomes a body by `encode`.
    fn start(
        signal: Signal,
        exporter: Arc<Exporter>,
        url: String,
        max: usize,
        encode: impl Fn(Vec<T>) -> Bytes + Send + Sync + 'static,
    ) -> Self {
        let (jobs, waiting) = channel(max);
        let counts = exporter.counts().clone();
        tokio::spawn(async move {
            let mut waiting = waiting;
            while let Some((batch, flushed)) = batch(&mut waiting).await {
                let items = batch.len() as u64;
                if items > 0 {
                    exporter.send(signal, &url, encode(batch), items).await;
                }
                if let Some(flushed) = flushed {
                    let _ = flushed.send(());
                }
            }
        });
        Self { jobs, signal, counts }
    }

    fn push(&self, item: T) {
        // Never waited for: a collector that is slow must not slow down requests.
        if self.jobs.try_send(Job::Item(item)).is_err() {
            self.counts.dropped(self.signal, "queue_full", 1);
        }
    }

    /// Waits until everything so far was sent, or lost.
    pub(super) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.jobs.send(Job::Flush(done)).await.is_ok() {
            let _ = flushed.await;
        }
    }
}

/// What is sent next: as much as fits, after [`LINGER`] at the latest. `None` when nothing more comes.
async fn batch<T>(waiting: &mut Receiver<Job<T>>) -> Option<(Vec<T>, Option<oneshot::Sender<()>>)> {
    let mut batch = match waiting.recv().await? {
        Job::Item(item) => vec![item],
        Job::Flush(flushed) => return Some((Vec::new(), Some(flushed))),
    };
    let until = Instant::now() + LINGER;
    while batch.len() < BATCH_MAX {
        match timeout_at(until, waiting.recv()).await {
            Ok(Some(Job::Item(item))) => batch.push(item),
            Ok(Some(Job::Flush(flushed))) => return Some((batch, Some(flushed))),
            Ok(None) | Err(_) => break,
        }
    }
    Some((batch, None))
}

/// A queue of spans.
pub(super) fn spans(
    exporter: Arc<Exporter>,
    url: String,
    max: usize,
    resource: Arc<ResourceAttributesWithSchema>,
) -> Queue<SpanData> {
    Queue::start(Signal::Traces, exporter, url, max, move |batch| {
        let resource_spans = group_spans_by_resource_and_scope(batch, &resource);
        ExportTraceServiceRequest { resource_spans }.encode_to_vec().into()
    })
}

/// A queue of lines of the log.
pub(super) fn logs(
    exporter: Arc<Exporter>,
    url: String,
    max: usize,
    resource: Arc<ResourceAttributesWithSchema>,
) -> Queue<LogItem> {
    Queue::start(Signal::Logs, exporter, url, max, move |batch| {
        let borrowed: Vec<_> = batch.iter().map(|(record, scope)| (record, scope)).collect();
        let resource_logs = group_logs_by_resource_and_scope(&LogBatch::new(&borrowed), &resource);
        ExportLogsServiceRequest { resource_logs }.encode_to_vec().into()
    })
}

/// Where the SDK puts spans that have ended.
#[derive(Debug)]
pub(super) struct SpanQueue(pub(super) Queue<SpanData>);

impl SpanProcessor for SpanQueue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        // What is not recorded has no data, but the SDK may say so here.
        if span.span_context.is_sampled() {
            self.0.push(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Where the SDK puts lines of the log.
#[derive(Debug)]
pub(super) struct LogQueue(pub(super) Queue<LogItem>);

impl LogProcessor for LogQueue {
    fn emit(&self, record: &mut SdkLogRecord, scope: &InstrumentationScope) {
        self.0.push((record.clone(), scope.clone()));
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}
