//! The example works: its agent and its endpoint answer, and a panic is one honest failure.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// The program, ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn send(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn ask(address: &str, words: &str) -> String {
    let head = format!("GET /~greeter?user={words} HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\n\r\n");
    send(address, &head)
}

/// Calls a method of MCP, as a client of 2026-07-28 does.
fn call(address: &str, method: &str) -> String {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},
        "io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{{meta}}}}}}}"#);
    send(
        address,
        &format!(
            "POST /mcp HTTP/1.1\r\nHost: demo.localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    )
}

#[test]
fn the_agent_and_the_endpoint_answer_and_a_panic_is_one_failure() {
    let folder = std::env::temp_dir().join(format!("embed-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_embed"));
    let child = program.env("TMPDIR", &folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a program");
    let mut running = Running(child);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().expect("its output")).read_line(&mut line).expect("an address");
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();

    assert!(ask(&address, "hi").contains("Hello! You said: hi"), "{}", ask(&address, "hi"));
    let failed = ask(&address, "panic");
    assert!(failed.contains("crashed while it was answering"), "{failed}");
    assert!(ask(&address, "again").contains("Hello! You said: again"), "the host goes on");
    let listed = call(&address, "tools/list");
    assert!(listed.contains("How many rooms are free."), "{listed}");
    drop(running);
    let _ = std::fs::remove_dir_all(&folder);
}
