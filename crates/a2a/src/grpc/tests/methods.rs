//! Every method of both packages: what the host is asked, and what is sent back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::TaskState;
use futures::StreamExt;
use serde_json::{Value, json};

use super::*;
use crate::model::Version::{V0_3, V1_0};
use crate::model::{
    Artifact, ArtifactUpdate, Content, Item, Metadata, Operation, Part, PushConfig, PushListing, Status, StatusUpdate,
    Task, TaskListing,
};

fn status(state: TaskState) -> Status {
    Status { state, message: None, timestamp: None }
}

fn task() -> Task {
    Task {
        id: "t".to_owned(),
        context: "c".to_owned(),
        status: status(TaskState::Completed),
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: Metadata::new(),
    }
}

fn push() -> PushConfig {
    PushConfig {
        id: Some("p".to_owned()),
        task: Some("t".to_owned()),
        url: "https://a.example/hook".to_owned(),
        token: None,
        authentication: None,
    }
}

fn items() -> Vec<Item> {
    let artifact = Artifact {
        id: "a".to_owned(),
        name: None,
        description: None,
        parts: vec![Part::text("hello")],
        extensions: Vec::new(),
        metadata: Metadata::new(),
    };
    vec![
        Item::Task(Task { status: status(TaskState::Working), ..task() }),
        Item::Artifact(ArtifactUpdate {
            task: "t".to_owned(),
            context: "c".to_owned(),
            artifact,
            append: false,
            last_chunk: true,
            metadata: Metadata::new(),
        }),
        Item::Status(StatusUpdate {
            task: "t".to_owned(),
            context: "c".to_owned(),
            status: status(TaskState::Completed),
            is_final: true,
            metadata: Metadata::new(),
        }),
    ]
}

fn script(call: &GrpcCall) -> BoxFuture<'static, Result<GrpcReply, Denial>> {
    now(Ok(match &call.operation {
        Operation::Send(_) => once(OperationOutcome::Sent(Item::Task(task()))),
        Operation::Stream(_) | Operation::Subscribe { .. } => {
            GrpcAnswer::Stream(futures::stream::iter(items()).boxed())
        }
        Operation::Get { .. } | Operation::Cancel { .. } => once(OperationOutcome::Task(task())),
        Operation::List(_) => once(OperationOutcome::Listing(TaskListing {
            tasks: vec![task()],
            next_page_token: "n".to_owned(),
            page_size: 50,
            total: 51,
        })),
        Operation::PushCreate(_) | Operation::PushGet { .. } => once(OperationOutcome::Push(push())),
        Operation::PushList { .. } => {
            once(OperationOutcome::Pushes(PushListing { configs: vec![push()], next_page_token: String::new() }))
        }
        Operation::PushDelete { .. } => once(OperationOutcome::Removed),
        Operation::ExtendedCard => once(OperationOutcome::Card(json!({
            "name": "Chef", "protocolVersion": "0.3.0", "@context": "x",
            "securitySchemes": {"bearer": {"type": "http", "scheme": "Bearer"}},
            "security": [{"bearer": ["ask"]}],
            "securityRequirements": [{"schemes": {"bearer": {"list": ["ask"]}}}],
        }))),
    }))
}

