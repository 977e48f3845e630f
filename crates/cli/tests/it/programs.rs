//! Programs that work for a deployment: they end with the daemon, whatever ends it, and so does all that
//! came of them.

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::{Deployment, Served, within};

/// Writes the numbers of itself and of three descendants, of which one leaves the group and one its
/// parent too, to a file of its kind.
const FAMILY: &str = r#"
import json, os, subprocess, sys, time
def family(kind):
    sleep = [sys.executable, "-c", "import time; time.sleep(3600)"]
    near = subprocess.Popen(sleep).pid
    apart = subprocess.Popen(sleep, start_new_session=True).pid
    orphan = "import os, subprocess, sys; print(subprocess.Popen(%r, start_new_session=True, stdout=2).pid)" % (sleep,)
    far = int(subprocess.check_output([sys.executable, "-c", orphan]))
    with open(kind + ".fresh", "w") as file: file.write(f"{os.getpid()} {near} {apart} {far}")
    os.rename(kind + ".fresh", kind)
"#;

/// A worker that hangs in its answer.
const WORKER: &str = r#"
from family import *
family("worker.pids")
for line in sys.stdin:
    turn = json.loads(line)["turn"]
    print(json.dumps({"turn": turn, "text": "busy"}), flush=True)
    time.sleep(3600)
"#;

/// A server of MCP that asks in the middle of its call.
const ASKING: &str = r#"
from family import *
def say(**fields): print(json.dumps({"jsonrpc": "2.0", **fields}), flush=True)
for line in sys.stdin:
    told = json.loads(line)
    if told.get("method") == "initialize":
        say(id=told["id"], result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "t", "version": "1"}})
    if told.get("method") == "tools/call":
        family("mcp.pids")
        say(id="q", method="elicitation/create", params={"message": "Which one?",
            "requestedSchema": {"type": "object", "properties": {"kind": {"type": "string"}}}})
"#;

/// A deployment of two agents, of which one has a question.
fn asking() -> Served {
    let agent =
        |handle: &str, backend: &str| format!("handle = \"{handle}\"\nname = \"{handle}\"\n\n[backend]\n{backend}");
    let served = Deployment::empty()
        .and("forecourt.toml", "domain = \"demo.localhost\"\n")
        .and("family.py", FAMILY)
        .and("worker.py", WORKER)
        .and("asking.py", ASKING)
        .and(
            "agents/worker.toml",
            &agent("worker", "kind = \"command\"\ncommand = [\"python3\", \"worker.py\"]\nmode = \"worker\"\n"),
        )
        .and(
            "agents/asking.toml",
            &agent("asking", "kind = \"mcp\"\ncommand = [\"python3\", \"asking.py\"]\nquestions = true\n"),
        )
        .serve();
    let asked = served.curl("/~asking", &["-H", "Accept: application/json", "-F", "user=hello"]);
    assert!(asked.text().contains("Which one?"), "{}", asked.text());
    served
}

/// The numbers that a program wrote, once it has.
fn family(deployment: &Deployment, kind: &str) -> Vec<u32> {
    let text = within("the program is up", || std::fs::read_to_string(deployment.path().join(kind)).ok());
    let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 4, "{text}");
    pids
}

fn is_running(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[track_caller]
fn assert_end(pids: &[u32]) {
    let began = std::time::Instant::now();
    within("all that came of the programs ends", || (!pids.iter().any(|pid| is_running(*pid))).then_some(()));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn programs_and_all_that_came_of_them_end_with_a_daemon_that_is_killed() {
    let served = asking();
    // In the background, as it never ends.
    let begun = ["-H", "Accept: application/json", "-H", "Prefer: respond-async", "-F", "user=hello"];
    served.curl("/~worker", &begun).with_status(202);
    let pids = [family(&served.deployment, "worker.pids"), family(&served.deployment, "mcp.pids")].concat();
    assert!(pids.iter().all(|pid| is_running(*pid)), "{pids:?}");
    let _deployment = served.killed();
    assert_end(&pids);
}

#[test]
fn programs_with_a_pending_question_end_on_sigterm() {
    let served = asking();
    let pids = family(&served.deployment, "mcp.pids");
    served.signal(Signal::SIGTERM);
    let _deployment = served.ended().2;
    assert_end(&pids);
}

/// The supervisor of a shell that runs `script`.
fn supervised(script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.args(["__supervise", "sh", "-c", script]).stdin(Stdio::null());
    command
}

#[test]
fn a_supervisor_hands_on_streams_variables_and_how_its_program_ended() {
    let output = supervised("echo $WORD; echo oh >&2; exit 7").env("WORD", "yes").output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(7), b"yes\n".to_vec(), b"oh\n".to_vec()));
    let killed = supervised("kill -SEGV $$").output().unwrap().status;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&killed), Some(11));
    let none =
        Command::new(env!("CARGO_BIN_EXE_forecourt")).args(["__supervise", "/no/such/program"]).output().unwrap();
    assert_eq!(none.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&none.stderr).contains("could not be started"));
}

#[test]
fn a_supervised_program_gets_every_signal_and_its_closed_streams_are_seen() {
    let output = supervised("trap 'echo told' TERM; kill -TERM $$; exit 0").output().unwrap();
    assert_eq!(output.stdout, b"told\n");
    let signals = |mut command: Command| {
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let of = |field: &str| text.lines().find(|line| line.starts_with(field)).unwrap().to_owned();
        (of("SigBlk:"), of("SigIgn:"))
    };
    let mut direct = Command::new("sh");
    direct.args(["-c", "cat /proc/self/status"]);
    assert_eq!(signals(supervised("cat /proc/self/status")), signals(direct));
    let mut child = supervised("exec 1>&-; sleep 3600").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let closed = crate::support::lines_of(child.stdout.take().unwrap()).recv_timeout(crate::support::PATIENCE);
    assert_eq!(closed, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    // Nobody reads its complaints any more.
    drop(child.stderr.take());
    within("it ends with its reader", || child.try_wait().unwrap());
}
