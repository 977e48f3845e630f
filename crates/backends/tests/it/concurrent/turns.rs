//! Many messages at once in one process, and what becomes of one that is cancelled.

use super::*;

#[tokio::test]
async fn one_process_answers_200_callers_at_once_and_each_hears_its_own() {
    let worker = worker("processes = 1\nconcurrency = 256\n");
    let asked: Vec<String> = (0..200).map(|number| format!("meet 200 {number}")).collect();
    let answers = join_all(asked.iter().map(|said| worker.ask(said))).await;
    let mut pids: Vec<String> = answers
        .iter()
        .zip(&asked)
        .map(|(answer, said)| {
            assert_eq!(answer.ending, Ending::Complete);
            answer.text().strip_prefix(&format!("{said} ")).unwrap_or_else(|| panic!("{answer:?}")).to_owned()
        })
        .collect();
    pids.dedup();
    assert_eq!(pids.len(), 1);
}

#[tokio::test]
async fn a_worker_gets_no_more_at_once_than_both_sides_say() {
    for (concurrency, hello) in [(2, 256), (256, 2)] {
        let more = format!("processes = 1\nconcurrency = {concurrency}\n");
        let worker = worker_in(&json!({"protocol": 2, "concurrency": hello}), &more, |context| context);
        let (first, second) = (worker.begun("hold").await, worker.begun("hold").await);
        let mut third = worker.stream("pid").await;
        let waits = tokio::time::timeout(Duration::from_millis(50), third.next()).await;
        assert!(waits.is_err(), "{waits:?}");
        drop(first);
        assert!(matches!(third.next().await, Some(Event::Text(_))));
        drop(second);
    }
}

#[tokio::test]
async fn each_of_ten_open_turns_fails_when_the_worker_dies_and_none_hears_another() {
    let worker = worker("processes = 1\n");
    let mut open = Vec::new();
    for number in 0..9 {
        open.push((number, worker.begun(&format!("until never{number}")).await));
    }
    let died = worker.ask("die").await;
    assert_eq!((died.text().as_str(), failure(&died)), ("so far", CRASHED));
    for (number, events) in open {
        let rest = collect(events).await;
        assert_eq!((rest.text().as_str(), failure(&rest)), ("", CRASHED), "{number}");
    }
    assert_eq!(worker.ask("pid").await.ending, Ending::Complete, "another process is there for the next");
}

#[tokio::test]
async fn a_caller_that_leaves_cancels_its_turn_and_no_other() {
    let worker = worker("processes = 1\n");
    let pid = worker.ask("pid").await.text();
    let other = worker.begun("until go").await;
    drop(worker.begun("hold").await);
    assert_eq!(worker.file("cancel-caller_left").await, "5000");
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
    assert_eq!(worker.ask("pid").await.text(), pid, "the process goes on");
}

#[tokio::test]
async fn a_turn_is_told_why_it_is_cancelled() {
    let worker = worker("processes = 1\nidle_seconds = 1\n");
    for (reason, file) in [(StopReason::Canceled, "cancel-cancelled"), (StopReason::Shutdown, "cancel-shutdown")] {
        let stop = StopSign::new();
        let message = Message { stop: stop.clone(), ..message(vec![Part::text("hold")]) };
        let mut events = stream(&worker.built, message).await;
        assert!(matches!(events.next().await, Some(Event::Text(_))));
        stop.set(reason);
        drop(events);
        worker.file(file).await;
    }
    let late = worker.ask("hold").await;
    assert!(failure(&late).contains("stopped in the middle"), "{late:?}");
    worker.file("cancel-timeout").await;
}

#[tokio::test]
async fn a_worker_that_does_not_end_a_cancelled_turn_is_ended_once_its_others_are_over() {
    let worker = worker("processes = 2\ncancel_seconds = 1\n");
    let pid = worker.ask("pid").await.text();
    let other = worker.begun("until go").await;
    drop(worker.begun("stubborn").await);
    // It is given no turn any more after the grace, while its other turn goes on.
    let mut next = worker.ask("pid").await.text();
    let asking = async {
        while next == pid {
            tokio::time::sleep(Duration::from_millis(20)).await;
            next = worker.ask("pid").await.text();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asking).await.unwrap();
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
    let proc = format!("/proc/{pid}/stat");
    let gone = async {
        while Path::new(&proc).exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the stubborn worker is gone");
}

#[tokio::test]
async fn turns_of_one_conversation_go_to_one_process() {
    let worker = worker_in(&json!({"protocol": 2}), "processes = 3\n", |context| context);
    let entropy = CountedEntropy::default();
    let threads = [ThreadId::mint(&entropy), ThreadId::mint(&entropy), ThreadId::mint(&entropy)];
    let ask_in = async |thread: &ThreadId, said: &str| {
        let message = Message { thread: Some(thread.clone()), ..message(vec![Part::text(said)]) };
        collect(stream(&worker.built, message).await).await.text()
    };
    // At once, so that each has a process of its own.
    let pids = join_all(threads.iter().map(|thread| ask_in(thread, "meet 1"))).await;
    for _ in 0..3 {
        for (thread, pid) in threads.iter().zip(&pids) {
            assert_eq!(ask_in(thread, "meet 1").await, *pid);
        }
    }
}
