//! `command`, with real programs.

use std::path::Path;
use std::time::Duration;

use forecourt_agents::limits::FRAME_BYTES_MAX;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::limits::PROCESSES_WAITING_MAX;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{CollectedReply, Ending, Event, Part, Role, Turn};
use futures::{FutureExt, StreamExt};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{ask, ask_after, build, failure, in_folder, message, problems, stream};

/// A deployment with a program in Python. Every program begins with the same helpers.
fn deployment(program: &str) -> (TempDir, Context) {
    let folder = tempfile::tempdir().unwrap();
    let prelude = "import json, os, sys, time, socket, subprocess\n\
                   def say(**fields): print(json.dumps(fields), flush=True)\n";
    std::fs::write(folder.path().join("agent.py"), format!("{prelude}{program}")).unwrap();
    let context = in_folder(folder.path());
    (folder, context)
}

fn settings(more: &str) -> String {
    format!("[backend]\nkind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\n{more}")
}

fn built(program: &str, more: &str) -> (TempDir, BuiltAgent) {
    let (folder, context) = deployment(program);
    let built = build(&settings(more), &context);
    (folder, built)
}

async fn answer(program: &str, more: &str) -> CollectedReply {
    let (_folder, built) = built(program, more);
    ask(&built, "hi").await
}

const CRASHED: &str = "The agent's program ended before its answer was whole.";

#[tokio::test]
async fn the_program_reads_a_message_and_its_lines_are_the_answer() {
    let program = r#"
asked = json.loads(sys.stdin.readline())
assert sys.stdin.read() == ""
earlier = asked["history"][0]["parts"][0]["content"]
say(progress=0.5, note="half")
say(text=f"{earlier}, {asked['parts'][0]['content']} ")
print()
say(tool_call={"id": "1", "name": "add", "args": {}, "result": 3})
say(text="to " + asked["recipient"], data={"id": asked["id"]})
"#;
    let (_folder, built) = built(program, "");
    let answer = ask_after(&built, vec![Turn::text(Role::User, "Hello")], "hi").await;
    assert_eq!(answer.text(), "Hello, hi to @agent@demo.localhost");
    assert_eq!((answer.parts.len(), answer.ending), (3, Ending::Complete));
}

#[tokio::test]
async fn fragments_arrive_while_the_program_still_runs() {
    let program = "print('{\"text\": \"first\"}')\nsys.stdin.read()\ntime.sleep(3600)\n";
    let (_folder, built) = built(program, "");
    let mut events = stream(&built, message(vec![Part::text("hi")])).await;
    assert_eq!(events.next().await, Some(Event::Text("first".to_owned())));
}

#[tokio::test]
async fn text_in_and_text_out_needs_no_json() {
    let program = "sys.stdout.buffer.write(sys.stdin.read().upper().encode() + b' \\xf0\\x9f'); sys.stdout.flush()\n\
                   sys.stdout.buffer.write(b'\\x8d\\xb2'); sys.stdout.flush()\n";
    assert_eq!(answer(program, "format = \"text\"\n").await.text(), "HI 🍲");
    let failed = answer("print('half'); sys.exit(3)\n", "format = \"text\"\n").await;
    assert_eq!((failed.text().trim(), failure(&failed)), ("half", CRASHED));
}

#[tokio::test]
async fn the_program_sees_its_own_variables_and_nothing_else_of_ours() {
    let toml = "[backend]\nkind = \"command\"\ncommand = [\"env\"]\nformat = \"text\"\nenv = { TOKEN = \"${KEY}\" }\n";
    let answer = ask(&build(toml, &crate::support::context()), "hi").await.text();
    let mut names: Vec<&str> = answer.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort();
    assert_eq!(names, ["LANG", "PATH", "PYTHONUNBUFFERED", "TOKEN"]);
    assert!(answer.contains("TOKEN=sesame\n"));
}

#[tokio::test]
async fn the_program_runs_in_the_folder_of_the_deployment() {
    assert_eq!(answer("say(text=','.join(os.listdir('.')))\n", "").await.text(), "agent.py");
}

