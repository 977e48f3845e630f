//! Streams: what they hold, how they end, and coming back to one.

use std::time::Duration;

use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{Ending, Event, File, FileSource, Part, Progress, ToolCall, ToolOutcome};
use forecourt_testkit::{ScriptedAgent, Step};
use serde_json::{Value, json};

use crate::hub::answer::{Frame, Frames, artifact_text, parts_of, state, status_text};
use crate::hub::support::{InTurn, Place, Setup, alone, ask, bot, done, text};
use crate::hub::wire::{Op, Wire};

const TOOL_EVENTS: &str = "https://mentionable.dev/ns/a2a-tool-events/v0.1";

async fn whole(place: &Place, wire: Wire) -> Vec<Frame> {
    wire.at(place).streams("hi").await.rest().await
}

fn updates(frames: &[Frame]) -> Vec<&Value> {
    frames.iter().filter(|frame| frame.kind == "artifactUpdate").map(|frame| &frame.value).collect()
}

fn words(update: &Value) -> &str {
    update["artifact"]["parts"][0]["text"].as_str().unwrap_or_default()
}

/// What a reader has after it applied every update. A2A: `append` adds, anything else replaces.
fn applied(frames: &[Frame]) -> std::collections::BTreeMap<String, Vec<Value>> {
    let mut artifacts = std::collections::BTreeMap::<String, Vec<Value>>::new();
    let mut apply = |artifact: &Value, append: bool| {
        let parts = artifacts.entry(artifact["artifactId"].as_str().unwrap().to_owned()).or_default();
        if !append {
            parts.clear();
        }
        parts.extend(artifact["parts"].as_array().unwrap().clone());
    };
    for frame in frames {
        match frame.kind {
            "task" => frame.value["artifacts"].as_array().into_iter().flatten().for_each(|one| apply(one, false)),
            "artifactUpdate" => apply(&frame.value["artifact"], frame.value["append"] == true),
            _ => {}
        }
    }
    artifacts
}

fn text_of(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_state() {
    let place = bot(vec![text("a"), text("b"), done()]).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        let (first, last) = (frames.first().unwrap(), frames.last().unwrap());
        assert_eq!((first.kind, last.kind, state(&last.value).as_str()), ("task", "statusUpdate", "completed"));
        assert!(!matches!(state(&first.value).as_str(), "completed"), "as it stood at the beginning");
        assert_eq!(first.value.get("artifacts"), None);
        for frame in &frames[1..] {
            assert_eq!(
                (&frame.value["taskId"], &frame.value["contextId"]),
                (&first.value["id"], &first.value["contextId"])
            );
        }
        let finals: Vec<bool> =
            frames.iter().filter(|frame| frame.kind == "statusUpdate").map(|f| f.value["final"] == true).collect();
        assert_eq!(finals, [!wire.is_1_0()], "said once, in 0.3 alone");
    }
}

#[tokio::test]
async fn the_answer_comes_in_pieces_and_closes_with_all_of_it() {
    let place = bot(vec![text("Hel"), text("lo"), text("!"), done()]).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        let updates = updates(&frames);
        let flag = |update: &Value, name: &str| update.get(name).is_some_and(|flag| flag == true);
        let seen: Vec<_> = updates.iter().map(|u| (words(u), flag(u, "append"), flag(u, "lastChunk"))).collect();
        let expected = [("Hel", false, false), ("lo", true, false), ("!", true, false), ("Hello!", false, true)];
        assert_eq!(seen, expected, "{wire:?}");
        assert!(updates.iter().all(|update| update["artifact"]["artifactId"] == updates[0]["artifact"]["artifactId"]));
    }
}

