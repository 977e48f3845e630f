//! What the operator decides, and what the operator's own pages ask of a host beside what everybody may.

use std::fmt;
use std::sync::Arc;

use forecourt_core::{Error, Handle, Message, Noun, PolicyPart, Timestamp};
use futures::future::BoxFuture;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value};

use crate::activity::AgentActivity;
use crate::host::Host;
use crate::lifecycle::{Attest, LifecycleChange, LifecycleOutcome};
use crate::limits_hit::LimitHit;
use crate::operator_queue::{OperatorAnswer, OperatorAnswerOutcome, OperatorQuestion, OperatorWebhook};

/// Sessions that a protocol keeps, told to the operator by how many there are. A protocol publishes it among the
/// host's services.
pub struct OpenSessions {
    /// The protocol.
    pub protocol: &'static str,
    /// How many are open in this process.
    pub count: Box<dyn Fn() -> usize + Send + Sync>,
}

/// How the servers behind a host do. The protocol that has them publishes it among the host's services.
pub struct ServerStates(pub Box<dyn Fn() -> Vec<ServerState> + Send + Sync>);

/// How one server behind a host does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerState {
    /// Its name.
    pub name: Handle,
    /// Whether it answered when it was last asked. `None`: it was never asked.
    pub answers: Option<bool>,
    /// What went wrong since it last answered.
    pub last_error: Option<String>,
    /// Tools of it that are offered, as they were last known.
    pub tools: usize,
    /// Sessions that are open with it.
    pub sessions: usize,
}

impl ServerStates {
    /// The servers that do not answer, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let away = (self.0)().into_iter().filter(|state| state.answers == Some(false));
        let note = |state: ServerState| {
            let why = state.last_error.unwrap_or_else(|| "does not answer".to_owned());
            format!("the server `{}` behind this host does not answer: it {why}", state.name)
        };
        away.map(note).collect()
    }
}

/// How the hubs elsewhere do whose agents a host fronts. Whoever follows them publishes it among the host's services.
pub struct HubStates(pub Box<dyn Fn() -> Vec<HubState> + Send + Sync>);

/// How one hub elsewhere does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubState {
    /// Its name here.
    pub name: Handle,
    /// The URL of its card.
    pub url: String,
    /// Whether it was read when it was last looked at. `None`: it was not looked at yet.
    pub answers: Option<bool>,
    /// What stands in the way of being as the hub is now.
    pub last_error: Option<String>,
    /// Agents of it that are served.
    pub agents: usize,
    /// When it was seen to have them. `None`: never.
    pub seen_at: Option<Timestamp>,
    /// Agents of it that are not served, or not as they are now, and why, in a sentence each.
    pub left_out: Vec<String>,
}

impl HubStates {
    /// The hubs that this host is behind with, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let note = |state: HubState| {
            let HubState { name, agents, .. } = state;
            let seen = state.seen_at.map(|at| format!(" of {at}")).unwrap_or_default();
            Some(format!("the hub `{name}` {}: its {agents} agents here are those{seen}", state.last_error?))
        };
        (self.0)().into_iter().filter_map(note).collect()
    }
}

impl fmt::Debug for OpenSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSessions").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

/// The bound by which an agent refused a message.
#[derive(Debug, Clone, Copy)]
pub struct LimitRefusal<'a> {
    /// The key that sets it, such as `budget.tokens_per_day`.
    pub limit: &'static str,
    /// Whether it is the caller's own bound, and not that of all callers together.
    pub is_callers: bool,
    /// What the caller is told.
    pub part: &'a PolicyPart,
}

/// What the operator decides. Whoever has it has checked that the operator is who asks.
#[derive(Clone, Copy)]
pub struct OperatorDesk<'a> {
    pub(crate) host: &'a Host,
}

