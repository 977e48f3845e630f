//! This module reads single keys from the terminal, and leaves it as it was on every way out.
//!
//! Lines are not waited for and keys are not echoed; nothing else of the terminal is changed. Signals keep their keys, so
//! that control-C stops the program as ever, and what is printed needs no other line ends.

use std::io::{IsTerminal, Read, stdin};

use nix::unistd::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What the keys do, for a person.
pub(super) const HELP: &str =
    "Keys: r sends the last message again, o opens the browser, p the playground, c clears, q quits, ? lists these.";
/// Keys that wait for their turn.
const KEYS_MAX: usize = 16;

/// A key that was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Sends the last message again.
    Repeat,
    /// Opens the browser.
    OpenBrowser,
    /// Opens the playground.
    OpenPlayground,
    /// Clears the terminal.
    Clear,
    /// Ends the program.
    Quit,
    /// Lists the keys.
    Help,
    /// Any other one.
    Other,
}

impl From<u8> for Key {
    fn from(byte: u8) -> Self {
        match byte {
            b'r' => Self::Repeat,
            b'o' => Self::OpenBrowser,
            b'p' => Self::OpenPlayground,
            b'c' => Self::Clear,
            b'q' => Self::Quit,
            b'?' | b'h' => Self::Help,
            _ => Self::Other,
        }
    }
}

/// The keys of the terminal that this program runs on. Dropping it gives the terminal back as it was.
pub(super) struct Keyboard {
    /// `None`: there is no terminal, or another program has it.
    open: Option<(Receiver<u8>, KeyMode)>,
}

impl Keyboard {
    /// Takes keys from here on, if there is a terminal to take them from.
    pub(super) fn open() -> Self {
        let open = KeyMode::enter().map(|mode| {
            let (keys, pressed) = channel(KEYS_MAX);
            // A thread of its own, which nobody waits for: a read of a terminal can't be given up.
            std::thread::spawn(move || read(&keys));
            (pressed, mode)
        });
        Self { open }
    }

    /// Whether keys are read.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Waits for the next key; for ever where there are none.
    pub(super) async fn next(&mut self) -> Key {
        if let Some((pressed, _)) = &mut self.open
            && let Some(byte) = pressed.recv().await
        {
            return Key::from(byte);
        }
        std::future::pending().await
    }
}

fn read(keys: &Sender<u8>) {
    let (mut terminal, mut byte) = (stdin().lock(), [0]);
    while let Ok(1) = terminal.read(&mut byte) {
        if keys.blocking_send(byte[0]).is_err() {
            return;
        }
    }
}

/// A terminal that hands out single keys.
struct KeyMode {
    before: Termios,
}

impl KeyMode {
    fn enter() -> Option<Self> {
        if !stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return None;
        }
        // In the background a change of the terminal would stop this program, and so would reading from it.
        let foreground = tcgetpgrp(stdin()).ok()?.as_raw_nonzero().get();
        if foreground != getpgrp().as_raw() {
            return None;
        }
        let before = tcgetattr(stdin()).ok()?;
        let mut keys = before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &keys).ok()?;
        Some(Self { before })
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        // Fails where the terminal is gone, which then needs nothing.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_the_help_does_what_it_says() {
        let keys = [
            (b'r', Key::Repeat),
            (b'o', Key::OpenBrowser),
            (b'p', Key::OpenPlayground),
            (b'c', Key::Clear),
            (b'q', Key::Quit),
            (b'?', Key::Help),
        ];
        for (byte, key) in keys {
            assert_eq!(Key::from(byte), key);
            let named = HELP.split([' ', ':', ',', '.']).any(|word| word.as_bytes() == [byte]);
            assert!(named, "{} is not in the help", char::from(byte));
        }
        // The bytes of an arrow: none of them may quit or send anything.
        assert!(b"\x1b[A\x03\n".iter().all(|byte| Key::from(*byte) == Key::Other));
    }

    #[tokio::test]
    async fn without_a_terminal_there_are_no_keys() {
        let mut keyboard = Keyboard { open: None };
        assert!(!keyboard.is_open());
        let waited = tokio::time::timeout(std::time::Duration::ZERO, keyboard.next()).await;
        assert!(waited.is_err(), "nobody presses any");
    }
}
