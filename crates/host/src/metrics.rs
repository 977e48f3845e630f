//! What the host counts. Labels come from configuration and from closed sets, never from callers.

use std::sync::atomic::{AtomicI64, AtomicU64};

use forecourt_contract::Refusal;
use forecourt_contract::call::CallTrail;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Error, FailureCause, Handle};
use jiff::SignedDuration;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::activity::Activity;
use crate::limits_hit::LimitsHit;
use crate::platforms::PlatformMetrics;
use forecourt_rules::guard::{GuardCounter, Side};

/// The host's counters.
#[derive(Debug, Default)]
pub struct Metrics {
    replies: Family<ReplyLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    running: Gauge<i64, AtomicI64>,
    tasks_running: Gauge<i64, AtomicI64>,
    tasks_begun: Family<AgentLabel, Counter>,
    tasks_ended: Family<TaskEndLabels, Counter>,
    deliveries: Family<DeliveryLabels, Counter>,
    nodes: Gauge<i64, AtomicI64>,
    leases_lost: Counter,
    nodes_ended: Counter,
    taken_up: Counter,
    clock_skew: Gauge<f64, AtomicU64>,
    /// The same for the operator, by agent.
    pub(crate) activity: Activity,
    /// What comes over platforms on which agents are written to, and what is sent there.
    pub platforms: PlatformMetrics,
    /// Callers that agents refused by bounds of their own.
    pub(crate) agent_limits: LimitsHit,
    guardrails: Family<GuardLabels, Counter>,
    servers_up: Family<ServerLabels, Gauge<i64, AtomicI64>>,
    server_sessions: Family<ServerLabels, Gauge<i64, AtomicI64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReplyLabels {
    agent: String,
    via: &'static str,
    ending: &'static str,
    /// What failed answers failed of; empty for all others.
    cause: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AgentLabel {
    agent: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskEndLabels {
    agent: String,
    ending: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    endpoint: String,
    via: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    of: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabels {
    server: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GuardLabels {
    agent: String,
    side: &'static str,
    outcome: &'static str,
}

impl Metrics {
    /// Names every counter in `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "replies",
            "Answers by agent, protocol, ending, and what they failed of",
            self.replies.clone(),
        );
        registry.register("calls", "Calls by endpoint, protocol and outcome", self.calls.clone());
        registry.register("replies_running", "Answers in the making", self.running.clone());
        registry.register("tasks_running", "Background tasks running", self.tasks_running.clone());
        registry.register("tasks_begun", "Background tasks that were begun, by agent", self.tasks_begun.clone());
        let about = "Turns of background tasks that came to an end here, by agent and ending";
        registry.register("tasks_ended", about, self.tasks_ended.clone());
        registry.register("deliveries", "Webhook posts by whose they are and outcome", self.deliveries.clone());
        registry.register("nodes", "Nodes of this deployment that are alive, this one included", self.nodes.clone());
        let lost = "Times that this node was silent for a lease, so that another one ended its tasks";
        registry.register("leases_lost", lost, self.leases_lost.clone());
        let ended = "Nodes that were silent for a lease, so that this one ended their runs";
        registry.register("nodes_ended", ended, self.nodes_ended.clone());
        let taken_up = "Tasks of lost nodes and of earlier runs that this node went on with";
        registry.register("tasks_taken_up", taken_up, self.taken_up.clone());
        let skew = "The wall clock of this machine less the store's time";
        registry.register("clock_skew_seconds", skew, self.clock_skew.clone());
        self.platforms.register(registry);
        let about = "Texts that guardrails judged, by agent, whose text it was and outcome";
        registry.register("guardrails", about, self.guardrails.clone());
        let about = "Whether a server behind this host answered when it was last asked";
        registry.register("server_up", about, self.servers_up.clone());
        registry.register(
            "server_sessions",
            "Sessions open with a server behind this host",
            self.server_sessions.clone(),
        );
    }

    /// An answer ended, by [`Ending::code`]. Failures are one ending each with its cause, so that all of them are
    /// counted by one label.
    pub(crate) fn ended(&self, agent: &Handle, via: &'static str, code: &str) {
        let code = closed(code);
        self.activity.ended(agent, via, code, || {
            let (ending, cause) = if FailureCause::from_code(code).is_some() { ("failed", code) } else { (code, "") };
            let labels = ReplyLabels { agent: agent.as_str().to_owned(), via, ending, cause };
            self.replies.get_or_create(&labels).clone()
        });
    }

    /// A call of an endpoint ended. Pairs that are no endpoint are all one.
    pub(crate) fn called(&self, trail: &CallTrail, refusal: Option<&Refusal>, via: &'static str) {
        let endpoint = trail.endpoint.as_ref();
        let labels = CallLabels {
            // The path as declared: the one that was called may hold an id, and there is no end of those.
            endpoint: endpoint
                .map_or_else(|| "none".to_owned(), |endpoint| format!("{} {}", endpoint.method, endpoint.path)),
            via,
            outcome: refusal.map_or("answered", Refusal::kind),
        };
        self.calls.get_or_create(&labels).inc();
    }

    /// A server behind this host answered, or did not, and has so many sessions open.
    pub fn server(&self, name: &Handle, answers: bool, sessions: usize) {
        let labels = ServerLabels { server: name.as_str().to_owned() };
        self.servers_up.get_or_create(&labels).set(i64::from(answers));
        self.server_sessions.get_or_create(&labels).set(i64::try_from(sessions).unwrap_or(i64::MAX));
    }

    /// Counts an answer in the making until the guard is dropped.
    pub(crate) fn count_running(&self) -> GaugeGuard {
        GaugeGuard::new(&self.running)
    }

    /// How many nodes are alive.
    pub(crate) fn count_nodes(&self, nodes: usize) {
        self.nodes.set(i64::try_from(nodes).unwrap_or(i64::MAX));
    }

    /// Another node ended the tasks of this one.
    pub(crate) fn count_lost_lease(&self) {
        self.leases_lost.inc();
    }

    /// This node ended the runs of so many others.
    pub(crate) fn count_ended_nodes(&self, count: usize) {
        self.nodes_ended.inc_by(count as u64);
    }

    /// A task of a run that is gone goes on here.
    pub(crate) fn count_taken_up(&self) {
        self.taken_up.inc();
    }

    /// How far the machine's wall clock is from the store's time.
    pub(crate) fn tell_skew(&self, skew: SignedDuration) {
        self.clock_skew.set(skew.as_secs_f64());
    }

    /// Counts a background task until the guard is dropped.
    pub(crate) fn count_task(&self) -> GaugeGuard {
        GaugeGuard::new(&self.tasks_running)
    }

    /// A task is kept from here on.
    pub(crate) fn task_begun(&self, agent: &Handle) {
        self.tasks_begun.get_or_create(&AgentLabel { agent: agent.as_str().to_owned() }).inc();
    }

    /// A turn of a task ended, by [`Ending::code`].
    pub(crate) fn task_ended(&self, agent: &Handle, code: &str) {
        let labels = TaskEndLabels { agent: agent.as_str().to_owned(), ending: closed(code) };
        self.tasks_ended.get_or_create(&labels).inc();
    }

    /// A post was made, or failed. `of` names whose it is: a protocol of this host, or the operator's.
    pub(crate) fn delivered(&self, of: &str, worked: bool) {
        let outcome = if worked { "delivered" } else { "failed" };
        self.deliveries.get_or_create(&DeliveryLabels { of: of.to_owned(), outcome }).inc();
    }
}

impl GuardCounter for Metrics {
    fn count(&self, agent: &Handle, side: Side, outcome: &'static str) {
        let labels = GuardLabels { agent: agent.as_str().to_owned(), side: side.name(), outcome };
        self.guardrails.get_or_create(&labels).inc();
    }
}

/// One of something that runs; counts itself down when it is dropped.
pub(crate) struct GaugeGuard(Gauge<i64, AtomicI64>);

impl GaugeGuard {
    fn new(gauge: &Gauge<i64, AtomicI64>) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The word for a fault in traces.
pub(crate) fn error_name(error: &Error) -> &'static str {
    match error {
        Error::NotFound { .. } | Error::Gone { .. } => "not_found",
        Error::Conflict { .. } => "conflict",
        Error::Invalid { .. } => "invalid",
        Error::Full { .. } => "full",
        Error::Unavailable { .. } => "unavailable",
        Error::Internal(_) => "internal",
    }
}

/// The code as a label: words that are not ours are all one.
fn closed(code: &str) -> &'static str {
    const OWN: [&str; 5] = ["complete", "question", Ending::SIGN_IN, Ending::DECLINED, Ending::CANCELED];
    let causes = FailureCause::ALL.map(FailureCause::code);
    let known = OWN.into_iter().chain(causes).chain(RefusalKind::NAMES);
    known.into_iter().find(|known| *known == code).unwrap_or("other")
}
