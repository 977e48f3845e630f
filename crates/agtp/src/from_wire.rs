//! From a request on the wire to what is asked. Base 2.1, 2.2, 2.4.

pub(crate) mod body;
mod caller;
mod fields;
mod target;

use std::net::IpAddr;

use forecourt_contract::Call;
use forecourt_identity::certificate::{AgentCertificate, CertificateFault};

use crate::ask::Ask;
use crate::problem::bad_field;
use crate::reply::Problem;
use crate::service::Service;
use crate::status::Status;
use crate::wire::Request;
use caller::Callers;
use fields::Said;

/// What is known of the connection that a request came by.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The address of the client, in its shortest form.
    pub peer: IpAddr,
    /// What the client's certificate says, if it showed one. One that an authority vouched for and that
    /// can't be read all the same proves nothing, and is held against who shows it.
    pub certificate: Option<Result<AgentCertificate, CertificateFault>>,
}

impl Line {
    /// A line from a client that showed the certificate `shown`.
    pub(crate) fn new(peer: IpAddr, shown: Option<&[u8]>) -> Self {
        Self { peer, certificate: shown.map(AgentCertificate::parse) }
    }
}

impl Service {
    /// Reads a request.
    ///
    /// # Errors
    /// What can't be read: 501 for chains of delegation, 400 for what is malformed, 404 for an agent that
    /// is not here, 503 while it can't be told where the caller stands.
    pub(crate) async fn ask(&self, request: &Request, line: &Line) -> Result<Ask, Problem> {
        if request.field("Delegation-Chain").is_some() {
            let message = "chains of delegation are not understood here: leave `Delegation-Chain` out";
            return Err(Problem::new(Status::NOT_IMPLEMENTED, "delegation-not-supported", message));
        }
        let target = self.target(&request.start)?;
        let said = Said::read(&request.fields)?;
        let body = body::read(&request.body, said.content_type)?;
        let found = Callers { service: self, line }.find(&said, &target, &request.start.method).await?;
        if let (Some(said), Some(agent)) = (said.owner_id, &found.known)
            && agent.posture.owner_id.as_deref().is_some_and(|owner| owner != said)
        {
            return Err(bad_field("Owner-ID", "is not the owner of the calling agent: leave it out"));
        }
        Ok(Ask {
            call: Call {
                method: request.start.method.clone(),
                path: target.path,
                query: target.query,
                body,
                caller: found.caller,
                idempotency_key: said.idempotency_key,
                thread: said.thread,
                depth: said.hops,
            },
            is_targetless: request.start.target.is_none(),
            addressed: target.agent,
            known: found.known,
            key_fingerprint: line.fingerprint(),
            doubt: found.doubt.map(Box::new),
            is_local: line.peer.is_loopback(),
            accept: said.accept.map(str::to_owned),
            if_none_match: said.if_none_match.map(str::to_owned),
        })
    }
}
