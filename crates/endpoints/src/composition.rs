//! `composition`: calls of other endpoints here, one after the other. Section 12.1.
//!
//! Every step goes the whole way of a call from outside, in the name of whoever called and with the
//! scopes of that call, so that nobody gets through a composition to what they may not do by hand. A
//! step has no idempotency key, and one level more of depth.

mod weight;

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::call::ContractTerms;
use forecourt_contract::limits::COMPOSITION_DEPTH_MAX;
use forecourt_contract::recipe::{BadReference, Recipe, Run, Step, StepCall};
use forecourt_contract::refusal::{BrokenContract, Pair};
use forecourt_contract::{Call, Dispatcher, Failure, Handler, HostHandle, Invocation, Refusal, Scope, Violation};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::limits::{RESULTS_BYTES_MAX, STEP_BYTES_MAX};
use weight::{weight, weight_of_all};

/// A recipe as a handler.
pub struct Composition {
    recipe: Arc<Recipe>,
    host: HostHandle,
    time: Duration,
}

impl Composition {
    /// Runs `recipe` for each call: its steps go to `host`, and all of them end within `time`.
    pub fn new(recipe: Arc<Recipe>, host: HostHandle, time: Duration) -> Composition {
        Composition { recipe, host, time }
    }

    async fn answer(&self, mut origin: Invocation) -> Result<Value, Failure> {
        // One dispatcher for the whole run: its steps belong to one state of the deployment.
        let Some(dispatcher) = self.host.dispatcher() else {
            return Err(Failure::Crashed("a composition was called before there is a dispatcher".to_owned()));
        };
        let mut run = Run::new(Arc::clone(&self.recipe), std::mem::take(&mut origin.input));
        foresee(&run, &dispatcher, &origin)?;
        // Each step claims what the whole call may use, and no step more.
        let authority = origin.caller.authority().clone().handed_on().claiming_all();
        origin.caller = origin.caller.with_authority(authority);
        let deadline = Instant::now() + self.time;
        let mut trip = Trip { dispatcher: &dispatcher, origin: &origin, deadline, bytes_left: RESULTS_BYTES_MAX };
        while let Some(call) = run.next_call() {
            let Some(step) = self.recipe.steps.get(run.done()) else { break };
            match trip.step(step, call).await {
                Ok(output) => run.record(output),
                Err(refusal) => return Err(failure(run, step, refusal)),
            }
        }
        Ok(run.finish())
    }
}

impl Handler for Composition {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        self.answer(invocation).boxed()
    }
}

/// One run on its way: who it is for, and what is left to it.
struct Trip<'a> {
    dispatcher: &'a Dispatcher,
    origin: &'a Invocation,
    deadline: Instant,
    bytes_left: usize,
}

impl Trip<'_> {
    /// One step, from what it calls to its result.
    async fn step(&mut self, step: &Step, call: Result<StepCall, BadReference>) -> Result<Value, Refusal> {
        let crashed = |cause| Refusal::Broken { pair: pair(step), kind: BrokenContract::Crashed, cause };
        let call = self.call(call.map_err(|fault| crashed(fault.to_string()))?).map_err(crashed)?;
        // Steps that are done at once would never let the time run out.
        tokio::task::consume_budget().await;
        let dispatched = timeout_at(self.deadline, self.dispatcher.dispatch(call)).await;
        let late = |_| Refusal::Late { pair: pair(step), cause: "the steps took too long".to_owned() };
        let outcome = dispatched.map_err(late)?;
        let output = outcome.answer?;
        // All results stay until the end, for later steps to take from: a recipe that doubles its input with each step
        // meets this bound.
        let left = weight(&output).and_then(|bytes| self.bytes_left.checked_sub(bytes));
        self.bytes_left = left.ok_or_else(|| crashed("the results of the steps are too large".to_owned()))?;
        Ok(output)
    }

    /// The call of a step, as if the caller had made it.
    fn call(&self, StepCall { method, path, body }: StepCall) -> Result<Call, String> {
        let Invocation { caller, thread, depth, .. } = self.origin;
        // Circles are found at load, as far as the paths of steps are known by then; this ends the rest.
        if *depth >= COMPOSITION_DEPTH_MAX {
            return Err(format!("at most {COMPOSITION_DEPTH_MAX} compositions lie in one another"));
        }
        if weight_of_all(&body).is_none_or(|bytes| bytes > STEP_BYTES_MAX) {
            return Err("the input of a step is too large".to_owned());
        }
        Ok(Call {
            method: method.as_str().to_owned(),
            path,
            query: None,
            body,
            caller: caller.clone(),
            // The key is the whole call's: under it the host keeps one answer, and a step would be given that of the
            // composition.
            idempotency_key: None,
            thread: thread.clone(),
            // No step presents a contract or asks for one. AGTP-API 10.1.2.
            contract: ContractTerms::default(),
            depth: depth.saturating_add(1),
        })
    }
}

/// What can be known of the words, the proofs and the scopes that the steps need is asked for before any of
/// them is made, so that nothing is half done for want of one.
fn foresee(run: &Run, dispatcher: &Dispatcher, origin: &Invocation) -> Result<(), Failure> {
    if let Some(field) = run.unfit() {
        return Err(Failure::Input(Violation::of_field(field, "this can't be part of the path of a step")));
    }
    let mut missing: Vec<Scope> = Vec::new();
    for (method, path) in run.foreseen() {
        dispatcher.proven_at(method, &path, &origin.caller).map_err(Failure::Unidentified)?;
        let needed = dispatcher.lacks_at(method, &path, &origin.caller);
        missing.extend(needed.into_iter().filter(|scope| !missing.contains(scope)).collect::<Vec<_>>());
    }
    if missing.is_empty() { Ok(()) } else { Err(Failure::Unauthorised(missing)) }
}

/// Where a step goes that came to nothing before it was called, or because of what came back.
fn pair(step: &Step) -> Pair {
    let path = step.path.as_ref().map_or("/", |path| path.as_str()).to_owned();
    Pair { method: step.method.clone(), path }
}

/// What the caller learns. A proof or a scope that a step needs is one that the whole call needs, as long as
/// nothing was done; from then on the call was begun, and is not to be repeated as if it had not been.
fn failure(run: Run, step: &Step, refusal: Refusal) -> Failure {
    if let Some(cause) = refusal.cause() {
        tracing::warn!(recipe = run.recipe().name, step = run.done(), cause, "a step of a composition failed");
    }
    match refusal {
        Refusal::Identity(why) if run.done() == 0 => Failure::Unidentified(why),
        Refusal::Scope { missing, .. } if run.done() == 0 => Failure::Unauthorised(missing),
        // What a composition inside this one found would add up from level to level.
        Refusal::Step { pair, mut failed } => {
            failed.captured.clear();
            Failure::Step(Box::new(run.fail(step.method.clone(), Refusal::Step { pair, failed })))
        }
        refusal => Failure::Step(Box::new(run.fail(step.method.clone(), refusal))),
    }
}
