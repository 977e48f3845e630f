//! Files that a platform does not take: those of an answer go by links, those of a question are said to be too large.

use forecourt_core::limits::TASK_TTL;
use forecourt_core::{Ending, Event, Language, Part, Task};
use forecourt_correspondence::{Carrier, Content, Letter, Outgoing};
use forecourt_host::{CarryOutcome, TaskAccess, TaskName};
use forecourt_testkit::Step;
use http::HeaderMap;

use super::pause::carrying;
use super::*;
use crate::limits::FILE_BYTES_MAX;
use crate::records::{AskedQuestion, Records, SentItem};

/// A host whose agent gives files of these sizes.
async fn giving(name: &str, sizes: &[usize]) -> Here {
    let file = |(number, size): (usize, &usize)| {
        let bytes = Bytes::from(vec![b'a' + u8::try_from(number).unwrap(); *size]);
        Event::Part(Part::File(File::inline("text/plain".to_owned(), Some(format!("f{number}_.txt")), bytes)))
    };
    let files = sizes.iter().enumerate().map(file);
    let said = std::iter::once(Event::Text("Here.".to_owned())).chain(files).chain([Event::Ending(Ending::Complete)]);
    Here::with(name, 9, ScriptedAgent::new(said.map(Step::Do).collect())).await
}

/// Asks, and gives what was asked with its task, once that is over.
async fn asked(here: &Here) -> (AskedQuestion, Task) {
    assert_eq!(here.ask("1", "files").await, StatusCode::OK);
    let host = &here.mounted.mount.host;
    let asked = Records::of(host, Parrot::KIND).question("door/C1/1").await.unwrap().unwrap();
    let name = TaskName { key: format!("parrot\0{}", asked.task).into(), said: Vec::new() };
    for _ in 0..1_000_000 {
        let permit = host.named_task(&name, TaskAccess::As(&asked.sender)).await.unwrap().unwrap();
        if permit.outcome.is_some() {
            return (asked, (*permit).clone());
        }
        tokio::task::yield_now().await;
    }
    panic!("it is worked on without end");
}

/// Sends the answer of a task in German; what it says by then.
async fn sent(here: &Here, (asked, task): &(AskedQuestion, Task), too_large: Vec<(String, u64)>) -> String {
    let (carrier, desk, letter) = carrying(here);
    let address = crate::address::ChatAddress { too_large, ..letter.address.clone() };
    let (token, sender) = (asked.letter.clone(), asked.sender.clone());
    let letter = Letter { token, sender, address, language: Language::parse("de"), ..letter };
    let content = Content::Reply(task.outcome.as_ref().unwrap());
    let outgoing = Outgoing { desk: &desk, letter: &letter, content, id: "1", task: Some(task) };
    assert_eq!(carrier.send(outgoing).await, CarryOutcome::Delivered);
    here.cage.said.lock().last().unwrap().clone()
}

impl Here {
    async fn get(&self, path: &str) -> (StatusCode, HeaderMap, Bytes) {
        let response = self.router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        let (status, head) = (response.status(), response.headers().clone());
        (status, head, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap())
    }
}

fn links(said: &str) -> Vec<String> {
    let begin = "https://demo.localhost";
    said.split(begin).skip(1).map(|rest| rest.split('>').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_file_over_the_bound_goes_by_a_link_for_whoever_has_it_until_its_task_is_over() {
    let large = usize::try_from(FILE_BYTES_MAX).unwrap();
    let here = giving("links", &[large, large + 1]).await;
    let asked = asked(&here).await;
    let said = sent(&here, &asked, Vec::new()).await;
    assert_eq!(*here.cage.uploaded.lock(), ["f0_.txt"]);
    let begin =
        "Here.\n\nDie Datei f1_.txt (8.0 MiB) öffnet sich über diesen Link <https://demo.localhost/connectors/parrot/";
    assert!(said.starts_with(begin) && said.contains(">, für alle, die ihn haben, bis "), "{said}");
    assert!(!said.contains(asked.1.id.expose()) && !said.contains(&asked.0.letter), "neither opens more than the file");
    let link = links(&said).remove(0);
    let (status, head, bytes) = here.get(&link).await;
    assert_eq!((status, bytes.len(), bytes[0]), (StatusCode::OK, large + 1, b'b'));
    assert_eq!(head["content-disposition"], "attachment; filename=\"f1_.txt\"");
    assert_eq!(head["cache-control"], "private, no-store");
    assert_eq!(head["content-type"], "text/plain");
    // Sent again, it is the same link.
    assert_eq!(links(&sent(&here, &asked, Vec::new()).await)[0], link);
    let (path, token) = link.rsplit_once('/').unwrap();
    for other in ["a".repeat(64), token[..63].to_owned(), format!("{token}0"), asked.1.id.expose().to_owned()] {
        assert_eq!(here.get(&format!("{path}/{other}")).await.0, StatusCode::NOT_FOUND, "{other}");
    }
    here.mounted.clock.advance(TASK_TTL);
    assert_eq!(here.get(&link).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_file_that_the_platform_refuses_goes_by_a_link_and_the_others_are_sent() {
    let here = giving("refused", &[5, 6, 7]).await;
    let asked = asked(&here).await;
    here.cage.refused.lock().push("f1_.txt".to_owned());
    let said = sent(&here, &asked, Vec::new()).await;
    assert_eq!(*here.cage.uploaded.lock(), ["f0_.txt", "f2_.txt"]);
    let link = links(&said).remove(0);
    assert_eq!(&here.get(&link).await.2[..], b"bbbbbb");
    assert_eq!(here.cage.posted.load(Ordering::SeqCst), 1, "its message is edited");
    // Once more after a crash: nothing is sent twice.
    sent(&here, &asked, Vec::new()).await;
    assert_eq!((here.cage.uploaded.lock().len(), here.cage.posted.load(Ordering::SeqCst)), (2, 1));
    // A question that was deleted takes its files along.
    let records = Records::of(&here.mounted.mount.host, Parrot::KIND);
    records.keep_sent(asked.0.sender.account(), &asked.0.letter, &SentItem::TakenBack).await.unwrap();
    assert_eq!(here.get(&link).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_question_that_was_edited_and_then_deleted_takes_the_files_of_its_first_answer_along() {
    let here = giving("edited files", &[usize::try_from(FILE_BYTES_MAX).unwrap() + 1]).await;
    let asked = asked(&here).await;
    let link = links(&sent(&here, &asked, Vec::new()).await).remove(0);
    assert_eq!(here.get(&link).await.0, StatusCode::OK);
    for kind in ["edited", "deleted"] {
        let event = json!({"kind": kind, "message": "1", "text": "other files"});
        assert_eq!(here.tell(&event).await, StatusCode::OK);
    }
    assert_eq!(here.get(&link).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_sent_a_file_that_is_too_large_is_told_so_with_the_bound() {
    let here = giving("too large", &[]).await;
    let asked = asked(&here).await;
    let said = sent(&here, &asked, vec![("a*b*.mov".to_owned(), 3 * FILE_BYTES_MAX)]).await;
    let told = "Ihre Datei a*b*.mov wurde nicht angenommen: Sie hat 24.0 MiB, und höchstens 8.0 MiB sind möglich.";
    assert_eq!(said, format!("Here.\n\n{told}"));
}
