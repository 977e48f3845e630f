//! The person at the terminal, as a server meets it.

use forecourt_client::form::Form;
use forecourt_client::terminal::{Terminal, show_progress};
use forecourt_core::Progress;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::visit::Person;

/// Whoever reads and types here.
pub(super) struct TerminalPerson(Terminal);

impl TerminalPerson {
    /// Whoever is at the terminal now.
    pub(super) fn new() -> Self {
        Self(Terminal::new())
    }
}

impl Person for TerminalPerson {
    fn show_progress(&self, progress: Progress) {
        show_progress(progress);
    }

    fn can_answer(&self) -> bool {
        self.0.is_attended()
    }

    fn fill_in(&self, form: Form) -> BoxFuture<'_, Option<Map<String, Value>>> {
        self.0.fill_in(form)
    }

    fn open_page(&self, words: String, url: String) -> BoxFuture<'_, bool> {
        self.0.open_page(words, url)
    }
}
