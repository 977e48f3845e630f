//! What an agent keeps in a conversation, among the turns that it came with.

use forecourt_core::limits::THREAD_TURNS_MAX;
use forecourt_core::message::TurnState;
use forecourt_core::{AgentState, Turn};
use serde_json::Value;

/// Turns behind a state after which it is kept anew: long before the turn that it came with is left out.
const RENEWED_AFTER: usize = THREAD_TURNS_MAX / 2;

/// What an agent has kept in a conversation: the last turn counts with which it kept something. What the host has only
/// kept anew counts where there is no such turn any more, since a turn that began before may have ended behind it.
pub(super) fn recalled_state(turns: &[Turn]) -> AgentState {
    let states = || turns.iter().rev().enumerate().filter_map(|(age, turn)| Some((age, turn.state.as_deref()?)));
    let Some((age, found)) = states().find(|(_, state)| !state.is_renewed).or_else(|| states().next()) else {
        return AgentState::of(None);
    };
    let kept = (!found.value.is_null()).then(|| found.value.clone());
    // That nothing is kept has to be said again only where something older would be found otherwise.
    let mut later = states().take_while(|(later, _)| *later < age);
    let is_due = match &kept {
        Some(value) => age >= RENEWED_AFTER && !later.any(|(age, state)| age < RENEWED_AFTER && state.value == *value),
        None => age >= RENEWED_AFTER && later.any(|(_, state)| !state.value.is_null()),
    };
    if is_due { AgentState::renewed(kept) } else { AgentState::of(kept) }
}

/// What a turn keeps of it: what the agent said, or what was kept before.
pub(super) fn state_of(state: &AgentState) -> Option<TurnState> {
    let said = state.next().map(|value| TurnState { value, is_renewed: false });
    said.or_else(|| state.renewal().map(|value| TurnState { value, is_renewed: true }))
}

/// Where the newest state is that an agent has kept: no state before it is ever asked for.
pub(super) fn newest_state(turns: &[Turn]) -> Option<usize> {
    turns.iter().rposition(|turn| turn.state.as_ref().is_some_and(|state| !state.is_renewed))
}

/// Bytes of a turn's state as JSON.
pub(super) fn state_bytes(turn: &Turn) -> usize {
    turn.state.as_ref().map_or(0, |state| match &state.value {
        Value::String(text) => text.len(),
        value => value.to_string().len(),
    })
}

#[cfg(test)]
mod tests {
    use forecourt_core::Role;
    use serde_json::json;

    use super::*;

    fn with(value: Value, is_renewed: bool) -> Turn {
        Turn { state: Some(Box::new(TurnState { value, is_renewed })), ..Turn::text(Role::Assistant, "a") }
    }

    fn found(turns: &[Turn], behind: usize) -> (Option<Value>, Option<Value>) {
        let mut all = turns.to_vec();
        all.extend(vec![Turn::text(Role::User, "b"); behind]);
        let state = recalled_state(&all);
        (state.kept().cloned(), state.renewal())
    }

    #[test]
    fn the_last_state_counts_and_one_that_grows_old_is_kept_anew() {
        let (one, old) = (json!(1), with(json!(0), false));
        let all = [old.clone(), with(one.clone(), false)];
        assert_eq!(found(&all, RENEWED_AFTER - 1), (Some(one.clone()), None));
        assert_eq!(found(&all, RENEWED_AFTER), (Some(one), Some(json!(1))));
        assert_eq!(found(&[old, with(Value::Null, false)], RENEWED_AFTER), (None, None), "it was removed");
        assert_eq!(found(&[], 0), (None, None));
    }

    #[test]
    fn what_is_kept_anew_never_hides_what_another_turn_kept_meanwhile() {
        let (new, old) = (with(json!("new"), false), with(json!("old"), true));
        let both = [new.clone(), old.clone()];
        assert_eq!(found(&both, 0), (Some(json!("new")), None));
        assert_eq!(found(&both, RENEWED_AFTER), (Some(json!("new")), Some(json!("new"))));
        // Once it is kept anew itself, it stays when its turn is left out.
        let renewed = [new, old.clone(), with(json!("new"), true)];
        assert_eq!(found(&renewed, RENEWED_AFTER - 1), (Some(json!("new")), None));
        assert_eq!(found(&renewed[1..], 0).0, Some(json!("new")));
        // What was removed stays so.
        assert_eq!(found(&[with(Value::Null, false), old], RENEWED_AFTER), (None, Some(Value::Null)));
    }
}
