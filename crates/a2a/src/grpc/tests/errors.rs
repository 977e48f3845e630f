//! What goes wrong, and what the client is told of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use forecourt_core::PolicyPart;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use serde_json::json;

use super::*;
use crate::grpc::schema;
use crate::grpc::status::{DETAILS_BYTES_MAX, MESSAGE_CHARS_MAX};
use crate::model::Version::{V0_3, V1_0};
use crate::model::{OperationError, Violation};

async fn denied(deny: impl Fn() -> Denial + Send + Sync + 'static) -> Got {
    let script = move |_: &GrpcCall| now(Err(deny()));
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    client.call(V1_0, Method::Get, json!({"id": "t"})).await
}

/// A client whose host must not be reached.
async fn unreached() -> Client {
    let script = |_: &GrpcCall| -> BoxFuture<'static, Result<GrpcReply, Denial>> { panic!("the host was asked") };
    Client::of(Arc::new(Host { calls: Mutex::default(), script })).await
}

fn details(got: &Got) -> Option<Value> {
    let text = got.fields().get("grpc-status-details-bin")?;
    let bytes = STANDARD_NO_PAD.decode(text).expect("it is base64");
    Some(transcode::read(&schema::status()?, bytes.as_slice()).expect("it is a status"))
}

#[tokio::test]
async fn s5_4_each_row_of_the_table_has_its_code_and_its_reason() {
    let text = || "why".to_owned();
    let rows = [
        (OperationError::Parse(text()), 3, "INVALID_REQUEST"),
        (OperationError::InvalidRequest(text()), 3, "INVALID_REQUEST"),
        (OperationError::MethodNotFound(text()), 12, "METHOD_NOT_FOUND"),
        (OperationError::param("a", "b"), 3, "INVALID_PARAMS"),
        (OperationError::Internal, 13, "INTERNAL_ERROR"),
        (OperationError::TaskNotFound, 5, "TASK_NOT_FOUND"),
        (OperationError::TaskNotCancelable, 9, "TASK_NOT_CANCELABLE"),
        (OperationError::PushNotificationNotSupported, 9, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (OperationError::UnsupportedOperation(text()), 9, "UNSUPPORTED_OPERATION"),
        (OperationError::ContentTypeNotSupported(text()), 3, "CONTENT_TYPE_NOT_SUPPORTED"),
        (OperationError::InvalidAgentResponse, 13, "INVALID_AGENT_RESPONSE"),
        (OperationError::ExtendedAgentCardNotConfigured, 9, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        (OperationError::ExtensionSupportRequired(text()), 9, "EXTENSION_SUPPORT_REQUIRED"),
        (OperationError::VersionNotSupported(text()), 9, "VERSION_NOT_SUPPORTED"),
    ];
    for (fault, code, reason) in rows {
        let told = fault.clone();
        let got = denied(move || told.clone().into()).await;
        assert_eq!((got.http, got.code()), (200, code), "{fault:?}");
        assert!(got.messages.is_empty() && got.trailers.is_none(), "an error alone is in the head");
        let details = details(&got).expect("there are details");
        assert_eq!(details["code"], code);
        let info = &details["details"][0];
        assert_eq!((info["reason"].as_str(), info["domain"].as_str()), (Some(reason), Some("a2a-protocol.org")));
    }
}

#[tokio::test]
async fn s5_4_wrong_parameters_are_named_each() {
    let mut client = unreached().await;
    for version in [V0_3, V1_0] {
        let got = client.call(version, Method::Send, json!({"message": {"role": "ROLE_USER"}})).await;
        assert_eq!(got.code(), 3, "{got:?}");
        let details = details(&got).expect("there are details").to_string();
        let parts = if version == V0_3 { "message.content" } else { "message.parts" };
        for field in ["message.messageId", parts] {
            assert!(details.contains(field), "{field} is missing in {details}");
        }
    }
}

#[tokio::test]
async fn refusals_have_a_code_and_their_fields() {
    let challenge = AuthChallenge::new("Bearer").with("realm", "a.example");
    let kinds = [
        (RefusalKind::Unauthorized { auth_challenges: vec![challenge] }, 16),
        (RefusalKind::Forbidden, 7),
        (RefusalKind::UnavailableForLegalReasons, 7),
        (RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }, 8),
        (RefusalKind::ServiceUnavailable { retry_after_seconds: None }, 14),
        (RefusalKind::PaymentRequired { accepted_payments: Vec::new() }, 9),
        (RefusalKind::Other("later".to_owned()), 9),
    ];
    for (kind, code) in kinds {
        let part = Box::new(PolicyPart::new(kind, "No."));
        let mut fields = HeaderMap::new();
        forecourt_surface::refusal::add_fields(&mut fields, &part, "a.example");
        let names: Vec<_> = fields.keys().cloned().collect();
        let got = denied(move || Denial::Refused { part: part.clone(), fields: fields.clone() }).await;
        assert_eq!((got.code(), &got.head["grpc-message"]), (code, &"No.".parse().expect("a value")));
        assert!(names.iter().all(|name| got.head.contains_key(name)), "{names:?}");
    }
}

#[tokio::test]
async fn unknown_methods_are_unimplemented() {
    let mut client = unreached().await;
    // The last three are of the other package.
    for (version, name) in [(V1_0, "Nothing"), (V0_3, "ListTasks"), (V1_0, "TaskSubscription"), (V1_0, "GetAgentCard")]
    {
        let got = client.post(version, name, &[], framed(&[])).await;
        assert_eq!((got.http, got.code()), (200, 12), "{name}");
    }
}

#[tokio::test]
async fn s3_6_2_a_version_that_is_not_the_packages_is_not_supported() {
    let script = |_: &GrpcCall| now(Err(OperationError::TaskNotFound.into()));
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let ids = [(V0_3, "0a077461736b732f74"), (V1_0, "120174")];
    for (version, said, code) in [
        (V1_0, "1.0", 5),
        (V1_0, "1.0.1", 5),
        (V1_0, "", 5),
        (V1_0, "0.3", 9),
        (V1_0, "2.0", 9),
        (V1_0, "1.01", 9),
        (V1_0, "1", 9),
        (V0_3, "0.3", 5),
        (V0_3, "0.3.0", 5),
        (V0_3, "", 5),
        (V0_3, "1.0", 9),
    ] {
        let hex = ids.iter().find(|(v, _)| *v == version).map(|(_, hex)| *hex).unwrap_or_default();
        let body: Vec<u8> =
            (0..hex.len()).step_by(2).filter_map(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok()).collect();
        let got = client.post(version, "GetTask", &[("a2a-version", said)], framed(&body)).await;
        assert_eq!(got.code(), code, "{version:?} {said:?}");
    }
}

#[tokio::test]
async fn what_is_no_grpc_is_an_unsupported_media_type() {
    let mut client = unreached().await;
    for kind in ["application/json", "application/grpc-web", "application/grpc+json", ""] {
        let request = Request::post(path(V1_0, "GetTask")).header("content-type", kind).body(Body::empty());
        assert_eq!(client.send(request.expect("a request")).await.status(), 415, "{kind}");
    }
    let request = Request::get(path(V1_0, "GetTask")).header("content-type", "application/grpc").body(Body::empty());
    assert_eq!(client.send(request.expect("a request")).await.status(), 405);
}

#[tokio::test]
async fn the_sentence_and_the_details_are_bounded() {
    for (chars, kept) in [(MESSAGE_CHARS_MAX, MESSAGE_CHARS_MAX), (MESSAGE_CHARS_MAX + 1, MESSAGE_CHARS_MAX + 1)] {
        let got = denied(move || OperationError::UnsupportedOperation("x".repeat(chars)).into()).await;
        let message = details(&got).expect("there are details")["message"].as_str().map(|text| text.chars().count());
        assert_eq!(message, Some(kept), "the last one is an ellipsis");
    }
    let violations = |bytes: usize| vec![Violation { field: "f".to_owned(), description: "x".repeat(bytes) }];
    let got = denied(move || OperationError::InvalidParams(violations(DETAILS_BYTES_MAX / 2)).into()).await;
    assert!(details(&got).is_some());
    let got = denied(move || OperationError::InvalidParams(violations(DETAILS_BYTES_MAX)).into()).await;
    assert_eq!((details(&got), got.code()), (None, 3));
}

#[tokio::test]
async fn an_answer_that_can_not_be_written_is_internal() {
    let script = |_: &GrpcCall| now(Ok(once(OperationOutcome::Card(json!({"name": 1})))));
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let got = client.call(V1_0, Method::ExtendedCard, json!({})).await;
    assert_eq!((got.http, got.code(), got.messages.len()), (200, 13, 0));
}
