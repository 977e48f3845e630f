//! What goes in and what comes out: words, files, data, links.

use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{Event, File, FileSource, Link, Part, ToolCall, ToolOutcome};
use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::{Value, json};

use crate::hub::answer::artifact_text;
use crate::hub::support::{Setup, bot, done, taking_pictures, text};
use crate::hub::wire::{Op, Wire};

/// Bytes of the largest file that stands in an answer.
const INLINE_FILE_BYTES_MAX: usize = 1024 * 1024;

fn artifacts(task: &Value) -> Vec<Value> {
    task["artifacts"].as_array().cloned().unwrap_or_default()
}

fn picture(bytes: usize) -> Event {
    Event::Part(Part::File(File::inline("image/png", Some("a.png".to_owned()), vec![b'x'; bytes].into())))
}

/// The base64 bytes, or the address, of a file.
fn file(wire: Wire, part: &Value) -> (Option<&str>, Option<&str>) {
    let (holder, bytes, url) = match wire {
        Wire::Rpc03 => (&part["file"], "bytes", "uri"),
        Wire::Rest03 => (&part["file"], "fileWithBytes", "fileWithUri"),
        Wire::Rpc10 | Wire::Rest10 => (part, "raw", "url"),
    };
    (holder[bytes].as_str(), holder[url].as_str())
}

#[tokio::test]
async fn small_files_stand_in_the_answer_and_large_ones_have_an_address() {
    for (size, inline) in [(3, true), (INLINE_FILE_BYTES_MAX, true), (INLINE_FILE_BYTES_MAX + 1, false)] {
        let place = bot(vec![picture(size), done()]).await;
        for wire in Wire::ALL {
            let task = wire.at(&place).says("hi").await.task(wire);
            let made = artifacts(&task);
            let (bytes, url) = file(wire, &made[0]["parts"][0]);
            assert_eq!((bytes.is_some(), url.is_some()), (inline, !inline), "{size} {wire:?}");
            if let Some(url) = url {
                let start = format!("https://demo.localhost/tasks/{}/artifacts/", task["id"].as_str().unwrap());
                assert!(url.starts_with(&start), "{url}");
            }
            assert_eq!(made[0]["name"], "a.png");
        }
    }
}

#[tokio::test]
async fn each_kind_of_part_has_its_place() {
    let link = Link { url: "https://a.example/".to_owned(), title: Some("A".to_owned()), description: None };
    let remote = FileSource::Url { url: "https://a.example/b.pdf".to_owned(), expires_at: None };
    let remote = File { id: None, name: None, mime: "application/pdf".to_owned(), size_bytes: None, source: remote };
    let note = Artifact {
        mime: "text/csv".to_owned(),
        artifact_type: None,
        name: Some("table".to_owned()),
        content: ArtifactContent::Text("a,b".to_owned()),
    };
    let events = vec![
        text("Look: "),
        Event::Part(Part::Link(link)),
        Event::Part(Part::data(json!([1, 2]))),
        Event::Part(Part::File(remote)),
        Event::Part(Part::Artifact(note)),
        done(),
    ];
    let place = bot(events).await;
    for wire in Wire::ALL {
        let made = artifacts(&wire.at(&place).says("hi").await.task(wire));
        assert_eq!(made.len(), 3, "the answer, the file and the table: {made:?}");
        let answer = made[0]["parts"].as_array().unwrap();
        assert_eq!((&answer[0]["text"], &answer[1]["text"]), (&json!("Look: "), &json!("https://a.example/")));
        assert_eq!(answer[1]["metadata"]["mentionable"]["link"]["title"], "A");
        let data = match wire {
            Wire::Rpc03 => answer[2]["data"]["value"].clone(),
            Wire::Rest03 => answer[2]["data"]["data"]["value"].clone(),
            Wire::Rpc10 | Wire::Rest10 => answer[2]["data"].clone(),
        };
        assert_eq!(data, json!([1, 2]), "0.3 knows objects only");
        assert_eq!(file(wire, &made[1]["parts"][0]), (None, Some("https://a.example/b.pdf")));
        assert_eq!((&made[2]["name"], &made[2]["parts"][0]["text"]), (&json!("table"), &json!("a,b")));
    }
}

