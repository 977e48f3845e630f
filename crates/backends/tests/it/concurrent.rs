//! `command` with workers of version 2 of the protocol: real programs, and what bad ones come to.

mod faults;
mod told;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_core::limits::AGENT_STATE_BYTES_MAX;
use forecourt_core::reply::collect;
use forecourt_core::{
    AgentState, CollectedReply, Ending, Event, EventStream, Message, Part, StopReason, StopSign, Store, ThreadId,
    ToolOutcome,
};
use forecourt_store::Memory;
use forecourt_testkit::CountedEntropy;
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::production::{Recorded, with_budget};
use crate::schema;
use crate::siblings::{Others, hosted, way_to};
use crate::support::{ask, build, events, failure, in_folder, message, problems, stream};

/// A worker that does in a thread of its own what each message says. `HELLO` is its greeting.
const WORKER: &str = r#"
import json, os, queue, sys, threading, time
lock, turns, barriers = threading.Lock(), {}, {}
trace = open("trace", "a")
def line(text):
    with lock:
        trace.write("> " + text + "\n"); trace.flush()
        print(text, flush=True)
def raw(**fields): line(json.dumps(fields))
def work(message, inbox):
    turn, said = message["turn"], message["parts"][0]["content"]
    def say(**fields): raw(turn=turn, **fields)
    what, _, more = said.partition(" ")
    if what == "pid": say(text=str(os.getpid()), end=True)
    if what == "meet":                                  # until so many are there at once
        size = more.split()[0]
        with lock: barrier = barriers.setdefault(size, threading.Barrier(int(size)))
        barrier.wait(60); say(text=f"{said} {os.getpid()}"); say(end=True)
    if what == "hold":
        say(text="held")
        cancel = inbox.get()["cancel"]
        open("cancel-" + cancel["reason"], "w").write(str(cancel["grace_ms"]))
        say(usage={"model": "m", "input_tokens": 2}); say(text="late"); say(end=True)
    if what == "stubborn": say(text="held"); time.sleep(3600)
    if what == "until":
        say(text="waits")
        while not os.path.exists(more): time.sleep(0.01)
        say(text=" done", end=True)
    if what == "die": say(text="so far"); time.sleep(0.05); os._exit(3)
    if what == "foreign":
        for other in range(turn + 3):
            if other != turn: raw(turn=other, text="foreign", end=True)
        say(text="mine", end=True); say(text="after the end", end=True)
    if what == "flood":
        while inbox.empty():
            with lock: print(json.dumps({"turn": turn, "text": "x" * 1000000}), flush=True)
        say(end=True)
    if what == "say": line(more.replace("TURN", str(turn)))
    if what == "error": say(error="no luck")
    if what == "seen": say(data={key: message.get(key) for key in more.split(",")}, end=True)
    if what == "call":
        calls = json.loads(more)
        for number, call in enumerate(calls): say(call={"id": f"c{number}", **call})
        results = [inbox.get() for _ in calls]
        if any("cancel" in result for result in results): say(end=True); return
        say(data=sorted((result["result"] for result in results), key=lambda result: result["id"]), end=True)
def main():
    for text in sys.stdin:
        with lock: trace.write("< " + text); trace.flush()
        message = json.loads(text)
        if "parts" in message:
            inbox = turns[message["turn"]] = queue.Queue()
            threading.Thread(target=work, args=(message, inbox), daemon=True).start()
        else: turns[message["turn"]].put(message)
"#;

struct Worker {
    folder: TempDir,
    built: BuiltAgent,
}

fn worker_in(hello: &Value, more: &str, edit: impl FnOnce(Context) -> Context) -> Worker {
    let greeting = format!("raw(hello={})\n", hello.to_string().replace("true", "True").replace("null", "None"));
    program(&format!("{WORKER}\n{greeting}main()\n"), more, edit)
}

fn program(program: &str, more: &str, edit: impl FnOnce(Context) -> Context) -> Worker {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.py"), program).unwrap();
    let context = edit(in_folder(folder.path()));
    let toml = "[backend]\nkind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\nmode = \"worker\"\n";
    let built = build(&format!("{toml}{more}"), &context);
    Worker { folder, built }
}

fn worker(more: &str) -> Worker {
    worker_in(&json!({"protocol": 2, "concurrency": 256, "sdk": "tests"}), more, |context| context)
}

impl Worker {
    async fn ask(&self, said: &str) -> CollectedReply {
        ask(&self.built, said).await
    }

    async fn stream(&self, said: &str) -> EventStream {
        stream(&self.built, message(vec![Part::text(said)])).await
    }

    /// An answer that has begun.
    async fn begun(&self, said: &str) -> EventStream {
        let mut events = self.stream(said).await;
        assert!(matches!(events.next().await, Some(Event::Text(_))), "{said}");
        events
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Waits for a file, and gives what is in it.
    async fn file(&self, name: &str) -> String {
        written(&self.path(name)).await
    }
}

/// Every line that was exchanged is as the schema in the reference says.
impl Drop for Worker {
    fn drop(&mut self) {
        let Ok(trace) = std::fs::read_to_string(self.path("trace")) else { return };
        if !std::thread::panicking() && !self.path("wrong").exists() {
            schema::check_lines(&trace);
        }
    }
}

async fn written(path: &Path) -> String {
    let reading = async {
        loop {
            match std::fs::read_to_string(path) {
                Ok(text) if !text.is_empty() => return text,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap_or_else(|_| panic!("{}", path.display()))
}

const CRASHED: &str = "The agent's program ended before its answer was whole.";
const UNREADABLE: &str = "The agent's program gave an answer that could not be read.";

fn data(answer: &CollectedReply) -> Value {
    let data = answer.parts.iter().find_map(|part| match part {
        Part::Data(data) => Some(Value::clone(&data.data)),
        _ => None,
    });
    data.unwrap_or_else(|| panic!("no data: {answer:?}"))
}
