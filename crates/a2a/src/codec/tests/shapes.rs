//! The table of shapes, row by row: literals of each dialect, read and written.

use bytes::Bytes;
use forecourt_core::TaskState;
use serde_json::{Map, Value, json};

use super::{DIALECTS, message, named, sent};
use crate::codec::{Dialect, DialectValue, Method};
use crate::model::*;

use Dialect::{Json03, Json10, Proto03};

pub(super) fn all(json03: Value, proto03: Value, json10: Value) -> [(Dialect, Value); 3] {
    [(Json03, json03), (Proto03, proto03), (Json10, json10)]
}

#[test]
fn methods_are_called_as_the_table_of_operations_says() {
    for method in Method::ALL {
        for version in [Version::V0_3, Version::V1_0] {
            assert_eq!(Method::from_rpc(method.rpc_name(version)), Some((version, method)));
            assert_eq!(Method::from_grpc(version, method.grpc_name(version)), Some(method));
        }
    }
    assert_eq!(Method::from_rpc("tasks/resubscribe"), Some((Version::V0_3, Method::Subscribe)));
    assert_eq!(Method::from_rpc("SubscribeToTask"), Some((Version::V1_0, Method::Subscribe)));
    assert_eq!(Method::from_grpc(Version::V0_3, "TaskSubscription"), Some(Method::Subscribe));
    assert_eq!(Method::from_grpc(Version::V0_3, "GetAgentCard"), Some(Method::ExtendedCard));
    for none in ["", "sendMessage", "message/Send", "tasks/", "GetAgentCard"] {
        assert_eq!(Method::from_rpc(none), None, "{none}");
    }
}

#[test]
fn parts_have_the_shape_of_their_dialect() {
    let raw = named(Content::Raw(Bytes::from_static(b"hi?")), "a.txt", "text/plain");
    let url = named(Content::Url("https://x.example/a".into()), "a.txt", "text/plain");
    let nameless = |part: &Part| Part { filename: None, ..part.clone() };
    let rows = [
        (Part::text("hi"), all(json!({"kind":"text","text":"hi"}), json!({"text":"hi"}), json!({"text":"hi"}))),
        (
            raw.clone(),
            all(
                json!({"kind":"file","file":{"bytes":"aGk/","name":"a.txt","mimeType":"text/plain"}}),
                json!({"file":{"fileWithBytes":"aGk/","mimeType":"text/plain"}}),
                json!({"raw":"aGk/","filename":"a.txt","mediaType":"text/plain"}),
            ),
        ),
        (
            url.clone(),
            all(
                json!({"kind":"file","file":{"uri":"https://x.example/a","name":"a.txt","mimeType":"text/plain"}}),
                json!({"file":{"fileWithUri":"https://x.example/a","mimeType":"text/plain"}}),
                json!({"url":"https://x.example/a","filename":"a.txt","mediaType":"text/plain"}),
            ),
        ),
        (
            Part::data(json!({"a":1})),
            all(json!({"kind":"data","data":{"a":1}}), json!({"data":{"data":{"a":1}}}), json!({"data":{"a":1}})),
        ),
    ];
    for (part, shapes) in rows {
        for (dialect, shape) in shapes {
            let written = DialectValue(dialect, &message(Role::User, vec![part.clone()])).to_value();
            let list = if dialect == Proto03 { "content" } else { "parts" };
            assert_eq!(written[list], json!([shape]), "{dialect:?}");
            let want = if dialect == Proto03 { nameless(&part) } else { part.clone() };
            assert_eq!(sent(dialect, json!({"message": written})).message.parts, [want], "{dialect:?}");
        }
    }
}

#[test]
fn data_that_is_no_object_is_wrapped_for_0_3() {
    let written =
        |dialect: Dialect| DialectValue(dialect, &message(Role::User, vec![Part::data(json!([1]))])).to_value();
    assert_eq!(written(Json03)["parts"][0]["data"], json!({"value":[1]}));
    assert_eq!(written(Proto03)["content"][0]["data"]["data"], json!({"value":[1]}));
    assert_eq!(written(Json10)["parts"][0]["data"], json!([1]));
}

