//! Daemons that are killed while they work, for agents whose tasks go on.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Deployment, PATIENCE, Served, lines_of, within};
use crate::tasks::{begun, settled};

/// What @gate says to `slow`.
const SLOW: &str = "This takes a while... Done.";

/// A deployment whose @gate comes to this when its daemon is lost.
fn gate(on_lost: &str) -> Deployment {
    let deployment = Deployment::gatehouse();
    deployment.edit(
        "agents/gate.toml",
        "handle = \"gate\"\n",
        &format!("handle = \"gate\"\non_lost = \"{on_lost}\"\n"),
    );
    deployment
}

/// Waits until the task has said something, as who follows it over A2A hears it.
fn has_begun(served: &Served, task: &str) {
    let id = task.strip_prefix("/tasks/").unwrap();
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": id}}).to_string();
    let mut curl = Command::new("curl");
    curl.args(["-q", "-sSN", "--noproxy", "*", "-H", "A2A-Version: 1.0", "-H", "Content-Type: application/json"]);
    curl.args(["-H", "Accept: text/event-stream", "-d", &asked, &served.url("/a2a/gate")]);
    let mut curl = curl.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = lines_of(curl.stdout.take().unwrap());
    while !lines.recv_timeout(PATIENCE).expect("the task says something").contains("This takes a while") {}
    curl.kill().unwrap();
    curl.wait().unwrap();
}

fn state_and_words(envelope: &Value) -> (String, String) {
    let status = &envelope["status"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&status["state"]), text(&status["message"]["parts"][0]["text"]))
}

fn completed() -> (String, String) {
    ("completed".to_owned(), SLOW.to_owned())
}

#[test]
fn who_asked_in_the_background_gets_the_answer_though_the_daemon_was_killed() {
    let served = gate("restart").serve();
    let task = begun(&served, "slow");
    has_begun(&served, &task);
    let served = served.killed().serve();
    assert_eq!(state_and_words(&settled(&served, &task)), completed());
    let metrics = served.operator("/metrics").text();
    assert!(metrics.contains("forecourt_tasks_taken_up_total 1"), "{metrics}");
}

#[test]
fn a_task_of_an_agent_that_is_not_set_so_ends_with_its_daemon() {
    let served = gate("fail").serve();
    let task = begun(&served, "slow");
    has_begun(&served, &task);
    let served = served.killed().serve();
    assert_eq!(state_and_words(&settled(&served, &task)).0, "failed");
}

#[test]
fn a_daemon_that_was_killed_finds_the_work_of_a_remote_agent_again() {
    let far = Deployment::gatehouse().serve();
    let near = Deployment::gatehouse();
    let fronting = format!(
        "handle = \"gate\"\nname = \"Gate\"\non_lost = \"attach\"\n\n[backend]\nkind = \"a2a\"\nurl = \"{}\"\n",
        far.url("/a2a/gate")
    );
    let near = near.and("agents/gate.toml", &fronting).serve();
    let task = begun(&near, "slow");
    has_begun(&near, &task);
    let near = near.killed().serve();
    assert_eq!(state_and_words(&settled(&near, &task)), completed());
    let metrics = far.operator("/metrics").text();
    let answers: Vec<_> = metrics.lines().filter(|line| line.starts_with("forecourt_replies_total{")).collect();
    assert!(matches!(&answers[..], [one] if one.contains("ending=\"complete\"") && one.ends_with(" 1")), "{answers:?}");
}

/// Does three steps, each behind a note that is kept, and waits in the middle until it may go on.
const STEPS: &str = r#"
import json, os, sys, time
asked = json.loads(sys.stdin.readline())
say = lambda **fields: print(json.dumps(fields), flush=True)
for step in range(len(asked.get("journal", [])), 3):
    say(journal=step)
    if not sys.stdin.readline():
        sys.exit()
    with open("done", "a") as done:
        done.write(f"{asked['work'][:1]}{step} ")
    say(text=str(step))
    while step == 1 and not os.path.exists("go"):
        time.sleep(0.02)
say(end=True)
"#;

#[test]
fn a_program_goes_on_behind_its_notes_when_its_daemon_was_killed() {
    let backend = "kind = \"command\"\ncommand = [\"python3\", \"steps.py\"]\n";
    let steps = format!("handle = \"gate\"\nname = \"Gate\"\non_lost = \"attach\"\n\n[backend]\n{backend}");
    let served = Deployment::gatehouse().and("steps.py", STEPS).and("agents/gate.toml", &steps).serve();
    let task = begun(&served, "slow");
    let folder = served.deployment.path().to_path_buf();
    let done = || std::fs::read_to_string(folder.join("done")).unwrap_or_default();
    within("it is in the middle", || (done() == "00 01 ").then_some(()));
    let served = served.killed();
    served.write("go", "");
    let served = served.serve();
    assert_eq!(state_and_words(&settled(&served, &task)).0, "completed");
    assert_eq!(done(), "00 01 02 ", "each step once");
}

#[test]
fn what_can_not_be_attached_to_is_refused_before_it_is_served() {
    let said = gate("attach").run("check", ["."]).failed(1);
    assert!(said.contains("agents/gate.toml") && said.contains("`on_lost = \"attach\"` needs a backend"), "{said}");
}

#[test]
fn an_agent_that_is_asked_once_is_not_one_that_is_asked_again() {
    let said = gate("restart\"\nonce = true\n#\"").run("check", ["."]).failed(1);
    assert!(said.contains("agents/gate.toml") && said.contains("is not asked again when its task is lost"), "{said}");
    gate("fail\"\nonce = true\n#\"").run("check", ["."]).fine();
}