impl<'a> OperatorDesk<'a> {
    /// Everything that was asked and is kept, the oldest first.
    pub fn questions(self) -> BoxFuture<'a, Result<Vec<OperatorQuestion>, Error>> {
        self.host.operator.questions()
    }

    /// A question by its name.
    pub fn question(self, id: &'a str) -> BoxFuture<'a, Result<Option<OperatorQuestion>, Error>> {
        self.host.operator.question(id)
    }

    /// Answers a question.
    pub fn answer(self, id: &'a str, answer: OperatorAnswer) -> BoxFuture<'a, Result<OperatorAnswerOutcome, Error>> {
        self.host.operator.answer(id, answer)
    }

    /// Changes the lifecycle of an agent. Fails with [`Error::NotFound`] when there is no such agent.
    pub fn change_lifecycle(
        self,
        agent: &'a Handle,
        change: &'a LifecycleChange,
        attest: Attest<'a>,
    ) -> BoxFuture<'a, Result<LifecycleOutcome, Error>> {
        Box::pin(async move {
            self.host.directory.find(agent).ok_or_else(|| Error::not_found(Noun::Agent))?;
            self.host.lifecycle.change(agent, change, attest).await
        })
    }
}

impl Host {
    /// What the operator decides. Only for the operator's own surface, and for a protocol that has checked that its
    /// caller acts for the operator.
    pub fn operator(&self) -> OperatorDesk<'_> {
        OperatorDesk { host: self }
    }

    /// Names everything that is counted here in `registry`.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
        let help = "Callers refused for how often they ask, by the key of the bound";
        registry.register("rate_limit_hits", help, self.throttle.rates.hits.counter());
        let help = "Callers refused for how much is under way, by the key of the bound";
        registry.register("concurrency_limit_hits", help, self.tasks.in_flight.hits.counter());
        let help = "Callers refused by a bound of an agent, such as its budget, by the key of the bound";
        registry.register("agent_limit_hits", help, self.metrics.agent_limits.counter());
        self.records.issuances.register_metrics(registry);
    }

    /// What an agent did since this process began.
    pub fn activity(&self, agent: &Handle) -> AgentActivity {
        self.metrics.activity.of(agent)
    }

    /// The bounds that callers of this process ran into, the last one first.
    pub fn limits_hit(&self) -> Vec<LimitHit> {
        let now = self.clock.now();
        let mut all = self.throttle.rates.hits.all(now);
        all.extend(self.tasks.in_flight.hits.all(now));
        all.extend(self.metrics.agent_limits.all(now));
        all.sort_by_key(|hit| std::cmp::Reverse(hit.last_at));
        all
    }

    /// An agent refused a message by a bound of its own: the operator sees it as those of the host are seen.
    pub fn note_limit_hit(&self, agent: &Handle, message: &Message, refused: LimitRefusal<'_>) {
        let LimitRefusal { limit, is_callers, part } = refused;
        let caller = if is_callers { self.tasks.in_flight.slots(&message.sender.caller(None)).own() } else { 0 };
        self.metrics.agent_limits.note(limit, caller);
        let record = self.records.guarded_record(agent, message);
        self.records.note_guarded(record, limit, part);
    }

    /// Queues a post for the operator, signed and made again as those that a question waits: `details` is its body, and it
    /// is of use for a day. Once this is done, it will be made.
    pub fn tell_operator(
        &self,
        webhook: OperatorWebhook,
        details: Map<String, Value>,
    ) -> BoxFuture<'_, Result<(), Error>> {
        let notice = webhook.notice(details, &*self.entropy, self.clock.now());
        self.notify(notice)
    }

    /// Has what is due be delivered now, and not when it is looked for next.
    pub fn wake_deliveries(&self) {
        self.wakeup.wake();
    }

    /// The name of this run of the host: it holds tasks, and is shown to nobody.
    pub fn run(&self) -> Arc<str> {
        self.tasks.lease.run()
    }

    /// Whether it is this very run of the host that is called so.
    pub fn is_own_run(&self, run: &str) -> bool {
        *self.tasks.lease.run() == *run
    }
}
