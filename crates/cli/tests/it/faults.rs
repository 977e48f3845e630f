//! Agents that break: callers get an honest failure, the log says why, the next request works.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;

use nix::sys::signal::Signal;

use crate::support::{Deployment, Served};

/// Answers, unless it is asked to do something else.
const PROGRAM: &str = r#"
import json, os, sys, time
def say(**fields): print(json.dumps(fields), flush=True)
for line in sys.stdin:
    asked = json.loads(line)["parts"][0]["content"]
    say(text="You said ")
    if asked == "crash": sys.exit("the stove is on fire")
    if asked == "kill": os.kill(os.getpid(), 9)
    if asked == "garbage": print("{not json", flush=True)
    if asked == "hang": time.sleep(3600)
    if asked == "fail": say(error="I burnt it.")
    say(text=asked + ".")
    say(end=True)
"#;

/// How it is started.
const COMMAND: &str = "kind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\nidle_seconds = 3\n";

/// An agent by [`PROGRAM`], started as `mode` says.
fn served(mode: &str) -> Served {
    let backend = format!("{COMMAND}mode = \"{mode}\"\nprocesses = 1\n");
    Deployment::of_backend(&backend).and("agent.py", PROGRAM).serve()
}

#[test]
fn a_program_for_each_message_may_break() {
    assert_survives("each", &["crash", "kill", "garbage", "fail"]);
}

#[test]
fn a_worker_may_break() {
    assert_survives("worker", &["crash", "kill", "garbage", "fail"]);
}

#[test]
fn a_worker_may_hang() {
    assert_survives("worker", &["hang"]);
}

/// Each of `faults` is told as a failure that says nothing of the inside, and the next request works.
#[track_caller]
fn assert_survives(mode: &str, faults: &[&str]) {
    let served = served(mode);
    let ask = |text: &str| served.curl(&format!("/~agent?user={text}"), &["-H", "Accept: application/json"]);
    for text in faults {
        let error = ask(text).with_status(502).json()["error"].as_str().unwrap().to_owned();
        assert!(!error.contains("python") && !error.contains("stove") && !error.contains('/'), "{error}");
        let next = ask("hello").with_status(200).json();
        assert_eq!(next["parts"][0]["text"], "You said hello.", "after {text}");
    }
    served.signal(Signal::SIGTERM);
    let (status, log, _) = served.ended();
    assert!(status.success(), "{status}");
    assert_eq!(log.contains("the stove is on fire"), faults.contains(&"crash"), "{log}");
}

#[test]
fn a_stream_that_breaks_does_not_look_whole() {
    let served = served("each");
    let stream = |text: &str| {
        let answer = served.curl(&format!("/~agent?user={text}"), &["-H", "Accept: text/event-stream"]);
        answer.with_status(200).text()
    };
    let broken = stream("crash");
    assert!(broken.starts_with("data: You said \n\n") && !broken.contains("event: end"), "{broken}");
    assert!(stream("hello").ends_with("event: end\ndata: {}\n\n"));
}

#[test]
fn a_webhook_that_breaks_is_told_as_a_failure_and_the_next_request_works() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let backend = format!("kind = \"http\"\nurl = \"http://{}/\"\nretries = 0\n", listener.local_addr().unwrap());
    thread::spawn(move || answer_badly_then_well(&listener));
    let served = Deployment::of_backend(&backend).serve();
    let ask = || served.curl("/~agent?user=hello", &["-H", "Accept: application/json"]);
    for what in ["a broken head", "half a body", "no JSON", "an error"] {
        let failed = ask();
        assert!(matches!(failed.status, 502 | 503), "{what}: {failed:?}");
        let text = failed.text();
        assert!(!text.contains("127.0.0.1") && !text.contains("secret"), "{what}: {text}");
    }
    assert_eq!(ask().with_status(200).json()["parts"][0]["text"], "Well.");
}

/// Answers of a backend, one a connection.
const ANSWERS: [&str; 5] = [
    "nonsense\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"text\": \"half",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\nno JSON !",
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 6\r\n\r\nsecret",
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"text\": \"Well.\"}",
];

fn answer_badly_then_well(listener: &TcpListener) {
    for answer in ANSWERS {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

#[test]
fn a_program_is_ended_with_its_answer() {
    let program =
        "import json, os, sys, time\nprint(json.dumps({'text': str(os.getpid())}), flush=True)\ntime.sleep(3600)\n";
    let served = Deployment::of_backend(COMMAND).and("agent.py", program).serve();
    let url = served.url("/~agent?user=hello");
    let mut curl = std::process::Command::new("curl");
    curl.args(["-q", "-sSN", "--noproxy", "*", "-H", "Accept: text/event-stream", &url]);
    let mut curl = curl.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = crate::support::lines_of(curl.stdout.take().unwrap());
    let first = lines.recv_timeout(crate::support::PATIENCE).unwrap();
    let pid: i32 = first.strip_prefix("data: ").unwrap().parse().unwrap();
    curl.kill().unwrap();
    curl.wait().unwrap();
    let is_gone = || nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_err();
    crate::support::within("the program ends when its caller has left", || is_gone().then_some(()));
}