#[test]
fn any_json_is_data_in_1_0() {
    for data in [json!(null), json!(false), json!("x"), json!(1.5), json!([]), json!({})] {
        let send = sent(Json10, json!({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":data}]}}));
        assert_eq!(send.message.parts, [Part::data(data)]);
    }
}

#[test]
fn bytes_are_read_in_either_alphabet() {
    for text in ["-_8=", "-_8", "+/8=", "+/8"] {
        let send = sent(Json10, json!({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":text}]}}));
        assert_eq!(send.message.parts, [Part::of(Content::Raw(Bytes::from_static(&[0xfb, 0xff])))]);
    }
}

#[test]
fn messages_have_the_shape_of_their_dialect() {
    let full = Message {
        context: Some("c".into()),
        task: Some("t".into()),
        references: vec!["r".into()],
        extensions: vec!["https://e.example".into()],
        metadata: Map::from_iter([("k".into(), json!({"snake_case":1}))]),
        ..message(Role::User, vec![Part::text("hi")])
    };
    let shapes = all(
        json!({"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hi"}],"contextId":"c",
            "taskId":"t","referenceTaskIds":["r"],"extensions":["https://e.example"],"metadata":{"k":{"snake_case":1}}}),
        json!({"messageId":"m-1","role":"ROLE_USER","content":[{"text":"hi"}],"contextId":"c",
            "taskId":"t","extensions":["https://e.example"],"metadata":{"k":{"snake_case":1}}}),
        json!({"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}],"contextId":"c",
            "taskId":"t","referenceTaskIds":["r"],"extensions":["https://e.example"],"metadata":{"k":{"snake_case":1}}}),
    );
    for (dialect, shape) in shapes {
        assert_eq!(DialectValue(dialect, &full).to_value(), shape);
        let references = if dialect == Proto03 { Vec::new() } else { full.references.clone() };
        assert_eq!(sent(dialect, json!({"message":shape})).message, Message { references, ..full.clone() });
    }
}

#[test]
fn s5_5_both_spellings_unknown_fields_and_null_are_fine() {
    let plain = json!({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","mediaType":"text/plain"}],
        "contextId":"c"},"configuration":{"historyLength":3,"returnImmediately":true}});
    let snake = json!({"tenant":"acme","new_field":[1],"metadata":null,
        "message":{"message_id":"m","role":1,"parts":[{"text":"x","media_type":"text/plain","url":null,"data":null}],
        "context_id":"c","task_id":"","reference_task_ids":[],"more":{}},
        "configuration":{"history_length":"3","return_immediately":true,"accepted_output_modes":null}});
    assert_eq!(sent(Json10, plain), sent(Json10, snake));
}

#[test]
fn rest_of_0_3_takes_parts_with_kinds_too() {
    let proto = json!({"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"},{"data":{"data":{"a":1}}},
        {"file":{"fileWithUri":"https://x.example","mimeType":"a/b"}}]}});
    let kinds = json!({"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"},
        {"kind":"data","data":{"a":1}},{"kind":"file","file":{"uri":"https://x.example","mimeType":"a/b"}}]}});
    let mut renamed = proto.clone();
    renamed["request"] = renamed["message"].take();
    assert_eq!(sent(Proto03, renamed), sent(Proto03, proto.clone()));
    assert_eq!(sent(Proto03, proto), sent(Proto03, kinds));
}

#[test]
fn waiting_is_the_default_but_where_the_wire_leaves_out_what_is_false() {
    let of = |dialect: Dialect, configuration: Value| {
        let written = DialectValue(dialect, &message(Role::User, vec![Part::text("x")])).to_value();
        sent(dialect, json!({"message":written,"configuration":configuration})).configuration.blocking
    };
    for dialect in DIALECTS {
        assert!(of(dialect, Value::Null));
        assert_eq!(of(dialect, json!({})), dialect != Proto03);
        assert!(of(dialect, json!({"blocking":true})));
        assert!(!of(dialect, json!({"blocking":false})));
    }
    assert!(of(Json10, json!({"returnImmediately":false})));
    assert!(!of(Json10, json!({"returnImmediately":true})));
    assert!(!of(Json10, json!({"returnImmediately":true,"blocking":true})));
    assert!(of(Json03, json!({"returnImmediately":true})));
}

