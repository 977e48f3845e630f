//! The turns of a task as those of its conversation.

use forecourt_core::message::RECEIPT;
use forecourt_core::{Ending, History, Part, Role, Task, Turn};
use serde_json::Value;

/// What the agent said before it waited, as a turn: its answer so far, then the question, or the
/// refusal in words.
pub(crate) fn asked_back(task: &Task) -> Turn {
    let outcome = task.outcome.as_ref();
    let mut parts = outcome.map(|outcome| outcome.parts.clone()).unwrap_or_default();
    let question = outcome.and_then(|outcome| outcome.ending.question());
    parts.extend(match outcome.map(|outcome| &outcome.ending) {
        Some(Ending::Refused(part)) => Some(Part::text(part.message.clone())),
        _ => question.map(|question| Part::markdown(question.text.clone())),
    });
    let question = question.cloned().map(Box::new);
    let mut turn = Turn { timestamp: Some(task.updated_at), question, ..Turn::new(Role::Assistant, parts) };
    // The next outcome takes the place of this one, and what was paid for it stays known.
    if let Some(receipt) = task.outcome.as_ref().and_then(|outcome| outcome.receipt.clone()) {
        turn.annotations.insert(RECEIPT.to_owned(), Value::Object(*receipt));
    }
    turn
}

/// Adds to `history` what was said in `task` and is not there yet: a conversation leaves out refused
/// turns, and many agents keep none.
pub(crate) fn with_turns_of(task: &Task, history: &mut History) {
    let known = |turn: &Turn| turn.id.is_some() && history.iter().any(|earlier| earlier.id == turn.id);
    let unknown = task.turns.iter().position(|turn| turn.role == Role::User && !known(turn));
    if let Some(first) = unknown {
        history.extend(task.turns[first..].iter().cloned().chain([asked_back(task)]));
    }
}