#[tokio::test]
async fn a_crash_in_mid_answer_is_an_honest_failure_and_the_next_request_works() {
    let program = "asked = json.loads(sys.stdin.readline())['parts'][0]['content']\nsay(text='so far')\n\
                   if asked == 'crash': os.abort()\nif asked == 'raise': raise RuntimeError('secret')\nsay(text=' so good')\n";
    let (_folder, built) = built(program, "");
    for bad in ["crash", "raise"] {
        let failed = ask(&built, bad).await;
        assert_eq!((failed.text().as_str(), failure(&failed)), ("so far", CRASHED), "{bad}");
    }
    let good = ask(&built, "hi").await;
    assert_eq!((good.text().as_str(), good.ending), ("so far so good", Ending::Complete));
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    for program in
        ["print('Traceback')\n", "print('{\"txet\": 1}')\n", "print('7')\n", "sys.stdout.buffer.write(b'\\xff\\n')\n"]
    {
        assert!(failure(&answer(program, "").await).contains("could not be read"), "{program}");
    }
}

#[tokio::test]
async fn an_ending_ends_the_answer_whatever_the_program_does_then() {
    let refused =
        answer("say(policy={'kind': 'forbidden', 'message': 'no'})\nsay(text='late')\ntime.sleep(3600)\n", "").await;
    assert!(matches!(&refused.ending, Ending::Refused(part) if part.kind() == "forbidden"), "{refused:?}");
    let ended = answer("say(text='done', end=True)\nsys.exit(1)\n", "").await;
    assert_eq!((ended.text().as_str(), ended.ending), ("done", Ending::Complete));
}

#[tokio::test]
async fn silence_and_endless_talk_are_cut() {
    let silent = answer("say(text='a')\ntime.sleep(3600)\n", "idle_seconds = 1\n").await;
    assert!(failure(&silent).contains("stopped in the middle"), "{silent:?}");
    let endless = answer("while True:\n  say(note='still here')\n  time.sleep(0.05)\n", "total_seconds = 1\n").await;
    assert!(failure(&endless).contains("took too long"), "{endless:?}");
}

#[tokio::test]
async fn a_line_has_a_bound() {
    let line = |bytes: usize| format!("print('{{\"text\":\"' + 'x' * {} + '\"}}')\n", bytes - 11);
    let whole = answer(&line(FRAME_BYTES_MAX), "").await;
    assert_eq!((whole.text().len(), whole.ending), (FRAME_BYTES_MAX - 11, Ending::Complete));
    assert!(failure(&answer(&line(FRAME_BYTES_MAX + 1), "").await).contains("too large"));
}

#[tokio::test]
async fn a_program_that_complains_at_length_is_not_held_up() {
    let program = "for i in range(200): print('x' * 5000, file=sys.stderr)\nsay(text='done')\n";
    assert_eq!(answer(program, "").await.text(), "done");
}

#[tokio::test]
async fn a_program_that_does_not_read_a_long_message_still_answers() {
    let (_folder, built) = built("say(text='done')\n", "");
    assert_eq!(ask(&built, &"x".repeat(1 << 20)).await.text(), "done");
}

#[tokio::test]
async fn dropping_the_answer_ends_the_whole_group() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // The child holds a connection for as long as it lives.
    let program = format!(
        "child = 'import socket, time; s = socket.create_connection((\"127.0.0.1\", {port})); s.send(b\"x\"); time.sleep(3600)'\n\
         subprocess.Popen([sys.executable, '-c', child])\nsay(text='begun')\ntime.sleep(3600)\n"
    );
    let (_folder, built) = built(&program, "");
    let mut events = stream(&built, message(vec![Part::text("hi")])).await;
    assert!(events.next().await.is_some());
    let (mut held, _) = listener.accept().await.unwrap();
    let mut byte = [0];
    held.read_exact(&mut byte).await.unwrap();
    drop(events);
    let end = tokio::time::timeout(Duration::from_secs(10), held.read(&mut byte)).await;
    assert!(matches!(end, Ok(Ok(0) | Err(_))), "the child of the program is gone: {end:?}");
}

