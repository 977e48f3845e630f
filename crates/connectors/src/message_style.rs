//! How words become messages of a platform.

use forecourt_pages::markdown::{Marks, to_blocks};

use crate::platform::Platform;
use crate::split::{CodeMarks, split};

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
}
