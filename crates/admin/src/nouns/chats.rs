//! Chats, the Fediverse and mail: what comes over them, what is under way, and what is not delivered. Never what is
//! said.

use std::collections::BTreeMap;

use forecourt_core::store::TaskFilter;
use forecourt_core::{Task, TaskState, Timestamp};
use forecourt_host::{KeyRotation, PlatformState, PlatformTraffic, Platforms};
use forecourt_store::QueuedDelivery;
use schemars::JsonSchema;
use serde::Serialize;

use super::tasks::{self, TaskLine};
use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};
use crate::limits::{CHAT_DELIVERIES_MAX, CHAT_TASKS_MAX, CHAT_THREADS_MAX};

/// What comes over chats, the Fediverse and mail.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Chats {
    /// The connectors of the deployment, the Fediverse and mail, as far as they are used.
    pub chats: Vec<Chat>,
    /// Each platform, with what is under way on every node.
    pub platforms: Vec<ChatPlatform>,
    /// The messages that agents were asked last, on every node.
    pub threads: Vec<TaskLine>,
    /// The platform on which agents sign with a key that can be replaced, if there is one.
    pub key: Option<String>,
}

/// A connector, or a platform that has none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Chat {
    /// The platform: a kind of connector, `activitypub` or `email`.
    pub platform: String,
    /// The name of the connector, which is that of its file.
    pub name: Option<String>,
    /// The agents that can be asked over it. Empty: all.
    pub agents: Vec<String>,
    /// When something came last that was proven, on this node since it began. `null`: nothing yet.
    #[schemars(with = "Option<String>")]
    pub last_event_at: Option<Timestamp>,
    /// Events that asked an agent or changed something, on this node since it began.
    pub taken: u64,
    /// Events that were refused or missed, on this node since it began.
    pub refused: u64,
    /// Why the last one of them was: `forged`, `malformed` or `too_many`; or `missed`, which was said while nobody could
    /// listen.
    pub last_refusal: Option<String>,
    /// When that was.
    #[schemars(with = "Option<String>")]
    pub last_refusal_at: Option<Timestamp>,
}

/// What is under way over a platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatPlatform {
    /// The platform.
    pub platform: String,
    /// Messages that agents work on, of the 1,000 that were begun or went on last.
    pub under_way: u64,
    /// Answers and refusals that wait to be sent, of the first 1,000 deliveries that wait.
    pub waiting: u64,
    /// Those of them at which an attempt failed.
    pub failing: u64,
    /// Those that are not sent any more, on this node since it began.
    pub given_up: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<Chats, ApiError> {
    let states = ask.house.services.get::<Platforms>().map(|platforms| platforms.all()).unwrap_or_default();
    let metrics = ask.house.host.metrics().clone();
    let mut platforms: BTreeMap<&str, ChatPlatform> = BTreeMap::new();
    for state in &states {
        let (platform, given_up) = (state.platform.to_owned(), metrics.platforms.given_up(state.platform));
        let new = ChatPlatform { platform, under_way: 0, waiting: 0, failing: 0, given_up };
        platforms.entry(state.platform).or_insert(new);
    }
    let mut threads = Vec::new();
    for task in lately(&ask).await? {
        let Some(platform) = platforms.get_mut(task.received_via.as_str()) else { continue };
        platform.under_way += u64::from(matches!(task.state, TaskState::Submitted | TaskState::Working));
        if threads.len() < CHAT_THREADS_MAX {
            threads.push(seen(&task));
        }
    }
    for delivery in waiting(&ask).await? {
        let Some(platform) = platforms.get_mut(delivery.webhook.protocol.as_str()) else { continue };
        platform.waiting += 1;
        // One that is under way for the first time has not failed.
        platform.failing += u64::from(delivery.attempts > u32::from(delivery.is_claimed));
    }
    let chats = states.iter().map(|state| chat(state, metrics.platforms.traffic(state.platform, state.name.as_ref())));
    let key = ask.house.services.get::<KeyRotation>().map(|rotation| rotation.platform.to_owned());
    Ok(Chats { chats: chats.collect(), platforms: platforms.into_values().collect(), threads, key })
}

/// Replaces the key with which agents sign.
pub(crate) async fn rotate_key(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let rotation = ask.house.services.get::<KeyRotation>();
    let rotation = rotation.ok_or_else(|| ApiError::not_found("agents sign on no platform here"))?;
    let from = (rotation.rotate)().await?;
    let (by, target) = (&ask.actor.name, format!("the key on {}", rotation.platform));
    account::note(&ask.house.host, by, "rotate", target, why.as_deref(), Came::Done).await;
    Ok(ActionOutcome::new(Came::Done, format!("a new key signs from {from} on, and the old one until then")))
}

/// A task without who asked: in a chat that is a person's id there.
fn seen(task: &Task) -> TaskLine {
    TaskLine { owner: None, ..tasks::line(task) }
}

fn chat(state: &PlatformState, traffic: PlatformTraffic) -> Chat {
    let (last_refusal_at, why) = traffic.last_refusal.unzip();
    Chat {
        platform: state.platform.to_owned(),
        name: state.name.as_ref().map(ToString::to_string),
        agents: state.agents.iter().flatten().map(ToString::to_string).collect(),
        last_event_at: traffic.last_event_at,
        taken: traffic.taken,
        refused: traffic.refused,
        last_refusal: why.map(|outcome| outcome.name().to_owned()),
        last_refusal_at,
    }
}

/// The tasks that were begun or went on last, over whichever protocol.
async fn lately(ask: &Ask) -> Result<Vec<Task>, ApiError> {
    let (mut found, mut cursor) = (Vec::new(), None);
    while found.len() < CHAT_TASKS_MAX {
        let filter = TaskFilter { cursor, limit: crate::limits::PAGE_MAX, ..TaskFilter::default() };
        let page = ask.desk.reads.tasks_of_all(filter, ask.now()).await?;
        found.extend(page.tasks);
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }
    found.truncate(CHAT_TASKS_MAX);
    Ok(found)
}

/// The first deliveries that wait.
async fn waiting(ask: &Ask) -> Result<Vec<QueuedDelivery>, ApiError> {
    let mut found: Vec<QueuedDelivery> = Vec::new();
    while found.len() < CHAT_DELIVERIES_MAX {
        let after = found.last().map_or(0, |last| last.id);
        let page = ask.desk.reads.deliveries(after, crate::limits::PAGE_MAX).await?;
        let is_last = page.len() < crate::limits::PAGE_MAX;
        found.extend(page);
        if is_last {
            break;
        }
    }
    found.truncate(CHAT_DELIVERIES_MAX);
    Ok(found)
}
