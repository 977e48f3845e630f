//! The style of a promised answer, kept in the message's id, so that a later `await`, maybe of another node, needs
//! nothing but the task. NLWeb 4.2 gives `await` no preferences.

use forecourt_core::{Entropy, MessageId, Task, ids};

use crate::wire::{Dialect, Format, Style};

const PREFIX: &str = "ask";

/// A name for a message whose answer is to be written in `style`.
pub(crate) fn message_id(style: Style, entropy: &dyn Entropy) -> MessageId {
    let mode = if style.summarize { "summarize" } else { "list" };
    let limit = format!("{}+{}", style.limit.unwrap_or(0), style.skip);
    let format = style.format.name(Dialect::V0_55);
    let name = format!("{PREFIX}:{}:{format}:{mode}:{limit}:{}", style.dialect.version(), ids::mint(entropy));
    // Without its style the answer is written plainly, which is better than no answer.
    MessageId::parse(&name).unwrap_or_else(|| MessageId::mint(entropy))
}

/// Whether a task began with a question of this protocol.
pub(crate) fn is_asked(task: &Task) -> bool {
    let name = task.turns.first().and_then(|turn| turn.id.as_deref()).unwrap_or_default();
    name.split(':').next() == Some(PREFIX) && name.len() > PREFIX.len()
}

/// How the answer of a task is to be written in `dialect`. Plainly, when it was begun over another
/// protocol.
pub(crate) fn style(task: &Task, dialect: Dialect) -> Style {
    let plain = Style::plain(dialect);
    let name = task.turns.first().and_then(|turn| turn.id.as_deref()).unwrap_or_default();
    let mut words = name.split(':');
    if words.next() != Some(PREFIX) {
        return plain;
    }
    let (_version, format, mode, limit) = (words.next(), words.next(), words.next(), words.next());
    let format = match format {
        Some("chatgpt_app") => Format::ChatgptApp,
        _ => Format::ConversationalSearch,
    };
    let (limit, skip) = limit.and_then(|bounds| bounds.split_once('+')).unwrap_or_default();
    let limit = limit.parse().ok().filter(|limit| *limit > 0);
    Style { format, summarize: mode == Some("summarize"), limit, skip: skip.parse().unwrap_or(0), ..plain }
}
