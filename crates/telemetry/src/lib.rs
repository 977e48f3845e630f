//! What a request belongs to, and the spans that are made of its way: the part of tracing that every crate may
//! reach. It exports nothing; that is done where the daemon is put together.
//!
//! Nothing here costs more than a look at a flag while nobody traces: the spans have a target of their own
//! ([`TARGET`]), which no log shows, and only a layer that exports enables it.
//!
//! | file | holds |
//! |---|---|
//! | `w3c.rs`, `outgoing.rs` | `traceparent` and `tracestate`, in and out. W3C Trace Context |
//! | `policy.rs` | which requests are traced |
//! | `request.rs` | what one request is traced by |
//! | `methods.rs` | which methods of HTTP are told apart |
//! | `lines.rs` | which request lines of the log belong to |
//! | `spans.rs` | every span there is, named by the semantic conventions |

mod lines;
mod methods;
mod outgoing;
mod policy;
mod request;
pub mod spans;
mod w3c;

pub use lines::{EnteredLines, LinedWork, LinesOfRequests, RequestLines};
pub use methods::{METHODS_MAX, OTHER_METHOD, know_methods, known_method};
pub use outgoing::{OutgoingContext, current_trace, inject, outgoing};
pub use policy::{SampledFlag, TracePolicy, is_on, policy, start};
pub use request::{CarriedWork, EnteredTrace, RequestTrace, going_on};
pub use w3c::{RemoteParent, TRACEPARENT, TRACESTATE};

/// The target of every span of [`spans`], by which they are told from lines of the log.
pub const TARGET: &str = "forecourt_trace";
