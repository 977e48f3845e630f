//! This module shows what strangers wrote on somebody's terminal.

use std::env::var_os;
use std::io::{self, IsTerminal, Write};

use crate::markdown::Rendering;
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

/// How many there are of what a regular noun names: "1 agent", "2 agents".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A word of a command that a shell takes as it is, and obeys nothing of. Ids and names come from strangers.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether a terminal is to be told of colours and styles: unless `NO_COLOR` is set, or the terminal knows none.
pub fn has_styles(is_terminal: bool) -> bool {
    let is_set = |name: &str| var_os(name).is_some_and(|value| !value.is_empty());
    is_terminal && !is_set("NO_COLOR") && var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// How words are shown.
enum Look {
    /// As they are, for a program that reads them.
    Raw,
    /// Without what a terminal would obey.
    Printable,
    /// So, and markdown as it is meant.
    Rendered(Rendering),
}

/// Standard output for words that come in pieces: as they are in a pipe, printable on a terminal.
pub struct Words {
    out: io::Stdout,
    look: Look,
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
        let look = if out.is_terminal() { Look::Printable } else { Look::Raw };
        Self { look, out, ended: true }
    }

    /// Standard output for an answer in markdown, which a terminal shows as it is meant.
    pub fn of_markdown() -> Self {
        let out = io::stdout();
        let look = match out.is_terminal() {
            true => Look::Rendered(Rendering::new(has_styles(true))),
            false => Look::Raw,
        };
        Self { look, out, ended: true }
    }

    /// Shows a piece at once. Fails when nobody reads any more.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.ended = text.ends_with('\n');
        match &mut self.look {
            Look::Raw => self.out.write_all(text.as_bytes())?,
            Look::Printable => self.out.write_all(printable(text).as_bytes())?,
            Look::Rendered(rendering) => self.out.write_all(rendering.push(&printable(text)).as_bytes())?,
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
    fn words_of_strangers_are_one_word_for_a_shell() {
        assert_eq!(shell_word("t-1_A.b"), "t-1_A.b");
        assert_eq!(shell_word("@chef@demo.localhost:8443"), "@chef@demo.localhost:8443");
        assert_eq!(shell_word("x; rm -rf ~"), "'x; rm -rf ~'");
        assert_eq!(shell_word("$(reboot)'"), r"'$(reboot)'\'''");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn one_of_a_thing_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "agent")), ["0 agents", "1 agent", "2 agents"]);
    }

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
