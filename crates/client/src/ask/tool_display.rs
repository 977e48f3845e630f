//! The tools that an agent has at work, told on standard error.

use std::collections::HashMap;

use crate::output::stderrln;
use crate::printable::line;

/// Tools of one answer of which the state is remembered. One more is told each time that it is heard of.
const TOOLS_MAX: usize = 1_000;

/// Tells the state of each tool once, however often it is heard of.
#[derive(Debug, Default)]
pub struct ToolDisplay {
    states: HashMap<String, &'static str>,
}

impl ToolDisplay {
    /// Tells that the call `id` of the tool `name` is in a state, unless that was told last.
    pub fn show(&mut self, id: &str, name: &str, state: &'static str) {
        let known = self.states.get(id) == Some(&state);
        if self.states.len() < TOOLS_MAX {
            self.states.insert(id.to_owned(), state);
        }
        if !known {
            stderrln!("[{}: {state}]", line(name, 60));
        }
    }
}
