//! The steps of one request, each with what it needs.

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::confirm::{ConfirmMethod, DecisionControl};
use super::contracts::CallerContracts;
use super::delegate::DelegateMethod;
use super::describe::DescribeMethod;
use super::escalate::EscalateMethod;
use super::execute::{EndpointInvoker, ExecuteMethod};
use super::inspect::InspectMethod;
use super::lifecycle::{LifecycleControl, LifecycleMethod};
use super::messenger::Messenger;
use super::notify::NotifyMethod;
use super::plan::PlanMethod;
use super::propose::ProposeMethod;
use super::query::QueryMethod;
use super::records::RecordReader;
use super::summarize::SummarizeMethod;
use super::suspend::SuspendMethod;
use super::tasks::CallerTasks;
use crate::ask::Ask;
use crate::service::Service;
use crate::sessions::SessionLedger;

/// The steps of one request: gives each method what it needs of the service, and nothing else.
pub(super) struct Steps<'a> {
    service: &'a Service,
    ask: &'a Ask,
    call: MethodCall<'a>,
    agents: HostAgents<'a>,
    messenger: Messenger<'a>,
    tasks: CallerTasks<'a>,
    ambient: Ambient<'a>,
}

impl<'a> Steps<'a> {
    pub(super) fn of(service: &'a Service, ask: &'a Ask, method: &'a str) -> Self {
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

    pub(super) fn query(&self) -> QueryMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        QueryMethod { call, agents, messenger, ambient }
    }

    pub(super) fn describe(&self) -> DescribeMethod<'a> {
        DescribeMethod {
            call: self.call,
            agents: self.agents,
            accept: self.ask.accept.as_deref(),
            lifecycle: self.service.host.lifecycle(),
            keys: &self.service.keys,
        }
    }

    pub(super) fn inspect(&self) -> InspectMethod<'a> {
        InspectMethod {
            call: self.call,
            agents: self.agents,
            tasks: self.tasks,
            records: self.records(),
            contracts: self.contracts(),
            inquiries: self.service.host.inquiries(),
            lifecycle: self.service.host.lifecycle(),
            keys: &self.service.keys,
            server_id: self.service.server_id(),
        }
    }

    pub(super) fn summarize(&self) -> SummarizeMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        SummarizeMethod { call, agents, messenger, ambient }
    }

    pub(super) fn plan(&self) -> PlanMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        PlanMethod { call, agents, messenger, ambient, contract: self.service.contract() }
    }

    pub(super) fn propose(&self) -> ProposeMethod<'a> {
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

    pub(super) fn execute(&self) -> ExecuteMethod<'a> {
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

    pub(super) fn delegate(&self) -> DelegateMethod<'a> {
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

    pub(super) fn escalate(&self) -> EscalateMethod<'a> {
        EscalateMethod {
            call: self.call,
            agents: self.agents,
            tasks: self.tasks,
            ambient: self.ambient,
            inquiries: self.service.host.inquiries(),
            negotiator: &self.service.negotiator,
            thread: &self.ask.call.thread,
            contact: self.service.settings.server.contact.as_deref(),
        }
    }

    pub(super) fn confirm(&self) -> ConfirmMethod<'a> {
        ConfirmMethod {
            call: self.call,
            messenger: self.messenger,
            tasks: self.tasks,
            ambient: self.ambient,
            inquiries: self.service.host.inquiries(),
            decisions: DecisionControl::new(&self.service.host),
            ledger: self.service.host.ledger(crate::NAME),
            keys: &self.service.keys,
            server_id: self.service.server_id(),
        }
    }

    pub(super) fn suspend(&self) -> SuspendMethod<'a> {
        SuspendMethod {
            call: self.call,
            ambient: self.ambient,
            session_id: self.ask.call.thread.session_id.as_deref(),
            resting: &self.service.resting,
            sessions: SessionLedger::of(&self.service.host),
            contracts: self.contracts(),
        }
    }

    pub(super) fn notify(&self) -> NotifyMethod<'a> {
        let Self { call, agents, messenger, ambient, .. } = *self;
        NotifyMethod { call, agents, messenger, ambient }
    }

    pub(super) fn lifecycle(&self) -> LifecycleMethod<'a> {
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
