//! Workers that write, greet, hang and die as they should not.

use super::*;

#[tokio::test]
async fn what_is_written_for_another_turn_reaches_nobody() {
    let worker = worker("processes = 1\n");
    let other = worker.begun("until go").await;
    // For turns that are over, and for the one that is open: a worker that lies about `turn` harms its own callers, and
    // those alone whose turns it has.
    let answer = worker.ask("foreign").await;
    assert_eq!(answer.text(), "mine");
    assert_eq!(collect(other).await.text(), "foreign");
    assert!(worker.ask("pid").await.text().parse::<u32>().is_ok());
}

#[tokio::test]
async fn a_greeting_that_can_not_be_is_refused_and_the_message_fails() {
    for hello in [
        json!({"protocol": 2, "concurrency": 0}),
        json!({"protocol": 2, "concurrency": 257}),
        json!({"protocol": 2, "concurrency": "x"}),
        json!({"protocol": 3}),
        json!(2),
    ] {
        let worker = worker_in(&hello, "processes = 1\n", |context| context);
        std::fs::write(worker.path("wrong"), "").unwrap();
        assert_eq!(failure(&worker.ask("pid").await), UNREADABLE, "{hello}");
    }
}

#[tokio::test]
async fn a_second_greeting_and_stray_lines_harm_nobody() {
    let worker = worker("processes = 1\n");
    std::fs::write(worker.path("wrong"), "").unwrap();
    let other = worker.begun("until go").await;
    for stray in [
        r#"{"hello": {"protocol": 2, "concurrency": 1}}"#,
        "Traceback (most recent call last):",
        "7",
        "",
        r#"{"level": "info"}"#,
        r#"{"turn": 999, "text": "nobody's"}"#,
        r#"{"turn": TURN, "txet": "typo"}"#,
    ] {
        let asked = format!("say {stray}\n{{\"turn\": TURN, \"text\": \"fine\", \"colour\": 1, \"end\": true}}");
        assert_eq!(worker.ask(&asked).await.text(), "fine", "{stray}");
    }
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
}

#[tokio::test]
async fn a_line_that_may_be_anybodys_ends_the_worker_with_all_of_its_turns() {
    for broken in ["{\"turn\": 1, ", "[1]", "\"text\"", r#"{"text": "whose?"}"#, r#"{"usage": {"model": "m"}}"#] {
        let worker = worker("processes = 1\n");
        std::fs::write(worker.path("wrong"), "").unwrap();
        let other = worker.begun("until never").await;
        let answer = worker.ask(&format!("say {broken}")).await;
        assert_eq!((failure(&answer), failure(&collect(other).await)), (UNREADABLE, UNREADABLE), "{broken}");
        assert_eq!(worker.ask("pid").await.ending, Ending::Complete, "{broken}");
    }
}

#[tokio::test]
async fn a_turn_that_fails_or_can_not_be_read_leaves_the_process_to_the_others() {
    let worker = worker("processes = 1\n");
    std::fs::write(worker.path("wrong"), "").unwrap();
    let pid = worker.ask("pid").await.text();
    assert_eq!(failure(&worker.ask("error").await), "no luck");
    for wrong in
        [r#"{"turn": TURN, "text": 7}"#, r#"{"turn": TURN, "call": {"id": ""}}"#, r#"{"turn": TURN, "artifact": 1}"#]
    {
        assert_eq!(failure(&worker.ask(&format!("say {wrong}")).await), UNREADABLE, "{wrong}");
    }
    assert_eq!(worker.ask("pid").await.text(), pid);
}

#[tokio::test]
async fn a_caller_that_reads_nothing_holds_up_no_other_and_is_cut() {
    let worker = worker("processes = 1\n");
    let slow = worker.begun("flood").await;
    // Behind what floods, in the same pipe.
    for _ in 0..3 {
        assert_eq!(worker.ask("pid").await.ending, Ending::Complete);
    }
    // Over the bound of one answer, or of all that wait: it ends, with what it said or without.
    let rest = tokio::time::timeout(Duration::from_secs(60), collect(slow)).await.unwrap();
    assert!(matches!(rest.ending, Ending::Failed { .. }), "{:?}", rest.ending);
}

#[tokio::test]
async fn a_worker_that_reads_nothing_more_is_ended_after_its_time() {
    let reads_one = format!(
        "{WORKER}\nraw(hello={{\"protocol\": 2, \"concurrency\": 256}})\n\
         message = json.loads(sys.stdin.readline()); work(message, None); time.sleep(3600)\n"
    );
    let worker = program(&reads_one, "processes = 1\nidle_seconds = 1\ncancel_seconds = 1\n", |context| context);
    let pid = worker.ask("pid").await.text();
    let long = "x".repeat(1 << 20);
    let unread = join_all((0..5).map(|_| worker.ask(&long))).await;
    assert!(unread.iter().all(|answer| matches!(answer.ending, Ending::Failed { .. })), "{unread:?}");
    let again = async {
        loop {
            let again = worker.ask("pid").await;
            if again.ending == Ending::Complete {
                return again.text();
            }
        }
    };
    assert_ne!(tokio::time::timeout(Duration::from_secs(60), again).await.expect("another process answers"), pid);
}

#[tokio::test]
async fn who_waits_for_a_worker_that_hangs_is_answered_by_another() {
    let more = "processes = 1\ncancel_seconds = 1\n";
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 1}), more, |context| context);
    let pid = worker.ask("pid").await.text();
    drop(worker.begun("stubborn").await);
    let waited = worker.ask("pid").await;
    assert_eq!(waited.ending, Ending::Complete);
    assert_ne!(waited.text(), pid);
}

#[tokio::test]
async fn a_greeting_is_within_the_time_of_the_answer() {
    let silent = program("import time; time.sleep(3600)", "idle_seconds = 60\ntotal_seconds = 1\n", |context| context);
    assert!(failure(&silent.ask("pid").await).contains("took too long"));
}

#[tokio::test]
async fn a_process_that_replaces_one_of_version_1_may_greet() {
    // As if somebody had edited the program while the first process ran.
    let edited = format!(
        "import json, os, sys\n\
         if not os.path.exists(\"edited\"):\n    \
             open(\"edited\", \"w\").close()\n    \
             for _ in sys.stdin: print(json.dumps({{\"text\": \"before\", \"end\": True}}), flush=True)\n    \
             sys.exit()\n\
         {WORKER}\nraw(hello={{\"protocol\": 2, \"concurrency\": 2}})\nmain()\n"
    );
    let worker = program(&edited, "processes = 1\n", |context| context);
    assert_eq!(worker.ask("pid").await.text(), "before");
    let (first, second) = (worker.ask("pid").await, worker.ask("pid").await);
    assert_eq!((&first.ending, &second.ending), (&Ending::Complete, &Ending::Complete));
    assert_eq!(first.text(), second.text(), "its greeting is read, and it stays");
}
