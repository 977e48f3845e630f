//! What agents get wrong is taken as it is meant, as long as it is an answer at all.

use forecourt_core::TaskState;
use serde_json::{Value, json};

use super::DIALECTS;
use crate::codec::{Dialect, DialectValue, Method};
use crate::model::{Item, Operation, OperationError, OperationOutcome, Part, Role};

use Dialect::{Json03, Json10};

#[test]
fn what_is_no_item_is_no_answer() {
    let rows = [
        json!(null),
        json!("task"),
        json!([]),
        json!({}),
        json!({"task":null}),
        json!({"task":"x"}),
        json!({"task":{}}),
        json!({"kind":"task"}),
        json!({"task":{"id":"t","status":{}},"message":{"messageId":"m"}}),
        json!({"task":{"id":"t","status":"completed"}}),
        json!({"message":{"messageId":"m","parts":["x"]}}),
        json!({"kind":"status-update","status":{"state":"working"}}),
        json!({"artifactUpdate":{"taskId":"t"}}),
    ];
    for dialect in DIALECTS {
        for row in &rows {
            assert_eq!(dialect.read_item(row.clone()), Err(OperationError::InvalidAgentResponse), "{dialect:?} {row}");
        }
    }
}

#[test]
fn an_update_is_no_answer_to_a_send_nor_to_a_get() {
    let update = json!({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}});
    for method in [Method::Send, Method::Get, Method::Cancel] {
        assert_eq!(Json10.read_outcome(method, update.clone()), Err(OperationError::InvalidAgentResponse));
    }
    assert!(matches!(Json10.read_outcome(Method::Subscribe, update), Ok(OperationOutcome::Sent(Item::Status(_)))));
    assert_eq!(Json10.read_outcome(Method::ExtendedCard, json!([])), Err(OperationError::InvalidAgentResponse));
}

fn task(dialect: Dialect, value: Value) -> crate::model::Task {
    match dialect.read_item(value) {
        Ok(Item::Task(task)) => task,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_are_found_in_every_wrapping() {
    let bare = json!({"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}});
    for dialect in DIALECTS {
        let want = task(dialect, bare.clone());
        assert_eq!(want.status.state, TaskState::Completed);
        assert_eq!(task(dialect, json!({"task":bare})), want);
        assert_eq!(task(dialect, json!({"Task":bare})), want);
        assert_eq!(task(dialect, json!({"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}})), want);
        assert_eq!(task(dialect, json!({"id":"t","context_id":"c","status":{"state":3},"new":[]})), want);
    }
}

#[test]
fn what_is_missing_or_unknown_has_a_meaning() {
    for state in [json!("unknown"), json!("TASK_STATE_UNSPECIFIED"), json!(0), json!(99), json!(null), json!({})] {
        let task = task(Json10, json!({"task":{"id":"t","status":{"state":state,"timestamp":"soon"},"metadata":7}}));
        assert_eq!((task.status.state, task.context.as_str()), (TaskState::Working, ""));
        assert_eq!((task.status.timestamp, task.metadata.len()), (None, 0));
    }
    let Ok(Item::Message(message)) = Json10.read_item(json!({"message":{"parts":[{"text":"x"},{}]}})) else { panic!() };
    assert_eq!((message.id.as_str(), message.role, message.parts), ("", Role::Agent, vec![Part::text("x")]));
}

#[test]
fn kind_may_be_missing_when_the_shape_is_clear() {
    let rows = [
        json!({"messageId":"m","role":"agent","parts":[{"text":"x"}]}),
        json!({"taskId":"t","contextId":"c","status":{"state":"working"},"final":false}),
        json!({"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}),
    ];
    let [message, status, artifact] = rows.map(|row| Json03.read_item(row).unwrap());
    assert!(matches!(message, Item::Message(m) if m.parts == [Part::text("x")]));
    assert!(matches!(status, Item::Status(_)));
    assert!(matches!(artifact, Item::Artifact(a) if a.artifact.parts == [Part::text("x")]));
}

#[test]
fn parts_of_0_3_are_understood_in_an_answer_of_1_0() {
    let item = Json10.read_item(json!({"message":{"messageId":"m","parts":[{"kind":"text","text":"x"}]}}));
    assert!(matches!(item, Ok(Item::Message(m)) if m.parts == [Part::text("x")]));
}

#[test]
fn an_extended_card_is_any_object() {
    assert_eq!(DialectValue(Json10, &Operation::ExtendedCard).to_value(), json!({}));
    let card = json!({"name":"x"});
    assert_eq!(Json10.read_outcome(Method::ExtendedCard, card.clone()), Ok(OperationOutcome::Card(card)));
}

#[test]
fn lists_without_numbers_count_themselves() {
    let tasks = json!({"tasks":[{"id":"t","status":{}}]});
    let Ok(OperationOutcome::Listing(listing)) = Json10.read_outcome(Method::List, tasks) else { panic!() };
    assert_eq!((listing.tasks.len(), listing.page_size, listing.total), (1, 1, 1));
    assert_eq!(Json10.read_outcome(Method::List, json!([])), Err(OperationError::InvalidAgentResponse));
}
