//! Messages that go on with a task, held to its authority.

use forecourt_core::message::Role;
use forecourt_core::{Message, Task};

/// A message that goes on with a task, held to what the task was held to: whoever answers its question does not
/// widen it.
pub(crate) fn continued(mut message: Box<Message>, earlier: Option<&Task>) -> Box<Message> {
    let asked = earlier.and_then(|task| task.turns.iter().rev().find(|turn| turn.role == Role::User));
    if let Some(asked) = asked {
        message.sender.authority = std::mem::take(&mut message.sender.authority).continuing(&asked.sender.authority);
    }
    message
}
