//! This module says which request a line of the log belongs to, at next to no cost for requests that write none: their
//! span is made when the first line is written within them.
//!
//! That takes a subscriber whose layer of lines is within a [`LinesOfRequests`]; without one, each request has its span
//! from the beginning.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context as TaskContext, Poll};

use pin_project_lite::pin_project;
use tracing::span::{Attributes, EnteredSpan, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Whether a subscriber asks for spans when it writes lines.
static IS_ASKED_FOR: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whose lines are written on this thread now.
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

struct Current {
    lines: RequestLines,
    /// Its span, once there is one.
    entered: Option<EnteredSpan>,
}

/// What lines of the log say of the request that they belong to. Cheap to clone.
#[derive(Clone)]
pub struct RequestLines(Arc<Lazy<dyn RequestDescription>>);

/// What lines say of a request, made when somebody asks for it.
trait RequestDescription: Send + Sync {
    fn span(&self) -> Span;
    fn id(&self) -> String;
}

struct LazyDescription<I, M> {
    id: I,
    make: M,
}

impl<I: ToString + Send + Sync, M: Fn(&I) -> Span + Send + Sync> RequestDescription for LazyDescription<I, M> {
    fn span(&self) -> Span {
        (self.make)(&self.id)
    }

    fn id(&self) -> String {
        self.id.to_string()
    }
}

struct Lazy<M: ?Sized> {
    span: OnceLock<Span>,
    /// The status of its answer, 0 while there is none.
    status: AtomicU16,
    make: M,
}

impl RequestLines {
    /// Lines of the request with this id, whose span is made by `make`, with an empty field `status`.
    pub fn new<I>(id: I, make: impl Fn(&I) -> Span + Send + Sync + 'static) -> Self
    where
        I: ToString + Send + Sync + 'static,
    {
        let make = LazyDescription { id, make };
        let lines = Self(Arc::new(Lazy { span: OnceLock::new(), status: AtomicU16::new(0), make }));
        if !IS_ASKED_FOR.load(Ordering::Relaxed) {
            lines.span();
        }
        lines
    }

    /// Lines of the request that is answered on this thread now, if there is one.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(|current| current.as_ref().map(|current| current.lines.clone()))
    }

    /// The span, which is made if there is none yet.
    pub fn span(&self) -> &Span {
        self.0.span.get_or_init(|| {
            let span = self.0.make.span();
            let status = self.0.status.load(Ordering::Relaxed);
            if status != 0 {
                span.record("status", status);
            }
            span
        })
    }

    /// By what the log knows the request.
    pub fn id(&self) -> String {
        self.0.make.id()
    }

    /// Has lines that are written from here on tell the status of the answer.
    pub fn record_status(&self, status: u16) {
        // Stored before the look: a span that is made in between takes the status from here.
        self.0.status.store(status, Ordering::Relaxed);
        if let Some(span) = self.0.span.get() {
            span.record("status", status);
        }
    }

    /// Has the lines that are written now, on this thread, belong to the request: until the value is dropped.
    pub fn enter(&self) -> EnteredLines {
        // Not `span()`: most requests write no line, and are to have no span.
        let entered = self.0.span.get().map(|span| span.clone().entered());
        EnteredLines { before: CURRENT.replace(Some(Current { lines: self.clone(), entered })) }
    }

    /// Has the lines of `work` belong to the request, on whatever thread it goes on.
    pub fn carry<F: Future>(&self, work: F) -> LinedWork<F> {
        LinedWork { work, lines: Some(self.clone()) }
    }
}

impl std::fmt::Debug for RequestLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestLines").field("span", &self.0.span).finish_non_exhaustive()
    }
}

/// For as long as it is there, lines that are written on this thread belong to a request.
pub struct EnteredLines {
    before: Option<Current>,
}

impl Drop for EnteredLines {
    fn drop(&mut self) {
        // Dropped after the swap, since leaving a span may look at what is current.
        let _left = CURRENT.replace(self.before.take());
    }
}

pin_project! {
    /// Work whose lines belong to a request.
    pub struct LinedWork<F> {
        #[pin]
        work: F,
        lines: Option<RequestLines>,
    }
}

impl<F> LinedWork<F> {
    /// Work that goes on elsewhere, whose lines belong to the request that is answered now.
    pub(crate) fn of_current(work: F) -> Self {
        Self { work, lines: RequestLines::current() }
    }
}

