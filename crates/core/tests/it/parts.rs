//! The JSON form of parts. Mentionable normalized-message; REST 4.3 for tool calls.

use forecourt_core::part::{Artifact, ArtifactContent, Data, UnknownPart};
use forecourt_core::policy::RefusalKind;
use forecourt_core::{File, FileSource, Link, Part, PolicyPart, Text, Timestamp, ToolCall, ToolOutcome};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::json_strict::values;

fn read(value: Value) -> Result<Part, String> {
    serde_json::from_value(value).map_err(|e| e.to_string())
}

#[test]
fn both_spellings_of_text_are_read_and_written() {
    assert_eq!(read(json!({"kind": "text", "text": "a"})), Ok(Part::text("a")));
    assert_eq!(read(json!({"kind": "text", "content": "a"})), Ok(Part::text("a")));
    assert_eq!(
        read(json!({"kind": "text", "content": "a", "text": "b", "mime": "text/markdown"})),
        Ok(Part::markdown("a"))
    );
    assert_eq!(
        json!(Part::markdown("a")),
        json!({"kind": "text", "mime": "text/markdown", "content": "a", "text": "a"})
    );
}

#[test]
fn a_part_that_lacks_what_it_needs_is_refused_in_words() {
    for (part, what) in [
        (json!({}), "kind"),
        (json!({"kind": 1}), "kind"),
        (json!({"kind": "text"}), "content"),
        (json!({"kind": "text", "content": 1}), "content"),
        (json!({"kind": "file", "mime": "a/b"}), "bytes_ref"),
        (json!({"kind": "file", "bytes_ref": {"data": "%"}}), "base64"),
        (json!({"kind": "file", "bytes_ref": {}}), "url"),
        (json!({"kind": "link"}), "url"),
        (json!({"kind": "data"}), "data"),
        (json!({"kind": "artifact", "mime": "a/b"}), "content"),
        (json!({"kind": "artifact", "content": "a"}), "mime"),
        (json!({"kind": "tool_call", "name": "n"}), "id"),
        (json!({"kind": "tool_call", "id": "i"}), "name"),
        (json!({"kind": "forbidden"}), "message"),
        (json!({"kind": "unauthorized", "message": "m"}), "auth_challenges"),
    ] {
        let error = read(part.clone()).unwrap_err();
        assert!(error.contains(what), "{part}: {error}");
    }
    for part in [json!(null), json!("text"), json!([])] {
        assert!(read(part).is_err());
    }
}

