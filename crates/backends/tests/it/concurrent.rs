//! `command` with workers of version 2 of the protocol: real programs, and what bad ones come to.

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
        with lock: barrier = barriers.setdefault(more, threading.Barrier(int(more.split()[0])))
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

#[tokio::test]
async fn one_process_answers_200_callers_at_once_and_each_hears_its_own() {
    let worker = worker("processes = 1\nconcurrency = 256\n");
    let asked: Vec<String> = (0..200).map(|number| format!("meet 200 {}", number / 200)).collect();
    let answers = join_all(asked.iter().map(|said| worker.ask(said))).await;
    let mut pids: Vec<String> = answers
        .iter()
        .zip(&asked)
        .map(|(answer, said)| {
            assert_eq!(answer.ending, Ending::Complete);
            answer.text().strip_prefix(said.as_str()).unwrap_or_else(|| panic!("{answer:?}")).to_owned()
        })
        .collect();
    pids.dedup();
    assert_eq!(pids.len(), 1);
}

#[tokio::test]
async fn a_worker_gets_no_more_at_once_than_both_sides_say() {
    for (concurrency, hello) in [(2, 256), (256, 2)] {
        let more = format!("processes = 1\nconcurrency = {concurrency}\n");
        let worker = worker_in(&json!({"protocol": 2, "concurrency": hello}), &more, |context| context);
        let (first, second) = (worker.begun("hold").await, worker.begun("hold").await);
        let mut third = worker.stream("pid").await;
        let waits = tokio::time::timeout(Duration::from_millis(50), third.next()).await;
        assert!(waits.is_err(), "{waits:?}");
        drop(first);
        assert!(matches!(third.next().await, Some(Event::Text(_))));
        drop(second);
    }
}

#[tokio::test]
async fn each_of_ten_open_turns_fails_when_the_worker_dies_and_none_hears_another() {
    let worker = worker("processes = 1\n");
    let mut open = Vec::new();
    for number in 0..9 {
        open.push((number, worker.begun(&format!("until never{number}")).await));
    }
    let died = worker.ask("die").await;
    assert_eq!((died.text().as_str(), failure(&died)), ("so far", CRASHED));
    for (number, events) in open {
        let rest = collect(events).await;
        assert_eq!((rest.text().as_str(), failure(&rest)), ("", CRASHED), "{number}");
    }
    assert_eq!(worker.ask("pid").await.ending, Ending::Complete, "another process is there for the next");
}

#[tokio::test]
async fn a_caller_that_leaves_cancels_its_turn_and_no_other() {
    let worker = worker("processes = 1\n");
    let pid = worker.ask("pid").await.text();
    let other = worker.begun("until go").await;
    drop(worker.begun("hold").await);
    assert_eq!(worker.file("cancel-caller_left").await, "5000");
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
    assert_eq!(worker.ask("pid").await.text(), pid, "the process goes on");
}

#[tokio::test]
async fn a_turn_is_told_why_it_is_cancelled() {
    let worker = worker("processes = 1\nidle_seconds = 1\n");
    for (reason, file) in [(StopReason::Canceled, "cancel-cancelled"), (StopReason::Shutdown, "cancel-shutdown")] {
        let stop = StopSign::new();
        let message = Message { stop: stop.clone(), ..message(vec![Part::text("hold")]) };
        let mut events = stream(&worker.built, message).await;
        assert!(matches!(events.next().await, Some(Event::Text(_))));
        stop.set(reason);
        drop(events);
        worker.file(file).await;
    }
    let late = worker.ask("hold").await;
    assert!(failure(&late).contains("stopped in the middle"), "{late:?}");
    worker.file("cancel-timeout").await;
}

