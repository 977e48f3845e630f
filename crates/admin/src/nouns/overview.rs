//! How it goes, at a glance.

use std::collections::BTreeMap;

use forecourt_core::LifecycleState;
use schemars::JsonSchema;
use serde::Serialize;

use super::agents::is_running;
use super::checks::{self, Check};
use crate::api_error::ApiError;
use crate::desk::Ask;

/// How it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overview {
    /// What the site is called.
    pub name: String,
    /// Its domain.
    pub domain: String,
    /// The version of the program.
    pub version: String,
    /// Whether it can answer now.
    pub is_ready: bool,
    /// What is missing, when it can't.
    pub not_ready: Option<String>,
    /// Whether its parts are well.
    pub checks: Vec<Check>,
    /// Agents.
    pub agents: u64,
    /// Of those, how many answer nobody.
    pub agents_away: u64,
    /// Tasks that are kept, by state.
    pub tasks: BTreeMap<String, u64>,
    /// Of those, how many are worked on.
    pub tasks_running: u64,
    /// Conversations that somebody can go on with.
    pub conversations: u64,
    /// Deliveries that wait.
    pub deliveries: u64,
    /// Questions that wait for the operator.
    pub questions_waiting: u64,
    /// Nodes that share the store.
    pub nodes: u64,
    /// Alerts that are firing on any node and not silenced.
    pub alerts_firing: u64,
    /// Pairs of a bound and a caller that ran into it, on this node.
    pub limits_hit: u64,
}

pub(crate) async fn one(ask: Ask) -> Result<Overview, ApiError> {
    let (host, reads) = (&ask.house.host, &ask.desk.reads);
    let seen = reads.overview(ask.now()).await?;
    let mut tasks = BTreeMap::new();
    for (_, state, count) in &seen.tasks {
        *tasks.entry(state.name().to_owned()).or_insert(0) += count;
    }
    let running = seen.tasks.iter().filter(|(_, state, _)| is_running(*state)).map(|(_, _, count)| count).sum();
    let (mut agents, mut agents_away) = (0, 0);
    for resident in host.directory().iter() {
        agents += 1;
        let state = host.lifecycle().state(resident.card.handle()).await?;
        agents_away += u64::from(matches!(state, LifecycleState::Suspended | LifecycleState::Retired));
    }
    let waiting = host.operator().questions().await?.iter().filter(|asked| asked.waits()).count();
    let ready = ask.desk.around.readiness().await;
    Ok(Overview {
        name: host.site().name.clone(),
        domain: host.site().domain.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        is_ready: ready.is_ok(),
        checks: checks::all(&ask, &ready),
        not_ready: ready.err(),
        agents,
        agents_away,
        tasks,
        tasks_running: running,
        conversations: seen.conversations,
        deliveries: seen.deliveries,
        questions_waiting: waiting as u64,
        nodes: reads.runs().await?.len() as u64,
        alerts_firing: super::alerts::heard(&ask.house).await.len() as u64,
        limits_hit: host.limits_hit().len() as u64,
    })
}