#[test]
fn states_are_spelt_as_the_table_says() {
    let names = |dialect: Dialect| TaskState::ALL.map(|state| dialect.state_name(state)).join(" ");
    assert_eq!(names(Json03), "submitted working input-required auth-required completed failed canceled rejected");
    assert_eq!(
        names(Json10),
        "TASK_STATE_SUBMITTED TASK_STATE_WORKING TASK_STATE_INPUT_REQUIRED TASK_STATE_AUTH_REQUIRED \
         TASK_STATE_COMPLETED TASK_STATE_FAILED TASK_STATE_CANCELED TASK_STATE_REJECTED"
    );
    assert_eq!(names(Proto03), names(Json10).replace("CANCELED", "CANCELLED"));
}

fn task() -> Task {
    let status = Status {
        state: TaskState::Canceled,
        message: Some(message(Role::Agent, vec![Part::text("bye")])),
        timestamp: Some("2026-01-31T12:00:00.5Z".parse().unwrap()),
    };
    let artifact = Artifact {
        id: "a".into(),
        name: Some("n".into()),
        description: Some("d".into()),
        parts: vec![Part::text("hi")],
        extensions: Vec::new(),
        metadata: Map::new(),
    };
    Task {
        id: "t".into(),
        context: "c".into(),
        status,
        artifacts: vec![artifact],
        history: vec![message(Role::User, vec![Part::text("hi")])],
        metadata: Map::new(),
    }
}

fn task_shapes() -> [(Dialect, Value); 3] {
    all(
        json!({"kind":"task","id":"t","contextId":"c","status":{"state":"canceled","timestamp":"2026-01-31T12:00:00.500Z",
            "message":{"kind":"message","messageId":"m-1","role":"agent","parts":[{"kind":"text","text":"bye"}]}},
            "artifacts":[{"artifactId":"a","name":"n","description":"d","parts":[{"kind":"text","text":"hi"}]}],
            "history":[{"kind":"message","messageId":"m-1","role":"user","parts":[{"kind":"text","text":"hi"}]}]}),
        json!({"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED","timestamp":"2026-01-31T12:00:00.500Z",
            "message":{"messageId":"m-1","role":"ROLE_AGENT","content":[{"text":"bye"}]}},
            "artifacts":[{"artifactId":"a","name":"n","description":"d","parts":[{"text":"hi"}]}],
            "history":[{"messageId":"m-1","role":"ROLE_USER","content":[{"text":"hi"}]}]}),
        json!({"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELED","timestamp":"2026-01-31T12:00:00.500Z",
            "message":{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"bye"}]}},
            "artifacts":[{"artifactId":"a","name":"n","description":"d","parts":[{"text":"hi"}]}],
            "history":[{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}]}]}),
    )
}

#[test]
fn tasks_have_the_shape_of_their_dialect() {
    for (dialect, shape) in task_shapes() {
        assert_eq!(DialectValue(dialect, &task()).to_value(), shape);
        assert_eq!(DialectValue(dialect, &OperationOutcome::Task(task())).to_value(), shape);
        let sent = if dialect == Json03 { shape.clone() } else { json!({"task":shape}) };
        assert_eq!(DialectValue(dialect, &OperationOutcome::Sent(Item::Task(task()))).to_value(), sent);
        assert_eq!(dialect.read_outcome(Method::Send, sent), Ok(OperationOutcome::Sent(Item::Task(task()))));
        assert_eq!(dialect.read_outcome(Method::Get, shape), Ok(OperationOutcome::Task(task())));
    }
}

#[test]
fn what_is_empty_is_left_out() {
    let bare = Task {
        artifacts: vec![],
        history: vec![],
        status: Status { message: None, timestamp: None, ..task().status },
        ..task()
    };
    assert_eq!(
        DialectValue(Json10, &bare).to_value(),
        json!({"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELED"}})
    );
}

