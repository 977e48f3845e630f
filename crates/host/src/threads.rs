//! Conversations: what was said before, found by a token that only the host mints.

use std::sync::Arc;

use forecourt_core::limits::{HISTORY_BYTES_MAX, HISTORY_TURNS_MAX, THREAD_TTL, THREAD_TURNS_MAX};
use forecourt_core::store::{Account, Conversation, ConversationAppend};
use forecourt_core::{
    Clock, CollectedReply, Ending, Entropy, Error, Message, Part, Role, Sender, Store, Task, ThreadId, Timestamp, Turn,
};

use crate::begin::with_turns_of;
use crate::directory::HostedAgent;

/// Finds and keeps conversations.
#[derive(Clone)]
pub(crate) struct Threads {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Threads {
    /// Gives the message the history of its conversation, and the conversation's id. A token that
    /// is not ours begins a fresh conversation and is never adopted (REST 6); a name that a protocol
    /// adopted stays, even where the agent remembers nothing of it. History that came with the
    /// message stands instead of ours.
    ///
    /// A message that goes on with a task belongs to that task's conversation. A conversation that is
    /// somebody's ([`Conversation::is_open_to`]) is begun anew for everybody else: knowing its name gives
    /// nobody what was said in it.
    pub(crate) async fn recall(
        &self,
        resident: &HostedAgent,
        mut message: Box<Message>,
        earlier: Option<&Task>,
    ) -> Result<Recalled, Error> {
        if let Some(task) = earlier {
            message.thread.clone_from(&task.thread);
        }
        let is_ours = |thread: &ThreadId| earlier.is_some() || thread.is_adopted();
        let mut is_known = false;
        if resident.card.remembers {
            let named = message.thread.take();
            let thread = match self.known(resident, named.as_ref()).await? {
                None => named.filter(is_ours),
                Some(known) if known.is_open_to(message.sender.owner()) => {
                    is_known = true;
                    if message.history.is_empty() {
                        message.history = known.turns;
                    }
                    named
                }
                Some(_) => named.map(|thread| thread.anew(&*self.entropy)),
            };
            message.thread = Some(thread.unwrap_or_else(|| ThreadId::mint(&*self.entropy)));
        } else {
            message.thread = message.thread.filter(is_ours);
        }
        if let Some(task) = earlier {
            with_turns_of(task, &mut message.history);
        }
        trim(&mut message.history);
        Ok(Recalled { message, is_known })
    }

    async fn known(&self, resident: &HostedAgent, named: Option<&ThreadId>) -> Result<Option<Conversation>, Error> {
        let Some(thread) = named else { return Ok(None) };
        Ok(self.store.thread(thread, resident.card.handle(), self.clock.now()).await?)
    }

    /// Adds a turn and its answer to their conversation. Refused and failed answers leave no trace.
    pub(crate) async fn record(
        &self,
        resident: &HostedAgent,
        asked: UserTurn,
        answer: &CollectedReply,
    ) -> Result<(), Error> {
        let UserTurn { thread, turn: asked, account } = asked;
        let said = match &answer.ending {
            Ending::Complete | Ending::Message(_) => answer.text(),
            Ending::Question(question) => question.text.clone(),
            Ending::Refused(_) | Ending::Failed { .. } | Ending::Canceled => return Ok(()),
        };
        let now = self.clock.now();
        let mut reply = Turn::text(Role::Assistant, said);
        reply.timestamp = Some(now);
        if let Ending::Question(question) = &answer.ending {
            reply.question = Some(Box::new(question.clone()));
        }
        let expires_at = after(now, THREAD_TTL);
        let owner = asked.sender.owner().map(str::to_owned);
        let addition =
            ConversationAppend { owner, account, turns: vec![asked, reply], keep: THREAD_TURNS_MAX, expires_at };
        if !self.store.append_turns(&thread, resident.card.handle(), addition).await? {
            // Its owner signed in while this was being answered.
            tracing::debug!(agent = %resident.card.handle(), "a turn came too late for its conversation");
        }
        Ok(())
    }
}

/// A message with its conversation.
pub(crate) struct Recalled {
    pub(crate) message: Box<Message>,
    /// Whether the conversation was kept here before.
    pub(crate) is_known: bool,
}

/// What a caller said, to be kept with its answer.
#[derive(Clone)]
pub(crate) struct UserTurn {
    pub(crate) thread: ThreadId,
    pub(crate) turn: Turn,
    /// Whose stored bytes the conversation counts towards: the turn itself tells nobody's address.
    pub(crate) account: Account,
}

/// The current turn as history will show it: attachments by name, not by bytes; nobody's address.
pub(crate) fn as_turn(message: &Message) -> Turn {
    let sender = Sender { peer: None, ..message.sender.clone() };
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

/// `at` plus `by`, at the latest the end of time.
pub(crate) fn after(at: Timestamp, by: std::time::Duration) -> Timestamp {
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// Leaves out the oldest turns until count and size fit.
fn trim(history: &mut Vec<Turn>) {
    let mut bytes = 0;
    let fits = |turn: &&Turn| {
        bytes += turn.parts.iter().filter_map(Part::as_text).map(str::len).sum::<usize>();
        bytes <= HISTORY_BYTES_MAX
    };
    let kept = history.iter().rev().take(HISTORY_TURNS_MAX).take_while(fits).count();
    history.drain(..history.len() - kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(count: usize, bytes: usize) -> Vec<Turn> {
        vec![Turn::text(Role::User, "x".repeat(bytes)); count]
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
