//! Conversations and whom they are with. Hub card 3.

use std::sync::Arc;

use forecourt_core::{Handle, Sender, ThreadId, first_mention};
use forecourt_host::HostedAgent;

use super::{Service, ServiceError};
use crate::model::{Content, Message, OperationError};

impl Service {
    /// The agent that the leading text of a message names first, if it lives here. Hub card 3.2.
    pub(super) fn mentioned(&self, message: &Message) -> Option<&Arc<HostedAgent>> {
        let leading = message.parts.iter().find_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let handle = first_mention(leading?, &self.host.site().domain)?;
        self.host.directory().find(&handle)
    }

    /// The agent that a conversation is with, as far as somebody was mentioned in it. Hub card 3.3.
    ///
    /// Kept by the name that the caller has for it: one name may stand for conversations with several
    /// agents, and the last of them that was mentioned counts.
    pub(super) async fn sticky(
        &self,
        context: &str,
        sender: &Sender,
    ) -> Result<Option<&Arc<HostedAgent>>, ServiceError> {
        let agent = self.host.route(&adopted(context, sender)?).await?;
        Ok(agent.and_then(|agent| self.host.directory().find(&agent)))
    }

    /// The conversation that a caller named. One that it made up is kept, for this owner alone; one
    /// of the host's own goes on, whatever wire it was begun over; without a name a new one begins.
    pub(crate) async fn thread(
        &self,
        context: Option<&str>,
        agent: Option<&Handle>,
        sender: &Sender,
    ) -> Result<ThreadId, ServiceError> {
        let Some(name) = context else {
            return Ok(ThreadId::mint_context(&**self.host.entropy()));
        };
        // A name in the shape of the host's own that it never gave to this caller opens nothing: it is adopted like any
        // made-up name.
        if let (Some(own), Some(agent)) = (ThreadId::parse(name), agent)
            && self.host.remembers(&own, agent, sender).await?
        {
            return Ok(own);
        }
        adopted(name, sender)
    }

    /// Everything that a name of a conversation may mean to this sender.
    pub(super) fn threads(&self, name: &str, sender: &Sender) -> Result<Vec<ThreadId>, ServiceError> {
        let own = ThreadId::parse(name);
        Ok(std::iter::once(adopted(name, sender)?).chain(own).collect())
    }
}

/// The conversation that `sender` named itself: the same name of another caller is another conversation.
pub(super) fn adopted(name: &str, sender: &Sender) -> Result<ThreadId, ServiceError> {
    let wrong = || OperationError::param("contextId", "must be 1 to 256 bytes without control characters");
    Ok(ThreadId::adopt(name, &sender.caller(None)).ok_or_else(wrong)?)
}
