//! What the host answers itself, whether it is asked by the wire or by a step of a composition.

use std::sync::Arc;

use forecourt_contract::refusal::{BrokenContract, Pair};
use forecourt_contract::{Call, CallTarget, Method, Native, Refusal};
use forecourt_core::AgentId;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::embedded;
use crate::problem::refusal;
use crate::reply::{Body, Problem, Reply};
use crate::service::Service;

impl Service {
    /// Answers a method of the host's own, from a caller that every check let through.
    pub(super) async fn embedded(&self, ask: &Ask, method: &Method) -> Result<Reply, Problem> {
        if method.as_str() == "DISCOVER" {
            return self.discovery.discover(ask).await;
        }
        embedded::answer(self, ask, method).await
    }
}

impl Native for Service {
    fn answer(&self, call: Call, target: CallTarget) -> BoxFuture<'_, Result<Value, Refusal>> {
        Box::pin(async move {
            let pair = Pair { method: target.method.clone(), path: target.path.as_str().to_owned() };
            match self.native(self.inner(call), &target).await {
                Ok(reply) => value(reply, pair),
                Err(problem) => Err(refusal(problem)),
            }
        })
    }
}

impl Service {
    /// A call from inside as a request. The caller was established outside, and nothing was sent.
    fn inner(&self, call: Call) -> Ask {
        let id = call.caller.agent_id.as_deref().and_then(|id| AgentId::parse(id).ok());
        let known = id.and_then(|id| self.agents.get(&id)).cloned();
        Ask {
            call,
            is_targetless: false,
            addressed: None,
            known,
            key_fingerprint: None,
            doubt: None,
            is_step: true,
            served_under: Arc::default(),
            is_local: false,
            accept: None,
            if_none_match: None,
            state: None,
        }
    }
}

/// What was said, as a value for the next step.
fn value(reply: Reply, pair: Pair) -> Result<Value, Refusal> {
    match reply.body {
        Body::Json(value) => Ok(value),
        Body::Empty => Ok(Value::Object(Map::new())),
        Body::Written(bytes) | Body::Made { bytes, .. } => {
            let broken = |cause: String| Refusal::Broken { pair, kind: BrokenContract::Output, cause };
            serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))
        }
    }
}