#[test]
fn direct_messages_are_wrapped_but_in_the_json_of_0_3() {
    let item = Item::Message(message(Role::Agent, vec![Part::text("hi")]));
    for (dialect, shape) in all(
        json!({"kind":"message","messageId":"m-1","role":"agent","parts":[{"kind":"text","text":"hi"}]}),
        json!({"message":{"messageId":"m-1","role":"ROLE_AGENT","content":[{"text":"hi"}]}}),
        json!({"message":{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}),
    ) {
        assert_eq!(DialectValue(dialect, &item).to_value(), shape);
        assert_eq!(dialect.read_item(shape), Ok(item.clone()));
    }
}

#[test]
fn updates_have_the_shape_of_their_dialect() {
    let status = Status { state: TaskState::Completed, message: None, timestamp: None };
    let update = StatusUpdate { task: "t".into(), context: "c".into(), status, is_final: true, metadata: Map::new() };
    for (dialect, shape) in all(
        json!({"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}),
        json!({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},"final":true}}),
        json!({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}),
    ) {
        assert_eq!(DialectValue(dialect, &Item::Status(update.clone())).to_value(), shape);
    }
    let artifact = task().artifacts.remove(0);
    let update = ArtifactUpdate {
        task: "t".into(),
        context: "c".into(),
        artifact: Artifact { name: None, description: None, ..artifact },
        append: false,
        last_chunk: true,
        metadata: Map::new(),
    };
    for (dialect, shape) in all(
        json!({"kind":"artifact-update","taskId":"t","contextId":"c","append":false,"lastChunk":true,
            "artifact":{"artifactId":"a","parts":[{"kind":"text","text":"hi"}]}}),
        json!({"artifactUpdate":{"taskId":"t","contextId":"c","lastChunk":true,
            "artifact":{"artifactId":"a","parts":[{"text":"hi"}]}}}),
        json!({"artifactUpdate":{"taskId":"t","contextId":"c","lastChunk":true,
            "artifact":{"artifactId":"a","parts":[{"text":"hi"}]}}}),
    ) {
        assert_eq!(DialectValue(dialect, &Item::Artifact(update.clone())).to_value(), shape);
    }
}

#[test]
fn tasks_are_named_by_id_or_by_path() {
    for (dialect, params) in all(
        json!({"id":"t","historyLength":0}),
        json!({"name":"tasks/t","historyLength":0}),
        json!({"id":"t","historyLength":0}),
    ) {
        let operation = Operation::Get { task: "t".into(), history_length: Some(0) };
        assert_eq!(DialectValue(dialect, &operation).to_value(), params);
        assert_eq!(dialect.read_params(Method::Get, params), Ok(operation));
        let by_id = dialect.read_params(Method::Subscribe, json!({"id":"t"}));
        assert_eq!(by_id, Ok(Operation::Subscribe { task: "t".into() }));
    }
}

#[test]
fn lists_have_all_four_members() {
    let listing = TaskListing { tasks: vec![], next_page_token: String::new(), page_size: 50, total: 0 };
    for dialect in DIALECTS {
        let written = DialectValue(dialect, &OperationOutcome::Listing(listing.clone())).to_value();
        assert_eq!(written, json!({"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}));
    }
}

#[test]
fn s3_1_4_filters_of_lists() {
    let params = json!({"contextId":"c","status":"TASK_STATE_WORKING","statusTimestampAfter":"2026-01-31T12:00:00Z",
        "pageSize":100,"pageToken":"p","historyLength":2,"includeArtifacts":true});
    let query = ListQuery {
        context: Some("c".into()),
        state: Some(TaskState::Working),
        since: Some("2026-01-31T12:00:00Z".parse().unwrap()),
        page_size: Some(100),
        page_token: Some("p".into()),
        history_length: Some(2),
        include_artifacts: true,
    };
    assert_eq!(Json10.read_params(Method::List, params), Ok(Operation::List(query.clone())));
    let words = json!({"contextId":"c","status":"TASK_STATE_WORKING","statusTimestampAfter":"2026-01-31T12:00:00Z",
        "pageSize":"100","pageToken":"p","historyLength":"2","includeArtifacts":"true"});
    assert_eq!(Json10.read_params(Method::List, words), Ok(Operation::List(query)));
    for none in [json!({}), json!(null), json!({"status":"TASK_STATE_UNSPECIFIED"}), json!({"status":0})] {
        assert_eq!(Json10.read_params(Method::List, none), Ok(Operation::List(ListQuery::default())));
    }
}
