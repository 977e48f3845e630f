//! The trip of a request: understood, led to who answers it, and answered. AGTP-API 6.1, 13.2.

use std::sync::Arc;

use forecourt_contract::call::{Identity, Standing, Trail};
use forecourt_contract::policy::Resolved;
use forecourt_contract::{Call, Refusal, Target, Tier, input};
use forecourt_core::Transport;
use forecourt_host::Invoked;
use forecourt_identity::agents::AgentIdentity;
use serde_json::Value;

use super::Service;
use super::form;
use crate::ask::Ask;
use crate::floor;
use crate::from_wire::{Line, body};
use crate::once::Keyed;
use crate::problem::Doubt;
use crate::reply::{Problem, Reply};
use crate::wire::{Request, RequestLine};

/// How messages and calls say that they came by this wire.
pub(crate) const VIA: Transport = crate::NAME;
/// Methods of the host's own that become messages to agents, which the host counts itself.
const CARRIED: [&str; 5] = ["QUERY", "SUMMARIZE", "PLAN", "EXECUTE", "DELEGATE"];
/// Methods that an agent out of service may call: to learn of it, and to come back. Base 3.2.
const UNGATED: [&str; 8] =
    ["DISCOVER", "DESCRIBE", "INSPECT", "ACTIVATE", "DEACTIVATE", "REINSTATE", "REVOKE", "DEPRECATE"];

/// What came of a request.
pub(crate) struct Answered {
    /// What is said.
    pub reply: Reply,
    /// What was found on the way.
    pub trail: Trail,
    /// The agent that was addressed.
    pub agent: Option<Arc<AgentIdentity>>,
}

impl Service {
    /// Answers a request. Never fails: a problem is an answer.
    pub(crate) async fn answered(&self, request: &Request, line: &Line) -> Answered {
        let mut trail = Trail::default();
        let ask = match self.ask(request, line).await {
            Ok(ask) => ask,
            Err(problem) => {
                self.look_at(&request.start, &mut trail);
                let agent = self.default_agent().cloned();
                return Answered { reply: self.hinted(problem, &trail).into(), trail, agent };
            }
        };
        let agent = self.recipient(&ask).cloned();
        let task_id = ask.call.thread.task_id.as_deref().or_else(|| body::task_id(&ask.call.body)).map(str::to_owned);
        let accept = ask.accept.clone();
        let caller = ask.call.caller.agent_id.clone();
        let reply = match self.reply(ask, &mut trail).await {
            Ok(reply) => form::of(reply, accept.as_deref(), task_id, &trail),
            Err(problem) => {
                note(&problem, caller.as_deref(), &trail);
                self.hinted(problem, &trail).into()
            }
        };
        Answered { reply, trail, agent }
    }

    /// Finds out where a request would have gone that can't be read otherwise, since what is deprecated is
    /// told with every response. AGTP-API 4.4, 6.5.
    fn look_at(&self, line: &RequestLine, trail: &mut Trail) {
        let call = Call { method: line.method.clone(), path: line.path().to_owned(), ..Call::default() };
        // What is wrong with these two counts less than what was found before.
        let _ = self.contract().aim(&call, trail);
    }

    /// The order of checks is the contract layer's: method, path, route, identity, standing, policy,
    /// input, authority.
    async fn reply(&self, mut ask: Ask, trail: &mut Trail) -> Result<Reply, Problem> {
        let target = self.contract().aim(&ask.call, trail)?;
        body::unwrap(&mut ask.call, trail.endpoint.as_deref(), target.tier == Tier::Native)?;
        floor::in_session(self, &ask).await?;
        match Keyed::of(&ask, target.method.as_str()) {
            None => self.routed(ask, &target, trail).await,
            Some(keyed) => Box::pin(self.once(keyed, self.routed(ask, &target, trail))).await,
        }
    }

    /// A call to whoever answers it.
    async fn routed(&self, mut ask: Ask, target: &Target, trail: &mut Trail) -> Result<Reply, Problem> {
        match target.tier {
            Tier::Native => self.native(&mut ask, target).await,
            Tier::Registered | Tier::Negotiated | Tier::Unregistered => self.invoked(ask, trail).await,
        }
    }

    /// A call of an endpoint.
    async fn invoked(&self, mut ask: Ask, trail: &mut Trail) -> Result<Reply, Problem> {
        let doubt = ask.doubt.take();
        match self.host.invoke(ask.call, VIA).await? {
            Invoked::Refused(part) => Err((*part).into()),
            Invoked::Answered(outcome) => {
                *trail = outcome.trail;
                outcome.answer.map(Reply::ok).map_err(|refusal| doubted(refusal, doubt))
            }
        }
    }

    /// A call of what the host answers itself.
    async fn native(&self, ask: &mut Ask, target: &Target) -> Result<Reply, Problem> {
        if let Some(doubt) = ask.doubt.take() {
            return Err(*doubt);
        }
        let method = &target.method;
        recognise(ask)?;
        self.contract().prove(target, &ask.call.caller)?;
        self.in_service(ask, method.as_str()).await?;
        self.contract().admit_native(target)?;
        if !CARRIED.contains(&method.as_str()) {
            self.host.meter(ask.call.caller.sender.peer).map_err(|part| Problem::from(*part))?;
        }
        merge(ask, &target.resolved)?;
        ask.call.path = target.path.as_str().to_owned();
        self.floor(ask, method).await
    }

    /// Base 3.2: neither who calls nor who is called may be out of service.
    pub(super) async fn in_service(&self, ask: &Ask, method: &str) -> Result<(), Problem> {
        if UNGATED.contains(&method) {
            return Ok(());
        }
        let calling = (ask.call.caller.standing, ask.call.caller.agent_id.as_deref());
        let called = match self.recipient(ask) {
            Some(agent) => Some((self.standing(agent).await?, Some(agent.agent_id.as_str()))),
            None => None,
        };
        for (standing, agent_id) in [Some(calling), called].into_iter().flatten() {
            let is_final = match standing {
                Standing::Active | Standing::Deprecated => continue,
                Standing::Suspended => false,
                Standing::Retired => true,
            };
            return Err(Refusal::Standing { agent_id: agent_id.map(str::to_owned), is_final }.into());
        }
        Ok(())
    }
}

/// What an agent was refused by the rules of this wire is for the log. Base 4. What the caller wrote is
/// quoted, and none of it is there before it was found to be in order.
fn note(problem: &Problem, caller: Option<&str>, trail: &Trail) {
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

/// Anonymous callers may ask; each method says what more it needs.
fn recognise(ask: &Ask) -> Result<(), Problem> {
    match ask.call.caller.identity {
        Identity::Unrecognised => Err(Doubt::Unknown.into()),
        Identity::Anonymous | Identity::Recognised => Ok(()),
    }
}

/// Section 5.5 for methods without a schema: the query joins the body, which counts before it, and so
/// does what a legacy verb adds.
pub(super) fn merge(ask: &mut Ask, resolved: &Resolved) -> Result<(), Problem> {
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
