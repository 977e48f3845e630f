//! gRPC: both packages on the shared HTTP port, transcoded to the JSON forms that the codecs read
//! and write. A2A 1.0 section 10; the sheet's tables of operations and errors.
//!
//! The descriptors of both versions are compiled in; a message is read by its descriptor, becomes
//! ProtoJSON, and from there on is what it would be over HTTP+JSON. Nothing is generated, so the
//! two versions are two descriptors and not two sets of types.
//!
//! | what | module |
//! |---|---|
//! | the descriptors, and what a method takes and gives | `schema` |
//! | bytes to JSON and back | `transcode` |
//! | one call, from its head to its trailers | `call` |
//! | what a failed call says | `status` |
//! | which services there are, and whether they serve | `about` |
//! | the card in the form that 0.3 has for it | `card` |

mod about;
mod call;
mod card;
mod deadline;
mod schema;
mod status;
mod transcode;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use bytes::Bytes;
use forecourt_core::PolicyPart;
use forecourt_surface::body::BodyLimits;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::HeaderMap;
use http::request::Parts;

use crate::model::{Item, Operation, OperationError, OperationOutcome, Version};

/// The path of each package's service.
pub(crate) const PATHS: [&str; 2] = ["/lf.a2a.v1.A2AService/{method}", "/a2a.v1.A2AService/{method}"];

pub(crate) use about::{ABOUT_PATHS, about};

/// Carries a call to the host and its answer back.
pub(crate) trait Carry: Send + Sync + 'static {
    /// What comes of `call`. The client may go away at any time: then the future, or the stream in
    /// the reply, is dropped, which must not stop the work.
    fn carry(&self, call: GrpcCall) -> BoxFuture<'_, Result<GrpcReply, Denial>>;
}

/// A call that was understood.
#[derive(Debug)]
pub(crate) struct GrpcCall {
    /// The version, by the package.
    pub(crate) version: Version,
    /// What it asks for.
    pub(crate) operation: Operation,
    /// Whom it is for, as cards of 1.0 declare it. Never empty.
    pub(crate) tenant: Option<String>,
    /// The head as it arrived, with the metadata among its fields. Credentials are in it, and the
    /// client's address.
    pub(crate) head: Parts,
    /// The body as it arrived, framing included, for signatures.
    pub(crate) body: Bytes,
}

/// What comes of a call.
pub(crate) struct GrpcReply {
    /// Extensions that were at work, by URI.
    pub(crate) extensions: Vec<&'static str>,
    /// What is sent back.
    pub(crate) answer: GrpcAnswer,
}

/// The messages of one call's answer: one, or a stream of items.
pub(crate) enum GrpcAnswer {
    /// One message, even where a stream was asked for.
    Once(Box<OperationOutcome>),
    /// A message for each item, until the stream ends.
    Stream(BoxStream<'static, Item>),
}

/// Why a call gets no answer.
#[derive(Debug)]
pub(crate) enum Denial {
    /// A row of the table of errors.
    Fault(OperationError),
    /// Refused before there was a task that could carry the refusal.
    Refused {
        /// The refusal.
        part: Box<PolicyPart>,
        /// The fields that go with it on HTTP; they become metadata.
        fields: HeaderMap,
    },
}

impl From<OperationError> for Denial {
    fn from(fault: OperationError) -> Self {
        Self::Fault(fault)
    }
}

/// What answers the paths in [`PATHS`]. Bodies are read within `limits`.
pub(crate) fn routes(carry: Arc<dyn Carry>, limits: BodyLimits) -> Router {
    let mount = |router: Router, (path, version)| {
        let service = Arc::new(call::Service { version, carry: Arc::clone(&carry), limits });
        router.route(path, post(call::answer).with_state(service))
    };
    PATHS.into_iter().zip([Version::V1_0, Version::V0_3]).fold(Router::new(), mount)
}
