//! `ask` against servers that misbehave: plain bytes on loopback, one connection each.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

/// What came of one question.
struct Asked {
    code: i32,
    stdout: String,
    stderr: String,
    /// The request as it was sent.
    request: String,
}

/// Asks a server that answers `response` and closes.
fn ask(response: &str, more: &[&str]) -> Asked {
    ask_with(response, &[&["hello", "you"], more].concat(), b"")
}

/// The same with these words and something on standard input.
fn ask_with(response: &str, words: &[&str], input: &[u8]) -> Asked {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let response = response.replace("{port}", &port.to_string());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        sender.send(read_request(&mut stream)).unwrap();
        stream.write_all(response.as_bytes()).unwrap();
    });
    let output = run_with(&[&[format!("http://127.0.0.1:{port}/~bot").as_str()], words].concat(), input);
    Asked {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        request: receiver.try_recv().unwrap_or_default(),
    }
}

fn run(arguments: &[&str]) -> Output {
    run_with(arguments, b"")
}

/// The same with something on standard input.
fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.env_remove("FORECOURT_TOKEN").env_remove("FORECOURT_DATA_DIR");
    command.arg("ask").args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads no input may have ended before it is there.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap()
}

/// Reads a head, and the body that its length announces.
fn read_request(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        match stream.read(&mut chunk).unwrap() {
            0 => return String::from_utf8_lossy(&bytes).into_owned(),
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

fn answer(status: &str, media_type: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n{body}")
}

fn stream(frames: &str) -> String {
    answer("200 OK", "text/event-stream", frames)
}

#[test]
fn rest_3_2_the_question_is_a_form_whose_last_part_is_the_user() {
    let asked =
        ask(&stream("data: hi\n\nevent: end\ndata: {}\n\n"), &["--session", "t1", "--lang", "de", "--token", "s3"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "hi\n"), "{}", asked.stderr);
    let request = asked.request.to_ascii_lowercase();
    assert!(request.starts_with("post /~bot http/1.1\r\n"), "{request}");
    for field in ["accept: text/event-stream, ", "accept-language: de\r\n", "authorization: bearer s3\r\n"] {
        assert!(request.contains(field), "{field} in {request}");
    }
    let (session, user) = (request.find("name=\"session\"").unwrap(), request.find("name=\"user\"").unwrap());
    assert!(session < user && request.contains("\r\n\r\nhello you\r\n--"), "{request}");
}

#[test]
fn rest_4_3_a_stream_without_its_end_is_no_answer() {
    for frames in ["data: half\n\n", "data: half\n\nevent: end\n", "data: half\n\ndata: more"] {
        let asked = ask(&stream(frames), &[]);
        assert_eq!((asked.code, asked.stdout.as_str()), (3, "half\n"), "{frames:?}");
        assert!(asked.stderr.contains("broke off") && asked.stderr.contains("hint: "), "{}", asked.stderr);
    }
}

#[test]
fn rest_4_3_why_a_stream_has_no_end_is_told() {
    let asked = ask(&stream("data: half\n\n: error the \u{1b}[31moven is cold\n\n"), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (3, "half\n"));
    assert!(asked.stderr.contains("failed: the [31moven is cold\nhint: "), "{}", asked.stderr);
}

#[test]
fn rest_4_3_files_and_links_beside_the_words_are_shown_under_them() {
    let part = |json: &str| format!(": part {{\"v\":\"v0.1\",\"part\":{json}}}\n\n");
    let frames = [
        part(r#"{"kind":"link","url":"https://x.example/","title":"X"}"#),
        "data: hi\n\n".to_owned(),
        part(r#"{"kind":"file","name":"a.png","mime":"image/png"}"#),
        ": part junk\n\n: later\n\nevent: end\ndata: {}\n\n".to_owned(),
    ];
    let asked = ask(&stream(&frames.concat()), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "hi\n\n- [X](https://x.example/)\n- (a.png)\n"));
}

#[test]
fn several_questions_are_named_and_answered_by_name() {
    let questions = r#"{"kind":"data","data":{"questions":[{"id":"kind","text":"Which kind?","type":"single_select",
        "options":["Pea","Bean"]},{"text":"How long's it?"}]}}"#;
    let end = format!(": part {{\"part\":{}}}\n\nevent: end\ndata: {{}}\n\n", questions.replace('\n', " "));
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Mentionable-Session: t1\r\nConnection: close\r\n\r\n";
    let asked = ask(&format!("{head}data: Tell me.\n\n{end}"), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "Tell me.\n"), "{}", asked.stderr);
    assert!(asked.stderr.contains("continue with: --session t1\n"), "{}", asked.stderr);
    assert!(asked.stderr.contains(r"answer with: --answer kind=… --answer 'How long'\''s it?'=…"), "{}", asked.stderr);
    let words = ["--session", "t1", "--answer", "kind=Pea", "--answer", "How \"long\"?=a=b"];
    let asked = ask_with(&stream("data: ok\n\nevent: end\ndata: {}\n\n"), &words, b"not read");
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "ok\n"), "{}", asked.stderr);
    for field in ["name=\"answer.kind\"", "\r\n\r\nPea\r\n", "name=\"answer.How %22long%22?\"", "\r\n\r\na=b\r\n"] {
        assert!(asked.request.contains(field), "{field} in {}", asked.request);
    }
    assert!(!asked.request.contains("name=\"user\""), "{}", asked.request);
}