/// What each method is sent in one version, and what must come back.
fn table(version: Version) -> Vec<(Method, Value, Vec<Value>)> {
    let completed = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
    let mut ended = json!({"statusUpdate": {"taskId": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED"}}});
    if version == V0_3 {
        ended["statusUpdate"]["final"] = true.into();
    }
    let streamed = vec![
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
        json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "lastChunk": true,
            "artifact": {"artifactId": "a", "parts": [{"text": "hello"}]}}}),
        ended,
    ];
    let hook = "https://a.example/hook";
    match version {
        V0_3 => {
            let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}});
            let named = json!({"name": "tasks/t"});
            let name = json!({"name": "tasks/t/pushNotificationConfigs/p"});
            let config = json!({"name": "tasks/t/pushNotificationConfigs/p",
                "pushNotificationConfig": {"id": "p", "url": hook}});
            vec![
                (Method::Send, message.clone(), vec![json!({"task": completed})]),
                (Method::Stream, message, streamed.clone()),
                (Method::Get, named.clone(), vec![completed.clone()]),
                (Method::Cancel, named.clone(), vec![completed]),
                (Method::Subscribe, named, streamed),
                (
                    Method::PushCreate,
                    json!({"parent": "tasks/t", "configId": "p",
                        "config": {"pushNotificationConfig": {"url": hook}}}),
                    vec![config.clone()],
                ),
                (Method::PushGet, name.clone(), vec![config.clone()]),
                (Method::PushList, json!({"parent": "tasks/t"}), vec![json!({"configs": [config]})]),
                (Method::PushDelete, name, vec![json!({})]),
                (
                    Method::ExtendedCard,
                    json!({}),
                    vec![json!({"name": "Chef", "protocolVersion": "0.3.0",
                        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
                        "security": [{"schemes": {"bearer": {"list": ["ask"]}}}]})],
                ),
            ]
        }
        V1_0 => {
            let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
            let config = json!({"id": "p", "taskId": "t", "url": hook});
            vec![
                (Method::Send, message.clone(), vec![json!({"task": completed})]),
                (Method::Stream, message, streamed.clone()),
                (Method::Get, json!({"id": "t", "historyLength": 0}), vec![completed.clone()]),
                (
                    Method::List,
                    json!({"contextId": "c"}),
                    vec![json!({"tasks": [completed], "nextPageToken": "n", "pageSize": 50, "totalSize": 51})],
                ),
                (Method::Cancel, json!({"id": "t"}), vec![completed]),
                (Method::Subscribe, json!({"id": "t"}), streamed),
                (Method::PushCreate, json!({"taskId": "t", "url": hook}), vec![config.clone()]),
                (Method::PushGet, json!({"taskId": "t", "id": "p"}), vec![config.clone()]),
                (Method::PushList, json!({"taskId": "t"}), vec![json!({"configs": [config]})]),
                (Method::PushDelete, json!({"taskId": "t", "id": "p"}), vec![json!({})]),
                (
                    Method::ExtendedCard,
                    json!({}),
                    vec![json!({"name": "Chef", "securitySchemes": {"bearer": {}},
                        "securityRequirements": [{"schemes": {"bearer": {"list": ["ask"]}}}]})],
                ),
            ]
        }
    }
}

#[tokio::test]
async fn s10_each_method_of_both_packages_is_answered() {
    for version in [V0_3, V1_0] {
        let host = Arc::new(Host { calls: Mutex::default(), script });
        let mut client = Client::of(host.clone()).await;
        for (method, message, expected) in table(version) {
            let got = client.call(version, method, message).await;
            assert_eq!((got.http, got.code()), (200, 0), "{version:?} {method:?} {got:?}");
            assert_eq!(got.head["content-type"], "application/grpc");
            assert!(got.trailers.is_some(), "a status after messages is in the trailers");
            assert_eq!(got.json(version, method), expected, "{version:?} {method:?}");
            let call = host.calls.lock().pop().expect("the host was asked");
            assert_eq!((call.version, call.tenant), (version, None));
        }
    }
}

#[tokio::test]
async fn a_call_brings_its_head_its_body_and_its_tenant() {
    let host = Arc::new(Host { calls: Mutex::default(), script });
    let mut client = Client::of(host.clone()).await;
    let message = json!({"tenant": "chef", "id": "t", "historyLength": 2});
    let rpc = Rpc::find(V1_0, "GetTask").expect("there is such a method");
    let body = framed(&transcode::write(&rpc.input, message).expect("it fits").encode_to_vec());
    client.post(V1_0, "GetTask", &[("authorization", "Bearer x"), ("a2a-version", "1.0")], body.clone()).await;
    let call = host.calls.lock().pop().expect("the host was asked");
    assert_eq!(call.tenant.as_deref(), Some("chef"));
    assert_eq!(call.operation, Operation::Get { task: "t".to_owned(), history_length: Some(2) });
    assert_eq!(call.head.headers["authorization"], "Bearer x");
    assert_eq!(call.head.uri.path(), "/lf.a2a.v1.A2AService/GetTask");
    assert_eq!(call.body, body);
}

#[tokio::test]
async fn a_stream_may_be_one_direct_message() {
    let script = |_: &GrpcCall| now(Ok(once(OperationOutcome::Sent(items().swap_remove(0)))));
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    for version in [V0_3, V1_0] {
        let (_, message, streamed) = table(version).swap_remove(1);
        let got = client.call(version, Method::Stream, message).await;
        assert_eq!((got.code(), got.json(version, Method::Stream)), (0, vec![streamed[0].clone()]));
    }
}

