//! The methods that every host answers, embedded in the protocol, but DISCOVER. Base 3; `embedded_methods` of the
//! manifest, AGTP-API 8.4.
//!
//! Reading and thinking become messages to the agent that is addressed, work becomes its tasks, and where an agent
//! stands is kept by the host; nothing here is answered from a script.
//!
//! Each method is a step with a `run`, whose fields are all that it can reach: its [`call`](call::MethodCall) and a
//! narrow handle for each thing that it does. This file alone sees the whole service, and gives each step its own.
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `call.rs`, `parameters.rs` | who calls, and what a method is given | base 3.1 |
//! | `agents.rs` | the agents that a call is about | base 2.4 |
//! | `messenger.rs` | a method as a message to an agent | base 3.1 |
//! | `tasks.rs` | tasks that the caller may see | base 3.1 |
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
use crate::sessions::SessionLedger;

use agents::HostAgents;
use ambient::Ambient;
use call::MethodCall;
use confirm::ConfirmMethod;
use contracts::CallerContracts;
use delegate::DelegateMethod;
use describe::DescribeMethod;
use escalate::EscalateMethod;
use execute::{EndpointInvoker, ExecuteMethod};
use inspect::InspectMethod;
use lifecycle::{LifecycleControl, LifecycleMethod};
use messenger::Messenger;
use notify::NotifyMethod;
use plan::PlanMethod;
use propose::ProposeMethod;
use query::QueryMethod;
use records::RecordReader;
use summarize::SummarizeMethod;
use suspend::SuspendMethod;
use tasks::CallerTasks;

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

/// The steps of one request: gives each method what it needs of the service, and nothing else.
struct Steps<'a> {
    service: &'a Service,
    ask: &'a Ask,
    call: MethodCall<'a>,
    agents: HostAgents<'a>,
    messenger: Messenger<'a>,
    tasks: CallerTasks<'a>,
    ambient: Ambient<'a>,
}

impl<'a> Steps<'a> {
    fn of(service: &'a Service, ask: &'a Ask, method: &'a str) -> Self {
        let host = &*service.host;
        let agents = HostAgents {
            known: &service.agents,
            directory: host.directory(),
            site: host.site(),
            recipient: service.recipient(ask).map(AsRef::as_ref),
        };
        Self {
            service,
            ask,
            call: MethodCall::of(ask, method),
            agents,
            messenger: Messenger::new(host, &service.verifier, ask),
            tasks: CallerTasks::new(host, &ask.call.caller.sender, agents),
            ambient: Ambient { clock: host.clock().as_ref(), entropy: host.entropy().as_ref() },
        }
    }

    fn query(&self) -> QueryMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        QueryMethod { call, agents, messenger, ambient }
    }

    fn describe(&self) -> DescribeMethod<'a> {
        DescribeMethod {
            call: self.call,
            agents: self.agents,
            accept: self.ask.accept.as_deref(),
            lifecycle: self.service.host.lifecycle(),
            keys: &self.service.keys,
        }
    }

    fn inspect(&self) -> InspectMethod<'a> {
        InspectMethod {
            call: self.call,
            agents: self.agents,
            tasks: self.tasks,
            records: self.records(),
            contracts: self.contracts(),
            queue: self.service.host.operator(),
            lifecycle: self.service.host.lifecycle(),
            keys: &self.service.keys,
            server_id: self.service.server_id(),
        }
    }

    fn summarize(&self) -> SummarizeMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        SummarizeMethod { call, agents, messenger, ambient }
    }

    fn plan(&self) -> PlanMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        PlanMethod { call, agents, messenger, ambient, contract: self.service.contract() }
    }

    fn propose(&self) -> ProposeMethod<'a> {
        let settings = &self.service.settings;
        ProposeMethod {
            call: self.call,
            path: &self.ask.call.path,
            proposal: &self.ask.call.body,
            thread: &self.ask.call.thread,
            is_step: self.ask.is_step,
            is_synthesis_enabled: settings.policies.synthesis_enabled,
            evaluation_seconds: settings.synthesis.max_evaluation_seconds.get(),
            negotiator: &self.service.negotiator,
            discovery: &self.service.discovery,
        }
    }

    fn execute(&self) -> ExecuteMethod<'a> {
        ExecuteMethod {
            call: self.call,
            agents: self.agents,
            messenger: self.messenger,
            ambient: self.ambient,
            request: &self.ask.call,
            is_step: self.ask.is_step,
            served_under: &self.ask.served_under,
            endpoints: EndpointInvoker::new(&self.service.host),
        }
    }

    fn delegate(&self) -> DelegateMethod<'a> {
        DelegateMethod {
            call: self.call,
            agents: self.agents,
            messenger: self.messenger,
            tasks: self.tasks,
            ambient: self.ambient,
            keys: &self.service.keys,
            egress: &self.service.egress,
            stopping: self.service.host.stopping(),
        }
    }

    fn escalate(&self) -> EscalateMethod<'a> {
        EscalateMethod {
            call: self.call,
            agents: self.agents,
            tasks: self.tasks,
            ambient: self.ambient,
            queue: self.service.host.operator(),
            negotiator: &self.service.negotiator,
            thread: &self.ask.call.thread,
            contact: self.service.settings.server.contact.as_deref(),
        }
    }

    fn confirm(&self) -> ConfirmMethod<'a> {
        ConfirmMethod {
            call: self.call,
            messenger: self.messenger,
            tasks: self.tasks,
            ambient: self.ambient,
            queue: self.service.host.operator(),
            ledger: self.service.host.ledger(),
            keys: &self.service.keys,
            server_id: self.service.server_id(),
        }
    }

    fn suspend(&self) -> SuspendMethod<'a> {
        SuspendMethod {
            call: self.call,
            ambient: self.ambient,
            session_id: self.ask.call.thread.session_id.as_deref(),
            resting: &self.service.resting,
            sessions: SessionLedger::of(&self.service.host),
            contracts: self.contracts(),
        }
    }

    fn notify(&self) -> NotifyMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        NotifyMethod { call, agents, messenger, ambient }
    }

    fn lifecycle(&self) -> LifecycleMethod<'a> {
        LifecycleMethod {
            call: self.call,
            agents: self.agents,
            addressed: self.ask.addressed.as_deref(),
            known: self.ask.known.as_deref(),
            key_fingerprint: self.ask.key_fingerprint.as_deref(),
            is_local: self.ask.is_local,
            auth: self.service.settings.lifecycle_auth(),
            control: LifecycleControl::new(&self.service.host),
            records: &self.service.records,
            keys: &self.service.keys,
            server_id: self.service.server_id(),
            contracts: self.contracts(),
        }
    }

    fn contracts(&self) -> CallerContracts<'a> {
        CallerContracts {
            call: self.call,
            negotiator: &self.service.negotiator,
            discovery: &self.service.discovery,
            on_policy_change: self.service.settings.policies.rcns.on_policy_change,
        }
    }

    fn records(&self) -> RecordReader<'a> {
        let audit = &self.service.settings.audit;
        RecordReader {
            call: self.call,
            log: self.service.records.log(),
            acl: audit.read_acl,
            operator_keys: &audit.read_acl_operator_keys,
            known: self.ask.known.as_deref(),
            key_fingerprint: self.ask.key_fingerprint.as_deref(),
        }
    }
}