#[test]
fn the_question_may_be_on_standard_input() {
    for words in [&[][..], &["-"]] {
        let asked = ask_with(&stream("data: hi\n\nevent: end\ndata: {}\n\n"), words, "one\n  two é\n".as_bytes());
        assert_eq!((asked.code, asked.stdout.as_str()), (0, "hi\n"), "{}", asked.stderr);
        assert!(asked.request.contains("\r\n\r\none\n  two é\r\n--"), "{}", asked.request);
    }
    let asked = run_with(&["http://127.0.0.1:1/~bot"], b"\xff");
    assert_eq!(asked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&asked.stderr).contains("UTF-8"));
}

#[test]
fn rest_4_3_lines_of_an_event_are_lines_and_events_follow_each_other() {
    let asked =
        ask(&stream("data: a\ndata: b\n\n: \n\ndata:  c\n\nevent: later\ndata: x\n\nevent: end\ndata:\n\n"), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "a\nb c\n"), "{}", asked.stderr);
}

#[test]
fn rest_4_3_tools_at_work_are_told_once_for_each_state_and_aside() {
    let call = |more: &str| {
        format!(
            r#"event: tool_call{}data: {{"v":"v0.1","part":{{"kind":"tool_call","id":"c","name":"find"{more}}}}}{}"#,
            "\n", "\n\n"
        )
    };
    let frames = [call(""), call(""), call(r#","result":1"#), "event: tool_call\ndata: junk\n\n".to_owned()].concat();
    let asked = ask(&stream(&format!("{frames}data: ok\n\nevent: end\ndata: {{}}\n\n")), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "ok\n"));
    assert_eq!(asked.stderr.matches("[find: at work]").count(), 1, "{}", asked.stderr);
    assert_eq!(asked.stderr.matches("[find: done]").count(), 1, "{}", asked.stderr);
}

#[test]
fn policy_3_5_nothing_counts_after_a_refusal() {
    let policy = r#"{"v":"v0.1","part":{"kind":"too_many_requests","message":"Slowly.","retry_after_seconds":7}}"#;
    let asked =
        ask(&stream(&format!("event: policy\ndata: {policy}\n\ndata: secret\n\nevent: end\ndata: {{}}\n\n")), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (1, ""));
    for words in ["too_many_requests", "Slowly.", "in 7 seconds"] {
        assert!(asked.stderr.contains(words), "{words} in {}", asked.stderr);
    }
}

#[test]
fn policy_3_2_links_lead_to_the_agent_or_are_not_shown() {
    let refusal = |url: &str| {
        let body = format!(r#"{{"v":"v0.1","policy":{{"kind":"forbidden","message":"No.","url":"{url}"}}}}"#);
        ask(&answer("403 Forbidden", "application/json", &body), &[])
    };
    let own = refusal("https://127.0.0.1:{port}/why");
    assert!(own.stderr.contains("/why"), "{}", own.stderr);
    let foreign = refusal("https://evil.example/why");
    assert_eq!(foreign.code, 1);
    assert!(foreign.stderr.contains("No.") && !foreign.stderr.contains("evil"), "{}", foreign.stderr);
}

#[test]
fn refusals_that_are_none_are_still_refusals() {
    for policy in ["7", "{}", r#"{"kind":7}"#, r#"{"kind":"unauthorized","message":"x"}"#] {
        let asked = ask(&answer("401 Unauthorized", "application/json", &format!(r#"{{"policy":{policy}}}"#)), &[]);
        assert_eq!((asked.code, asked.stdout.as_str()), (1, ""), "{policy}");
        assert!(asked.stderr.contains("declined"), "{}", asked.stderr);
    }
}

#[test]
fn agents_without_streams_are_read_in_their_own_form() {
    let json = r#"{"v":"v0.1","parts":[{"kind":"text","text":"a"},{"kind":"text","content":"b"},
        {"kind":"link","url":"https://x.example","title":"X"},{"kind":"tool_call","id":"c","name":"n"},{"kind":"new"}]}"#;
    let asked = ask(&answer("200 OK", "application/json; charset=utf-8", json), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "ab\n\n[X](https://x.example)\n\n(new)\n"));
    let asked = ask(&answer("200 OK", "text/markdown", "# hi"), &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "# hi\n"));
    let asked = ask("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", &[]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, ""), "{}", asked.stderr);
}