#[tokio::test]
async fn what_was_streamed_is_what_is_read_later() {
    let file = Part::File(File::inline("image/png", Some("a.png".to_owned()), "png".into()));
    let events = vec![text("see "), Event::Part(file), text("this"), Event::Part(Part::data(json!({"a": 1}))), done()];
    let place = bot(events).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        let id = frames[0].value["id"].as_str().unwrap();
        let task = wire.at(&place).about(Op::Get, id).await.task(wire);
        assert_eq!(state(&task), "completed");
        let artifacts = task["artifacts"].as_array().unwrap().iter();
        let read: std::collections::BTreeMap<String, Vec<Value>> = artifacts
            .map(|one| (one["artifactId"].as_str().unwrap().to_owned(), one["parts"].as_array().unwrap().clone()))
            .collect();
        let streamed = applied(&frames);
        assert_eq!(text_of(&streamed["answer"]), text_of(&read["answer"]), "{wire:?}");
        assert_eq!(streamed.len(), read.len(), "{streamed:?}\n{read:?}");
        let of_files = |all: &std::collections::BTreeMap<String, Vec<Value>>| -> Vec<Value> {
            all.iter().filter(|(id, _)| *id != "answer").flat_map(|(_, parts)| parts.clone()).collect()
        };
        assert_eq!(of_files(&streamed), of_files(&read), "{wire:?}");
    }
}

/// One of each thing that becomes an artifact of its own, between words and tools.
fn made() -> Vec<Event> {
    let url = FileSource::Url { url: "https://a.example/b.pdf".to_owned(), expires_at: None };
    let remote = File { id: None, name: None, mime: "application/pdf".to_owned(), size_bytes: None, source: url };
    let content = ArtifactContent::Text("a,b".to_owned());
    let table = Artifact { mime: "text/csv".to_owned(), artifact_type: None, name: None, content };
    let call = |outcome| Event::ToolCall(ToolCall { id: "c".into(), name: "t".into(), args: json!({}), outcome });
    let kept = |name: &str| Event::Part(Part::File(File::inline("image/png", Some(name.to_owned()), "x".into())));
    vec![
        call(ToolOutcome::Running),
        text("one "),
        text("two "),
        kept("a.png"),
        Event::Part(Part::Artifact(table.clone())),
        call(ToolOutcome::Result(json!(1))),
        Event::Part(Part::File(remote)),
        text("three"),
        kept("b.png"),
        Event::Part(Part::Artifact(table)),
    ]
}