#[tokio::test]
async fn the_agent_gets_files_words_and_data() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(taking_pictures("bot"), agent.clone()).start().await;
    for wire in Wire::ALL {
        let data = match wire {
            Wire::Rpc03 => json!({"kind": "data", "data": {"a": 1}}),
            Wire::Rest03 => json!({"data": {"data": {"a": 1}}}),
            Wire::Rpc10 | Wire::Rest10 => json!({"data": {"a": 1}}),
        };
        let parts = [wire.text("one"), wire.file("cG5n", "image/png"), data, wire.text("two")];
        wire.at(&place).call(Op::Send, wire.sending(wire.saying(&parts))).await.task(wire);
        let heard = agent.heard().pop().unwrap();
        assert_eq!(heard.text(), "one\ntwo");
        let Part::File(file) = &heard.parts[1] else { panic!("{:?}", heard.parts) };
        assert_eq!((file.mime.as_str(), &file.source), ("image/png", &FileSource::Inline("png".into())));
        assert_eq!(heard.parts[2], Part::data(json!({"a": 1})), "{wire:?}");
    }
}

/// A Python library puts base64 text where 0.3 has bytes, over HTTP+JSON as over gRPC.
#[tokio::test]
async fn files_of_0_3_are_what_the_client_takes_them_for() {
    let agent = ScriptedAgent::new(vec![Step::Do(picture(3)), Step::Do(done())]);
    let place = Setup::default().with(taking_pictures("bot"), agent.clone()).start().await;
    let (bytes, text) = ("cG5n", "Y0c1bg==");
    for (wire, library, sent, back) in [
        (Wire::Rest03, "python-httpx/0.28.1", text, "ZUhoNA=="),
        (Wire::Rest03, "Java-http-client/21", text, "ZUhoNA=="),
        (Wire::Rest03, "node", bytes, "eHh4"),
        (Wire::Rpc03, "python-httpx/0.28.1", bytes, "eHh4"),
        (Wire::Rest10, "python-httpx/0.28.1", bytes, "eHh4"),
    ] {
        let params = wire.sending(wire.saying(&[wire.file(sent, "image/png")]));
        let call = wire.at(&place).with("user-agent", library);
        let task = call.call(Op::Send, params).await.task(wire);
        let heard = agent.heard().pop().unwrap();
        let Part::File(got) = &heard.parts[0] else { panic!("{:?}", heard.parts) };
        assert_eq!(got.source, FileSource::Inline("png".into()), "{wire:?} {library}");
        assert_eq!(file(wire, &artifacts(&task)[0]["parts"][0]).0, Some(back), "{wire:?} {library}");
    }
}

#[tokio::test]
async fn base64_that_is_none_is_named() {
    let place = Setup::default().with(taking_pictures("bot"), ScriptedAgent::saying(["hi"])).start().await;
    for wire in Wire::ALL {
        for broken in ["***", "a", "ab=c"] {
            let params = wire.sending(wire.saying(&[wire.file(broken, "image/png")]));
            wire.at(&place).call(Op::Send, params).await.is_fault(wire, -32602);
        }
    }
}

#[tokio::test]
async fn what_a_tool_did_is_in_the_history_and_not_in_the_answer() {
    let outcome = ToolOutcome::Error("no luck".to_owned());
    let call = Event::ToolCall(ToolCall { id: "c".into(), name: "search".into(), args: json!({}), outcome });
    let place = bot(vec![call, text("ok"), done()]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        assert_eq!(artifact_text(&task), "ok");
        let last = task["history"].as_array().unwrap().last().unwrap();
        assert!(last.to_string().contains("tool-error") && last.to_string().contains("no luck"), "{last}");
        assert!(!task["artifacts"].to_string().contains("tool-error"));
    }
}

#[tokio::test]
async fn long_answers_are_whole() {
    let words = "wörter ".repeat(20_000);
    let place = bot(vec![text(&words), text("end"), done()]).await;
    for wire in Wire::ALL {
        assert_eq!(artifact_text(&wire.at(&place).says("hi").await.task(wire)), format!("{words}end"));
    }
}
