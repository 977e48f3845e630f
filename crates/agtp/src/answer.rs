//! This module answers a request: it reads the call, finds out who calls, routes it and has it answered. AGTP-API 6.1,
//! 13.2. Reading bytes is `connection.rs`, and writing the response `to_wire.rs`.

mod caller;
mod credentials;
mod facts;
mod form;
mod native;
mod read;
mod respond;
mod seal;
mod speak;
mod target;

use std::sync::Arc;
use std::time::Duration;

use forecourt_agtp_wire::message::{Request, RequestLine};
use forecourt_contract::call::{CallTrail, LifecycleState};
use forecourt_contract::policy::ResolvedMethod;
use forecourt_contract::{Call, CallAnswer, CallTarget, Method, Refusal, RoutedCall, Tier, input, reserved};
use forecourt_core::Transport;
use forecourt_host::InvokeOutcome;
use serde_json::Value;

use self::caller::CallerLookup;
use self::credentials::Credentials;
use self::read::RequestReader;
use self::respond::Responder;
use self::seal::RecordSeal;
use self::target::TargetResolver;
use crate::ask::Ask;
use crate::from_wire::body;
use crate::once::KeyedCall;
use crate::records::RecordFacts;
use crate::reply::{Problem, Reply, RequestOutcome};
use crate::service::{ConnectionInfo, Service, lifecycle_state};
use crate::sessions::{self, SessionLedger};

pub(crate) use speak::on_connections;
#[cfg(test)]
pub(crate) use speak::serve;

/// Names the contract that a call presents, and that an answer was given under.
const CONTRACT: &str = "Contract-Synthesized";

/// How messages and calls say that they came by this wire.
pub(crate) const VIA: Transport = crate::NAME;

impl Service {
    /// Answers a request. Never fails: a problem is an answer.
    pub(crate) async fn answered(&self, request: &Request, connection: &ConnectionInfo) -> RequestOutcome {
        if let Err(problem) = self.seal().require_log().await {
            let agent = self.default_agent().cloned();
            // Of this refusal itself no record can be kept: no facts.
            return RequestOutcome { reply: problem.into(), trail: CallTrail::default(), agent, facts: None };
        }
        let ask = match self.reader(connection).read(request).await {
            Ok(ask) => ask,
            Err(problem) => {
                let agent = self.default_agent().cloned();
                // A request that can't be read has a record all the same, of nobody in particular. Base 8.1.
                let (trail, facts) = (self.look_at(&request.start), Some(RecordFacts::default()));
                return RequestOutcome { reply: problem.into(), trail, agent, facts };
            }
        };
        let mut trail = CallTrail::default();
        let agent = self.recipient(&ask).cloned();
        // Read before the call is taken out of its envelope, which may hold the id.
        let task_id = ask.call.thread.task_id.as_deref().or_else(|| body::task_id(&ask.call.body)).map(str::to_owned);
        let accept = ask.accept.clone();
        let caller = ask.call.caller.agent_id.clone();
        let facts = Some(facts::of(&ask, connection));
        let reply = match self.reply(ask, &mut trail).await {
            Ok(reply) => form::of(reply, accept.as_deref(), task_id, &trail),
            Err(problem) => {
                note(&problem, caller.as_deref(), &trail);
                problem.into()
            }
        };
        RequestOutcome { reply, trail, agent, facts }
    }

    /// What reads the requests of a connection.
    fn reader<'a>(&'a self, connection: &'a ConnectionInfo) -> RequestReader<'a> {
        let host = &self.host;
        let credentials = Credentials {
            verifier: &self.verifier,
            site: host.site(),
            directory: host.directory(),
            clock: host.clock().as_ref(),
            settings: &self.settings,
        };
        RequestReader {
            targets: TargetResolver { contract: host.contract(), agents: &self.agents },
            callers: CallerLookup { agents: &self.agents, credentials, lifecycle: host.lifecycle(), connection },
        }
    }

