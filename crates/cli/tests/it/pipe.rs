//! `forecourt mcp`: nothing but JSON-RPC on standard output, and an end when the input ends.

use std::io::Write;
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::Deployment;

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
fn a_stream_that_a_client_keeps_open_ends_with_the_daemon() {
    let served = Deployment::gatehouse().serve();
    let begin = words().lines().next().unwrap().to_owned();
    let answer = served.curl("/mcp", &["-H", "content-type: application/json", "--data-binary", &begin]);
    let session = format!("mcp-session-id: {}", answer.named("mcp-session-id"));
    let url = served.url("/mcp");
    let stream = std::process::Command::new("curl").args(["-sN", &url, "-H", &session]).stdout(Stdio::piped()).spawn();
    let mut stream = stream.unwrap();
    let first = crate::support::lines_of(stream.stdout.take().unwrap()).recv().unwrap();
    assert!(first.starts_with("data:"), "{first}");
    served.signal(Signal::SIGTERM);
    let began = std::time::Instant::now();
    let (status, ..) = served.ended();
    assert!(status.success() && began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    stream.wait().unwrap();
}
