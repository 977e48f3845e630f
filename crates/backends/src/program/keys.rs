//! Keys in an answer that mean nothing: the operator is told of each once, and the answer goes on without them.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use forecourt_core::Handle;
use forecourt_settings::nearest;
use serde_json::{Map, Value};

use crate::answer;
use crate::limits::KEYS_WARNED_MAX;

/// Characters of a key in the log.
const KEY_CHARS_MAX: usize = 80;

/// The keys beside those of [`answer`] by which a program says something.
const BESIDE: [&str; 6] = ["journal", "state", "usage", "log", "call", "artifact"];
/// The key that only says whose a line is.
const TURN: &str = "turn";

/// The keys that one agent's program wrote and nobody knows.
#[derive(Debug)]
pub(crate) struct UnknownKeys {
    agent: Handle,
    warned: Mutex<HashSet<String>>,
}

impl UnknownKeys {
    pub(crate) fn new(agent: Handle) -> Self {
        Self { agent, warned: Mutex::default() }
    }

    /// Whether any of `fields` is a key of an answer. Warns of those that are none, each once.
    pub(crate) fn has_known(&self, fields: &Map<String, Value>) -> bool {
        let mut has_known = false;
        for key in fields.keys() {
            match answer::is_key(key) {
                true => has_known = true,
                false => self.warn(key),
            }
        }
        has_known
    }

    /// Whether any of `fields` says something, of an answer or beside it. Warns of those that mean nothing.
    pub(crate) fn say_anything(&self, fields: &Map<String, Value>) -> bool {
        let says = |key: &String| answer::is_key(key) || BESIDE.contains(&key.as_str());
        if fields.keys().any(says) {
            return true;
        }
        fields.keys().filter(|key| *key != TURN).for_each(|key| self.warn(key));
        false
    }

    /// Warns of a key, unless it was done before or too often.
    fn warn(&self, key: &str) {
        let key = answer::plain(key, KEY_CHARS_MAX);
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() >= KEYS_WARNED_MAX || !warned.insert(key.clone()) {
            return;
        }
        drop(warned);
        let agent = &self.agent;
        match closest(&key) {
            Some(meant) => tracing::warn!(
                %agent,
                "an agent's program wrote the key `{key}`, which means nothing here; did you mean `{meant}`?"
            ),
            None => tracing::warn!(%agent, "an agent's program wrote the key `{key}`, which means nothing here"),
        }
    }

    /// The keys that the operator was told of, in order.
    #[cfg(test)]
    fn warned(&self) -> Vec<String> {
        let mut all: Vec<String> = self.warned.lock().unwrap().iter().cloned().collect();
        all.sort();
        all
    }
}

/// The key that was probably meant.
fn closest(key: &str) -> Option<String> {
    // One that means something elsewhere is not meant by itself.
    let others = answer::KEYS.iter().chain(&BESIDE).chain(&[TURN]).filter(|other| **other != key);
    let known: Vec<String> = others.map(|key| (*key).to_owned()).collect();
    nearest(key, &known).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn each_key_is_warned_of_once_and_the_known_ones_count() {
        let keys = UnknownKeys::new(Handle::parse("agent").unwrap());
        assert!(keys.has_known(&fields(&json!({"text": "a", "txet": "b"}))));
        assert!(!keys.has_known(&fields(&json!({"txet": "b", "colour": 1}))));
        assert!(keys.has_known(&fields(&json!({"end": null}))));
        assert!(!keys.has_known(&Map::new()));
        assert_eq!(keys.warned(), ["colour", "txet"]);
    }

    #[test]
    fn what_says_something_without_a_turn_is_known_beside_an_answer_too() {
        let keys = UnknownKeys::new(Handle::parse("agent").unwrap());
        for key in answer::KEYS.iter().chain(&BESIDE) {
            assert!(keys.say_anything(&fields(&json!({ *key: 1, "other": 2 }))), "{key}");
        }
        assert!(!keys.say_anything(&fields(&json!({"turn": null, "colour": 1}))));
        assert_eq!(keys.warned(), ["colour"]);
    }

    #[test]
    fn the_closest_key_is_named() {
        for (key, meant) in [("txet", "text"), ("Text", "text"), ("progres", "progress"), ("stat", "state")] {
            assert_eq!(closest(key).as_deref(), Some(meant));
        }
        assert_eq!((closest("colour"), closest("journal")), (None, None));
    }

    #[test]
    fn warnings_have_a_bound() {
        let keys = UnknownKeys::new(Handle::parse("agent").unwrap());
        for number in 0..=KEYS_WARNED_MAX {
            keys.has_known(&fields(&json!({ format!("key{number}"): 1 })));
        }
        assert_eq!(keys.warned().len(), KEYS_WARNED_MAX);
    }
}
