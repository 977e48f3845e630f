//! From a request to a call: where it goes, what it says, and who makes it. Base 2.1, 2.2, 2.4.

use std::sync::Arc;

use forecourt_agtp_wire::message::Request;
use forecourt_contract::Call;
use forecourt_contract::call::Thread;

use super::caller::CallerLookup;
use super::target::TargetResolver;
use crate::ask::Ask;
use crate::from_wire::{self, RequestFields, body};
use crate::problem::bad_field;
use crate::reply::Problem;

/// Reads requests that came by one connection.
pub(super) struct RequestReader<'a> {
    pub targets: TargetResolver<'a>,
    pub callers: CallerLookup<'a>,
}

impl RequestReader<'_> {
    /// Understands a request.
    ///
    /// # Errors
    /// What can't be read: 501 for chains of delegation, 400 for what is malformed, 404 for an agent that
    /// is not here, 503 while it can't be told where the caller stands.
    pub(super) async fn read(&self, request: &Request) -> Result<Ask, Problem> {
        from_wire::supported(request)?;
        let target = self.targets.resolve(&request.start)?;
        let fields = RequestFields::read(&request.fields)?;
        let body = body::read(&request.body, fields.content_type)?;
        let identity = self.callers.identify(&fields, &target, &request.start.method).await?;
        if let (Some(named), Some(agent)) = (fields.owner_id, &identity.known)
            && agent.posture.owner_id.as_deref().is_some_and(|owner| owner != named)
        {
            return Err(bad_field("Owner-ID", "is not the owner of the calling agent: leave it out"));
        }
        let connection = self.callers.connection;
        Ok(Ask {
            call: Call {
                method: request.start.method.clone(),
                path: target.path,
                query: target.query,
                body,
                caller: identity.caller,
                idempotency_key: fields.idempotency_key,
                thread: Thread { connection: connection.id.clone(), ..fields.thread },
                contract: fields.contract,
                depth: fields.hops,
            },
            is_targetless: request.start.target.is_none(),
            addressed: target.agent,
            known: identity.known,
            key_fingerprint: connection.fingerprint(),
            doubt: identity.doubt.map(Box::new),
            is_step: false,
            served_under: Arc::default(),
            is_local: connection.peer.is_loopback(),
            accept: fields.accept.map(str::to_owned),
            if_none_match: fields.if_none_match.map(str::to_owned),
            state: fields.state,
        })
    }
}