    /// What makes the responses, of the edition that is in force now.
    pub(crate) fn responder(&self) -> Responder<'_> {
        Responder { defaults: &self.response_defaults, api_version: self.discovery.api_version(), seal: self.seal() }
    }

    fn seal(&self) -> RecordSeal<'_> {
        RecordSeal {
            records: &self.records,
            server_id: self.server_id(),
            clock: self.host.clock().as_ref(),
            entropy: self.host.entropy().as_ref(),
        }
    }

    /// Finds out where a request would have gone that can't be read otherwise, since what is deprecated is
    /// told with every response. AGTP-API 4.4, 6.5.
    fn look_at(&self, line: &RequestLine) -> CallTrail {
        let call = Call { method: line.method.clone(), path: line.path().to_owned(), ..Call::default() };
        // What is wrong with these two counts less than what was found before.
        self.contract().aim(&call).trail
    }

    /// The order of checks is the contract layer's: method, path, route, identity, standing, policy,
    /// input, authority.
    async fn reply(&self, mut ask: Ask, trail: &mut CallTrail) -> Result<Reply, Problem> {
        let aimed = self.contract().aim(&ask.call);
        *trail = aimed.trail;
        let target = aimed.target?;
        let is_declared = self.declares_parameters(&ask.call, trail).await;
        // Only after the route is known: it tells whether `parameters` is an envelope or the endpoint's own input.
        body::unwrap(&mut ask.call, is_declared, target.tier == Tier::Native)?;
        // Before a key is begun for the call: it is repeated under the same key once its session goes on.
        sessions::require_active(&self.resting, SessionLedger::of(&self.host), &ask).await?;
        match KeyedCall::of(&ask, target.method.as_str()) {
            None => self.called(ask, target, trail).await,
            Some(keyed) => {
                let window = Duration::from_secs(self.settings.policies.rcns.idempotency_window_seconds.get());
                Box::pin(keyed.once(&self.host, window, self.called(ask, target, trail))).await
            }
        }
    }

    /// Whether what looks like an envelope may be the input itself: that of the endpoint, or of the contract that the
    /// call presents. Base 2.2.
    async fn declares_parameters(&self, call: &Call, trail: &CallTrail) -> bool {
        if let Some(endpoint) = &trail.endpoint {
            return body::declares_parameters(endpoint.input.source());
        }
        let presented = call.contract.presented.as_deref().filter(|_| body::is_envelope(&call.body));
        let Some(id) = presented else { return false };
        // While the store is away the call is refused for that in its turn.
        let contract = self.negotiator.contract(id).await.ok().flatten();
        contract.is_some_and(|contract| body::declares_parameters(&contract.endpoint["input_schema"]))
    }

    /// A call to whoever answers it: an endpoint, or the host itself.
    async fn called(&self, mut ask: Ask, target: CallTarget, trail: &mut CallTrail) -> Result<Reply, Problem> {
        let doubt = ask.doubt.take();
        let served_under = Arc::clone(&ask.served_under);
        let call = std::mem::take(&mut ask.call);
        let aimed = RoutedCall { target: Ok(target), trail: trail.clone() };
        let native = |call, target: CallTarget| async move { Ok(self.native(Ask { call, ..ask }, &target).await) };
        match self.host.invoke_to(call, aimed, VIA, native).await? {
            InvokeOutcome::Refused(part) => Err((*part).into()),
            InvokeOutcome::Answered(outcome) => {
                *trail = outcome.trail;
                // EXECUTE calls an endpoint on its own: the contract of that call counts where this one has none.
                trail.contract = trail.contract.take().or_else(|| served_under.get().cloned());
                let came = match outcome.answer {
                    Ok(CallAnswer::Endpoint(value)) => Ok(Reply::ok(value)),
                    Ok(CallAnswer::Native(reply)) => reply,
                    Err(refusal) => Err(doubted(refusal, doubt)),
                };
                under_contract(came, trail)
            }
        }
    }

    /// A call of what the host answers itself, from a caller that every check let through.
    pub(super) async fn native(&self, mut ask: Ask, target: &CallTarget) -> Result<Reply, Problem> {
        self.recipient_in_service(&ask, &target.method).await?;
        merge(&mut ask, &target.resolved)?;
        ask.call.path = target.path.as_str().to_owned();
        self.embedded(&ask, &target.method).await
    }

    /// Base 3.2: who is called may not be out of service either.
    async fn recipient_in_service(&self, ask: &Ask, method: &Method) -> Result<(), Problem> {
        let Some(agent) = self.recipient(ask).filter(|_| !reserved::is_open_to_suspended(method)) else {
            return Ok(());
        };
        let is_final = match lifecycle_state(self.host.lifecycle(), agent).await? {
            LifecycleState::Active | LifecycleState::Deprecated => return Ok(()),
            LifecycleState::Suspended => false,
            LifecycleState::Retired => true,
        };
        Err(Refusal::Standing { agent_id: Some(agent.agent_id.to_string()), is_final }.into())
    }
}

/// Whatever was answered under a contract says under which. AGTP-API 10.1.5.
fn under_contract(mut came: Result<Reply, Problem>, trail: &CallTrail) -> Result<Reply, Problem> {
    if let Some(contract) = &trail.contract {
        let fields = match &mut came {
            Ok(reply) => &mut reply.fields,
            Err(problem) => &mut problem.fields,
        };
        fields.push((CONTRACT, contract.synthesis_id.clone()));
    }
    came
}

/// What an agent was refused by the rules of this wire is for the log. Base 4. What the caller wrote is
/// quoted, and none of it is there before it was found to be in order.
fn note(problem: &Problem, caller: Option<&str>, trail: &CallTrail) {
    if problem.status.is_governance() {
        let (method, path) = (&trail.method, &trail.path);
        tracing::info!(status = problem.status.code, ?caller, ?method, ?path, "an agent was refused");
    }
}

/// The contract layer knows that a caller was not recognised, and the doubt says why.
fn doubted(refusal: Refusal, doubt: Option<Box<Problem>>) -> Problem {
    match (&refusal, doubt) {
        (Refusal::Identity(_), Some(doubt)) => *doubt,
        _ => refusal.into(),
    }
}

/// Section 5.5 for methods without a schema: the query joins the body, which counts before it, and so
/// does what a legacy verb adds.
fn merge(ask: &mut Ask, resolved: &ResolvedMethod) -> Result<(), Problem> {
    let call = &mut ask.call;
    if call.query.is_some() {
        call.body = input::merge(None, call.query.as_deref(), &[], std::mem::take(&mut call.body))?;
    }
    for (name, value) in &resolved.added {
        call.body.entry(name).or_insert_with(|| value.clone());
    }
    if let Some(key) = call.idempotency_key.as_deref().filter(|_| resolved.is_keyed) {
        call.body.entry("idempotency_key").or_insert_with(|| Value::from(key));
    }
    Ok(())
}