impl<F: Future> Future for LinedWork<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        // At each poll, since other requests have the thread in between.
        let _entered = this.lines.as_ref().map(RequestLines::enter);
        this.work.poll(cx)
    }
}

/// Makes and enters the span of the request that is answered now, unless it is entered already.
fn enter_current() {
    let Some(lines) = CURRENT.with_borrow(|current| {
        current.as_ref().filter(|current| current.entered.is_none()).map(|current| current.lines.clone())
    }) else {
        return;
    };
    // Outside of the borrow: making and entering a span runs layers, which may look at what is current.
    let entered = lines.span().clone().entered();
    CURRENT.with_borrow_mut(|current| {
        if let Some(current) = current {
            current.entered = Some(entered);
        }
    });
}

/// A layer that writes lines, for which the spans of requests are made when one is written.
pub struct LinesOfRequests<L>(L);

impl<L> LinesOfRequests<L> {
    /// From here on requests have a span when a line is written within them. To be the layer that writes lines of a
    /// subscriber that is everybody's.
    pub fn new(lines: L) -> Self {
        IS_ASKED_FOR.store(true, Ordering::Relaxed);
        Self(lines)
    }
}

impl<S, L> Layer<S> for LinesOfRequests<L>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    L: Layer<S>,
{
    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        enter_current();
        self.0.on_event(event, ctx);
    }

    fn on_layer(&mut self, subscriber: &mut S) {
        self.0.on_layer(subscriber);
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.0.register_callsite(metadata)
    }

    fn enabled(&self, metadata: &Metadata<'_>, ctx: Context<'_, S>) -> bool {
        self.0.enabled(metadata, ctx)
    }

    fn event_enabled(&self, event: &Event<'_>, ctx: Context<'_, S>) -> bool {
        self.0.event_enabled(event, ctx)
    }

    fn on_new_span(&self, attrs: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        self.0.on_new_span(attrs, id, ctx);
    }

    fn on_record(&self, span: &Id, values: &Record<'_>, ctx: Context<'_, S>) {
        self.0.on_record(span, values, ctx);
    }

    fn on_follows_from(&self, span: &Id, follows: &Id, ctx: Context<'_, S>) {
        self.0.on_follows_from(span, follows, ctx);
    }

    fn on_enter(&self, id: &Id, ctx: Context<'_, S>) {
        self.0.on_enter(id, ctx);
    }

    fn on_exit(&self, id: &Id, ctx: Context<'_, S>) {
        self.0.on_exit(id, ctx);
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        self.0.on_close(id, ctx);
    }

    fn on_id_change(&self, old: &Id, new: &Id, ctx: Context<'_, S>) {
        self.0.on_id_change(old, new, ctx);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parking_lot::Mutex;
    use tracing::field::Empty;
    use tracing::info_span;
    use tracing_subscriber::fmt;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        /// The last line.
        fn last(&self) -> String {
            String::from_utf8_lossy(&self.0.lock()).lines().next_back().unwrap_or_default().trim_start().to_owned()
        }
    }

    fn request(id: u32) -> RequestLines {
        RequestLines::new(id, |id| info_span!("request", id, status = Empty))
    }

    #[test]
    fn a_line_belongs_to_its_request_and_a_request_without_lines_has_no_span() {
        let early = request(1);
        assert!(early.0.span.get().is_some(), "nobody asks for spans when lines are written");
        let written = Written::default();
        let writer = written.clone();
        let lines = fmt::layer().with_ansi(false).without_time().with_target(false).with_writer(move || writer.clone());
        tracing_subscriber::registry().with(LinesOfRequests::new(lines)).init();

        let (silent, talks) = (request(2), request(3));
        drop(silent.enter());
        assert!(silent.0.span.get().is_none());
        {
            let _entered = talks.enter();
            tracing::info!("said");
            assert_eq!(written.last(), "INFO request{id=3}: said");
            {
                let _within = silent.enter();
                tracing::info!("within");
                assert_eq!(written.last(), "INFO request{id=3}:request{id=2}: within");
            }
            tracing::info!("again");
            assert_eq!(written.last(), "INFO request{id=3}: again");
        }
        tracing::info!("outside");
        assert_eq!(written.last(), "INFO outside");

        talks.record_status(204);
        let _entered = talks.enter();
        tracing::info!("later");
        assert_eq!(written.last(), "INFO request{id=3 status=204}: later");
        let late = request(4);
        late.record_status(500);
        let _late = late.enter();
        tracing::info!("late");
        assert!(written.last().ends_with("request{id=4 status=500}: late"), "{}", written.last());
    }
}
