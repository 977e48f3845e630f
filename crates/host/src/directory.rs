//! Which agents live here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Agent, AgentCard, Error, Handle, Language, Message, Noun, Policy};
use forecourt_rules::guard::Guardrail;

use crate::on_lost::OnLost;
use crate::usage_viewers::UsageViewers;

/// An agent of this host with its gate, its guardrails and its limits.
pub struct HostedAgent {
    /// The agent's own description.
    pub card: Arc<AgentCard>,
    /// How long it may take for one reply.
    pub time_max: Duration,
    /// What answers. Nobody but the host reaches it, and the host only with what its policy admitted.
    pub(crate) agent: Arc<dyn Agent>,
    /// The gate before it.
    pub(crate) policy: Policy,
    /// The guardrails that judge its messages and replies, in their order.
    pub(crate) guards: Vec<Arc<Guardrail>>,
    /// Who sees what models used for its answers.
    pub(crate) usage_viewers: UsageViewers,
    /// What becomes of its tasks when their node is lost.
    pub(crate) on_lost: OnLost,
    /// Whether a message that may be sent again is a task before the agent hears of it.
    pub(crate) is_asked_once: bool,
}

impl HostedAgent {
    /// An agent behind its gate, which nobody can take apart again.
    pub fn new(card: Arc<AgentCard>, agent: Arc<dyn Agent>, policy: Policy, time_max: Duration) -> Self {
        Self {
            card,
            time_max,
            agent,
            policy,
            guards: Vec::new(),
            usage_viewers: UsageViewers::default(),
            on_lost: OnLost::default(),
            is_asked_once: false,
        }
    }

    /// The same agent, whose messages and replies are held against these guardrails, in their order.
    #[must_use]
    pub fn guarded(self, guards: Vec<Arc<Guardrail>>) -> Self {
        Self { guards, ..self }
    }

    /// The same agent, whose model usage is shown to these callers.
    #[must_use]
    pub fn showing_usage(self, usage_viewers: UsageViewers) -> Self {
        Self { usage_viewers, ..self }
    }

    /// The same agent, whose tasks come to this when their node is lost.
    #[must_use]
    pub fn whose_lost_tasks(self, on_lost: OnLost) -> Self {
        Self { on_lost, ..self }
    }

    /// The same agent, which a message that its sender names reaches once, even when the host is killed in between: it is
    /// a task on disk before the agent hears of it. An agent whose tasks go on from its notes is asked so in any case.
    #[must_use]
    pub fn asked_once(self, is_asked_once: bool) -> Self {
        Self { is_asked_once, ..self }
    }

    /// Whether a message that may be sent again must not reach the agent again.
    pub(crate) fn must_be_asked_once(&self) -> bool {
        self.is_asked_once || self.on_lost == OnLost::Attach
    }

    /// Whether items of this host of the web are among what it finds: [`Agent::has_host`].
    pub fn has_host(&self, host: &str) -> bool {
        self.agent.has_host(host)
    }

    /// The language in which it answers somebody who asks for `wanted`: [`Agent::answer_language`].
    pub fn answer_language(&self, wanted: Option<&Language>) -> Language {
        self.agent.answer_language(wanted, &self.card.language)
    }
}

/// The agents of this host, in the order of configuration, the default one first.
pub struct Directory {
    residents: Vec<Arc<HostedAgent>>,
    by_handle: HashMap<Handle, usize>,
}

impl Directory {
    /// Gathers agents. Fails when there is none, when two share a handle, or when `default` is
    /// not among them (hub card 3.4).
    pub fn new(mut residents: Vec<HostedAgent>, default: &Handle) -> Result<Self, Error> {
        let first = residents
            .iter()
            .position(|r| r.card.handle() == default)
            .ok_or_else(|| Error::invalid("default_agent", format!("there is no agent `{default}`")))?;
        // The default one comes first, and the others keep their order.
        residents[..=first].rotate_right(1);
        let mut by_handle = HashMap::with_capacity(residents.len());
        for (index, resident) in residents.iter().enumerate() {
            if by_handle.insert(resident.card.handle().clone(), index).is_some() {
                let reason = format!("two agents are called `{}`", resident.card.handle());
                return Err(Error::invalid("handle", reason));
            }
        }
        Ok(Self { residents: residents.into_iter().map(Arc::new).collect(), by_handle })
    }

    /// The agent that takes what nobody else is named for.
    pub fn default_agent(&self) -> &Arc<HostedAgent> {
        &self.residents[0]
    }

    /// The agent of a handle.
    pub fn find(&self, handle: &Handle) -> Option<&Arc<HostedAgent>> {
        self.by_handle.get(handle).map(|&index| &self.residents[index])
    }

    /// The agent a message is for.
    pub(crate) fn resolve(&self, message: &Message) -> Result<Arc<HostedAgent>, Error> {
        self.find(&message.recipient).cloned().ok_or_else(|| Error::not_found(Noun::Agent))
    }

    /// All agents, the default one first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<HostedAgent>> {
        self.residents.iter()
    }
}
