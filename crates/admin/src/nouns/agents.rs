//! Agents: where they stand, and what they did.

use std::collections::BTreeMap;

use forecourt_core::store::Span;
use forecourt_core::{Handle, LifecycleState, TaskState, Timestamp};
use forecourt_host::{HostedAgent, LifecycleChange, LifecycleOutcome};
use forecourt_store::StoreOverview;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// Changes of an agent that are shown.
const CHANGES_SHOWN: usize = 50;

/// The agents of the house.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agents {
    /// In the order of the deployment, the default one first.
    pub agents: Vec<Agent>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// Its handle.
    pub handle: String,
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it stands: `active`, `suspended`, `deprecated` or `retired`.
    pub state: String,
    /// Its tasks that are kept, on every node, by state.
    pub tasks: BTreeMap<String, u64>,
    /// Of those, how many are worked on.
    pub running: u64,
    /// Its answers since this node began, by how they ended.
    pub answers: BTreeMap<String, u64>,
    /// Answers that failed since this node began, the last one first; at most 20 are kept.
    pub failures: Vec<Failure>,
    /// Items that can be found in its content; none when it has no content.
    pub items: Option<u64>,
}

/// An answer that failed, on this node.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Over which protocol.
    pub via: String,
    /// What its caller was told.
    pub reason: String,
}

/// An agent with its past.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentDetail {
    /// The agent.
    #[serde(flatten)]
    pub agent: Agent,
    /// How it came to stand where it does, the last change first.
    pub changes: Vec<Change>,
    /// The version of its card.
    pub version: String,
    /// The language that it answers in.
    pub language: String,
    /// What it can do.
    pub skills: Vec<String>,
}

/// A change of where an agent stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Change {
    /// When.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Where it stood.
    pub from: String,
    /// Where it stands since.
    pub to: String,
    /// Who did it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

pub(crate) async fn list(ask: Ask) -> Result<Agents, ApiError> {
    let overview = ask.desk.reads.overview(ask.now()).await?;
    let mut agents = Vec::new();
    for resident in ask.house.host.directory().iter() {
        agents.push(seen(&ask, resident, &overview).await?);
    }
    Ok(Agents { agents })
}

pub(crate) async fn one(ask: Ask) -> Result<AgentDetail, ApiError> {
    let handle = handle(&ask)?;
    let overview = ask.desk.reads.overview(ask.now()).await?;
    let host = &ask.house.host;
    let resident = host.directory().find(&handle).ok_or_else(|| unknown(&handle))?;
    let changes = host.lifecycle().changes(&handle, Span::Before(u64::MAX), CHANGES_SHOWN).await?;
    let changes = changes.into_iter().map(|(_, kept)| Change {
        at: kept.change.at,
        from: kept.change.from.name().to_owned(),
        to: kept.change.to.name().to_owned(),
        by: kept.change.by,
        reason: kept.change.reason,
    });
    Ok(AgentDetail {
        agent: seen(&ask, resident, &overview).await?,
        changes: changes.collect(),
        version: resident.card.version.clone(),
        language: resident.card.language.as_str().to_owned(),
        skills: resident.card.skills.iter().map(|skill| skill.name.clone()).collect(),
    })
}

async fn seen(ask: &Ask, resident: &HostedAgent, overview: &StoreOverview) -> Result<Agent, ApiError> {
    let (card, host) = (&resident.card, &ask.house.host);
    let handle = card.handle();
    let own = overview.tasks.iter().filter(|(agent, _, _)| agent == handle);
    let running = own.clone().filter(|(_, state, _)| is_running(*state)).map(|(_, _, count)| count).sum();
    let activity = host.activity(handle);
    let content = ask.house.contents.iter().find(|(of, _)| of == handle);
    let items = content.map(|(_, indexing)| indexing.clone());
    let items = match items {
        // Counting items may read from disk.
        Some(indexing) => tokio::task::spawn_blocking(move || indexing.items()).await.ok(),
        None => None,
    };
    Ok(Agent {
        handle: handle.to_string(),
        address: card.address.to_string(),
        name: card.name.clone(),
        description: card.description.clone(),
        state: host.lifecycle().state(handle).await?.name().to_owned(),
        tasks: own.map(|(_, state, count)| (state.name().to_owned(), *count)).collect(),
        running,
        answers: activity.endings,
        failures: activity
            .failures
            .into_iter()
            .map(|failure| Failure { at: failure.at, via: failure.via.to_owned(), reason: failure.reason })
            .collect(),
        items,
    })
}

pub(crate) fn is_running(state: TaskState) -> bool {
    matches!(state, TaskState::Submitted | TaskState::Working)
}

pub(crate) async fn suspend(ask: Command) -> Result<ActionOutcome, ApiError> {
    change(ask, LifecycleState::Suspended, "suspend").await
}

pub(crate) async fn resume(ask: Command) -> Result<ActionOutcome, ApiError> {
    change(ask, LifecycleState::Active, "resume").await
}

pub(crate) async fn retire(ask: Command) -> Result<ActionOutcome, ApiError> {
    change(ask, LifecycleState::Retired, "retire").await
}

async fn change(ask: Command, to: LifecycleState, action: &'static str) -> Result<ActionOutcome, ApiError> {
    let handle = handle(&ask)?;
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let (host, by) = (&ask.house.host, &ask.actor.name);
    let change = LifecycleChange { to, by: Some(by.clone()), reason: why.clone(), details: serde_json::Map::new() };
    let outcome = host.operator().change_lifecycle(&handle, &change, &|_| None).await.map_err(|error| match error {
        forecourt_core::Error::NotFound { .. } => unknown(&handle),
        error => error.into(),
    })?;
    let target = format!("agent @{handle}");
    let (came, answer) = match outcome {
        LifecycleOutcome::Now(_) => (Came::Done, Ok(format!("@{handle} is {} now", to.name()))),
        LifecycleOutcome::Already => (Came::Already, Ok(format!("@{handle} is {} already", to.name()))),
        LifecycleOutcome::Never(from) => {
            let error = ApiError::conflict(format!("@{handle} is {}, and stays so", from.name()));
            (Came::Refused, Err(error.hint("a retired agent never answers again; give a new one another handle")))
        }
    };
    // Before the answer is known to be an error: what was refused is written down too.
    account::note(host, by, action, target, why.as_deref(), came).await;
    answer.map(|message| ActionOutcome::new(came, message))
}

fn handle(ask: &Ask) -> Result<Handle, ApiError> {
    let text = ask.named("handle").trim_start_matches('@');
    Handle::parse(text).map_err(|_| ApiError::not_found(format!("there is no agent `{text}`")).hint(HINT))
}

const HINT: &str = "GET /api/v1/agents lists them, and so does `forecourt admin agents`";

fn unknown(handle: &Handle) -> ApiError {
    ApiError::not_found(format!("there is no agent @{handle}")).hint(HINT)
}
