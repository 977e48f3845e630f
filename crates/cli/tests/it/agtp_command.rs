//! `agtp` and `manifest check` against servers that misbehave: plain bytes on loopback.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;

use tempfile::TempDir;

/// What came of one call.
struct Called {
    code: i32,
    stdout: String,
    stderr: String,
    /// The request as it was sent.
    request: String,
}

impl Called {
    fn field(&self, name: &str) -> Option<&str> {
        self.request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Calls a server that answers `response` to `path` and closes.
fn call(response: &str, method: &str, path: &str, more: &[&str]) -> Called {
    call_from(&tempfile::tempdir().unwrap(), response, &["agtp", method, &format!("agtp://127.0.0.1:PORT{path}")], more)
}

fn call_from(home: &TempDir, response: &str, words: &[&str], more: &[&str]) -> Called {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let response = response.to_owned();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        sender.send(read_request(&mut stream)).unwrap();
        stream.write_all(response.as_bytes()).unwrap();
    });
    let words: Vec<String> = words.iter().map(|word| word.replace("PORT", &port)).collect();
    let output =
        run(home, &[&words.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--plaintext"], more].concat());
    Called {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        request: receiver.try_recv().unwrap_or_default(),
    }
}

fn run(home: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.env_remove("FORECOURT_DATA_DIR").env("XDG_STATE_HOME", home.path()).current_dir(home.path());
    command.args(arguments).output().unwrap()
}

/// Reads a head, and the body that its length announces.
fn read_request(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        match stream.read(&mut chunk).unwrap() {
            0 => return String::from_utf8_lossy(&bytes).into_owned(),
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

fn answer(status: &str, body: &str) -> String {
    let media_type = "Content-Type: application/json\r\nServer-ID: a.example\r\n";
    format!("AGTP/1.0 {status}\r\n{media_type}Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn a_call_is_what_was_typed() {
    let id = "ab".repeat(32);
    let more = ["-d", "{\"a\":1}", "--agent-id", &id, "--scope", "a:b, c:d", "-H", "Task-ID: t 1", "-H", "X-Y:z"];
    let called = call(&answer("200 OK", "{\"ok\":true}"), "BOOK", "/room?floor=2", &more);
    assert_eq!((called.code, called.stdout.as_str()), (0, "{\"ok\":true}\n"), "{}", called.stderr);
    assert!(
        called.request.starts_with("AGTP/1.0 BOOK /room?floor=2\r\n") && called.request.ends_with("\r\n\r\n{\"a\":1}")
    );
    for (name, value) in [
        ("Agent-ID", id.as_str()),
        ("Authority-Scope", "a:b, c:d"),
        ("Task-ID", "t 1"),
        ("X-Y", "z"),
        ("Content-Type", "application/vnd.agtp+json"),
    ] {
        assert_eq!(called.field(name), Some(value), "{}", called.request);
    }
    assert_eq!(called.field("Request-ID").unwrap().as_bytes()[14], b'7', "a UUID of version 7");
}

#[test]
fn base_2_1_without_a_path_the_request_line_ends_with_the_method() {
    let called = call(&answer("200 OK", "{}"), "DISCOVER", "", &[]);
    assert!(called.request.starts_with("AGTP/1.0 DISCOVER\r\n"), "{}", called.request);
    let called = call(&answer("200 OK", "{}"), "DISCOVER", "/", &[]);
    assert!(called.request.starts_with("AGTP/1.0 DISCOVER /\r\n"), "{}", called.request);
}

#[test]
fn calls_of_one_terminal_share_their_session_at_one_server() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sessions: Vec<String> = (0..2)
        .map(|_| {
            let uri = format!("agtp://127.0.0.1:{port}/x");
            thread::scope(|scope| {
                let served = scope.spawn(|| {
                    let (mut stream, _) = listener.accept().unwrap();
                    let request = read_request(&mut stream);
                    stream.write_all(answer("200 OK", "").as_bytes()).unwrap();
                    request
                });
                assert!(run(&home, &["agtp", "QUERY", &uri, "--plaintext"]).status.success());
                let request = served.join().unwrap();
                request.lines().find_map(|line| line.strip_prefix("Session-ID: ")).unwrap().to_owned()
            })
        })
        .collect();
    assert_eq!((&sessions[0], sessions[0].len()), (&sessions[1], 32));
    let other = call_from(&home, &answer("200 OK", ""), &["agtp", "QUERY", "agtp://127.0.0.1:PORT/x"], &[]);
    assert_ne!(other.field("Session-ID"), Some(sessions[0].as_str()), "another server learns another session");
    let named = call(&answer("200 OK", ""), "QUERY", "/x", &["--session", "mine"]);
    assert_eq!(named.field("Session-ID"), Some("mine"));
}

#[test]
fn heads_are_shown_on_demand_and_everything_as_json() {
    let response = answer("200 OK", "{\"a\":1}");
    let called = call(&response, "QUERY", "/x", &["-i"]);
    assert_eq!(
        called.stdout,
        "AGTP/1.0 200 OK\nContent-Type: application/json\nServer-ID: a.example\nContent-Length: 7\n\n{\"a\":1}\n"
    );
    let called = call(&response, "QUERY", "/x", &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&called.stdout).unwrap();
    assert_eq!(
        (&told["status"], &told["headers"]["Server-ID"], &told["body"]["a"]),
        (&200.into(), &"a.example".into(), &1.into())
    );
}

#[test]
fn s11_refusals_end_with_1_and_a_hint() {
    for (status, body, hint) in [
        (
            "459 Method Violation",
            r#"{"error":{"code":"method-violation","suggestions":["QUERY","RETRY"]}}"#,
            "QUERY or RETRY",
        ),
        ("455 Scope Violation", r#"{"error":{"missing_scopes":["booking:room"]}}"#, "--scope booking:room"),
        ("422 Unprocessable Entity", r#"{"error":{"code":"input-validation-failed","field":"/nights"}}"#, "/nights"),
        ("405 Method Not Allowed", r#"{"allowed_methods_for_path":["LIST"]}"#, "LIST can be called"),
        ("404 Not Found", "{}", "DISCOVER agtp://127.0.0.1:"),
        ("262 Authorization Required", r#"{"error":{"type":"scope-required"}}"#, "--scope"),
    ] {
        let called = call(&answer(status, body), "QEURY", "/x", &[]);
        assert_eq!(called.code, 1, "{status}: {}", called.stderr);
        assert!(called.stderr.contains(status) && called.stderr.contains(hint), "{status}: {}", called.stderr);
        assert_eq!(called.stdout.trim(), body, "the body is shown too");
    }
}

#[test]
fn s4_4_warnings_are_told_aside() {
    let response =
        "AGTP/1.0 200 OK\r\nAGTP-Catalog-Warning: deprecated; successor=AUDIT\r\nContent-Length: 2\r\n\r\n{}";
    let called = call(response, "QUERY", "/x", &[]);
    assert_eq!((called.code, called.stdout.as_str()), (0, "{}\n"));
    assert!(called.stderr.contains("successor=AUDIT"), "{}", called.stderr);
}

#[test]
fn answers_that_are_none_are_faults() {
    for (response, said) in [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "not an AGTP/1.0 response"),
        ("AGTP/1.0 200 OK\r\nContent-Length: x\r\n\r\n", "not an AGTP/1.0 response"),
        ("AGTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nshort", "broke off"),
        ("", "without an answer"),
    ] {
        let called = call(response, "QUERY", "/x", &[]);
        assert_eq!((called.code, called.stdout.as_str()), (3, ""), "{response:?}");
        assert!(called.stderr.contains(said), "{response:?}: {}", called.stderr);
    }
}

#[test]
fn what_cannot_be_sent_is_not() {
    let home = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        (&["QUERY", "https://a.example"][..], "agtp://"),
        (&["QUERY", &format!("agtp://{}", "ab".repeat(32))], "registry"),
        (&["QUERY", "agtp://a.example/x#y"], "fragment"),
        (&["QUERY", "agtp://a.example/x", "-H", "no colon"], "colon"),
        (&["QUERY", "agtp://a.example/x", "-H", "Content-Length: 7"], "Content-Length"),
        (&["QUERY", "agtp://a.example/x", "--agent-id", "me"], "64"),
        (&["QUERY /y", "agtp://a.example/x"], "method"),
        (&["QUERY", "agtp://a.example/x", "-d", "@no-such-file"], "no-such-file"),
    ] {
        let output = run(&home, &[&["agtp"], arguments].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}

#[test]
fn nobody_there_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let output = run(&tempfile::tempdir().unwrap(), &["agtp", "QUERY", &format!("agtp://127.0.0.1:{port}/x")]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(3) && stderr.contains("nobody speaks AGTP") && stderr.contains("hint: "),
        "{stderr}"
    );
}

#[test]
fn s8_a_manifest_that_breaks_rules_ends_with_1() {
    let home = tempfile::tempdir().unwrap();
    let words = ["manifest", "check", "agtp://127.0.0.1:PORT"];
    let called = call_from(&home, &answer("200 OK", "{\"agtp_version\":\"1.0\"}"), &words, &["--json"]);
    let told: serde_json::Value = serde_json::from_str(&called.stdout).unwrap();
    assert_eq!((called.code, &told["ok"]), (1, &false.into()), "{}", called.stderr);
    assert!(called.request.starts_with("AGTP/1.0 DISCOVER\r\n") && called.field("Agent-ID").is_none());
    let called = call_from(&home, &answer("262 Authorization Required", "{}"), &words, &[]);
    assert!(called.code == 1 && called.stderr.contains("anonymous_discovery"), "{}", called.stderr);
    std::fs::write(home.path().join("m.json"), "[]").unwrap();
    let output = run(&home, &["manifest", "check", "m.json"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && stdout.contains("wrong   section 8.2"), "{stdout}");
    assert_eq!(run(&home, &["manifest", "check", "nowhere.json"]).status.code(), Some(1));
}
