//! Bounds of Telegram, each with its unit.

use std::time::Duration;

/// Characters of one message: more than 4,096 are refused, and what is bold counts with its marks here.
pub(crate) const MESSAGE_CHARS_MAX: usize = 4_000;
/// How often one message is edited: a group takes 20 messages a minute from a bot.
pub(crate) const EDIT_EVERY: Duration = Duration::from_secs(4);
/// Characters of the name of a file or a person that are kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;
/// Characters of the secret of a webhook, which Telegram sends with each event.
pub(crate) const SECRET_CHARS: std::ops::RangeInclusive<usize> = 16..=256;
