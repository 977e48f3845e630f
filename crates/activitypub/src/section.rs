//! The `[activitypub]` section of `forecourt.toml`.

use std::num::NonZeroU32;

use forecourt_core::Handle;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{
    ANSWER_CHARS_MAX, ANSWERS_PER_THREAD, MESSAGES_PER_ACTOR_PER_HOUR, MESSAGES_PER_HOUR, MESSAGES_PER_SERVER_PER_HOUR,
};

/// Agents as actors of the Fediverse, which are asked by mentioning them. Off without `enabled`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ActivityPubSettings {
    /// Whether agents are actors. Default: false.
    pub(crate) enabled: bool,
    /// The handles of those that are. Default: all agents.
    pub(crate) agents: Vec<String>,
    /// Whether answers are read only by servers that sign their requests. What describes an actor stays open, since
    /// nobody could check a signature without it. Default: false.
    pub(crate) authorized_fetch: bool,
    /// Whether public answers are listed at the agent's outbox and among its featured posts. Default: false.
    pub(crate) featured_answers: bool,
    /// How many messages of a bot (an actor of the type Service or Application) are answered in one conversation.
    /// Default: 0.
    pub(crate) answers_to_bots: u32,
    /// How many messages of one conversation are answered. Default: 100.
    pub(crate) answers_per_thread: NonZeroU32,
    /// Messages of one actor within an hour. Default: 60.
    pub(crate) messages_per_actor_per_hour: NonZeroU32,
    /// Messages of all actors of one server within an hour. Default: 600.
    pub(crate) messages_per_server_per_hour: NonZeroU32,
    /// Messages of all servers within an hour. Default: 6000.
    pub(crate) messages_per_hour: NonZeroU32,
    /// Characters of an answer; a longer one ends in a link to the whole. Default: 5000.
    pub(crate) answer_chars: NonZeroU32,
}

impl Default for ActivityPubSettings {
    fn default() -> Self {
        let count = |n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        Self {
            enabled: false,
            agents: Vec::new(),
            authorized_fetch: false,
            featured_answers: false,
            answers_to_bots: 0,
            answers_per_thread: count(ANSWERS_PER_THREAD),
            messages_per_actor_per_hour: count(MESSAGES_PER_ACTOR_PER_HOUR),
            messages_per_server_per_hour: count(MESSAGES_PER_SERVER_PER_HOUR),
            messages_per_hour: count(MESSAGES_PER_HOUR),
            answer_chars: count(ANSWER_CHARS_MAX),
        }
    }
}

impl ActivityPubSettings {
    /// Reads the section.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let settings: Self = section.read()?;
        let mut problems = Problems::new();
        for handle in settings.agents.iter().filter(|handle| Handle::parse(handle).is_err()) {
            problems.push(section.problem(Some("agents"), format!("`{handle}` is no handle of an agent")));
        }
        problems.into_result(settings)
    }

    /// Whether this agent is an actor.
    pub(crate) fn has(&self, agent: &Handle) -> bool {
        let listed = || self.agents.iter().any(|listed| listed.eq_ignore_ascii_case(agent.as_str()));
        self.enabled && (self.agents.is_empty() || listed())
    }
}