#[tokio::test]
async fn a_worker_that_does_not_end_a_cancelled_turn_is_ended_once_its_others_are_over() {
    let worker = worker("processes = 2\ncancel_seconds = 1\n");
    let pid = worker.ask("pid").await.text();
    let other = worker.begun("until go").await;
    drop(worker.begun("stubborn").await);
    // It is given no turn any more after the grace, while its other turn goes on.
    let mut next = worker.ask("pid").await.text();
    let asking = async {
        while next == pid {
            tokio::time::sleep(Duration::from_millis(20)).await;
            next = worker.ask("pid").await.text();
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asking).await.unwrap();
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
    let proc = format!("/proc/{pid}/stat");
    let gone = async {
        while Path::new(&proc).exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the stubborn worker is gone");
}

#[tokio::test]
async fn what_is_written_for_another_turn_reaches_nobody() {
    let worker = worker("processes = 1\n");
    let other = worker.begun("until go").await;
    // For turns that are over, and for the one that is open: a worker that lies about `turn` harms its own callers, and
    // those alone whose turns it has.
    let answer = worker.ask("foreign").await;
    assert_eq!(answer.text(), "mine");
    assert_eq!(collect(other).await.text(), "foreign");
    assert!(worker.ask("pid").await.text().parse::<u32>().is_ok());
}

#[tokio::test]
async fn a_greeting_that_can_not_be_is_refused_and_the_message_fails() {
    for hello in [
        json!({"protocol": 2, "concurrency": 0}),
        json!({"protocol": 2, "concurrency": 257}),
        json!({"protocol": 2, "concurrency": "x"}),
        json!({"protocol": 3}),
        json!(2),
    ] {
        let worker = worker_in(&hello, "processes = 1\n", |context| context);
        std::fs::write(worker.path("wrong"), "").unwrap();
        assert_eq!(failure(&worker.ask("pid").await), UNREADABLE, "{hello}");
    }
}

#[tokio::test]
async fn a_second_greeting_and_stray_lines_harm_nobody() {
    let worker = worker("processes = 1\n");
    std::fs::write(worker.path("wrong"), "").unwrap();
    let other = worker.begun("until go").await;
    for stray in [
        r#"{"hello": {"protocol": 2, "concurrency": 1}}"#,
        "Traceback (most recent call last):",
        "7",
        "",
        r#"{"level": "info"}"#,
        r#"{"turn": 999, "text": "nobody's"}"#,
        r#"{"turn": TURN, "txet": "typo"}"#,
    ] {
        let asked = format!("say {stray}\n{{\"turn\": TURN, \"text\": \"fine\", \"colour\": 1, \"end\": true}}");
        assert_eq!(worker.ask(&asked).await.text(), "fine", "{stray}");
    }
    std::fs::write(worker.path("go"), "").unwrap();
    assert_eq!(collect(other).await.text(), " done");
}

#[tokio::test]
async fn a_line_that_may_be_anybodys_ends_the_worker_with_all_of_its_turns() {
    for broken in ["{\"turn\": 1, ", "[1]", "\"text\"", r#"{"text": "whose?"}"#, r#"{"usage": {"model": "m"}}"#] {
        let worker = worker("processes = 1\n");
        std::fs::write(worker.path("wrong"), "").unwrap();
        let other = worker.begun("until never").await;
        let answer = worker.ask(&format!("say {broken}")).await;
        assert_eq!((failure(&answer), failure(&collect(other).await)), (UNREADABLE, UNREADABLE), "{broken}");
        assert_eq!(worker.ask("pid").await.ending, Ending::Complete, "{broken}");
    }
}

#[tokio::test]
async fn a_turn_that_fails_or_can_not_be_read_leaves_the_process_to_the_others() {
    let worker = worker("processes = 1\n");
    std::fs::write(worker.path("wrong"), "").unwrap();
    let pid = worker.ask("pid").await.text();
    assert_eq!(failure(&worker.ask("error").await), "no luck");
    for wrong in
        [r#"{"turn": TURN, "text": 7}"#, r#"{"turn": TURN, "call": {"id": ""}}"#, r#"{"turn": TURN, "artifact": 1}"#]
    {
        assert_eq!(failure(&worker.ask(&format!("say {wrong}")).await), UNREADABLE, "{wrong}");
    }
    assert_eq!(worker.ask("pid").await.text(), pid);
}

#[tokio::test]
async fn a_caller_that_reads_nothing_holds_up_no_other_and_is_cut() {
    let worker = worker("processes = 1\n");
    let slow = worker.begun("flood").await;
    // Behind what floods, in the same pipe.
    for _ in 0..3 {
        assert_eq!(worker.ask("pid").await.ending, Ending::Complete);
    }
    // Over the bound of one answer, or of all that wait: it ends, with what it said or without.
    let rest = tokio::time::timeout(Duration::from_secs(60), collect(slow)).await.unwrap();
    assert!(matches!(rest.ending, Ending::Failed { .. }), "{:?}", rest.ending);
}

#[tokio::test]
async fn a_worker_that_reads_nothing_more_is_ended_after_its_time() {
    let reads_one = format!(
        "{WORKER}\nraw(hello={{\"protocol\": 2, \"concurrency\": 256}})\n\
         message = json.loads(sys.stdin.readline()); work(message, None); time.sleep(3600)\n"
    );
    let worker = program(&reads_one, "processes = 1\nidle_seconds = 1\ncancel_seconds = 1\n", |context| context);
    let pid = worker.ask("pid").await.text();
    let long = "x".repeat(1 << 20);
    let unread = join_all((0..5).map(|_| worker.ask(&long))).await;
    assert!(unread.iter().all(|answer| matches!(answer.ending, Ending::Failed { .. })), "{unread:?}");
    let again = async {
        loop {
            let again = worker.ask("pid").await;
            if again.ending == Ending::Complete {
                return again.text();
            }
        }
    };
    assert_ne!(tokio::time::timeout(Duration::from_secs(60), again).await.expect("another process answers"), pid);
}

#[tokio::test]
async fn who_waits_for_a_worker_that_hangs_is_answered_by_another() {
    let more = "processes = 1\ncancel_seconds = 1\n";
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 1}), more, |context| context);
    let pid = worker.ask("pid").await.text();
    drop(worker.begun("stubborn").await);
    let waited = worker.ask("pid").await;
    assert_eq!(waited.ending, Ending::Complete);
    assert_ne!(waited.text(), pid);
}

