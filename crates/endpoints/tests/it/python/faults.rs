//! Functions that fail in every way they can: their own call is lost, and nothing else.

use std::time::{Duration, Instant};

use forecourt_contract::Failure;
use serde_json::json;

use crate::python::support::{AMPLE, call, call_within, collected, crash, gone, number, rooms, with};

/// Functions that go wrong, one that does not, and what the log says of each.
const WRONG: &str = r#"import ctypes, math, os, signal, sys, threading
import forecourt

def fine(ctx): return {"fine": True}
def raises(ctx): raise ValueError("no such room")
def leaves(ctx): sys.exit(3)
def interrupts(ctx): raise KeyboardInterrupt
def ends(ctx): os._exit(3)
def kills(ctx): os.kill(os.getpid(), signal.SIGKILL)
def segfaults(ctx): ctypes.string_at(0)
def recurses(ctx): return recurses(ctx)
def nothing(ctx): pass
def listed(ctx): return [1]
def a_set(ctx): return {"a": {1, 2}}
def nan(ctx): return {"a": math.nan}
def circular(ctx):
    a = {}
    a["a"] = a
    return a
def twice(ctx): return {1: "a", "1": "b"}
def lone(ctx): return {"a": "\ud800"}
def deep(ctx):
    a = {}
    for _ in range(100): a = {"a": a}
    return a
def writes(ctx): return {"n": os.write(4, b'{"result": {}}\n7 {"result": {}}\n')}
def bad_error(ctx): raise forecourt.EndpointError(7, "seven")
def bad_details(ctx): raise forecourt.EndpointError("full", "Full.", {1, 2})
def closes(ctx): os.closerange(3, 100)
class Odd(Exception):
    def __str__(self): raise RuntimeError
def odd(ctx): raise Odd
def takes_two(ctx, more): return {}
def forges(ctx): raise ValueError(ctx.input.get("text", "\nINFO all is well"))
def parses(ctx): compile("(", "x", "eval")
"#;

#[tokio::test]
async fn s12_2_each_failure_is_one_clear_crash_and_the_next_call_is_fine() {
    let deployment = rooms(WRONG);
    let fine = deployment.function("rooms.fine");
    for (name, cause) in [
        ("raises", "rooms.raises: functions/rooms.py line 5: ValueError: no such room"),
        ("leaves", "functions/rooms.py line 6: SystemExit: 3"),
        ("interrupts", "functions/rooms.py line 7: KeyboardInterrupt"),
        ("ends", "rooms.ends: it ended its worker (exit status: 3)"),
        ("kills", "it ended its worker (signal: 9 (SIGKILL))"),
        ("segfaults", "it ended its worker (signal: 11 (SIGSEGV))"),
        ("recurses", "functions/rooms.py line 11: RecursionError: maximum recursion depth exceeded"),
        ("nothing", "it returned a value of type NoneType, not a dict"),
        ("listed", "it returned a value of type list, not a dict"),
        ("a_set", "what it returned is no JSON: TypeError: Object of type set is not JSON serializable"),
        ("nan", "what it returned is no JSON: ValueError: Out of range float values are not JSON compliant"),
        ("circular", "what it returned is no JSON: ValueError: Circular reference detected"),
        ("twice", "what it returned can't be passed on: "),
        ("lone", "what it returned can't be passed on: "),
        ("deep", "what it returned can't be passed on: more than 64 levels of nesting"),
        ("writes", "the worker's answer is to another request"),
        ("bad_error", "it raised an EndpointError whose code or message is no text"),
        ("bad_details", "what it returned is no JSON: TypeError"),
        ("closes", "it ended its worker"),
        ("odd", "Odd: (its text can't be told)"),
        ("forges", "ValueError: \u{fffd}INFO all is well"),
        ("parses", "functions/rooms.py line 35: SyntaxError: '(' was never closed (x, line 1)"),
        ("takes_two", "TypeError: takes_two() missing 1 required positional argument: 'more'"),
    ] {
        let told = crash(&deployment.function(&format!("rooms.{name}")), json!({})).await;
        assert!(told.contains(cause), "{name}: {told}");
        assert_eq!(call(&fine, json!({})).await, Ok(json!({"fine": true})), "after {name}");
    }
}