/// Answers line by line; `say` repeats the turn.
const WORKER: &str = r#"
import threading
def say(**fields): print(json.dumps({"turn": turn, **fields}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    asked, turn = message["parts"][0]["content"], message["turn"]
    if asked == "exit": sys.exit(0)
    if asked == "hang": say(text="hanging"); time.sleep(3600)
    if asked == "fail": say(error="no luck"); continue
    def end_and(more):
        sys.stdout.write(json.dumps({"turn": turn, "text": f"{os.getpid()}", "end": True}) + "\n" + more)
        sys.stdout.flush()
    if asked == "late": end_and(json.dumps({"turn": turn, "text": "secret", "end": True}) + "\n"); continue
    if asked == "half": end_and('{"text": "secr'); continue
    if asked == "flood":
        end_and("secret")
        while True: say(text="secret" * 1000)
    if asked == "idle":
        def later():
            while not os.path.exists("go"): time.sleep(0.01)
            print('{"text": "secret", "end": true}', flush=True)
            open("done", "w").close()
        threading.Thread(target=later).start()
    if asked == "former":
        was, turn = turn, turn - 1
        say(text="for the one before", end=True)
        turn = was
    if asked == "unnamed": print('{"text": "somebody\'s", "end": true}', flush=True); continue
    say(text=f"{os.getpid()}", end=True)
    if asked == "last": sys.exit(0)
"#;

fn worker() -> (TempDir, BuiltAgent) {
    built(WORKER, "mode = \"worker\"\nprocesses = 1\n")
}

#[tokio::test]
async fn a_worker_answers_one_message_after_the_other() {
    let (_folder, built) = worker();
    let (first, second) = (ask(&built, "hi").await, ask(&built, "hi").await);
    assert_eq!(first.ending, Ending::Complete);
    assert_eq!(first.text(), second.text(), "the same process");
}

#[tokio::test]
async fn what_a_worker_writes_after_its_ending_is_for_nobody() {
    for misdeed in ["late", "half", "flood"] {
        let (_folder, built) = worker();
        let first = ask(&built, misdeed).await;
        assert_eq!(first.ending, Ending::Complete, "{misdeed}");
        let second = ask(&built, "hi").await;
        assert_eq!(second.ending, Ending::Complete, "{misdeed}");
        assert!(second.text().parse::<u32>().is_ok() && second.text() != first.text(), "{misdeed}: {second:?}");
    }
}

#[tokio::test]
async fn what_a_worker_writes_while_it_has_nothing_to_do_is_for_nobody() {
    let (folder, built) = worker();
    let first = ask(&built, "idle").await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    while !folder.path().join("done").exists() {
        tokio::task::yield_now().await;
    }
    let second = ask(&built, "hi").await;
    assert_eq!(second.ending, Ending::Complete);
    assert!(second.text().parse::<u32>().is_ok() && second.text() != first.text(), "{second:?}");
}

#[tokio::test]
async fn a_line_for_an_earlier_turn_is_passed_over() {
    let (_folder, built) = worker();
    let pid = ask(&built, "hi").await.text();
    let answer = ask(&built, "former").await;
    assert_eq!((answer.text(), answer.ending), (pid, Ending::Complete));
}

#[tokio::test]
async fn a_line_that_names_no_turn_is_never_an_answer_to_a_later_caller() {
    let (_folder, built) = worker();
    let pid = ask(&built, "hi").await.text();
    let answer = ask(&built, "unnamed").await;
    assert_eq!(answer.text(), "");
    assert!(failure(&answer).contains("could not be read"), "{answer:?}");
    assert_ne!(ask(&built, "hi").await.text(), pid, "it was replaced");
}

#[tokio::test]
async fn a_worker_that_names_no_turn_answers_once_and_another_is_there_for_the_next() {
    let program = "print('{\"note\": \"up\"}', flush=True)\n\
                   for line in sys.stdin:\n  say(text=f'{os.getpid()}', end=True)\n  say(text='secret', end=True)\n";
    let (_folder, built) = built(program, "mode = \"worker\"\nprocesses = 1\n");
    let mut pids = Vec::new();
    for _ in 0..5 {
        let answer = ask(&built, "hi").await;
        assert_eq!(answer.ending, Ending::Complete);
        pids.push(answer.text());
    }
    assert!(pids.iter().all(|pid| pid.parse::<u32>().is_ok()), "{pids:?}");
    pids.dedup();
    assert_eq!(pids.len(), 5);
}

#[tokio::test]
async fn a_worker_whose_answer_broke_off_is_replaced() {
    let (_folder, built) = worker();
    let mut pids = vec![ask(&built, "hi").await.text()];
    let left = ask(&built, "exit").await;
    assert_eq!(failure(&left), CRASHED, "leaving is no answer, whatever the status");
    pids.push(ask(&built, "hi").await.text());
    let mut events = stream(&built, message(vec![Part::text("hang")])).await;
    assert_eq!(events.next().await, Some(Event::Text("hanging".to_owned())));
    drop(events);
    pids.push(ask(&built, "hi").await.text());
    assert_eq!(failure(&ask(&built, "fail").await), "no luck");
    pids.push(ask(&built, "last").await.text());
    // It exits while it is idle, or is about to: the next message goes to another.
    pids.push(ask(&built, "hi").await.text());
    pids.sort();
    pids.dedup();
    assert!(pids.len() >= 4, "{pids:?}");
}

#[tokio::test]
async fn messages_wait_for_a_process_up_to_a_bound() {
    let (_folder, built) = worker();
    let mut first = stream(&built, message(vec![Part::text("hang")])).await;
    first.next().await;
    let mut waiting = Vec::new();
    for _ in 0..PROCESSES_WAITING_MAX {
        let mut events = stream(&built, message(vec![Part::text("hi")])).await;
        assert!(events.next().now_or_never().is_none(), "it waits");
        waiting.push(events);
    }
    let refused = ask(&built, "hi").await;
    let Ending::Refused(part) = refused.ending else { panic!("{refused:?}") };
    assert_eq!(part.kind, RefusalKind::ServiceUnavailable { retry_after_seconds: Some(1) });
    drop(first);
    let served = waiting.swap_remove(0).next().await;
    assert!(matches!(served, Some(Event::Text(_))), "{served:?}");
}

#[tokio::test]
async fn a_program_in_the_deployment_is_named_by_its_path() {
    let (folder, context) = deployment("");
    let script = folder.path().join("run.sh");
    std::fs::write(&script, "#!/bin/sh\necho '{\"text\": \"ok\"}'\n").unwrap();
    make_executable(&script);
    let toml = "[backend]\nkind = \"command\"\ncommand = [\"./run.sh\"]\n";
    // A file that was just written may still be open in another test's child: then it is started again.
    let built = build(toml, &context);
    let mut answer = ask(&built, "hi").await;
    for _ in 0..20 {
        if answer.ending != Ending::Complete {
            answer = ask(&built, "hi").await;
        }
    }
    assert_eq!(answer.text(), "ok");
}

fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn a_program_that_can_not_be_started_is_a_failure() {
    let (folder, context) = deployment("");
    std::fs::write(folder.path().join("plain"), "no program").unwrap();
    let built = build("[backend]\nkind = \"command\"\ncommand = [\"./plain\"]\n", &context);
    assert_eq!(failure(&ask(&built, "hi").await), "The agent's program could not be started.");
}

#[test]
fn settings_are_checked() {
    for (more, wanted) in [
        ("command = []\n", "`command` needs a program"),
        ("command = [\"no-such-program-here\"]\n", "no program `no-such-program-here` in PATH"),
        ("command = [\"./no-such-file\"]\n", "in the deployment's folder"),
        ("command = [\"sh\"]\nprocesses = 0\n", "between 1 and 256"),
        ("command = [\"sh\"]\nprocesses = 257\n", "between 1 and 256"),
        ("command = [\"sh\"]\nmode = \"worker\"\nformat = \"text\"\n", "a worker needs"),
        ("command = [\"sh\"]\nmode = \"pool\"\n", "`mode`"),
        ("command = [\"sh\"]\nenv = { \"a=b\" = \"c\" }\n", "can't be one"),
        ("command = [\"sh\"]\ntimeout = 3\n", "unknown key `timeout`"),
    ] {
        let said = problems(&format!("[backend]\nkind = \"command\"\n{more}"));
        assert!(said.contains(wanted), "{said}");
    }
}

#[tokio::test]
async fn a_worker_is_ended_with_its_agent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let program = format!(
        "held = socket.create_connection(('127.0.0.1', {port}))\nfor line in sys.stdin: say(turn=json.loads(line)['turn'], text='x', end=True)\ntime.sleep(3600)\n"
    );
    let (_folder, built) = built(&program, "mode = \"worker\"\n");
    ask(&built, "hi").await;
    let (mut held, _) = listener.accept().await.unwrap();
    drop(built);
    let mut byte = [0];
    let end = tokio::time::timeout(Duration::from_secs(10), held.read(&mut byte)).await;
    assert!(matches!(end, Ok(Ok(0) | Err(_))), "the worker is gone: {end:?}");
    held.shutdown().await.ok();
}
