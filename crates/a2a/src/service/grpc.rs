//! Calls over gRPC, which know no paths: they are for the hub, or for the agent that is their tenant.

use std::sync::Arc;

use forecourt_surface::refusal::add_fields;
use futures::StreamExt;
use futures::future::BoxFuture;
use http::HeaderMap;

use super::{Caller, Carried, Service, Trouble, is_supported};
use crate::grpc::{Answer, Call, Carry, Denial, Reply};
use crate::model::OperationOutcome;

/// What is shared with the calls under way.
pub(crate) struct OverGrpc(pub(crate) Arc<Service>);

impl Carry for OverGrpc {
    fn carry(&self, call: Call) -> BoxFuture<'_, Result<Reply, Denial>> {
        Box::pin(async move {
            let agent = self.0.addressee(None, call.tenant.as_deref())?;
            let caller = Caller { agent, version: call.version, head: &call.head, body: Some(&call.body) };
            let extensions = caller.extensions().into_iter().filter(|uri| is_supported(uri)).collect();
            let carried = self.0.carry(&caller, call.operation).await.map_err(|trouble| self.denial(trouble))?;
            let answer = match carried {
                Carried::Once(outcome) => Answer::Once(Box::new(outcome)),
                Carried::Refused(item, _) => Answer::Once(Box::new(OperationOutcome::Sent(item))),
                Carried::Stream(items) => Answer::Stream(Box::pin(items.map(|(_, item)| item))),
            };
            Ok(Reply { extensions, answer })
        })
    }
}

impl OverGrpc {
    fn denial(&self, trouble: Trouble) -> Denial {
        match trouble {
            Trouble::Fault(fault) => Denial::Fault(fault),
            Trouble::Refused(part) => {
                let mut fields = HeaderMap::new();
                add_fields(&mut fields, &part, self.0.host.site().canonical_host());
                Denial::Refused { part, fields }
            }
        }
    }
}
