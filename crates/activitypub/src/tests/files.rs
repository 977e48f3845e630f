//! Files of answers: behind links, for whoever has them, until their task is over.

use bytes::Bytes;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::part::FileSource;
use forecourt_core::{Ending, Event, File, Part};
use forecourt_testkit::Step;

use super::*;

/// A host whose agent gives a file.
async fn with_file() -> Here {
    let file = File::inline("text/html", Some("a<b>_c.html".to_owned()), Bytes::from_static(b"<script>"));
    let steps = [Event::Part(Part::File(file)), Event::Ending(Ending::Complete)].map(Step::Do);
    Here::answering("", ScriptedAgent::new(steps.to_vec())).await
}

/// What was posted, once there is as much.
async fn posted(there: &Elsewhere, count: usize) -> Vec<Value> {
    for _ in 0..1_000_000 {
        if there.posted.lock().len() >= count {
            break;
        }
        tokio::task::yield_now().await;
    }
    there.posted.lock().clone()
}

#[tokio::test]
async fn a_file_of_an_answer_is_behind_a_link_that_opens_nothing_else_and_ends_with_its_task() {
    let (here, there) = (with_file().await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    assert_eq!(here.post(&there, "ann", &there.note("ann", 1, "a file")).await, StatusCode::ACCEPTED);
    let answer = posted(&there, 1).await.remove(0);
    let content = answer["object"]["content"].as_str().unwrap();
    assert!(content.contains("The file a&lt;b&gt;_c.html (8 bytes) opens by <a href="), "{content}");
    assert!(!content.contains("There is no answer"), "{content}");
    let (_, link) = content.split_once("https://demo.localhost/activitypub/files/").unwrap();
    let token = link.split('"').next().unwrap().to_owned();
    let get = async |token: &str| {
        let request = Request::get(format!("/activitypub/files/{token}")).body(Body::empty()).unwrap();
        let response = here.router.clone().oneshot(request).await.unwrap();
        let (status, head) = (response.status(), response.headers().clone());
        (status, head, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap())
    };
    let (status, head, bytes) = get(&token).await;
    assert_eq!((status, &bytes[..]), (StatusCode::OK, b"<script>".as_slice()));
    assert!(head["content-disposition"].to_str().unwrap().starts_with("attachment; filename="), "{head:?}");
    assert_eq!(head["cache-control"], "private, no-store");
    assert_eq!(head["x-robots-tag"], "noindex");
    assert!(head["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    // Neither guessed, nor in other spellings.
    for other in ["a".repeat(64), token.to_uppercase(), token[..63].to_owned(), "..".to_owned()] {
        assert_eq!(get(&other).await.0, StatusCode::NOT_FOUND, "{other}");
    }
    here.mounted.clock.advance(TASK_TTL);
    assert_eq!(get(&token).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_link_opens_nothing_once_its_question_was_deleted() {
    let (here, there) = (with_file().await, Elsewhere::start().await);
    there.has("ann", "Person", &there.key);
    assert_eq!(here.post(&there, "ann", &there.note("ann", 1, "a file")).await, StatusCode::ACCEPTED);
    let content = posted(&there, 1).await[0]["object"]["content"].as_str().unwrap().to_owned();
    let (_, link) = content.split_once("/activitypub/files/").unwrap();
    let path = format!("/activitypub/files/{}", link.split('"').next().unwrap());
    let status = async || {
        let request = Request::get(&path).body(Body::empty()).unwrap();
        here.router.clone().oneshot(request).await.unwrap().status()
    };
    assert_eq!(status().await, StatusCode::OK);
    let gone = json!({"id": format!("{}/notes/1", there.origin), "type": "Tombstone"});
    assert_eq!(here.post(&there, "ann", &there.activity("ann", "Delete", 2, &gone)).await, StatusCode::ACCEPTED);
    assert_eq!(status().await, StatusCode::NOT_FOUND);
}

#[test]
fn files_with_addresses_are_named_by_them() {
    let file = File {
        source: FileSource::Url { url: "https://a.example/b.pdf".to_owned(), expires_at: None },
        ..File::inline("application/pdf", Some("b.pdf".to_owned()), Bytes::new())
    };
    let picture = File { mime: "image/png".to_owned(), ..file.clone() };
    assert!(crate::files::left_out(&Part::File(file)).is_some());
    assert!(crate::files::left_out(&Part::File(picture)).is_none());
}
