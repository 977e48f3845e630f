//! `forecourt dev`, and what `check` finds beside what is refused.

use std::process::{Child, Stdio};
use std::sync::mpsc::Receiver;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{DOMAIN, Deployment, PATIENCE, lines_of, within};
use crate::wire::{Answer, curl};

/// A worker that answers with the word in `words.py` beside it.
const WORKER: &str = "import json, sys\nfrom words import WORD\nfor line in sys.stdin:\n    turn = json.loads(line)['turn']\n    print(json.dumps({'turn': turn, 'text': WORD}))\n    print(json.dumps({'turn': turn, 'end': True}), flush=True)\n";

/// A deployment that is worked on. Killed when dropped.
struct Developed {
    deployment: Deployment,
    child: Child,
    http: u16,
    /// What is written to standard output, and to standard error.
    lines: Receiver<String>,
    log: Receiver<String>,
}

impl Developed {
    fn start() -> Self {
        let deployment =
            Deployment::of_backend("kind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\nmode = \"worker\"");
        let deployment = deployment.and("agent.py", WORKER).and("words.py", "WORD = 'one'\n");
        // What is public stays out of it, whatever the settings say.
        let deployment =
            deployment.with("listen", "http = \"0.0.0.0:0\"\nhttps = \"0.0.0.0:1\"\nadmin = \"127.0.0.1:0\"");
        let deployment = deployment.with("reload", "watch = false");
        let mut command = deployment.command("dev");
        command.arg("--no-open").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (lines, log) = (lines_of(child.stdout.take().unwrap()), lines_of(child.stderr.take().unwrap()));
        let mut developed = Self { deployment, child, http: 0, lines, log };
        let banner = developed.line("in a browser");
        developed.http = banner.rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
        developed.line("Save a file");
        developed
    }

    /// The next line that has these words.
    #[track_caller]
    fn line(&self, words: &str) -> String {
        next(&self.lines, words)
    }

    fn ask(&self, host: &str) -> Answer {
        let url = format!("http://127.0.0.1:{}/~agent?user=hello", self.http);
        curl(&url, &["-H", &format!("Host: {host}:{}", self.http)])
    }
}

impl Drop for Developed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn next(lines: &Receiver<String>, words: &str) -> String {
    let mut seen = Vec::new();
    loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line.contains(words) => return line,
            Ok(line) => seen.push(line),
            Err(_) => panic!("no line has {words:?}: {seen:?}"),
        }
    }
}

#[test]
fn what_is_saved_is_met_by_the_next_message_and_each_request_is_shown_with_its_steps() {
    let developed = Developed::start();
    assert!(developed.ask(DOMAIN).with_status(200).text().contains("one"));
    let line = developed.line("@agent");
    assert!(["mentionable", "anonymous", "complete", "\"hello\""].iter().all(|word| line.contains(word)), "{line}");
    assert!(developed.line("gate").contains("admitted") && developed.line("└─ agent @agent").contains("complete"));

    // A module beside the program, which no setting names. It is longer than before: what Python compiled of a file that
    // was saved within the same second it takes for the file's own where the size is the same.
    developed.deployment.write("words.py", "WORD = 'three'\n");
    next(&developed.log, "the deployment was read again");
    assert!(developed.ask(DOMAIN).text().contains("three"));

    developed.deployment.write("agent.py", "def broken(:\n");
    assert!(next(&developed.log, "agent.py").contains("agent.py:1: the code can't be read"));
    assert!(developed.ask(DOMAIN).text().contains("three"), "the process before it goes on");
    developed.deployment.write("agent.py", &WORKER.replace("WORD}", "WORD + '!'}"));
    next(&developed.log, "the deployment was read again");
    assert!(developed.ask(DOMAIN).text().contains("three!"));

    // A name that somebody has lead to this machine (DNS rebinding).
    assert_eq!(developed.ask("evil.example").status, 421);
    assert!(!developed.deployment.data().join("ca.pem").exists(), "no certificate is made");
    let serving = std::fs::read_to_string(developed.deployment.data().join("serving.json")).unwrap();
    let serving: serde_json::Value = serde_json::from_str(&serving).unwrap();
    assert_eq!(serving["https_port"], developed.http, "there is no socket but the plain ones: {serving}");
    stop(developed);
}

