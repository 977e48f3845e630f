//! Conversations: what was said before, found by a token that only the host mints.
//!
//! An answer does not wait for its turns to be kept. Those of a conversation that somebody goes on with, or that a
//! client named, are in the store after [`CONVERSATION_WRITE_AFTER`]; the first exchange of one that the host
//! named, which most callers leave at that, after [`CONVERSATION_FIRST_WRITE_AFTER`] or with the second one, unless it
//! ends in a question or its agent keeps a state.

use std::sync::Arc;

use forecourt_core::caller::is_open_to;
use forecourt_core::clock::after;
use forecourt_core::limits::{HISTORY_BYTES_MAX, HISTORY_TURNS_MAX, THREAD_TTL, THREAD_TURNS_MAX};
use forecourt_core::store::{Account, ConversationAppend};
use forecourt_core::{
    AgentState, Clock, CollectedReply, Ending, Entropy, Error, Handle, History, Message, Part, Role, Sender, Task,
    ThreadId, Turn,
};

use crate::directory::HostedAgent;
use crate::turns::with_turns_of;

mod cache;
mod state;
mod writer;

pub use cache::{
    CONVERSATION_FIRST_WRITE_AFTER, CONVERSATION_WRITE_AFTER, CONVERSATIONS_CACHED_BYTES_MAX,
    CONVERSATIONS_PENDING_BYTES_MAX,
};
use state::{recalled_state, state_bytes, state_of};
pub(crate) use writer::ConversationWriter;

