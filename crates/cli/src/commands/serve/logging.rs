//! Structured lines on standard error, and what may never be among them.
//!
//! Logs hold no questions, answers, tokens or personal content, at any level. Our own crates keep to that line
//! by line. Libraries that carry bytes (HTTP, MCP, SQL) tell them at `debug` and `trace`, and some in their
//! errors: of those, [`may_be_logged`] lets through nothing, or warnings alone, whatever level the operator
//! sets.

use std::io::IsTerminal;
use std::sync::OnceLock;

use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, reload};

use crate::output::Failure;
use forecourt::settings::{Log, LogFormat};
use forecourt::telemetry::{BoxedLayer, TelemetryLayers, may_be_sent};
use forecourt_client::printable::has_styles;
use forecourt_telemetry::{LinesOfRequests, TARGET};

/// What the names of our own crates begin with.
const OURS: &str = "forecourt";
/// Libraries whose warnings and errors quote what they were sent.
const QUOTING: [&str; 2] = ["rmcp", "tower_http"];

/// Changes one of the filters of the log.
type Level = Box<dyn Fn(EnvFilter) -> Result<(), reload::Error> + Send + Sync>;

/// What changes the level of the log while it is written: each layer that has a filter of its own.
static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();

/// Starts to log as `[log]` says, and to make what a collector is told; `FORECOURT_LOG` overrides the level.
pub(crate) fn start(log: &Log, telemetry: TelemetryLayers) -> Result<(), Failure> {
    let filter = || filter(log).map_err(Failure::yours);
    let registry = tracing_subscriber::registry();
    let mut levels = Vec::new();
    let started = match telemetry {
        // One filter for all is cheaper than one for each layer.
        TelemetryLayers { traces: None, logs: None } => {
            let filter = followed(filter()?, &mut levels);
            registry.with(filter).with(filter_fn(may_be_logged)).with(lines(log)).try_init()
        }
        TelemetryLayers { traces, logs } => {
            // One filter to each layer, made of several: of nested ones, the inner is not asked where the outer says
            // no, and the registry takes that for a yes.
            let mut layers: Vec<BoxedLayer> = traces.into_iter().collect();
            let lines_filter = followed(filter()?, &mut levels);
            layers.push(lines(log).with_filter(filter_fn(may_be_logged).and(lines_filter)).boxed());
            if let Some(logs) = logs {
                let may_be_sent = filter_fn(|about| may_be_logged(about) && may_be_sent(about));
                layers.push(logs.with_filter(may_be_sent.and(followed(filter()?, &mut levels))).boxed());
            }
            registry.with(layers).try_init()
        }
    };
    let _ = LEVELS.set(levels);
    started.map_err(|error| Failure::ours(error.to_string()))
}

/// A filter that can be changed by what is put among `levels`.
fn followed<S: 'static>(filter: EnvFilter, levels: &mut Vec<Level>) -> reload::Layer<EnvFilter, S> {
    let (filter, level) = reload::Layer::new(filter);
    levels.push(Box::new(move |filter| level.reload(filter)));
    filter
}

/// The lines on standard error.
fn lines<S>(log: &Log) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let colours = has_styles(std::io::stderr().is_terminal());
    let lines = fmt::layer().with_ansi(colours).with_writer(std::io::stderr);
    match log.format {
        LogFormat::Text => LinesOfRequests::new(lines.with_target(false)).boxed(),
        LogFormat::Json => LinesOfRequests::new(lines.json().flatten_event(true)).boxed(),
    }
}

/// Logs as much as `[log]` says from here on.
pub(in crate::commands) fn follow(log: &Log) {
    let Ok(filter) = filter(log) else { return };
    for level in LEVELS.get().into_iter().flatten() {
        if let Err(error) = level(filter.clone()) {
            tracing::error!(%error, "the level of the log could not be changed");
        }
    }
}

/// What is written. Fails with a sentence when the level makes no sense.
pub(super) fn filter(log: &Log) -> Result<EnvFilter, String> {
    let level = std::env::var("FORECOURT_LOG").unwrap_or_else(|_| log.level.clone());
    EnvFilter::try_new(&level).map_err(|error| format!("[log] level `{level}` is no filter: {error}"))
}

/// Whether lines of this kind are written if the operator's level has them: all of our own, and of libraries
/// what warns, unless they quote what they were sent.
fn may_be_logged(about: &Metadata<'_>) -> bool {
    // Spans for the collector alone.
    if about.target() == TARGET {
        return false;
    }
    let library = about.target().split("::").next().unwrap_or_default();
    match is_ours(library) {
        true => true,
        false => *about.level() <= tracing::Level::WARN && !QUOTING.contains(&library),
    }
}

/// `forecourt` and `forecourt_…`. A library that is called so is none of ours, but there is none.
fn is_ours(library: &str) -> bool {
    library.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is written of `say` when the operator sets this level.
    fn logged(level: &str, say: impl FnOnce()) -> String {
        let written = Written::default();
        let writer = written.clone();
        let lines = fmt::layer().with_ansi(false).with_writer(move || writer.clone());
        let filter = EnvFilter::try_new(level).unwrap();
        let subscriber = tracing_subscriber::registry().with(filter_fn(may_be_logged)).with(filter).with(lines);
        tracing::subscriber::with_default(subscriber, say);
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn say_all() {
        tracing::trace!(target: "forecourt_host::receive", "own trace");
        tracing::debug!(target: "forecourt", "own debug");
        tracing::debug!(target: "hyper::proto", "bytes of hyper");
        tracing::info!(target: "tantivy", "words of tantivy");
        tracing::warn!(target: "h2::client", "warning of h2");
        tracing::error!(target: "rmcp::service", "message of rmcp");
        tracing::debug!(target: "forecourtish", "somebody else");
        let span = tracing::debug_span!(target: "rmcp::service", "span of rmcp", question = "soup");
        span.in_scope(|| tracing::info!(target: "forecourt_pages", "own inside"));
    }

    #[test]
    fn libraries_are_heard_no_further_than_their_warnings_whatever_the_level() {
        for level in
            ["trace", "debug,hyper=trace,tantivy=trace,rmcp=trace", "forecourt=trace,forecourt_host=trace,trace"]
        {
            let log = logged(level, say_all);
            assert!(log.contains("own debug") && log.contains("own inside") && log.contains("warning of h2"), "{log}");
            for silent in ["bytes of", "words of", "message of", "somebody else", "soup", "span of"] {
                assert!(!log.contains(silent), "{level}: {silent}: {log}");
            }
        }
        assert!(logged("trace", say_all).contains("own trace"));
    }

    #[test]
    fn the_operator_sets_the_level_of_what_may_be_heard() {
        let log = logged("error,forecourt_pages=info", say_all);
        assert!(log.contains("own inside") && !log.contains("own debug") && !log.contains("warning of h2"), "{log}");
    }
}