#[tokio::test]
async fn a_greeting_is_within_the_time_of_the_answer() {
    let silent = program("import time; time.sleep(3600)", "idle_seconds = 60\ntotal_seconds = 1\n", |context| context);
    assert!(failure(&silent.ask("pid").await).contains("took too long"));
}

#[tokio::test]
async fn turns_of_one_conversation_go_to_one_process() {
    let worker = worker_in(&json!({"protocol": 2}), "processes = 3\n", |context| context);
    let entropy = CountedEntropy::default();
    let threads = [ThreadId::mint(&entropy), ThreadId::mint(&entropy), ThreadId::mint(&entropy)];
    let ask_in = async |thread: &ThreadId, said: &str| {
        let message = Message { thread: Some(thread.clone()), ..message(vec![Part::text(said)]) };
        collect(stream(&worker.built, message).await).await.text()
    };
    // At once, so that each has a process of its own.
    let pids = join_all(threads.iter().map(|thread| ask_in(thread, "meet 1"))).await;
    for _ in 0..3 {
        for (thread, pid) in threads.iter().zip(&pids) {
            assert_eq!(ask_in(thread, "meet 1").await, *pid);
        }
    }
}

#[tokio::test]
async fn a_message_says_what_it_belongs_to_and_how_long_there_is() {
    let worker = worker("total_seconds = 90\n");
    let seen = "seen conversation,deadline,timeout_ms,tools,state";
    let thread = ThreadId::mint(&CountedEntropy::default());
    let of = async |thread: Option<ThreadId>, state: AgentState| {
        let message = Message { thread, state, ..message(vec![Part::text(seen)]) };
        data(&collect(stream(&worker.built, message).await).await)
    };
    let kept = AgentState::of(Some(json!({"size": "M"})));
    let (first, second) = (of(Some(thread.clone()), kept).await, of(Some(thread.clone()), AgentState::default()).await);
    assert_eq!(first["conversation"], second["conversation"]);
    assert_ne!(first["conversation"], json!(thread.expose()), "it opens nothing");
    assert_eq!((&first["state"], &second["state"]), (&json!({"size": "M"}), &Value::Null));
    assert_eq!((&first["timeout_ms"], &first["tools"]), (&json!(90_000), &json!([])));
    assert_eq!(first["deadline"], json!("2026-01-01T00:01:30Z"));
    assert_eq!(of(None, AgentState::default()).await["conversation"], Value::Null);
}

#[tokio::test]
async fn a_state_is_kept_within_its_bound_and_only_in_a_conversation() {
    let worker = worker("");
    let keep = async |state: AgentState, kept: &Value| {
        let line = json!({"turn": "TURN", "state": kept, "end": true}).to_string().replace("\"TURN\"", "TURN");
        let message = Message { state, ..message(vec![Part::text(format!("say {line}"))]) };
        collect(stream(&worker.built, message).await).await
    };
    let state = AgentState::of(None);
    let fits = json!("x".repeat(AGENT_STATE_BYTES_MAX - 2));
    assert_eq!(keep(state.clone(), &fits).await.ending, Ending::Complete);
    assert_eq!(state.next(), Some(fits));
    let large = keep(state, &json!("x".repeat(AGENT_STATE_BYTES_MAX - 1))).await;
    assert!(failure(&large).contains("at most 65536 bytes"), "{large:?}");
    let nowhere = keep(AgentState::default(), &json!(1)).await;
    assert!(failure(&nowhere).contains("no conversation"), "{nowhere:?}");
}

