//! Push configurations, whose shapes differ most: literals of each dialect, read and written.

use serde_json::json;

use super::shapes::all;
use super::{message, sent};
use crate::codec::{Dialect, DialectValue, Method};
use crate::model::*;

use Dialect::{Json03, Json10, Proto03};

fn config() -> PushConfig {
    PushConfig {
        id: Some("p".into()),
        task: Some("t".into()),
        url: "https://h.example".into(),
        token: Some("s".into()),
        authentication: Some(PushAuthentication { schemes: vec!["Bearer".into()], credentials: Some("k".into()) }),
    }
}

#[test]
fn push_configurations_have_the_shape_of_their_dialect() {
    let nested = json!({"id":"p","url":"https://h.example","token":"s",
        "authentication":{"schemes":["Bearer"],"credentials":"k"}});
    let results = all(
        json!({"taskId":"t","pushNotificationConfig":nested}),
        json!({"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":nested}),
        json!({"id":"p","taskId":"t","url":"https://h.example","token":"s",
            "authentication":{"scheme":"Bearer","credentials":"k"}}),
    );
    for (dialect, shape) in results {
        assert_eq!(DialectValue(dialect, &OperationOutcome::Push(config())).to_value(), shape);
        assert_eq!(dialect.read_outcome(Method::PushGet, shape.clone()), Ok(OperationOutcome::Push(config())));
        let create = match dialect {
            Proto03 => json!({"parent":"tasks/t","configId":"p","config":shape}),
            Json03 | Json10 => shape.clone(),
        };
        assert_eq!(DialectValue(dialect, &Operation::PushCreate(config())).to_value(), create);
        assert_eq!(dialect.read_params(Method::PushCreate, create), Ok(Operation::PushCreate(config())));
        let listing = PushListing { configs: vec![config()], next_page_token: String::new() };
        let page = match dialect {
            Json03 => json!([shape]),
            Proto03 | Json10 => json!({"configs":[shape],"nextPageToken":""}),
        };
        assert_eq!(DialectValue(dialect, &OperationOutcome::Pushes(listing.clone())).to_value(), page);
        assert_eq!(dialect.read_outcome(Method::PushList, page), Ok(OperationOutcome::Pushes(listing)));
    }
}

#[test]
fn push_configurations_of_rest_may_leave_their_task_to_the_path() {
    for params in [
        json!({"taskId":"t","pushNotificationConfig":{"url":"https://h.example"}}),
        json!({"taskId":"t","url":"https://h.example"}),
        json!({"parent":"tasks/t","config":{"pushNotificationConfig":{"url":"https://h.example"}}}),
        json!({"taskId":"t","config":{"url":"https://h.example"}}),
        json!({"taskId":"t","parent":"tasks/x","url":"https://h.example"}),
        json!({"taskId":"t","parent":"tasks/x","config":{"name":"tasks/y","url":"https://h.example"}}),
    ] {
        let read = Proto03.read_params(Method::PushCreate, params);
        let want = PushConfig { id: None, token: None, authentication: None, ..config() };
        assert_eq!(read, Ok(Operation::PushCreate(want)));
    }
}

#[test]
fn inline_push_configurations_have_their_names() {
    let config = PushConfig { task: None, ..config() };
    for (dialect, field) in [
        (Json03, "pushNotificationConfig"),
        (Proto03, "pushNotification"),
        (Proto03, "pushNotificationConfig"),
        (Json10, "taskPushNotificationConfig"),
        (Json10, "task_push_notification_config"),
        (Json10, "pushNotificationConfig"),
    ] {
        let push = json!({"id":"p","url":"https://h.example","token":"s",
            "authentication":{"scheme":"Bearer","credentials":"k"}});
        let written = DialectValue(dialect, &message(Role::User, vec![Part::text("x")])).to_value();
        let send = sent(dialect, json!({"message":written,"configuration":{field:push}}));
        assert_eq!(send.configuration.push, Some(config.clone()), "{dialect:?} {field}");
    }
}

#[test]
fn push_names_have_the_shape_of_their_dialect() {
    for (dialect, params) in all(
        json!({"id":"t","pushNotificationConfigId":"p"}),
        json!({"name":"tasks/t/pushNotificationConfigs/p"}),
        json!({"taskId":"t","id":"p"}),
    ) {
        let get = Operation::PushGet { task: "t".into(), id: Some("p".into()) };
        let delete = Operation::PushDelete { task: "t".into(), id: "p".into() };
        assert_eq!(DialectValue(dialect, &get).to_value(), params);
        assert_eq!(dialect.read_params(Method::PushGet, params.clone()), Ok(get));
        assert_eq!(DialectValue(dialect, &delete).to_value(), params);
        assert_eq!(dialect.read_params(Method::PushDelete, params), Ok(delete));
    }
    let only = Operation::PushGet { task: "t".into(), id: None };
    assert_eq!(Json03.read_params(Method::PushGet, json!({"id":"t"})), Ok(only));
}

#[test]
fn push_lists_are_asked_for_by_task() {
    for (dialect, params) in all(json!({"id":"t"}), json!({"parent":"tasks/t"}), json!({"taskId":"t"})) {
        let operation = Operation::PushList { task: "t".into(), page_size: None, page_token: None };
        assert_eq!(DialectValue(dialect, &operation).to_value(), params);
        assert_eq!(dialect.read_params(Method::PushList, params), Ok(operation));
    }
}

#[test]
fn removal_answers_null_in_the_json_of_0_3() {
    for (dialect, shape) in all(json!(null), json!({}), json!({})) {
        assert_eq!(DialectValue(dialect, &OperationOutcome::Removed).to_value(), shape);
        assert_eq!(dialect.read_outcome(Method::PushDelete, shape), Ok(OperationOutcome::Removed));
    }
}
