//! One connector at work.

use std::collections::BTreeMap;
use std::sync::Arc;

use forecourt_core::Handle;
use forecourt_egress::Egress;
use forecourt_settings::{Problem, Section};
use tokio::sync::Semaphore;

use crate::limits::EVENTS_AT_ONCE_MAX;
use crate::pause::Pause;
use crate::platform::Platform;
use crate::refusal_log::RefusalLog;
use crate::settings::ConnectorSettings;

/// The connectors of one kind, by name.
pub(crate) type Connectors<P> = BTreeMap<Handle, Connector<P>>;

/// A connector as its file says.
pub(crate) struct Connector<P> {
    pub(crate) name: Handle,
    pub(crate) platform: P,
    pub(crate) settings: ConnectorSettings,
    /// Where problems stand that are found later.
    pub(crate) section: Section,
    /// Events in the works.
    pub(crate) slots: Arc<Semaphore>,
    /// How long the platform wants to be left alone.
    pub(crate) pause: Pause,
    pub(crate) refusals: RefusalLog,
}

impl<P: Platform> Connector<P> {
    pub(crate) fn new(name: Handle, platform: P, settings: ConnectorSettings, section: Section) -> Self {
        Self {
            name,
            platform,
            settings,
            section,
            slots: Arc::new(Semaphore::new(EVENTS_AT_ONCE_MAX)),
            pause: Pause::default(),
            refusals: RefusalLog::default(),
        }
    }

    /// What its file says of agents that are not there.
    pub(crate) fn unknown_agents(&self, is_known: impl Fn(&Handle) -> bool) -> Vec<Problem> {
        let wrong = |key, agent: &Handle| self.section.problem(Some(key), format!("there is no agent `{agent}`"));
        let of = |key: &'static str, agents: &[Handle]| -> Vec<Problem> {
            agents.iter().filter(|agent| !is_known(agent)).map(|agent| wrong(key, agent)).collect()
        };
        let mut problems = of("agent", self.settings.agent.as_slice());
        problems.extend(of("agents", self.settings.agents.as_deref().unwrap_or_default()));
        if let Some(agent) = self.settings.agent.as_ref().filter(|agent| !self.settings.allows(agent)) {
            problems.push(self.section.problem(Some("agent"), format!("`agents` does not have `{agent}`")));
        }
        problems
    }
}

/// A connector with the way out.
pub(crate) struct Speaking<'a, P> {
    pub(crate) connector: &'a Connector<P>,
    pub(crate) egress: &'a Egress,
}

impl<P> Clone for Speaking<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Speaking<'_, P> {}
