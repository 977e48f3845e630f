//! Which agent a message is for. One rule for all platforms: the first mention wins; a reply, a thread and a conversation
//! of two stay with their agent; what is said anew in a channel is for the agent of the connector. Hub card 3.

use forecourt_core::mention::first_mention;
use forecourt_core::{Error, Handle};
use forecourt_correspondence::Threads;

use super::Intake;
use crate::chat::ChatMessage;
use crate::connector::Connector;
use crate::platform::Platform;

/// The agent that a message is for.
pub(super) enum Addressee {
    Agent(Handle),
    /// Nobody here is called that.
    Nobody(Handle),
}

/// The agent with which a message stays unless it mentions one. `None`: it is said anew, or nobody was asked there.
pub(super) async fn stays_with(
    threads: &Threads,
    connector: &Handle,
    message: &ChatMessage,
) -> Result<Option<Handle>, Error> {
    let place = &message.place;
    // Several agents may have answered in a channel: a reply is to one of them.
    let replied = message.replies_to.as_ref().filter(|_| place.is_reply || place.is_direct);
    if let Some(replied) = replied
        && let Some(agent) = threads.agent(&place.message_key(connector, replied)).await?
    {
        return Ok(Some(agent));
    }
    if !(place.is_reply || place.is_direct) {
        return Ok(None);
    }
    match (threads.agent(&place.key(connector)).await?, &place.thread) {
        // A thread that somebody just began below an answer is that answer's.
        (None, Some(root)) => threads.agent(&place.message_key(connector, root)).await,
        (agent, _) => Ok(agent),
    }
}

impl<P: Platform> Intake<P> {
    /// Whether the first mention is that of an agent that can be asked.
    pub(super) fn names_agent(&self, connector: &Connector<P>, message: &ChatMessage) -> bool {
        let named = first_mention(&message.text, &self.host.site().domain);
        named.is_some_and(|agent| connector.settings.allows(&agent) && self.host.directory().find(&agent).is_some())
    }

    pub(super) fn addressee(
        &self,
        connector: &Connector<P>,
        message: &ChatMessage,
        stays_with: Option<Handle>,
    ) -> Addressee {
        let is_here = |agent: &Handle| connector.settings.allows(agent) && self.host.directory().find(agent).is_some();
        if let Some(named) = first_mention(&message.text, &self.host.site().domain) {
            return if is_here(&named) { Addressee::Agent(named) } else { Addressee::Nobody(named) };
        }
        let default = || self.host.directory().default_agent().card.handle().clone();
        let usual = || {
            let first = connector.settings.agents.as_ref().and_then(|agents| agents.first().cloned());
            connector.settings.agent.clone().or(first).unwrap_or_else(default)
        };
        Addressee::Agent(stays_with.filter(is_here).unwrap_or_else(usual))
    }
}
