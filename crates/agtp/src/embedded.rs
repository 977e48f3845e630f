//! The methods that every host answers, embedded in the protocol, but DISCOVER. Base 3; `embedded_methods` of the
//! manifest, AGTP-API 8.4.
//!
//! Reading and thinking become messages to the agent that is addressed, work becomes its tasks, and where an agent
//! stands is kept by the host; nothing here is answered from a script.
//!
//! Each method is a step with a `run`, whose fields are all that it can reach: its [`call`](call::MethodCall) and a
//! narrow handle for each thing that it does. Only [`answer`] and `steps.rs` see the whole
//! service; `steps.rs` gives each step its own.
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `call.rs`, `parameters.rs` | who calls, and what a method is given | base 3.1 |
//! | `agents.rs` | the agents that a call is about | base 2.4 |
//! | `messenger.rs` | a method as a message to an agent | base 3.1 |
//! | `tasks.rs` | tasks that the caller may see | base 3.1 |
//! | `steps.rs` | each method with the handles that it needs | |
//! | `ambient.rs` | time, and names for what is made | |
//! | `query.rs`, `results.rs` | QUERY | base 3.1 |
//! | `describe.rs`, `document.rs` | DESCRIBE | base 3.1, 6.3 |
//! | `summarize.rs` | SUMMARIZE | base 3.1 |
//! | `plan.rs` | PLAN | base 3.1 |
//! | `propose.rs` | PROPOSE, and QUERY of proposals | AGTP-API 8.7, 10.3 to 10.8 |
//! | `contracts.rs` | INSPECT, SUSPEND and REVOKE of contracts | AGTP-API 10.1.4; base 3.3, 3.4 |
//! | `execute.rs`, `delegate.rs` | EXECUTE and DELEGATE | base 3.1 |
//! | `escalate.rs`, `confirm.rs` | ESCALATE and CONFIRM | base 3.1 |
//! | `suspend.rs` | SUSPEND | base 3.1 |
//! | `notify.rs` | NOTIFY | base 3.1 |
//! | `inspect.rs`, `records.rs` | INSPECT | base 3.3 |
//! | `lifecycle.rs`, `events.rs` | ACTIVATE, DEACTIVATE, REINSTATE, REVOKE, DEPRECATE | base 3.2 |

mod agents;
mod ambient;
mod call;
mod confirm;
mod contracts;
mod delegate;
mod describe;
mod document;
mod escalate;
mod events;
mod execute;
mod inspect;
mod lifecycle;
mod messenger;
mod notify;
mod parameters;
mod plan;
mod propose;
mod query;
mod records;
mod results;
mod steps;
mod summarize;
mod suspend;
mod tasks;
#[cfg(test)]
mod tests;

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Method;

use crate::ask::Ask;
use crate::reply::{Problem, Reply};
use crate::service::Service;
use steps::Steps;

pub(crate) use delegate::post;
pub(crate) use propose::ENDPOINT_TYPE;

/// Methods that tell what there is here, as DISCOVER does. AGTP-API 8.7.
const TELLING: [&str; 3] = ["DESCRIBE", "INSPECT", "PLAN"];

/// Answers a method of the host's own, from a caller that every check let through.
pub(crate) async fn answer(service: &Service, ask: &Ask, method: &Method) -> Result<Reply, Problem> {
    let method = method.as_str();
    if TELLING.contains(&method) {
        service.discovery.receives(ask)?;
    }
    let steps = Steps::of(service, ask, method);
    match method {
        // Below the root are the proposals that are looked at. AGTP-API 11, 261.
        "QUERY" if ask.call.path != "/" => Box::pin(steps.propose().status()).await,
        "QUERY" => steps.query().run().await,
        "DESCRIBE" => steps.describe().run().await,
        "INSPECT" => Box::pin(steps.inspect().run()).await,
        "SUMMARIZE" => steps.summarize().run().await,
        "PLAN" => steps.plan().run().await,
        "PROPOSE" => Box::pin(steps.propose().run()).await,
        // On the heap, so that questions don't carry the size of rarer methods around.
        "EXECUTE" => Box::pin(steps.execute().run()).await,
        "DELEGATE" => steps.delegate().run().await,
        "ESCALATE" => steps.escalate().run().await,
        "CONFIRM" => Box::pin(steps.confirm().run()).await,
        "SUSPEND" => Box::pin(steps.suspend().run()).await,
        "NOTIFY" => steps.notify().run().await,
        "ACTIVATE" | "DEACTIVATE" | "REINSTATE" | "REVOKE" | "DEPRECATE" => Box::pin(steps.lifecycle().run()).await,
        _ => {
            let message = format!("{method} is not answered here");
            Err(Problem::new(Status::METHOD_NOT_ALLOWED, "method-not-implemented", message))
        }
    }
}