/// Finds and keeps conversations.
#[derive(Clone)]
pub(crate) struct Conversations {
    pub(crate) writer: Arc<ConversationWriter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Conversations {
    /// Gives the message the history of its conversation, and the conversation's id. A token that
    /// is not ours begins a fresh conversation and is never adopted (REST 6); a name that a protocol
    /// adopted stays, even where the agent remembers nothing of it. History that came with the
    /// message stands instead of ours.
    ///
    /// A message that goes on with a task belongs to that task's conversation. A conversation that is
    /// somebody's ([`is_open_to`]) is begun anew for everybody else: knowing its name gives nobody what was said
    /// in it. Of one that `begins` with this message the store is not asked.
    pub(crate) async fn recall(
        &self,
        resident: &HostedAgent,
        mut message: Box<Message>,
        earlier: Option<&Task>,
        begins: bool,
    ) -> Result<RecalledMessage, Error> {
        if let Some(task) = earlier {
            message.thread.clone_from(&task.thread);
        }
        let is_ours = |thread: &ThreadId| earlier.is_some() || thread.is_adopted();
        let (mut is_known, mut unknown) = (false, None);
        if resident.card.remembers {
            message.state = AgentState::of(None);
            let (named, agent) = (message.thread.take(), resident.card.handle());
            let known = match &named {
                // On the heap, since most messages begin a conversation.
                Some(thread) if !begins => Box::pin(self.writer.read(&(thread.clone(), agent.clone()))).await?,
                _ => None,
            };
            let thread = match known {
                None if named.as_ref().is_some_and(is_ours) => named,
                None => {
                    unknown = named;
                    None
                }
                Some(known) if is_open_to(known.owner.as_deref(), message.sender.owner()) => {
                    is_known = true;
                    // Ours alone: history that came with the message is a caller's word.
                    message.state = recalled_state(&known.turns);
                    if message.history.is_empty() {
                        message.history = known.turns;
                    }
                    named
                }
                Some(_) => named.map(|thread| thread.anew(&*self.entropy)),
            };
            message.thread = Some(thread.unwrap_or_else(|| ThreadId::mint(&*self.entropy)));
        } else {
            let named = message.thread.take();
            let (ours, other) = if named.as_ref().is_some_and(is_ours) { (named, None) } else { (None, named) };
            (message.thread, unknown) = (ours, other);
        }
        if let Some(task) = earlier {
            with_turns_of(task, &mut message.history);
        }
        trim(&mut message.history);
        Ok(RecalledMessage { message, is_known, unknown })
    }

    /// Whether a conversation is kept that `sender` may go on with.
    pub(crate) async fn is_kept(&self, thread: &ThreadId, agent: &Handle, sender: &Sender) -> Result<bool, Error> {
        let known = self.writer.read(&(thread.clone(), agent.clone())).await?;
        Ok(known.is_some_and(|known| is_open_to(known.owner.as_deref(), sender.owner())))
    }

    /// Adds a turn and its answer to their conversation. What was refused, declined or failed leaves no trace.
    pub(crate) async fn record(&self, resident: &HostedAgent, asked: UserTurn, answer: &CollectedReply) {
        let UserTurn { thread, turn: asked, account, begins, state } = asked;
        let said = match &answer.ending {
            Ending::Complete | Ending::Message(_) => answer.text(),
            Ending::Question(question) => question.text.clone(),
            Ending::SignIn(wanted) => wanted.question.text.clone(),
            Ending::Refused(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled => return,
        };
        let now = self.clock.now();
        let mut reply = Turn::text(Role::Assistant, said);
        reply.timestamp = Some(now);
        reply.question = answer.ending.question().cloned().map(Box::new);
        reply.state = state_of(&state).map(Box::new);
        let expires_at = after(now, THREAD_TTL);
        let owner = asked.sender.owner().map(str::to_owned);
        let addition =
            ConversationAppend { owner, account, turns: vec![asked, reply], keep: THREAD_TURNS_MAX, expires_at };
        let agent = resident.card.handle();
        if !self.writer.append(&(thread, agent.clone()), addition, begins).await {
            // Its owner signed in while this was being answered.
            tracing::debug!(%agent, "a turn came too late for its conversation");
        }
    }
}

/// A message with the history and the id of its conversation.
pub(crate) struct RecalledMessage {
    pub(crate) message: Box<Message>,
    /// Whether the conversation was kept here before.
    pub(crate) is_known: bool,
    /// The token that it came with, where nothing was said under it that is kept: perhaps one that a refusal gave.
    pub(crate) unknown: Option<ThreadId>,
}

/// A caller's turn, to be stored together with its answer.
#[derive(Clone)]
pub(crate) struct UserTurn {
    pub(crate) thread: ThreadId,
    pub(crate) turn: Turn,
    /// Whose stored bytes the conversation counts towards: the turn itself tells nobody's address.
    pub(crate) account: Account,
    /// Whether nothing was kept of the conversation before.
    pub(crate) begins: bool,
    /// What the agent keeps in the conversation.
    pub(crate) state: AgentState,
}

/// The current turn as history will show it: attachments by name, not by bytes; nobody's address, and nobody's token.
pub(crate) fn as_turn(message: &Message) -> Turn {
    let sender = Sender { peer: None, token: None, ..message.sender.clone() };
    Turn {
        sender,
        timestamp: Some(message.received_at),
        id: Some(message.id.as_str().to_owned()),
        answers: message.answers.clone(),
        narrowing: message.search.narrowing.clone(),
        annotations: message.annotations.clone(),
        ..Turn::new(Role::User, message.parts.iter().map(remembered).collect())
    }
}

fn remembered(part: &Part) -> Part {
    match part {
        Part::File(file) => {
            let name = file.name.as_deref().unwrap_or("attachment");
            Part::text(format!("[{name}, {}]", file.mime))
        }
        other => other.clone(),
    }
}

/// Leaves out the oldest turns until count and size fit.
fn trim(history: &mut History) {
    let mut bytes = 0;
    let fits = |turn: &&Turn| {
        bytes += turn.parts.iter().filter_map(Part::as_text).map(str::len).sum::<usize>() + state_bytes(turn);
        bytes <= HISTORY_BYTES_MAX
    };
    let kept = history.iter().rev().take(HISTORY_TURNS_MAX).take_while(fits).count();
    history.keep_newest(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(count: usize, bytes: usize) -> History {
        vec![Turn::text(Role::User, "x".repeat(bytes)); count].into()
    }

    #[test]
    fn history_keeps_its_newest_turns() {
        for (count, kept) in [(HISTORY_TURNS_MAX, HISTORY_TURNS_MAX), (HISTORY_TURNS_MAX + 1, HISTORY_TURNS_MAX)] {
            let mut history = turns(count, 1);
            trim(&mut history);
            assert_eq!(history.len(), kept);
        }
    }

    #[test]
    fn history_is_bounded_in_bytes() {
        for (bytes, kept) in [(HISTORY_BYTES_MAX / 2, 2), (HISTORY_BYTES_MAX / 2 + 1, 1)] {
            let mut history = turns(2, bytes);
            trim(&mut history);
            assert_eq!(history.len(), kept);
        }
    }
}
