//! How words become messages of a platform.

use forecourt_pages::markdown::{Marks, to_blocks};

use crate::platform::Platform;
use crate::split::{CodeMarks, split, split_before};

/// The marks of a platform, and how much one message holds.
#[derive(Clone, Copy)]
pub(crate) struct MessageStyle {
    pub(crate) marks: &'static (dyn Marks + Sync),
    /// Characters.
    pub(crate) chars_max: usize,
    pub(crate) code: CodeMarks,
}

impl MessageStyle {
    pub(crate) fn of<P: Platform>(platform: &P) -> Self {
        Self { marks: platform.marks(), chars_max: P::MESSAGE_CHARS_MAX, code: P::CODE_MARKS }
    }

    /// Words in Markdown as messages.
    pub(crate) fn messages(self, words: &str) -> Vec<String> {
        split(&to_blocks(words, self.marks), self.chars_max, self.code)
    }

    /// The same, with other words at the end that are told however long those before them are.
    pub(crate) fn messages_before(self, words: &str, end: &str) -> Vec<String> {
        let (words, end) = (to_blocks(words, self.marks), to_blocks(end, self.marks));
        split_before(&words, &end, self.chars_max, self.code)
    }
}
