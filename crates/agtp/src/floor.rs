//! The methods that every host answers, but DISCOVER. Base 3.
//!
//! Reading and thinking become messages to the agent that is addressed, work becomes its tasks, and
//! where an agent stands is kept by the host; nothing here is answered from a script.
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `parameters.rs` | what a method is given | base 3.1 |
//! | `carry.rs` | a method as a message to an agent | base 3.1 |
//! | `query.rs`, `results.rs` | QUERY | base 3.1 |
//! | `describe.rs`, `shown.rs` | DESCRIBE | base 3.1, 6.3 |
//! | `summarize.rs` | SUMMARIZE | base 3.1 |
//! | `plan.rs` | PLAN | base 3.1 |
//! | `propose.rs` | PROPOSE, and QUERY of proposals | AGTP-API 8.7, 10.3 to 10.8 |
//! | `contracts.rs` | INSPECT, SUSPEND and REVOKE of contracts | AGTP-API 10.1.4; base 3.3, 3.4 |
//! | `execute.rs`, `delegate.rs` | EXECUTE and DELEGATE | base 3.1 |
//! | `tasks.rs` | tasks that those began | base 3.1 |
//! | `escalate.rs`, `confirm.rs` | ESCALATE and CONFIRM | base 3.1 |
//! | `suspend.rs` | SUSPEND | base 3.1 |
//! | `notify.rs` | NOTIFY | base 3.1 |
//! | `inspect.rs`, `records.rs` | INSPECT | base 3.3 |
//! | `lifecycle.rs`, `events.rs` | ACTIVATE, DEACTIVATE, REINSTATE, REVOKE, DEPRECATE | base 3.2 |

mod carry;
mod confirm;
mod contracts;
mod delegate;
mod describe;
mod escalate;
mod events;
mod execute;
mod inspect;
mod lifecycle;
mod notify;
mod parameters;
mod plan;
mod propose;
mod query;
mod records;
mod results;
mod shown;
mod summarize;
mod suspend;
mod tasks;
#[cfg(test)]
mod tests;

use forecourt_contract::{Method, ScopeSet};
use forecourt_core::{Handle, Timestamp};
use forecourt_identity::agents::AgentIdentity;

use crate::ask::Ask;
use crate::problem::unauthorized;
use crate::reply::{Problem, Reply};
use crate::service::Service;
use crate::status::Status;
pub(crate) use delegate::post;
use parameters::Parameters;
pub(crate) use propose::ENDPOINT_TYPE;

/// Methods that tell what there is here, as DISCOVER does. AGTP-API 8.7.
const TELLING: [&str; 3] = ["DESCRIBE", "INSPECT", "PLAN"];

/// One call of one method.
pub(super) struct Floor<'a> {
    service: &'a Service,
    ask: &'a Ask,
    /// The method.
    method: &'a str,
    given: Parameters<'a>,
}

/// Answers a method of the host's own, from a caller that every check let through.
pub(crate) async fn answer(service: &Service, ask: &Ask, method: &Method) -> Result<Reply, Problem> {
    let method = method.as_str();
    let floor = Floor { service, ask, method, given: Parameters::of(ask, method) };
    if TELLING.contains(&method) {
        service.discovery.receives(ask)?;
    }
    match method {
        "QUERY" if ask.call.path != "/" => Box::pin(floor.proposal()).await,
        "QUERY" => floor.query().await,
        "DESCRIBE" => floor.describe().await,
        "INSPECT" => Box::pin(floor.inspect()).await,
        "SUMMARIZE" => floor.summarize().await,
        "PLAN" => floor.plan().await,
        "PROPOSE" => Box::pin(floor.propose()).await,
        // On the heap, so that questions don't carry the size of rarer methods around.
        "EXECUTE" => Box::pin(floor.execute()).await,
        "DELEGATE" => floor.delegate().await,
        "ESCALATE" => floor.escalate().await,
        "CONFIRM" => Box::pin(floor.confirm()).await,
        "SUSPEND" => Box::pin(floor.suspend()).await,
        "NOTIFY" => floor.notify().await,
        "ACTIVATE" | "DEACTIVATE" | "REINSTATE" | "REVOKE" | "DEPRECATE" => Box::pin(floor.lifecycle()).await,
        _ => {
            let message = format!("{method} is not answered here");
            Err(Problem::new(Status::METHOD_NOT_ALLOWED, "method-not-implemented", message))
        }
    }
}

impl Floor<'_> {
    /// What the caller may do in this request: what it claims, else all that it holds.
    fn authority(&self) -> ScopeSet {
        self.ask.call.caller.authority().in_use()
    }

    /// The agent that calls.
    ///
    /// # Errors
    /// 401 when nobody says who it is.
    fn caller(&self) -> Result<&str, Problem> {
        let message = format!("{} is for agents: say in `Agent-ID` which one calls", self.method);
        self.ask.call.caller.agent_id.as_deref().ok_or_else(|| unauthorized("agent-unauthenticated", &message))
    }

    /// The agent here that the request is for.
    ///
    /// # Errors
    /// 404 when it has no name on this wire.
    fn addressed(&self) -> Result<(&AgentIdentity, &Handle), Problem> {
        let agent = self.service.recipient(self.ask);
        agent.and_then(|agent| Some((agent.as_ref(), agent.handle.as_ref()?))).ok_or_else(|| no_agent(None))
    }

    fn now(&self) -> Timestamp {
        self.service.host.clock().now()
    }

    /// A name for something that was made: a word and 128 random bits.
    fn name(&self, kind: &str) -> String {
        let mut bits = [0; 16];
        self.service.host.entropy().fill(&mut bits);
        let digits: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{kind}-{digits}")
    }
}

/// The problem that there is no such agent.
fn no_agent(agent_id: Option<&str>) -> Problem {
    let problem = Problem::new(Status::NOT_FOUND, "agent-not-found", "no such agent lives here");
    agent_id.map_or(problem.clone(), |id| problem.with("agent_id", id))
}