#[test]
fn s4_3_a_tool_call_has_a_result_or_an_error() {
    let call = |outcome: Value| {
        let mut call = json!({"kind": "tool_call", "id": "c", "name": "n", "args": {}});
        call.as_object_mut().unwrap().extend(outcome.as_object().cloned().unwrap());
        match read(call)? {
            Part::ToolCall(call) => Ok(call.outcome),
            other => Err(format!("{other:?}")),
        }
    };
    assert_eq!(call(json!({})), Ok(ToolOutcome::Running));
    assert_eq!(call(json!({"result": null, "error": null})), Ok(ToolOutcome::Running));
    assert_eq!(call(json!({"result": {"hits": 3}})), Ok(ToolOutcome::Result(json!({"hits": 3}))));
    assert_eq!(call(json!({"result": {"hits": 3}, "error": null})), Ok(ToolOutcome::Result(json!({"hits": 3}))));
    assert_eq!(call(json!({"result": null})), Ok(ToolOutcome::Result(Value::Null)));
    assert_eq!(call(json!({"error": {"message": "e"}})), Ok(ToolOutcome::Error("e".into())));
    assert_eq!(call(json!({"error": "e", "result": null})), Ok(ToolOutcome::Error("e".into())));
    assert_eq!(call(json!({"error": {"code": 1}})), Ok(ToolOutcome::Error(r#"{"code":1}"#.into())));
    assert!(call(json!({"result": 1, "error": {"message": "e"}})).unwrap_err().contains("not both"));
    assert!(call(json!({"result": false, "error": ""})).is_err());
}

#[test]
fn s3_6_unknown_kinds_survive_with_all_their_fields() {
    for part in [
        json!({"kind": "i_am_a_teapot", "message": "m", "size": {"ml": 250}}),
        json!({"kind": "", "a": null}),
        json!({"kind": "TEXT", "content": 1}),
        json!({"kind": "policy"}),
    ] {
        let read = read(part.clone()).unwrap();
        assert!(matches!(read, Part::Unknown(_)) && read.kind() == part["kind"]);
        assert_eq!(json!(read), part);
    }
}

#[test]
fn the_size_of_inline_bytes_is_counted_and_not_believed() {
    let Ok(Part::File(file)) = read(json!({"kind": "file", "size_bytes": 9, "bytes_ref": {"data": "AAA="}})) else {
        panic!("no file");
    };
    assert_eq!((file.size_bytes, file.mime.as_str()), (Some(2), "application/octet-stream"));
    let Ok(Part::File(file)) = read(json!({"kind": "file", "size": 9, "url": "/tasks/x/artifacts/y"})) else {
        panic!("no file");
    };
    assert_eq!(file.size_bytes, Some(9));
}

#[test]
fn a_refusal_is_a_part_by_its_own_kind() {
    let refusal = PolicyPart::new(RefusalKind::ServiceUnavailable { retry_after_seconds: Some(5) }, "later");
    let written = json!(Part::Policy(refusal.clone()));
    assert_eq!(written, json!({"kind": "service_unavailable", "message": "later", "retry_after_seconds": 5}));
    assert_eq!(read(written), Ok(Part::Policy(refusal)));
}

fn sources() -> impl Strategy<Value = FileSource> {
    let at = option::of((0i64..4_000_000_000).prop_map(|s| Timestamp::from_second(s).unwrap()));
    prop_oneof![
        any::<Vec<u8>>().prop_map(|bytes| FileSource::Inline(bytes.into())),
        (any::<String>(), at).prop_map(|(url, expires_at)| FileSource::Url { url, expires_at }),
        Just(FileSource::Kept),
    ]
}

fn files() -> impl Strategy<Value = File> {
    let texts = (option::of(any::<String>()), option::of(any::<String>()), any::<String>());
    (texts, any::<Option<u64>>(), sources()).prop_map(|((id, name, mime), size, source)| {
        let size_bytes = match &source {
            FileSource::Inline(bytes) => Some(bytes.len() as u64),
            FileSource::Url { .. } | FileSource::Kept => size,
        };
        File { id, name, mime, size_bytes, source }
    })
}

fn artifacts() -> impl Strategy<Value = Artifact> {
    let content =
        prop_oneof![any::<String>().prop_map(ArtifactContent::Text), sources().prop_map(ArtifactContent::Bytes),];
    (any::<String>(), option::of(any::<String>()), option::of(any::<String>()), content)
        .prop_map(|(mime, artifact_type, name, content)| Artifact { mime, artifact_type, name, content })
}

fn calls() -> impl Strategy<Value = ToolCall> {
    let outcome = prop_oneof![
        Just(ToolOutcome::Running),
        values().prop_map(ToolOutcome::Result),
        any::<String>().prop_map(ToolOutcome::Error),
    ];
    (any::<String>(), any::<String>(), values(), outcome).prop_map(|(id, name, args, outcome)| ToolCall {
        id,
        name,
        args,
        outcome,
    })
}

fn unknown() -> impl Strategy<Value = UnknownPart> {
    ("[a-z]{1,5}_x", prop::collection::vec((any::<String>(), values()), 0..4)).prop_map(|(kind, fields)| {
        let mut fields: Map<String, Value> = fields.into_iter().collect();
        fields.insert("kind".into(), kind.as_str().into());
        UnknownPart { kind, fields }
    })
}

fn parts() -> impl Strategy<Value = Part> {
    let text = (any::<String>(), any::<String>()).prop_map(|(mime, content)| Part::Text(Text { mime, content }));
    let link = (any::<String>(), option::of(any::<String>()), option::of(any::<String>()))
        .prop_map(|(url, title, description)| Part::Link(Link { url, title, description }));
    let data =
        (values(), option::of(any::<String>())).prop_map(|(data, mime)| Part::Data(Data { data: data.into(), mime }));
    prop_oneof![
        text,
        link,
        data,
        files().prop_map(Part::File),
        artifacts().prop_map(Part::Artifact),
        calls().prop_map(Part::ToolCall),
        unknown().prop_map(Part::Unknown),
        any::<String>().prop_map(|message| Part::Policy(PolicyPart::new(RefusalKind::Forbidden, message))),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(part in parts()) {
        let written = serde_json::to_string(&part).unwrap();
        prop_assert_eq!(serde_json::from_str::<Part>(&written).unwrap(), part);
    }

    #[test]
    fn no_value_makes_the_reader_panic(kind in "text|file|link|data|artifact|tool_call|unauthorized|x", value in values()) {
        let mut fields = value.as_object().cloned().unwrap_or_default();
        for key in ["text", "bytes_ref", "url", "data", "content", "result", "error", "id", "auth_challenges"] {
            fields.insert(key.into(), value.clone());
        }
        fields.insert("kind".into(), kind.into());
        if let Ok(part) = read(Value::Object(fields)) {
            prop_assert_eq!(read(json!(part)), Ok(part));
        }
    }
}
