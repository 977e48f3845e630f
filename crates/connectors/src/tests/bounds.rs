//! Bounds, at each and one over it.

use forecourt_core::Part;
use forecourt_core::part::FileSource;

use super::*;
use crate::limits::{EVENT_BYTES_MAX, EVENTS_AT_ONCE_MAX, FILE_BYTES_MAX, FILES_MAX, TEXT_BYTES_MAX};

#[tokio::test]
async fn an_event_has_so_many_bytes_and_no_more() {
    let here = Here::start("bytes", 9).await;
    let event = json!({"message": "1", "text": "hi", "more": ""}).to_string();
    let sized =
        |bytes: usize| event.replace("\"more\":\"\"", &format!("\"more\":\"{}\"", "x".repeat(bytes - event.len())));
    assert_eq!(here.send(sized(EVENT_BYTES_MAX)).await.0, StatusCode::OK);
    assert_eq!(here.send(sized(EVENT_BYTES_MAX + 1)).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!((here.counted(EventOutcome::Taken), here.counted(EventOutcome::Malformed)), (1, 1));
}

#[tokio::test]
async fn a_turn_has_so_much_text_and_the_rest_is_cut_between_characters() {
    let here = Here::start("text", 9).await;
    for (message, text) in [
        ("1", "x".repeat(TEXT_BYTES_MAX)),
        ("2", "x".repeat(TEXT_BYTES_MAX + 1)),
        ("3", format!("{}ß", "x".repeat(TEXT_BYTES_MAX - 1))),
    ] {
        assert_eq!(here.ask(message, &text).await, StatusCode::OK);
    }
    let lengths: Vec<_> = here.heard(3).await.iter().map(|message| message.text().len()).collect();
    assert_eq!(lengths, [TEXT_BYTES_MAX, TEXT_BYTES_MAX, TEXT_BYTES_MAX - 1]);
}

/// How many files of the last message were handed on, and what is told of the others.
async fn files(here: &Here, number: usize, sizes: &[u64]) -> (usize, Vec<String>) {
    let event = json!({"message": number.to_string(), "text": "look", "files": sizes});
    assert_eq!(here.tell(&event).await, StatusCode::OK);
    let message = here.heard(number).await.remove(number - 1);
    let is_file = |part: &&Part| matches!(part, Part::File(file) if matches!(file.source, FileSource::Inline(_)));
    let words = message.parts.iter().skip(1).filter_map(Part::as_text).map(str::to_owned).collect();
    (message.parts.iter().filter(is_file).count(), words)
}

#[tokio::test]
async fn so_many_files_of_such_a_size_are_handed_on_and_others_are_named() {
    let here = Here::start("files", 9).await;
    let left_out = |number: usize| vec![format!("(The file file{number} could not be handed on.)")];
    assert_eq!(files(&here, 1, &[1; FILES_MAX]).await, (FILES_MAX, Vec::new()));
    assert_eq!(files(&here, 2, &[1; FILES_MAX + 1]).await, (FILES_MAX, left_out(FILES_MAX)));
    let too_large = "(The file file1 could not be handed on: it has more than 8.0 MiB.)".to_owned();
    assert_eq!(files(&here, 3, &[FILE_BYTES_MAX, FILE_BYTES_MAX + 1]).await, (1, vec![too_large]));
    // What is too large is not even asked for.
    assert_eq!(here.cage.downloaded.load(Ordering::SeqCst), 2 * FILES_MAX + 1);
}

#[tokio::test(start_paused = true)]
async fn so_many_events_are_in_the_works_at_once_and_one_more_is_put_off() {
    let here = Arc::new(Here::start("at once", 9_999).await);
    let held = here.cage.gate.clone().acquire_owned().await.unwrap();
    let mut told = tokio::task::JoinSet::new();
    for number in 0..EVENTS_AT_ONCE_MAX {
        let here = here.clone();
        told.spawn(async move { here.ask(&number.to_string(), "hi").await });
    }
    // Each of them is told to come again, and is worked on.
    while let Some(status) = told.join_next().await {
        assert_eq!(status.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(here.cage.looked_up.load(Ordering::SeqCst), EVENTS_AT_ONCE_MAX);
    let (status, words) = here.send(json!({"message": "more", "text": "hi"}).to_string()).await;
    assert_eq!((status, words.as_str()), (StatusCode::SERVICE_UNAVAILABLE, "too many events at once\n"));
    assert_eq!(here.counted(EventOutcome::TooMany), 1);
    drop(held);
    assert_eq!(here.heard(EVENTS_AT_ONCE_MAX).await.len(), EVENTS_AT_ONCE_MAX);
    assert_eq!(here.ask("more", "hi").await, StatusCode::OK);
}

#[tokio::test]
async fn one_person_asks_so_often_and_what_is_dropped_is_nowhere() {
    let here = Here::start("quota", 2).await;
    for number in 0..5 {
        assert_eq!(here.ask(&number.to_string(), "hi").await, StatusCode::OK);
    }
    assert_eq!((here.counted(EventOutcome::Taken), here.counted(EventOutcome::Dropped)), (2, 3));
    let threads = forecourt_correspondence::Threads::of(&here.mounted.mount.host, Parrot::KIND);
    let taken = async |number: usize| threads.was_taken(format!("door/C1/{number}").as_bytes()).await.unwrap();
    assert_eq!((taken(1).await, taken(2).await), (true, false));
    // An hour later it may be asked.
    here.mounted.clock.advance(Duration::from_secs(3_600));
    assert_eq!(here.ask("2", "hi").await, StatusCode::OK);
    assert_eq!(here.heard(3).await.len(), 3);
}

#[tokio::test]
async fn what_is_forged_is_counted_and_is_no_event() {
    let here = Here::start("forged", 9).await;
    let request = || Request::post("/connectors/parrot/door").header("forged", "yes").body(Body::empty()).unwrap();
    for _ in 0..3 {
        let response = here.router.clone().oneshot(request()).await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    }
    let door = Handle::parse("door").unwrap();
    let seen = here.mounted.mount.host.metrics().platforms.traffic(Parrot::KIND, Some(&door));
    assert_eq!((seen.last_event_at, seen.refused, here.counted(EventOutcome::Forged)), (None, 3, 3));
}
