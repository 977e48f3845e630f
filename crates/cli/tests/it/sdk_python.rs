//! `forecourt-agent`, the library for agents in Python: its own tests, and an agent made with it behind the real
//! program. `dev/sdk/setup` brings the libraries that it has adapters for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::scripts::library;
use crate::support::{Deployment, Ran, Served, lines_of, within};
use crate::wire::Answer;

const AGENT: &str = r#"
import asyncio, os
from forecourt_agent import agent, refuse

@agent
async def shirts(message, ctx):
    print("between the lines")
    if message.text == "members":
        raise refuse.forbidden("Members only.")
    if message.text == "wait":
        try:
            yield "Waiting."
            await asyncio.sleep(3600)
        finally:
            open("finally", "w").close()
    if message.text == "process":
        ctx.finish(str(os.getpid()))
    if message.text == "count":
        ctx.state["n"] = ctx.state.get("n", 0) + 1
        yield f"{ctx.state['n']}"
        return
    yield "With pleasure. "
    size = await ctx.ask("Which size?", options=["S", "M"])
    ctx.item({"@type": "Product", "name": f"Shirt {size}", "url": "https://shirts.example/1"})
    await ctx.file("order.csv", (b"size," + size.encode() + b"\n" for _ in range(2)))
    yield f"{message.text} in {size}."
"#;

const SETTINGS: &str = r#"
handle = "shirts"
name = "Shirts"

[backend]
kind = "command"
command = ["python3", "-m", "forecourt_agent", "shirts.py"]
mode = "worker"
"#;

fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python").canonicalize().unwrap()
}

/// An interpreter in the folder of the library, which sees the library's sources. It writes nothing there.
fn python(interpreter: &Path) -> Command {
    let mut command = Command::new(interpreter);
    command.current_dir(sdk()).env("PYTHONPATH", "src").env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn unittest(interpreter: &Path, arguments: &[&str]) {
    Ran::of(python(interpreter).args(["-W", "error::ResourceWarning", "-m", "unittest"]).args(arguments)).fine();
}

#[test]
fn the_python_library_keeps_what_it_promises() {
    unittest(Path::new("python3"), &["discover", "-s", "tests"]);
}

#[test]
fn the_python_library_serves_agents_of_others() {
    for name in ["agent-python", "adk"] {
        let Some(folder) = library(name) else { continue };
        unittest(&folder.join("bin/python"), &["tests.test_adapters", "tests.test_protocol", "tests.test_tracing"]);
    }
}

#[test]
fn the_python_library_is_typed_and_tidy() {
    let Some(folder) = library("agent-python") else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mypy");
    Ran::of(python(&folder.join("bin/python")).args(["-m", "mypy", "--cache-dir"]).arg(cache)).fine();
    Ran::of(python(&folder.join("bin/ruff")).args(["check", "--no-cache"])).fine();
    Ran::of(python(&folder.join("bin/ruff")).args(["format", "--check", "--no-cache"])).fine();
}

/// A deployment with the agent.
fn shop() -> Served {
    let search = format!("\n[backend.env]\nPYTHONPATH = \"{}\"\n", sdk().join("src").display());
    Deployment::empty()
        .and("forecourt.toml", "domain = \"demo.localhost\"\n")
        .and("shirts.py", AGENT)
        .and("agents/shirts.toml", &format!("{SETTINGS}{search}"))
        .serve()
}

fn rest(served: &Served, session: &str, text: &str) -> Answer {
    let (session, user) = (format!("session={session}"), format!("user={text}"));
    served.curl("/~shirts", &["-H", "Accept: application/json", "-F", &session, "-F", &user])
}

/// Sends a message over A2A; the task, with the conversation and the task that it goes on with.
fn a2a(served: &Served, text: &str, before: Option<&Value>) -> Value {
    let mut message = json!({"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}]});
    if let Some(task) = before {
        message["taskId"] = task["id"].clone();
        message["contextId"] = task["contextId"].clone();
    }
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}).to_string();
    let fields = ["-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0", "-d", &call];
    let answer = served.curl("/a2a/shirts", &fields).json();
    assert!(answer["result"]["task"].is_object(), "{answer}");
    answer["result"]["task"].clone()
}

#[test]
fn an_agent_in_python_asks_back_over_rest_and_keeps_its_state() {
    let served = shop();
    let first = rest(&served, "", "a shirt");
    let asked = first.json();
    assert!(asked.to_string().contains("Which size?"), "{asked}");
    let session = asked["session"].as_str().expect("a session");
    let answer = rest(&served, session, "m").json().to_string();
    assert!(answer.contains("a shirt in M.") && answer.contains("order.csv") && answer.contains("Shirt M"), "{answer}");
    assert!(!answer.contains("between the lines"), "{answer}");
    for n in ["1", "2"] {
        assert!(rest(&served, session, "count").json().to_string().contains(&format!("\"{n}\"")));
    }
    rest(&served, "", "members").with_status(403);
}

#[test]
fn a_question_of_an_agent_in_python_outlives_its_process() {
    let served = shop();
    let session = rest(&served, "", "a shirt").json()["session"].as_str().expect("a session").to_owned();
    let process = rest(&served, "", "process").json()["parts"][0]["content"].as_str().unwrap().parse().unwrap();
    kill(Pid::from_raw(process), Signal::SIGKILL).unwrap();
    let answer = within("another process answers", || {
        let answer = rest(&served, &session, "S").json();
        answer["parts"].is_array().then(|| answer.to_string())
    });
    assert!(answer.contains("a shirt in S.") && !answer.contains("With pleasure"), "{answer}");
}

#[test]
fn an_agent_in_python_is_cancelled_with_its_caller() {
    let served = shop();
    let url = served.url("/~shirts");
    let mut caller = Command::new("curl");
    caller.args(["-sN", "--noproxy", "*", &url, "-H", "Accept: text/event-stream", "-F", "user=wait"]);
    let mut caller = caller.stdout(Stdio::piped()).spawn().unwrap();
    let lines = lines_of(caller.stdout.take().unwrap());
    assert!(lines.iter().any(|line| line.contains("Waiting.")));
    caller.kill().unwrap();
    caller.wait().unwrap();
    within("`finally` has run", || served.deployment.path().join("finally").exists().then_some(()));
}

#[test]
fn an_agent_in_python_asks_back_over_a2a() {
    let served = shop();
    let asked = a2a(&served, "a shirt", None);
    assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked}");
    let done = a2a(&served, "S", Some(&asked));
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert!(done["artifacts"].to_string().contains("a shirt in S."), "{done}");
}

