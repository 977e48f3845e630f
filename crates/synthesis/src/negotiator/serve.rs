//! From a contract in force to what answers a call under it.

use std::sync::{Arc, Weak};

use forecourt_contract::negotiation::{NegotiationOrigin, ServingContract};
use forecourt_contract::registry::{CallerNeeds, MatchedEndpoint, RegisteredEndpoint};
use forecourt_contract::{ContractRefusal, Dispatcher, Endpoint, Failure, Handler, Invocation, Recipe, RequestPath};
use forecourt_endpoints::Composition;
use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use serde_json::Value;

use super::event::ContractEvent;
use super::{Negotiator, unavailable};
use crate::contracts::{BoundPlan, ContractEndKind, ContractRecord, values};
use crate::plan::declared_only;

/// A plan that is ready to run, in one state of the deployment.
#[derive(Clone)]
pub(super) struct CompiledPlan {
    /// The state that it was held against.
    of: Weak<Dispatcher>,
    /// What answers, or why nothing can any more.
    registered: Result<RegisteredEndpoint, Arc<str>>,
}

impl Negotiator {
    /// What answers a call under a contract in force. `None`: nothing can any more, and the contract was revoked
    /// for that. A step whose needs have grown is another matter: whoever has not what it needs now is refused in
    /// the order of every call, and the contract goes on.
    ///
    /// # Errors
    /// [`ContractRefusal::Unavailable`].
    pub(super) async fn serve(
        &self,
        record: &ContractRecord,
        path: &RequestPath,
        is_new: bool,
    ) -> Result<Option<ServingContract>, ContractRefusal> {
        let registered = match self.compiled(record).await? {
            Ok(registered) => registered,
            Err(reason) => {
                self.revoke_dangling(record, &reason).await?;
                return Ok(None);
            }
        };
        // Whoever asks has matched the path, and takes `None` for an end.
        let Some(values) = values(&record.path, path) else { return Err(ContractRefusal::Unavailable) };
        let matched = MatchedEndpoint { registered, values };
        Ok(Some(ServingContract { matched, stamp: Arc::new(record.stamp(is_new)) }))
    }

    /// The endpoint of a contract with its plan, as it was compiled for any contract of the same hash.
    async fn compiled(&self, record: &ContractRecord) -> Result<Result<RegisteredEndpoint, Arc<str>>, ContractRefusal> {
        let dispatcher = self.dispatcher()?;
        if let Some(known) = self.compiled.get(&(Arc::clone(&record.plan_hash), record.origin))
            // The weak reference keeps the old allocation, so no new dispatcher can have its address and pass for it.
            && known.of.as_ptr() == Arc::as_ptr(&dispatcher)
        {
            return Ok(known.registered);
        }
        let bound = self.parts.contracts.bound(record).await.map_err(unavailable)?;
        let Some(bound) = bound else { return Err(ContractRefusal::Unavailable) };
        let registered = self.compile(&dispatcher, bound, record.origin);
        let compiled = CompiledPlan { of: Arc::downgrade(&dispatcher), registered: registered.clone() };
        self.compiled.insert((Arc::clone(&record.plan_hash), record.origin), compiled);
        Ok(registered)
    }

    fn compile(
        &self,
        dispatcher: &Dispatcher,
        bound: BoundPlan,
        origin: NegotiationOrigin,
    ) -> Result<RegisteredEndpoint, Arc<str>> {
        let BoundPlan { endpoint, plan, timeout } = bound;
        let endpoint = endpoint.map_err(|error| Arc::from(error.to_string()))?;
        if let Some(reason) = dangling(dispatcher, &plan) {
            return Err(reason);
        }
        // What steps need now, not when the contract was made: an operator who tightens an endpoint tightens its
        // contracts.
        let CallerNeeds { scopes, token } = dispatcher.needs_of_plan(&plan);
        let mut all = endpoint.required_scopes.clone();
        all.extend(scopes.iter().filter(|scope| !endpoint.required_scopes.contains(scope)).cloned());
        let composition = Composition::new(plan, self.parts.host.clone(), timeout);
        let handler: Arc<dyn Handler> = match origin {
            NegotiationOrigin::Propose => Arc::new(AsProposed { composition, endpoint: Arc::clone(&endpoint) }),
            NegotiationOrigin::RcnsGate | NegotiationOrigin::PreRegistered => Arc::new(composition),
        };
        Ok(RegisteredEndpoint { needs: CallerNeeds { scopes: all.into(), token }, endpoint, handler })
    }

    async fn revoke_dangling(&self, record: &ContractRecord, reason: &str) -> Result<(), ContractRefusal> {
        let ended = self.parts.contracts.end(record, ContractEndKind::Revoked, None, Some(reason)).await;
        let (ended, is_ours) = ended.map_err(unavailable)?;
        tracing::warn!(synthesis_id = &*record.synthesis_id, reason, "a contract was revoked");
        if let Some(contract) = ended.filter(|_| is_ours) {
            let event = ContractEvent::Revoked { contract: &contract, reason: Some(reason), actor: None };
            self.parts.events.happened(event).await;
        }
        Ok(())
    }
}

/// A composition whose result has what was proposed, and nothing more.
struct AsProposed {
    composition: Composition,
    endpoint: Arc<Endpoint>,
}

impl Handler for AsProposed {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        let answer = self.composition.call(invocation);
        let declared = self.endpoint.output.source();
        answer
            .map_ok(move |mut result| {
                declared_only(declared, &mut result);
                result
            })
            .boxed()
    }
}

/// The first step of a plan that goes where nothing is any more, in a sentence.
fn dangling(dispatcher: &Dispatcher, plan: &Recipe) -> Option<Arc<str>> {
    let at = *dispatcher.dangling_steps_of_plan(plan).first()?;
    let step = plan.steps.get(at)?;
    let path = step.path.as_ref().map_or("/", |path| path.as_str());
    Some(format!("step {} of its plan goes to {} {path}, where nothing answers any more", at + 1, step.method).into())
}
