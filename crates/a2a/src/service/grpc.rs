//! Calls over gRPC, which know no paths: they are for the hub, or for the agent that is their tenant.

use std::sync::Arc;

use forecourt_surface::refusal::add_fields;
use futures::StreamExt;
use futures::future::BoxFuture;
use http::HeaderMap;

use super::{Caller, OperationReply, Service, ServiceError};
use crate::grpc::{Carry, Denial, GrpcAnswer, GrpcCall, GrpcReply};
use crate::model::OperationOutcome;

/// What is shared with the calls under way.
pub(crate) struct OverGrpc(pub(crate) Arc<Service>);

impl Carry for OverGrpc {
    fn carry(&self, call: GrpcCall) -> BoxFuture<'_, Result<GrpcReply, Denial>> {
        Box::pin(async move {
            let agent = self.0.addressee(None, call.tenant.as_deref())?;
            let caller = Caller { agent, version: call.version, head: &call.head, body: Some(&call.body) };
            let extensions = self.0.extensions_at_work(&caller);
            let carried = self.0.carry(&caller, call.operation).await.map_err(|trouble| self.denial(trouble))?;
            let answer = match carried {
                OperationReply::Once(outcome) => GrpcAnswer::Once(Box::new(outcome)),
                OperationReply::Refused(item, _) => GrpcAnswer::Once(Box::new(OperationOutcome::Sent(item))),
                OperationReply::Stream(items) => GrpcAnswer::Stream(Box::pin(items.map(|(_, item)| item))),
            };
            Ok(GrpcReply { extensions, answer })
        })
    }
}

impl OverGrpc {
    fn denial(&self, trouble: ServiceError) -> Denial {
        match trouble {
            ServiceError::Fault(fault) => Denial::Fault(fault),
            ServiceError::Refused(part) => {
                let mut fields = HeaderMap::new();
                add_fields(&mut fields, &part, self.0.host.site().canonical_host());
                Denial::Refused { part, fields }
            }
        }
    }
}