/// Asks a whole deployment, twice in one conversation and once as nobody; then two that find something wrong.
const SITE: &str = r#"
import asyncio, sys
from forecourt_agent.testing import HostError, host

async def main():
    async with host("site") as h:
        first = await h.ask("helper", "count these words")
        assert first.text == "You said 3 words: count these words", first
        assert (await h.ask(None, "hello")).text.startswith("You said 1 words"), first
        refused = await h.ask("gate", "pay")
        assert (refused.status, refused.refusal["kind"]) == (402, "payment_required"), refused
        tool = await h.ask("@gate", "tool")
        assert tool.tool_calls[0]["name"] == "search" and "three" in tool.text, tool
        assert (await h.ask("gate", "file")).files[0]["name"] == "pixel.png"
        assert (await h.ask("gate", "fail")).code == "agent-failed"
        assert set(h.agents) == {"helper", "gate", "model"}, h.agents
    try:
        async with host("site") as h:
            reply = await h.ask("model", "hello")
            assert reply.status == 502, reply
    except HostError as error:
        assert "not recorded" in str(error), error
    else:
        raise AssertionError("what was not recorded is told")
    try:
        async with host("nowhere"):
            raise AssertionError("there is no such deployment")
    except HostError as error:
        assert "nowhere" in str(error), error
    # Whoever leaves without a word leaves nobody behind.
    h = await host("site").__aenter__()
    print(h._process.pid, flush=True)

asyncio.run(main())
"#;

#[test]
fn a_whole_deployment_is_asked_from_python_and_ends_with_it() {
    let site = Deployment::empty();
    site.run("init", ["site", "--with", "python"]).fine();
    let model = "handle = \"model\"\nname = \"Model\"\n[backend]\nkind = \"model\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\n";
    site.write("site/agents/model.toml", model);
    site.write("site/agents/gate.toml", &Deployment::gatehouse().read("agents/gate.toml"));
    site.write("ask.py", SITE);
    let mut asking = Command::new("python3");
    asking.arg("ask.py").current_dir(site.path()).env("PYTHONPATH", sdk().join("src")).env("FORECOURT", site.program());
    let said = Ran::of(&mut asking).fine();
    // Of one that has ended and that nobody has asked for, this is not there any more either.
    let program = format!("/proc/{}/exe", said.trim());
    within("the program has ended", || std::fs::read_link(&program).is_err().then_some(()));
    assert!(!site.path().join("site/.forecourt").exists(), "what is served is not touched");
}