fn ids_of(task: &Value) -> Vec<&str> {
    task["artifacts"].as_array().unwrap().iter().map(|one| one["artifactId"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn artifacts_have_the_same_ids_streamed_and_read() {
    let place = bot(made().into_iter().chain([done()]).collect()).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        let task = wire.at(&place).about(Op::Get, frames[0].value["id"].as_str().unwrap()).await.task(wire);
        let mut read = ids_of(&task);
        read.sort_unstable();
        let streamed = applied(&frames);
        assert_eq!(streamed.keys().map(String::as_str).collect::<Vec<_>>(), read, "{wire:?}");
        assert_eq!(read.len(), 6, "the answer and five of their own, each with an id of its own: {read:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_knows_the_artifacts_again() {
    let later = [Step::Wait(Duration::from_secs(60))].into_iter().chain(made().into_iter().map(Step::Do));
    let steps = made().into_iter().map(Step::Do).chain(later).chain([Step::Do(done())]).collect();
    let place = Setup::default().playing("bot", steps).0.start().await;
    for wire in Wire::ALL {
        let mut first = wire.at(&place).streams("hi").await;
        let id = first.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
        tokio::time::sleep(Duration::from_secs(30)).await;
        let half = wire.at(&place).about(Op::Get, &id).await.task(wire);
        assert_eq!(ids_of(&half).len(), 6);
        let (first, second) = tokio::join!(first.rest(), wire.at(&place).follows(&id));
        let second = second.rest().await;
        let task = wire.at(&place).about(Op::Get, &id).await.task(wire);
        let mut read = ids_of(&task);
        assert_eq!(read[..6], ids_of(&half)[..], "what was there keeps its id");
        read.sort_unstable();
        for frames in [first, second] {
            assert_eq!(applied(&frames).keys().map(String::as_str).collect::<Vec<_>>(), read, "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_question_ends_the_stream() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![text("Hm. "), ask("Which?")], vec![text("red"), done()]])).await;
        let frames = whole(&place, wire).await;
        let last = frames.last().unwrap();
        assert_eq!((state(&last.value).as_str(), status_text(&last.value).as_str()), ("input-required", "Which?"));
        assert_eq!(last.value.get("final"), (!wire.is_1_0()).then_some(&json!(true)));
        // The answer to it is streamed too, and begins with the task as it stands.
        let message = crate::hub::wire::merged(wire.said("red"), json!({"taskId": frames[0].value["id"]}));
        let response = wire.at(&place).open(Op::Stream, wire.sending(message)).await;
        let more = Frames::of(wire, response).rest().await;
        assert_eq!((more[0].kind, &more[0].value["id"]), ("task", &frames[0].value["id"]));
        assert_eq!(state(&more.last().unwrap().value), "completed");
        assert_eq!(text_of(&applied(&more)["answer"]), "red", "{more:?}");
    }
}

#[tokio::test]
async fn progress_and_tools_are_told_while_the_task_works() {
    let call =
        |outcome| Event::ToolCall(ToolCall { id: "c1".into(), name: "search".into(), args: json!({"q": 1}), outcome });
    let progress = Event::Progress(Progress { fraction: Some(0.5), note: Some("half way".to_owned()) });
    let events = vec![progress, call(ToolOutcome::Running), call(ToolOutcome::Result(json!([3]))), text("ok"), done()];
    let place = bot(events).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        let working: Vec<&Value> = frames
            .iter()
            .filter(|f| f.kind == "statusUpdate" && state(&f.value) == "working")
            .map(|f| &f.value)
            .collect();
        assert_eq!(working.len(), 3, "{working:?}");
        assert_eq!(
            (status_text(working[0]).as_str(), &working[0]["metadata"]["mentionable"]["progress"]),
            ("half way", &json!(0.5))
        );
        let data = |update: &Value| {
            let part = parts_of(&update["status"]["message"]).remove(0);
            if wire == Wire::Rest03 { part["data"]["data"].clone() } else { part["data"].clone() }
        };
        assert_eq!(
            data(working[1]),
            json!({"type": "tool-call", "toolCallId": "c1", "toolName": "search", "input": {"q": 1}})
        );
        assert_eq!((&data(working[2])["type"], &data(working[2])["output"]), (&json!("tool-result"), &json!([3])));
        assert_eq!(working[1]["status"]["message"]["extensions"], json!([TOOL_EVENTS]));
        assert!(working.iter().all(|update| update.get("final").is_none_or(|is_final| is_final == false)));
        // Of the same call twice, what is read later has the last word.
        let task = wire.at(&place).about(Op::Get, frames[0].value["id"].as_str().unwrap()).await.task(wire);
        assert!(
            task["history"].to_string().contains("tool-result") && !task["history"].to_string().contains("tool-call\"")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gives_signs_of_life() {
    let (setup, _) = Setup::default().playing("bot", vec![Step::Wait(Duration::from_secs(60)), Step::Do(done())]);
    let place = setup.start().await;
    for wire in Wire::ALL {
        let answer = wire.at(&place).call(Op::Stream, wire.sending(wire.said("hi"))).await;
        let comments = answer.text().lines().filter(|line| line.starts_with(':')).count();
        assert!(comments >= 3, "{}", answer.text());
        assert_eq!(state(&answer.frames(wire).last().unwrap().value), "completed");
    }
}

/// Says one word every ten seconds.
async fn slow() -> Place {
    let word = |word: &str| [Step::Do(text(word)), Step::Wait(Duration::from_secs(10))];
    let steps = ["one ", "two ", "three ", "four"].into_iter().flat_map(word).chain([Step::Do(done())]).collect();
    Setup::default().playing("bot", steps).0.start().await
}

#[tokio::test(start_paused = true)]
async fn who_follows_later_gets_the_task_first_and_loses_nothing() {
    let place = slow().await;
    for wire in Wire::ALL {
        let mut first = wire.at(&place).streams("hi").await;
        let task = first.next().await.unwrap().value;
        let id = task["id"].as_str().unwrap();
        tokio::time::sleep(Duration::from_secs(15)).await;
        let later = wire.at(&place).follows(id).await.rest().await;
        assert_eq!((later[0].kind, &later[0].value["id"]), ("task", &task["id"]));
        assert_eq!(artifact_text(&later[0].value), "one two ", "with what there was");
        assert_eq!(text_of(&applied(&later)["answer"]), "one two three four");
        let pieces: String = updates(&later).iter().filter(|u| u["lastChunk"] != true).map(|u| words(u)).collect();
        assert_eq!(pieces, "three four", "nothing is told twice");
        assert_eq!(state(&later.last().unwrap().value), "completed");
        assert_eq!(text_of(&applied(&first.rest().await)["answer"]), "one two three four", "the other goes on");
    }
}

#[tokio::test(start_paused = true)]
async fn two_readers_see_the_same() {
    let place = slow().await;
    for wire in Wire::ALL {
        let mut one = wire.at(&place).streams("hi").await;
        let id = one.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
        let other = wire.at(&place).follows(&id).await;
        let (one, other) = tokio::join!(one.rest(), other.rest());
        let numbered = |frames: &[Frame]| frames.iter().filter(|f| f.kind != "task").cloned().collect::<Vec<_>>();
        assert_eq!(text_of(&applied(&other)["answer"]), "one two three four");
        let (one, other) = (numbered(&one), numbered(&other));
        assert_eq!(one[one.len() - other.len()..], other[..], "in the same order");
    }
}

#[tokio::test(start_paused = true)]
async fn who_says_what_it_has_seen_gets_exactly_the_rest() {
    let place = slow().await;
    for wire in Wire::ALL {
        let all = whole(&place, wire).await;
        let id = all[0].value["id"].as_str().unwrap();
        let numbers: Vec<u64> = all.iter().filter_map(|frame| frame.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]) && numbers.len() >= 5, "{numbers:?}");
        for number in &numbers {
            let call = wire.at(&place).with("last-event-id", number.to_string());
            let rest = call.follows(id).await.rest().await;
            let is_over = Some(number) == numbers.last();
            assert_eq!(rest[0].kind, "task");
            assert_eq!(
                state(&rest[0].value),
                if is_over { "completed" } else { "working" },
                "who has seen the end is told so"
            );
            let expected: Vec<&Frame> = all.iter().skip_while(|f| f.number != Some(*number)).skip(1).collect();
            assert_eq!(rest[1..].iter().collect::<Vec<_>>(), expected, "after {number}, {wire:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_breaks_off_and_comes_back_misses_nothing() {
    let place = slow().await;
    for wire in Wire::ALL {
        let mut frames = wire.at(&place).streams("hi").await;
        let mut seen = vec![frames.next().await.unwrap()];
        while seen.iter().filter(|frame| frame.number.is_some()).count() < 2 {
            seen.push(frames.next().await.unwrap());
        }
        drop(frames);
        let last = seen.iter().filter_map(|frame| frame.number).next_back().unwrap();
        let id = seen[0].value["id"].as_str().unwrap().to_owned();
        tokio::time::sleep(Duration::from_secs(7)).await;
        let call = wire.at(&place).with("last-event-id", last.to_string());
        seen.extend(call.follows(&id).await.rest().await);
        let pieces: String = updates(&seen).iter().filter(|u| u["lastChunk"] != true).map(|u| words(u)).collect();
        assert_eq!(pieces, "one two three four", "nothing lost, nothing doubled");
        assert_eq!(text_of(&applied(&seen)["answer"]), "one two three four");
    }
}

#[tokio::test(start_paused = true)]
async fn numbers_that_make_no_sense_lose_nothing() {
    let place = slow().await;
    for wire in Wire::ALL {
        for number in ["99999999", "-1", "x", "", "18446744073709551615"] {
            let mut frames = wire.at(&place).streams("hi").await;
            let id = frames.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
            tokio::time::sleep(Duration::from_secs(15)).await;
            let rest = wire.at(&place).with("last-event-id", number).follows(&id).await.rest().await;
            assert_eq!(text_of(&applied(&rest)["answer"]), "one two three four", "{number}");
            assert_eq!(state(&rest.last().unwrap().value), "completed");
        }
    }
}

#[tokio::test]
async fn a_replay_tells_a_question_that_was_answered_as_a_question() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![text("Hm. "), ask("Which?")], vec![text("red"), done()]])).await;
        let asked = whole(&place, wire).await;
        let id = asked[0].value["id"].as_str().unwrap();
        wire.at(&place).says_with("red", json!({"taskId": id})).await.task(wire);
        let all = wire.at(&place).with("last-event-id", "0").follows(id).await.rest().await;
        let moves: Vec<_> = all.iter().filter(|frame| frame.kind == "statusUpdate").map(|frame| &frame.value).collect();
        let seen: Vec<_> = moves.iter().map(|one| (state(one), status_text(one), one["final"] == true)).collect();
        let expected = [
            ("input-required".to_owned(), "Which?".to_owned(), false),
            ("completed".to_owned(), String::new(), !wire.is_1_0()),
        ];
        assert_eq!(seen, expected, "only what is last is final");
        assert_eq!(text_of(&applied(&all)["answer"]), "red");
    }
}

/// A task that waits, and a stream of it whose first item was read.
async fn waiting(place: &Place, wire: Wire) -> (Value, Frames) {
    let asked = wire.at(place).says("hi").await.task(wire);
    let mut frames = wire.at(place).follows(asked["id"].as_str().unwrap()).await;
    let first = frames.next().await.unwrap();
    assert_eq!((first.kind, &first.value), ("task", &asked), "as it stands");
    (asked, frames)
}

#[tokio::test(start_paused = true)]
async fn s3_1_6_a_stream_of_a_task_that_waits_stays_open_to_its_end() {
    for wire in Wire::ALL {
        let scripts = [vec![text("Hm. "), ask("Which?")], vec![ask("Dark?")], vec![text("red"), done()]];
        let place = alone(InTurn::of(scripts)).await;
        let (asked, mut frames) = waiting(&place, wire).await;
        let open = tokio::time::timeout(Duration::from_secs(60), frames.next()).await;
        assert!(open.is_err(), "{wire:?} {open:?}");
        let answer = json!({"taskId": asked["id"]});
        wire.at(&place).says_with("red", answer.clone()).await.task(wire);
        let again = frames.next().await.unwrap();
        assert_eq!((again.kind, state(&again.value)), ("statusUpdate", "input-required".to_owned()));
        if !wire.is_1_0() {
            assert_eq!(again.value["final"], true, "0.3 ends where it says so");
            assert!(frames.next().await.is_none());
            continue;
        }
        wire.at(&place).says_with("yes", answer).await.task(wire);
        let rest = frames.rest().await;
        assert_eq!(state(&rest.last().unwrap().value), "completed", "{rest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn s3_1_6_a_stream_of_a_task_that_waits_ends_when_that_is_cancelled() {
    for wire in Wire::ALL {
        let place = bot(vec![text("Hm. "), ask("Which?")]).await;
        let (asked, frames) = waiting(&place, wire).await;
        wire.at(&place).about(Op::Cancel, asked["id"].as_str().unwrap()).await.task(wire);
        let rest = frames.rest().await;
        assert_eq!(state(&rest.last().unwrap().value), "canceled", "{wire:?} {rest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_stream_of_a_task_is_told_the_same_whenever_it_is_read() {
    for wire in Wire::V1_0 {
        let events = vec![Event::Progress(Progress { fraction: Some(0.5), note: None }), text("red"), done()];
        let place = alone(InTurn::of([vec![ask("Which?")], events])).await;
        let (asked, first) = waiting(&place, wire).await;
        let second = wire.at(&place).follows(asked["id"].as_str().unwrap()).await;
        wire.at(&place).says_with("red", json!({"taskId": asked["id"]})).await.task(wire);
        let first = first.rest().await;
        place.clock.advance(Duration::from_secs(5));
        assert_eq!(second.rest().await[1..], first[..]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_in_the_making_is_shown_whole() {
    const WORDS: usize = 5_000;
    let steps = (0..WORDS).map(|_| Step::Do(text("w "))).chain([Step::Hang]).collect();
    let place = Setup::default().playing("bot", steps).0.start().await;
    let wire = Wire::Rpc10;
    let mut frames = wire.at(&place).streams("hi").await;
    let id = frames.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
    for _ in 0..WORDS {
        frames.next().await.unwrap();
    }
    let task = wire.at(&place).about(Op::Get, &id).await.task(wire);
    assert_eq!(artifact_text(&task).len(), 2 * WORDS);
    let first = wire.at(&place).follows(&id).await.next().await.unwrap();
    assert_eq!(artifact_text(&first.value).len(), 2 * WORDS);
}

#[tokio::test]
async fn subscribing_over_http_json_works_with_both_verbs() {
    let place = alone(ScriptedAgent::new(vec![Step::Do(text("a")), Step::Hang])).await;
    for (wire, prefix) in [(Wire::Rest10, ""), (Wire::Rest03, "/v1")] {
        let mut frames = wire.at(&place).streams("hi").await;
        let id = frames.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
        for verb in ["GET", "POST"] {
            for colon in [":", "%3A"] {
                let head = crate::hub::support::request(verb, &format!("/a2a{prefix}/tasks/{id}{colon}subscribe"));
                let first = Frames::of(wire, place.open(head, "").await).next().await.unwrap();
                assert_eq!((first.kind, &first.value["id"]), ("task", &json!(id)), "{verb}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_ends_its_streams() {
    let place = alone(ScriptedAgent::new(vec![Step::Do(text("a")), Step::Hang])).await;
    for wire in Wire::ALL {
        let mut frames = wire.at(&place).streams("hi").await;
        let id = frames.next().await.unwrap().value["id"].as_str().unwrap().to_owned();
        wire.at(&place).about(Op::Cancel, &id).await.task(wire);
        let rest = frames.rest().await;
        assert_eq!(state(&rest.last().unwrap().value), "canceled");
    }
}

#[tokio::test]
async fn an_answer_without_words_has_no_artifact() {
    let place = bot(vec![done()]).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        assert_eq!(frames.iter().map(|frame| frame.kind).collect::<Vec<_>>(), ["task", "statusUpdate"]);
        assert_eq!(wire.at(&place).says("hi").await.task(wire).get("artifacts"), None);
    }
}

#[tokio::test]
async fn text_can_not_break_out_of_its_frame() {
    let hostile = "a\r\n\r\ndata: {\"x\":1}\n\nid: 9\nevent: end\u{2028}\u{0}";
    let place = bot(vec![text(hostile), Event::Ending(Ending::failed("b\n\ndata: x"))]).await;
    for wire in Wire::ALL {
        let frames = whole(&place, wire).await;
        assert_eq!(frames.len(), 4, "{frames:?}");
        assert_eq!(words(updates(&frames)[0]), hostile);
    }
}
