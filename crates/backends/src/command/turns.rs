//! Which of a worker's turns a line of its output belongs to, so that no line reaches another caller.

use serde_json::Value;

/// The key that names a turn, in the message for a worker and in each line of its answer.
pub(super) const TURN: &str = "turn";

/// The turns of one process. Every line is judged here before it is an answer to anybody.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The number of the turn that it was given last. No two turns of a pool have the same.
    current: u64,
    /// How many it was given.
    given: u64,
    /// Whether a line of the current turn did not name it.
    has_unnamed: bool,
}

/// A line that names no turn, from a process that has had several: it may be an answer to somebody else.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line without the `turn` that it answers, from a worker that has answered before")]
pub(super) struct UnnamedTurn;

impl Turns {
    /// The process is given the turn with this number.
    pub(super) fn begin(&mut self, number: u64) {
        *self = Self { current: number, given: self.given + 1, has_unnamed: false };
    }

    /// The value of a line, if it belongs to the current turn. `None`: it is a late one of an earlier turn.
    ///
    /// # Errors
    /// It does not say to which turn it belongs, and there were several.
    pub(super) fn judge(&mut self, value: Value) -> Result<Option<Value>, UnnamedTurn> {
        match value.get(TURN).and_then(Value::as_u64) {
            Some(turn) if turn == self.current => Ok(Some(value)),
            Some(_) => Ok(None),
            // Whatever a process writes in its first turn can only be an answer to that one.
            None if self.given <= 1 => {
                self.has_unnamed = true;
                Ok(Some(value))
            }
            None => Err(UnnamedTurn),
        }
    }

    /// Whether it was given none yet, so that nothing it writes can be another caller's.
    pub(super) fn is_fresh(&self) -> bool {
        self.given == 0
    }

    /// Whether the process may be given another turn: it names those that it answers.
    pub(super) fn may_go_on(&self) -> bool {
        !self.has_unnamed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_of_another_turn_is_nobodys() {
        let mut turns = Turns::default();
        assert!(turns.is_fresh());
        turns.begin(7);
        assert!(!turns.is_fresh());
        assert_eq!(turns.judge(json!({"turn": 7, "text": "a"})), Ok(Some(json!({"turn": 7, "text": "a"}))));
        turns.begin(8);
        for late in [json!({"turn": 7, "end": true}), json!({"turn": 9, "text": "x"}), json!({"turn": 0})] {
            assert_eq!(turns.judge(late), Ok(None));
        }
        assert!(turns.may_go_on());
    }

    #[test]
    fn a_line_that_names_no_turn_belongs_to_the_first_one_and_is_the_last_of_its_process() {
        for line in [json!({"text": "a"}), json!("a"), json!([{"turn": 7}]), json!({"turn": "7"}), json!({"turn": 7.5})]
        {
            let mut turns = Turns::default();
            turns.begin(7);
            assert_eq!(turns.judge(line.clone()), Ok(Some(line.clone())));
            assert!(!turns.may_go_on(), "{line}");
            turns.begin(8);
            assert_eq!(turns.judge(line), Err(UnnamedTurn));
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_no_later_turn_takes_it_for_its_own(turn in 0_u64..4, text in ".{0,20}", names in any::<bool>()) {
            let line = if names { json!({"turn": turn, "text": text}) } else { json!({"text": text}) };
            let mut turns = Turns::default();
            turns.begin(10);
            turns.begin(11);
            prop_assert!(!matches!(turns.judge(line), Ok(Some(_))));
        }
    }
}