#[tokio::test]
async fn usage_is_recorded_even_of_a_turn_that_was_cancelled() {
    let told = Arc::new(Recorded::default());
    let usage = told.clone();
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 2}), "", |context| Context { usage, ..context });
    let line = r#"say {"turn": TURN, "usage": {"model": "gpt-x", "input_tokens": 120, "output_tokens": 4, "cost": 0.0012}, "end": true}"#;
    assert_eq!(worker.ask(line).await.ending, Ending::Complete);
    drop(worker.begun("hold").await);
    worker.file("cancel-caller_left").await;
    let both = async {
        while told.0.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    assert_eq!(
        *told.0.lock().unwrap(),
        [("gpt-x".to_owned(), "answered", 120, 4, 1_200), ("m".to_owned(), "answered", 2, 0, 0)]
    );
    let malformed = r#"say {"turn": TURN, "usage": "much", "log": 7, "text": "fine", "end": true}"#;
    std::fs::write(worker.path("wrong"), "").unwrap();
    assert_eq!(worker.ask(malformed).await.text(), "fine");
}

#[tokio::test]
async fn what_a_worker_tells_counts_towards_its_budget_and_none_is_asked_once_that_is_used_up() {
    let (store, told): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
    let budget = BudgetSettings { tokens_per_day: Some(10), ..BudgetSettings::default() };
    let Context { budget, siblings, usage, .. } = with_budget(budget, told.clone(), &store);
    let worker = worker_in(&json!({"protocol": 2}), "", |context| Context { budget, siblings, usage, ..context });
    let line = r#"say {"turn": TURN, "usage": {"model": "m", "input_tokens": 8, "output_tokens": 2}, "end": true}"#;
    assert_eq!(worker.ask(line).await.ending, Ending::Complete);
    // What an answer came to is written behind it.
    let refused = async {
        loop {
            if let Ending::Refused(part) = worker.ask("pid").await.ending {
                return part;
            }
        }
    };
    let part = tokio::time::timeout(Duration::from_secs(30), refused).await.unwrap();
    assert_eq!(part.code.as_deref(), Some("mentionable:budget_exhausted"));
    assert_eq!(told.0.lock().unwrap().last().map(|last| last.1), Some("budget"));
}