fn stop(mut developed: Developed) {
    kill(Pid::from_raw(developed.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    let status = within("it ends", || developed.child.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn a_port_that_is_taken_is_no_reason_not_to_begin() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let deployment = Deployment::of_backend("kind = \"echo\"");
    let mut command = deployment.command("dev");
    command.args(["--no-open", "--no-tree", "--http", &address, "--admin", &address]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (lines, log) = (lines_of(child.stdout.take().unwrap()), lines_of(child.stderr.take().unwrap()));
    assert!(next(&log, &address).contains("is taken: http is on 127.0.0.1:"));
    assert!(!next(&lines, "in a browser").contains(&address));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A deployment in which nothing is wrong, with all that could be.
fn fine() -> Deployment {
    Deployment::of_backend("kind = \"command\"\ncommand = [\"python3\", \"agent.py\"]")
        .with("egress", "allow = [\"127.0.0.0/8\"]\nallow_http = true")
        .with(
            "payments",
            "facilitator = \"http://127.0.0.1:4021\"\npay_to = \"0x209693bc6afc0c5328ba36faf03c514ef312287c\"",
        )
        .with("questions", "log = false")
        .and(
            "agents/find.toml",
            "handle = \"find\"\nname = \"Find\"\n[backend]\nkind = \"search\"\ncontent = [\"content\"]\n",
        )
        .and("agents/notes.md", "no settings")
        .and("content/a.jsonl", "{\"name\": \"a\"}\n{\"name\": \"b\"}\n")
        .and("content/b.csv", "name,price\nsoup,4\n")
        .and("servers/tools.toml", "command = [\"python3\", \"agent.py\"]\n")
        .and("agent.py", "open('ran', 'w')\n")
}

#[test]
fn check_tells_what_serving_passes_over_with_its_place() {
    let deployment = fine();
    let told = deployment.run("check", ["."]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(!deployment.path().join("ran").exists(), "code of the deployment was run");
    deployment.write("content/a.jsonl", "{\"name\": \"a\"}\n{\"name\": \"b\"\n");
    deployment.write("content/b.csv", "sku,price\n1,4\n");
    deployment.write("servers/tools.toml", "command = [\"no-such-program\"]\n");
    deployment.write("agents/chef.tml", "handle = \"chef\"");
    deployment.write("agents/cook.yaml", "handle: cook");
    deployment.write("agent.py", "open('ran', 'w')\ndef broken(:\n");
    deployment.edit("forecourt.toml", "http://127.0.0.1:4021", "http://pay.example");
    deployment.edit("forecourt.toml", "allow_http = true", "allow_http = false");
    deployment.edit("forecourt.toml", "log = false", "keep_days = 3");
    let report = deployment.run("check", [".", "--json"]);
    assert_eq!(report.code, Some(1), "{report:?}");
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    let problems = report["problems"].as_array().unwrap();
    let found = |file: &str, line: Option<u64>, words: &str| {
        problems.iter().any(|problem| {
            let is_there = |key: &str, part: &str| problem[key].as_str().is_some_and(|text| text.contains(part));
            is_there("file", file) && problem["line"].as_u64() == line && is_there("message", words)
        })
    };
    for (file, line, words) in [
        ("content/a.jsonl", Some(2), ""),
        ("content/b.csv", Some(1), "none of the columns is a name"),
        ("servers/tools.toml", Some(1), "no program `no-such-program`"),
        ("agents/chef.tml", None, "ends in .tml"),
        ("agents/cook.yaml", None, "not yaml"),
        ("agent.py", Some(2), "the code can't be read"),
    ] {
        assert!(found(file, line, words), "{file}: {report:#}");
    }
    let of_settings = |words: &str| {
        problems.iter().any(|problem| problem["message"].as_str().unwrap().contains(words) && problem["line"].is_u64())
    };
    assert!(of_settings("over plain http") && of_settings("does nothing without `log = true`"), "{report:#}");
    assert!(problems.iter().all(|problem| problem["hint"].is_string()), "each says what to do: {report:#}");
    assert_eq!(problems.len(), 8, "{report:#}");
    assert!(!deployment.path().join("ran").exists(), "code of the deployment was run");
}
