//! `forecourt mcp`: nothing but JSON-RPC on standard output, and an end when the input ends.

use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, PATIENCE, lines_of, within};

/// What a client says: it begins, asks @echo, and leaves.
fn words() -> String {
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let call = json!({"name": "ask_echo", "arguments": {"message": "over a pipe"}});
    let said = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    said.iter().map(|message| format!("{message}\n")).collect()
}

/// The answers to `words` of `forecourt mcp` with these arguments: every line of its output.
#[track_caller]
fn answers(deployment: &Deployment, arguments: &[&str]) -> Vec<Value> {
    let mut command = deployment.command("mcp");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(words().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn check(answers: &[Value]) {
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[1]["result"]["structuredContent"]["text"], "over a pipe");
}

#[test]
fn a_folder_is_served_until_the_input_ends() {
    check(&answers(&Deployment::gatehouse(), &[]));
}

#[test]
fn beside_a_daemon_and_with_a_url_the_pipe_leads_there() {
    let served = Deployment::gatehouse().serve();
    check(&answers(&served.deployment, &[]));
    check(&answers(&served.deployment, &[&served.url("/mcp/echo")]));
}

#[test]
fn a_pipe_to_a_url_ends_with_its_input_whatever_was_said() {
    let served = Deployment::gatehouse().serve();
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    for words in [String::new(), words(), format!("{}{cancelled}\n", words())] {
        let url = served.url("/mcp/echo");
        let mut command = served.deployment.command("mcp");
        command.arg(url).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            let message: Value = serde_json::from_str(&line).expect("nothing but JSON-RPC");
            assert_eq!(message["jsonrpc"], "2.0");
        }
        let status = within("the pipe ends", || child.try_wait().unwrap());
        assert!(status.success(), "{status}");
    }
}

/// A pipe that stays open: what is said on it, and the answers as they come.
struct Pipe {
    child: Child,
    answers: mpsc::Receiver<String>,
}

impl Pipe {
    fn open(deployment: &Deployment) -> Self {
        let mut command = deployment.command("mcp");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let answers = lines_of(child.stdout.take().unwrap());
        Self { child, answers }
    }

    /// Says `words`, and gives the last of `count` answers.
    fn say(&mut self, words: &str, count: usize) -> Value {
        self.child.stdin.as_mut().unwrap().write_all(words.as_bytes()).unwrap();
        let answers: Vec<String> = (0..count).map(|_| self.answers.recv_timeout(PATIENCE).unwrap()).collect();
        serde_json::from_str(&answers[count - 1]).unwrap()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn base_3_2_an_agent_that_a_daemon_retires_is_gone_from_pipes_beside_it() {
    let served = Deployment::gatehouse().serve();
    let data = served.deployment.data();
    let recorded: Value = serde_json::from_slice(&std::fs::read(data.join("serving.json")).unwrap()).unwrap();
    // A pipe that can't find the daemon serves beside it, with state of its own.
    std::fs::remove_file(data.join("serving.json")).unwrap();
    let mut pipe = Pipe::open(&served.deployment);
    assert_eq!(pipe.say(&words(), 2)["result"]["structuredContent"]["text"], "over a pipe");
    let uri = format!("agtp://{DOMAIN}:{}/agents/echo", recorded["sockets"]["agtp"]);
    let data = data.display().to_string();
    served.deployment.run("agtp", ["REVOKE", &uri, "-d", "{\"reason\": \"a test\"}", "--data", &data]).fine();
    let again = words().lines().last().unwrap().to_owned() + "\n";
    let refused = within("the agent is gone from the pipe", || {
        let answer = pipe.say(&again, 1);
        (answer["result"]["structuredContent"]["text"] != "over a pipe").then_some(answer)
    });
    assert!(refused.to_string().contains("gone") || refused.to_string().contains("retired"), "{refused}");
    drop(pipe);
    assert!(!answers(&served.deployment, &[])[1].to_string().contains("over a pipe"), "and from those that begin now");
}

#[test]
fn a_stream_that_a_client_keeps_open_ends_with_the_daemon() {
    let served = Deployment::gatehouse().serve();
    let begin = words().lines().next().unwrap().to_owned();
    let answer = served.curl("/mcp", &["-H", "content-type: application/json", "--data-binary", &begin]);
    let session = format!("mcp-session-id: {}", answer.named("mcp-session-id"));
    let url = served.url("/mcp");
    let stream = std::process::Command::new("curl").args(["-sN", &url, "-H", &session]).stdout(Stdio::piped()).spawn();
    let mut stream = stream.unwrap();
    let first = lines_of(stream.stdout.take().unwrap()).recv().unwrap();
    assert!(first.starts_with("data:"), "{first}");
    served.signal(Signal::SIGTERM);
    let began = std::time::Instant::now();
    let (status, ..) = served.ended();
    assert!(status.success() && began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    stream.wait().unwrap();
}