#[tokio::test]
async fn usage_counts_as_it_is_told_and_an_answer_that_uses_up_all_is_ended() {
    for hello in ["{\"protocol\": 2, \"concurrency\": 8}", ""] {
        let (store, told): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
        let budget = BudgetSettings { tokens_per_day: Some(20), ..BudgetSettings::default() };
        let Context { budget, siblings, usage, .. } = with_budget(budget, told.clone(), &store);
        let greeting = if hello.is_empty() { String::new() } else { format!("raw(hello={hello})\n") };
        let worker = program(&format!("{WORKER}\n{greeting}main()\n"), "", |context| Context {
            budget,
            siblings,
            usage,
            ..context
        });
        let line = |tokens: u64| {
            let usage = json!({"model": "m", "input_tokens": tokens});
            format!("say {{\"turn\": TURN, \"text\": \"so far\", \"usage\": {usage}}}")
        };
        // While it is open, and with what is set aside for it.
        let open = worker.begun(&line(19)).await;
        let refused = async {
            loop {
                if let Ending::Refused(part) = worker.ask("pid").await.ending {
                    return part;
                }
            }
        };
        let part = tokio::time::timeout(Duration::from_secs(30), refused).await.unwrap();
        assert_eq!(part.code.as_deref(), Some("mentionable:budget_exhausted"), "{hello}");
        drop(open);
        // Nothing is set aside for it any more: one is admitted, and ended with more than there is.
        let ended = async {
            loop {
                let answer = worker.ask(&line(2)).await;
                if !answer.text().is_empty() {
                    return answer;
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
        assert!(
            matches!(&ended.ending, Ending::Refused(part) if part.code.as_deref() == Some("mentionable:budget_exhausted")),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn a_worker_whose_budget_nobody_knows_is_not_asked() {
    // Without a store nobody can say what is left.
    let budget = BudgetSettings { tokens_per_day: Some(10), ..BudgetSettings::default() };
    let worker = worker_in(&json!({"protocol": 2}), "", |context| Context { budget, ..context });
    let refused = worker.ask("pid").await;
    assert!(matches!(&refused.ending, Ending::Refused(part) if part.kind() == "service_unavailable"), "{refused:?}");
    assert!(!worker.path("trace").exists());
}

#[tokio::test]
async fn a_call_goes_through_the_host_and_its_result_comes_back() {
    let others = Arc::new(Others::default().ending("pantry", Ending::Message("Three eggs.".to_owned())));
    let context = hosted(&["agent", "pantry"], way_to(others.clone()));
    let (siblings, endpoints) = (context.siblings, context.endpoints);
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 4}), "siblings = true\n", |context| Context {
        siblings,
        endpoints,
        ..context
    });
    let tools = data(&worker.ask("seen tools").await)["tools"].clone();
    assert_eq!((&tools[0]["name"], tools[0]["input_schema"]["type"].as_str()), (&json!("ask_agent"), Some("object")));
    let calls = json!([
        {"tool": "ask_agent", "arguments": {"agent": "pantry", "message": "Eggs?"}},
        {"tool": "no_such_tool", "arguments": {}},
        {"tool": "ask_agent", "arguments": []},
    ]);
    let all = events(&worker.built, message(vec![Part::text(format!("call {calls}"))])).await;
    let shown: Vec<_> = all
        .iter()
        .filter_map(|event| match event {
            Event::ToolCall(call) => Some((call.id.as_str(), !matches!(call.outcome, ToolOutcome::Running))),
            _ => None,
        })
        .collect();
    assert_eq!(shown.iter().filter(|(_, is_done)| *is_done).count(), 3, "{shown:?}");
    let results = data(&collect(Box::pin(futures::stream::iter(all))).await);
    assert!(results[0]["content"].to_string().contains("Three eggs."), "{results}");
    assert!(results[1]["error"]["message"].as_str().unwrap().contains("there are: ask_agent"), "{results}");
    assert_eq!(results[2]["error"]["message"], "`arguments` must be an object");
    assert_eq!(others.sent().len(), 1);
}

#[tokio::test]
async fn calls_have_a_bound_and_the_turn_goes_on() {
    let worker = worker("");
    let calls: Vec<Value> = (0..202).map(|_| json!({"tool": "none"})).collect();
    let results = data(&worker.ask(&format!("call {}", Value::from(calls))).await);
    let over = results
        .as_array()
        .unwrap()
        .iter()
        .filter(|result| result["error"]["message"].as_str().unwrap().contains("at most 200 calls"));
    assert_eq!(over.count(), 2);
}

#[tokio::test]
async fn a_turn_that_is_left_during_a_call_is_cancelled_with_it() {
    // Never answers.
    let others = Others::default().with("pantry", || Ok(Box::pin(futures::stream::pending())));
    let context = hosted(&["agent", "pantry"], way_to(Arc::new(others)));
    let siblings = context.siblings;
    let worker =
        worker_in(&json!({"protocol": 2, "concurrency": 4}), "siblings = [\"pantry\"]\nprocesses = 1\n", |context| {
            Context { siblings, ..context }
        });
    let calls = json!([{"tool": "ask_agent", "arguments": {"agent": "pantry", "message": "Eggs?"}}]);
    let mut events = worker.stream(&format!("call {calls}")).await;
    assert!(matches!(events.next().await, Some(Event::ToolCall(_))));
    drop(events);
    let seen = async {
        while !worker.file("trace").await.contains("\"cancel\"") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), seen).await.unwrap();
    assert_eq!(worker.ask("pid").await.ending, Ending::Complete);
}

#[tokio::test]
async fn a_file_comes_in_pieces() {
    let worker = worker("");
    let lines = [
        json!({"id": "a", "name": "plan.txt", "mime": "text/plain", "data": "b25l"}),
        json!({"id": "a", "data": "IHR3bw==", "append": true, "last": true}),
    ];
    let lines = lines.map(|piece| format!("{{\"turn\": TURN, \"artifact\": {piece}}}"));
    let answer = worker.ask(&format!("say {}\n{{\"turn\": TURN, \"end\": true}}", lines.join("\n"))).await;
    let [Part::File(file)] = &answer.parts[..] else { panic!("{answer:?}") };
    assert_eq!((file.name.as_deref(), file.size_bytes), (Some("plan.txt"), Some(7)));
}

#[test]
fn what_workers_may_call_needs_a_worker() {
    for more in ["siblings = true\n", "endpoints = [\"ADD /numbers\"]\n", "concurrency = 0\n", "cancel_seconds = 0\n"] {
        let said = problems(&format!("[backend]\nkind = \"command\"\ncommand = [\"sh\"]\n{more}"));
        assert!(said.contains("worker") || said.contains("endpoint") || said.contains("between"), "{said}");
    }
}