#[tokio::test]
async fn s3_6_extensions_that_were_at_work_are_named_in_the_metadata() {
    let script = |_: &GrpcCall| -> BoxFuture<'static, Result<GrpcReply, Denial>> {
        let extensions = vec!["https://a.example/x", "https://b.example/\n"];
        Box::pin(std::future::ready(Ok(GrpcReply { extensions, answer: once(OperationOutcome::Task(task())) })))
    };
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    for (version, name) in [(V0_3, "x-a2a-extensions"), (V1_0, "a2a-extensions")] {
        let message = if version == V0_3 { json!({"name": "tasks/t"}) } else { json!({"id": "t"}) };
        let got = client.call(version, Method::Get, message).await;
        let values: Vec<_> = got.head.get_all(name).iter().collect();
        assert_eq!(values, ["https://a.example/x"], "what is no field is left out");
    }
}

#[tokio::test]
async fn in_0_3_a_configuration_without_blocking_does_not_wait() {
    let host = Arc::new(Host { calls: Mutex::default(), script });
    let mut client = Client::of(host.clone()).await;
    for (configuration, waits) in [(None, true), (Some(json!({"blocking": true})), true), (Some(json!({})), false)] {
        let mut message = table(V0_3).swap_remove(0).1;
        if let Some(configuration) = configuration {
            message["configuration"] = configuration;
        }
        client.call(V0_3, Method::Send, message).await;
        let call = host.calls.lock().pop().expect("the host was asked");
        let Operation::Send(send) = call.operation else { panic!("it is a send") };
        assert_eq!(send.configuration.blocking, waits);
    }
}

/// What the host is told of a file, and what comes back of the same file, as the bytes of the field.
async fn file_there_and_back(version: Version, agent: &str, sent: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let script = |call: &GrpcCall| {
        let Operation::Send(send) = &call.operation else { panic!("it is a send") };
        let answer = crate::model::Message { role: crate::model::Role::Agent, ..send.message.clone() };
        now(Ok(once(OperationOutcome::Sent(Item::Message(answer)))))
    };
    let host = Arc::new(Host { calls: Mutex::default(), script });
    let mut client = Client::of(host.clone()).await;
    let encoded = STANDARD.encode(sent);
    let part = match version {
        V0_3 => {
            json!({"content": [{"file": {"fileWithBytes": encoded}}, {"data": {"data": {"fileWithBytes": "AA=="}}}]})
        }
        V1_0 => json!({"parts": [{"raw": encoded}, {"data": {"fileWithBytes": "AA=="}}]}),
    };
    let mut message = json!({"message": {"messageId": "m", "role": "ROLE_USER"}});
    message["message"].as_object_mut().expect("it is an object").extend(part.as_object().cloned().expect("so is this"));
    let rpc = Rpc::find(version, "SendMessage").expect("there is such a method");
    let body = framed(&transcode::write(&rpc.input, message).expect("it fits").encode_to_vec());
    let got = client.post(version, "SendMessage", &[("user-agent", agent)], body).await;
    let call = host.calls.lock().pop().expect("the host was asked");
    let Operation::Send(send) = call.operation else { panic!("it is a send") };
    let [file, data] = send.message.parts.as_slice() else { panic!("there are two parts") };
    let Content::Raw(told) = &file.content else { panic!("it is a file") };
    assert_eq!(data.content, Content::Data(json!({"fileWithBytes": "AA=="})), "free members are left alone");
    let back = got.json(version, Method::Send).swap_remove(0);
    let path = if version == V0_3 { "/message/content/0/file/fileWithBytes" } else { "/message/parts/0/raw" };
    let back = back.pointer(path).and_then(Value::as_str).expect("the file comes back");
    (told.to_vec(), STANDARD.decode(back).expect("it is base64"))
}

#[tokio::test]
async fn files_of_0_3_are_what_the_client_takes_them_for() {
    let (node, python) = ("grpc-node-js/1.14.0", "grpc-python-asyncio/1.76.0 grpc-c/51.0.0 (linux; chttp2)");
    let png = [0x89, b'P', b'N', b'G'];
    for (version, agent, sent, told, back) in [
        (V0_3, python, &b"iVBORw=="[..], &png[..], &b"iVBORw=="[..]),
        // Bytes where text was due are taken as they are.
        (V0_3, python, &png, &png, b"iVBORw=="),
        (V0_3, node, &png, &png, &png),
        (V0_3, node, b"iVBORw==", b"iVBORw==", b"iVBORw=="),
        (V0_3, "", &png, &png, &png),
        (V1_0, python, b"iVBORw==", b"iVBORw==", b"iVBORw=="),
        (V1_0, python, &png, &png, &png),
    ] {
        let got = file_there_and_back(version, agent, sent).await;
        assert_eq!(got, (told.to_vec(), back.to_vec()), "{version:?} {agent}");
    }
}
