//! The legal moves of a task.

use forecourt_core::TaskState::{self, *};
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::Question;
use forecourt_core::{Ending, PolicyPart};

/// Every move that is legal; all others are not.
const MOVES: [(TaskState, &[TaskState]); 8] = [
    (Submitted, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (Working, &[InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
    (InputRequired, &[Working, Completed, Failed, Canceled, Rejected]),
    (AuthRequired, &[Working, Completed, Failed, Canceled, Rejected]),
    (Completed, &[]),
    (Failed, &[]),
    (Canceled, &[]),
    (Rejected, &[]),
];

#[test]
fn only_these_moves_are_legal() {
    assert_eq!(MOVES.map(|(from, _)| from), TaskState::ALL);
    for (from, legal) in MOVES {
        for to in TaskState::ALL {
            assert_eq!(from.may_become(to), legal.contains(&to), "{} to {}", from.name(), to.name());
        }
    }
}

#[test]
fn nothing_leaves_a_final_state_and_every_other_can_be_cancelled() {
    for (from, legal) in MOVES {
        assert_eq!(from.is_final(), legal.is_empty());
        assert_eq!(from.may_become(Canceled), !from.is_final());
    }
}

#[test]
fn a_settled_task_has_no_agent_at_work() {
    assert_eq!(TaskState::ALL.map(TaskState::is_settled), [false, false, true, true, true, true, true, true]);
}

#[test]
fn names_are_read_back_and_equal_the_json_form() {
    for state in TaskState::ALL {
        assert_eq!(TaskState::from_name(state.name()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.name());
    }
    assert_eq!(TaskState::from_name("input-required"), None);
}

#[test]
fn every_ending_settles_a_task_that_was_at_work() {
    let refused = |kind| Ending::Refused(Box::new(PolicyPart::new(kind, "m")));
    let endings = [
        (Ending::Complete, Completed),
        (Ending::Message("hi".into()), Completed),
        (Ending::Question(Question { text: "?".into(), questions: vec![] }), InputRequired),
        (refused(RefusalKind::Forbidden), Rejected),
        (refused(RefusalKind::Other("new".into())), Failed),
        (Ending::unfinished(), Failed),
        (Ending::Canceled, Canceled),
    ];
    for (ending, state) in endings {
        assert_eq!(TaskState::after(&ending), state, "{ending:?}");
        assert!(Working.may_become(state) && Submitted.may_become(state) && state.is_settled());
    }
}