#[test]
fn json_is_printed_as_it_came_and_refusals_exit_with_1() {
    let asked = ask(&answer("200 OK", "application/json", r#"{"parts":[],"x":1}"#), &["--json"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "{\n  \"parts\": [],\n  \"x\": 1\n}\n"));
    assert!(asked.request.to_ascii_lowercase().contains("accept: application/json\r\n"));
    let policy = r#"{"policy":{"kind":"forbidden","message":"No."}}"#;
    let asked = ask(&answer("403 Forbidden", "application/json", policy), &["--json"]);
    assert_eq!(asked.code, 1);
    assert!(asked.stdout.contains("forbidden") && asked.stderr.contains("No."));
    let asked = ask(&answer("200 OK", "text/plain", "hm"), &["--json"]);
    assert_eq!((asked.code, asked.stdout.as_str()), (3, ""));
}

#[test]
fn faults_say_whose_they_are() {
    let error = |status: &str, body: &str| ask(&answer(status, "application/json", body), &[]);
    let asked = error("400 Bad Request", r#"{"error":"too many cooks","hint":"send one"}"#);
    assert_eq!(asked.code, 1);
    assert!(asked.stderr.contains("400: too many cooks\nhint: send one"), "{}", asked.stderr);
    let asked = error("502 Bad Gateway", r#"{"error":"boom"}"#);
    assert_eq!(asked.code, 3);
    let asked = error("500 Internal Server Error", "<");
    assert_eq!(asked.code, 3);
    let asked = ask(&answer("200 OK", "text/html", "<p>hi"), &[]);
    assert!(asked.code == 1 && asked.stderr.contains("page for browsers"), "{}", asked.stderr);
    let moved = "HTTP/1.1 308 Permanent Redirect\r\nLocation: https://x.example/~bot\r\nConnection: close\r\n\r\n";
    let asked = ask(moved, &[]);
    assert!(
        asked.code == 1 && asked.stderr.contains("hint: the endpoint is at https://x.example/~bot"),
        "{}",
        asked.stderr
    );
}

#[test]
fn a_terminal_obeys_no_stranger() {
    let escaped = r#"{"error":"a\u001b[31mb\u001b]0;x\u0007"}"#;
    let asked = ask(&answer("400 Bad Request", "application/json", escaped), &[]);
    assert!(!asked.stderr.contains('\u{1b}') && !asked.stderr.contains('\u{7}'), "{:?}", asked.stderr);
}

#[test]
fn a_server_that_hangs_up_or_is_not_there() {
    let asked = ask("", &[]);
    assert!(asked.code == 3 && asked.stderr.contains("can't be reached"), "{}", asked.stderr);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = run(&[&format!("http://127.0.0.1:{port}/~bot"), "hi"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr.contains(&format!("nobody answers at 127.0.0.1:{port}")) && stderr.contains("hint: "), "{stderr}");
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_sent() {
    for (arguments, words) in [
        (&["@chef", "hi"][..], "address"),
        (&["demo.localhost", "hi"], "forecourt discover"),
        (&["@a@b.localhost", "hi", "--via", "pigeon"], "`rest`"),
        (&["http://192.0.2.1/~a", "hi", "--token", "t"], "plain HTTP"),
        (&["@a@b.localhost", "hi", "--attach", "no-such-file"], "no-such-file"),
        (&["@a@b.localhost", "hi", "--lang", "d\ne"], "--lang"),
        (&["@a@b.localhost", "--answer", "Pea"], "NAME=VALUE"),
        (&["@a@b.localhost", "--answer", "a=b", "--via", "a2a"], "`--answer` goes with"),
        (&["@a@b.localhost", "--nonsense"], "--nonsense"),
        (&["@a@b.localhost"], "standard input is empty"),
        (&["@a@b.localhost", "-"], "standard input is empty"),
    ] {
        let output = run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr.contains(words), "{words} in {stderr}");
    }
}
