//! This module shows what strangers wrote on somebody's terminal.

use std::io::{self, IsTerminal, Write};

use crate::output::is_obeyed;

/// Text without what a terminal would obey: control characters other than line ends and tabs, and
/// marks that turn the direction of writing around. Security sheet, section 3.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_obeyed(*c)).collect()
}

/// The same on one line, cut at `chars_max`.
pub fn line(text: &str, chars_max: usize) -> String {
    let mut words = printable(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = words.char_indices().nth(chars_max) {
        words.truncate(at);
        words.push('…');
    }
    words
}

/// Standard output for words that come in pieces: as they are in a pipe, printable on a terminal.
pub struct Words {
    out: io::Stdout,
    terminal: bool,
    ended: bool,
}

impl Default for Words {
    fn default() -> Self {
        Self::new()
    }
}

impl Words {
    /// Standard output as it is now.
    pub fn new() -> Self {
        let out = io::stdout();
        Self { terminal: out.is_terminal(), out, ended: true }
    }

    /// Shows a piece at once. Fails when nobody reads any more.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.ended = text.ends_with('\n');
        match self.terminal {
            true => self.out.write_all(printable(text).as_bytes())?,
            false => self.out.write_all(text.as_bytes())?,
        }
        self.out.flush()
    }

    /// Ends the last line, so that what follows begins on its own.
    pub fn end(&mut self) -> io::Result<()> {
        match self.ended {
            true => Ok(()),
            false => self.say("\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_would_obey_is_left() {
        assert_eq!(printable("a\u{1b}[31mb\u{7}c\r\u{9b}d\u{202e}e\u{2066}\n\té"), "a[31mbcde\n\té");
    }

    #[test]
    fn lines_are_cut_between_characters() {
        assert_eq!(line("  a\n b\tc ", 10), "a b c");
        assert_eq!(line("ééé", 3), "ééé");
        assert_eq!(line("éééé", 3), "ééé…");
    }
}
