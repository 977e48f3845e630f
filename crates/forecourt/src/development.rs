//! A deployment while it is worked on, for `forecourt dev`: plain HTTP on loopback and nothing else, every request
//! traced, the last message kept so that it can be sent again, and the console open to a token of this run.
//!
//! There is no setting for any of it. A deployment is developed where a program calls
//! [`crate::Deployment::for_development`], which also moves its listeners to loopback; `serve` has nothing to call it with.
//!
//! | file | holds |
//! |---|---|
//! | `traces.rs` | the spans of each request, collected until it is over |
//! | `requests.rs` | requests as they came, to be sent again |
//! | `notes.rs` | what a developer is told of a request beside its spans: who asks, what is said, what it costs |

mod notes;
mod requests;
mod traces;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use forecourt_core::{Clock, Rule};
use forecourt_server::AdminToken;
use forecourt_telemetry::{SampledFlag, TracePolicy, start};
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use parking_lot::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use crate::span_layer::{BoxedLayer, span_layer};
use notes::CallerNote;
pub(crate) use notes::PricedUsage;
pub use notes::{CALLER, COST_MICROS, MESSAGE};
pub use requests::KeptRequest;
use requests::{RecentRequests, keep};
use traces::TraceCollector;
pub use traces::{FinishedSpan, FinishedTrace};

/// What watches a deployment that is worked on, from one house to the next.
pub struct Development {
    requests: Arc<Mutex<RecentRequests>>,
    token: AdminToken,
}

/// What comes of watching.
pub struct DevelopmentEvents {
    /// Makes the spans. To be a layer of the subscriber.
    pub layer: BoxedLayer,
    /// Each request, once it is over.
    pub traces: Receiver<FinishedTrace>,
}

impl Development {
    /// Begins to watch; `token` opens the console. Once in a process, which tells no collector of anything.
    pub fn begin(token: AdminToken, clock: Arc<dyn Clock>) -> (Arc<Self>, DevelopmentEvents) {
        start(TracePolicy { share: 1.0, flag: SampledFlag::Nobody });
        let (finished, traces) = channel(traces::WAITING_MAX);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(TraceCollector::new(finished, clock))
            .with_sampler(Sampler::AlwaysOn)
            .build();
        let development = Self { requests: Arc::default(), token };
        (Arc::new(development), DevelopmentEvents { layer: span_layer(&provider), traces })
    }

    /// What opens the console.
    pub(crate) fn token(&self) -> AdminToken {
        self.token.clone()
    }

    /// The request that a trace is of, if it was kept.
    pub fn request(&self, trace: &str) -> Option<KeptRequest> {
        self.requests.lock().of_trace(trace)
    }

    /// The same routes, whose requests are kept.
    pub(crate) fn keeping(&self, routes: Router) -> Router {
        routes.layer(from_fn_with_state(self.requests.clone(), keep))
    }

    /// The rule before every other one, which notes who asks and lets everybody pass.
    pub(crate) fn first_rule() -> Arc<dyn Rule> {
        Arc::new(CallerNote)
    }
}
