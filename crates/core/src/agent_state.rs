//! This module has what an agent keeps in a conversation between two of its turns.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::limits::AGENT_STATE_BYTES_MAX;

/// Why a state is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AgentStateError {
    /// The message is of no conversation that is kept.
    #[error("the message is of no conversation in which something could be kept")]
    NoConversation,
    /// It is larger than [`AGENT_STATE_BYTES_MAX`].
    #[error("a state has at most {AGENT_STATE_BYTES_MAX} bytes as JSON, and this one has {bytes}")]
    TooLarge {
        /// Bytes of it.
        bytes: usize,
    },
}

/// What an agent has kept in a conversation, and what it wants kept from here on; without a conversation there is
/// neither. The host keeps it with the turn, sealed and counted as that is, and shows it to nobody but the agent. Clones
/// are one and the same.
#[derive(Clone, Default)]
pub struct AgentState(Option<Arc<StateOfTurn>>);

struct StateOfTurn {
    kept: Option<Value>,
    is_renewed: bool,
    next: Mutex<Option<Value>>,
}

impl AgentState {
    /// Of a conversation in which this was kept so far.
    pub fn of(kept: Option<Value>) -> Self {
        Self(Some(Arc::new(StateOfTurn { kept, is_renewed: false, next: Mutex::default() })))
    }

    /// Of a conversation in which this was kept so long ago that it is to be kept anew with this turn.
    pub fn renewed(kept: Option<Value>) -> Self {
        Self(Some(Arc::new(StateOfTurn { kept, is_renewed: true, next: Mutex::default() })))
    }

    /// What was kept before this turn.
    pub fn kept(&self) -> Option<&Value> {
        self.0.as_ref()?.kept.as_ref()
    }

    /// Has a state be kept in place of the one before, once the turn has ended well; `null` removes it.
    ///
    /// # Errors
    /// Nothing is kept of the message, or the state is too large.
    pub fn replace(&self, next: Value) -> Result<(), AgentStateError> {
        let state = self.0.as_ref().ok_or(AgentStateError::NoConversation)?;
        let bytes = next.to_string().len();
        if bytes > AGENT_STATE_BYTES_MAX {
            return Err(AgentStateError::TooLarge { bytes });
        }
        *state.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(())
    }

    /// What is to be kept from here on, `null` for nothing. `None` where it stays as it is.
    pub fn next(&self) -> Option<Value> {
        self.0.as_ref()?.next.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl AgentState {
    /// What is to be kept anew, `null` for nothing: what was kept before this turn, unless the agent has it replaced.
    pub fn renewal(&self) -> Option<Value> {
        let state = self.0.as_ref().filter(|state| state.is_renewed)?;
        self.next().is_none().then(|| state.kept.clone().unwrap_or_default())
    }
}

/// Tells nothing of what is kept.
impl fmt::Debug for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentState").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_of_the_bound_is_kept_and_one_byte_more_is_not() {
        let state = AgentState::of(Some(json!(1)));
        let of = |bytes: usize| json!("x".repeat(bytes - 2));
        assert_eq!(state.replace(of(AGENT_STATE_BYTES_MAX)), Ok(()));
        let bytes = AGENT_STATE_BYTES_MAX + 1;
        assert_eq!(state.replace(of(bytes)), Err(AgentStateError::TooLarge { bytes }));
        assert_eq!((state.kept(), state.next()), (Some(&json!(1)), Some(of(AGENT_STATE_BYTES_MAX))));
        state.clone().replace(Value::Null).unwrap();
        assert_eq!(state.next(), Some(Value::Null));
    }

    #[test]
    fn what_is_renewed_gives_way_to_what_the_agent_keeps() {
        let state = AgentState::renewed(Some(json!(1)));
        assert_eq!((state.renewal(), state.next()), (Some(json!(1)), None));
        state.replace(json!(2)).unwrap();
        assert_eq!((state.renewal(), state.next()), (None, Some(json!(2))));
        assert_eq!(AgentState::renewed(None).renewal(), Some(Value::Null));
        assert_eq!(AgentState::of(Some(json!(1))).renewal(), None);
    }

    #[test]
    fn without_a_conversation_nothing_is_kept() {
        let state = AgentState::default();
        assert_eq!(state.replace(json!(1)), Err(AgentStateError::NoConversation));
        assert_eq!((state.kept(), state.next()), (None, None));
        assert!(!format!("{:?}", AgentState::of(Some(json!("secret")))).contains("secret"));
    }
}