#[tokio::test]
async fn what_may_not_be_passed_on_costs_no_worker() {
    let text = "import os\ndef book(ctx): return {'a': '\\ud800'} if ctx.input else {'pid': os.getpid()}\n";
    let deployment = rooms(text);
    let book = deployment.function("rooms.book");
    let first = call(&book, json!({})).await.unwrap();
    for _ in 0..5 {
        assert!(crash(&book, json!({"n": 1})).await.contains("what it returned can't be passed on"));
    }
    assert_eq!(call(&book, json!({})).await, Ok(first), "whoever calls can't make workers end");
}

#[tokio::test]
async fn memory_has_a_bound() {
    let text = "def book(ctx): return {'n': len(bytearray(ctx.input['n']))}\n\
                def list_all(ctx): return {'text': str([n for n in range(10 ** 9)])}\n";
    let deployment = with(text, |options| options.memory_bytes = 256 * 1024 * 1024);
    let book = deployment.function("rooms.book");
    let cause = crash(&book, json!({"n": 300 * 1024 * 1024})).await;
    assert!(cause.contains("functions/rooms.py line 1: MemoryError"), "{cause}");
    assert_eq!(call(&book, json!({"n": 1024})).await, Ok(json!({"n": 1024})));
    let cause = crash(&deployment.function("rooms.list_all"), json!({})).await;
    assert!(cause.contains("MemoryError") || cause.contains("it ended its worker"), "{cause}");
    assert_eq!(call(&book, json!({"n": 1024})).await, Ok(json!({"n": 1024})));
}

#[tokio::test]
async fn a_function_that_hangs_is_ended_with_its_children_when_its_time_is_over() {
    let text = "import os, subprocess, time\n\
                def hang(ctx):\n\
                \x20   child = subprocess.Popen(['sleep', '3600'])\n\
                \x20   open('child', 'w').write(str(child.pid)); open('worker', 'w').write(str(os.getpid()))\n\
                \x20   while True: pass\n\
                def book(ctx): return {}\n";
    let deployment = rooms(text);
    let (hang, book) = (deployment.function("rooms.hang"), deployment.function("rooms.book"));
    let began = Instant::now();
    let hung = call_within(&hang, json!({}), Duration::from_secs(5)).await;
    assert_eq!(hung, Err(Failure::Late("rooms.hang: took more than 5s".to_owned())));
    assert!(began.elapsed() < AMPLE / 2);
    assert_eq!(call(&book, json!({})).await, Ok(json!({})));
    let folder = deployment.root.path().join("functions");
    collected(number(&folder.join("worker")));
    gone(number(&folder.join("child")));
}

#[tokio::test]
async fn a_caller_that_leaves_ends_its_call() {
    let text = "import os, time\n\
                def hang(ctx):\n\
                \x20   open('worker', 'w').write(str(os.getpid()))\n\
                \x20   os.rename('worker', 'up')\n\
                \x20   time.sleep(3600)\n\
                def book(ctx): return {}\n";
    let deployment = rooms(text);
    let (hang, book) = (deployment.function("rooms.hang"), deployment.function("rooms.book"));
    let calling = tokio::spawn(async move { call(&hang, json!({})).await });
    let up = deployment.root.path().join("functions/up");
    while !up.exists() {
        tokio::task::yield_now().await;
    }
    calling.abort();
    assert!(calling.await.is_err());
    collected(number(&up));
    assert_eq!(call(&book, json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn crashes_of_one_function_slow_down_no_other_for_long() {
    let deployment = rooms("import os\ndef ends(ctx): os._exit(1)\ndef book(ctx): return {}\n");
    let (ends, book) = (deployment.function("rooms.ends"), deployment.function("rooms.book"));
    for _ in 0..5 {
        assert!(crash(&ends, json!({})).await.contains("it ended its worker"));
    }
    // The two pauses after the third crash are over within the call's time.
    assert_eq!(call(&book, json!({})).await, Ok(json!({})));
}
