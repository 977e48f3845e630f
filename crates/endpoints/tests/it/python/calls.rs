//! Calls that go well.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_contract::Failure;
use forecourt_endpoints::limits::{FUNCTION_RESULT_BYTES_MAX, LONG_CALL_AFTER, LONG_CALLS_PER_WORKER};
use futures::future::join_all;
use serde_json::json;

use crate::python::support::{AMPLE, call, call_within, number, rooms, with};

#[tokio::test]
async fn s12_2_a_function_gets_the_input_and_who_calls_and_gives_the_result() {
    let text = r#"
def book(ctx):
    assert isinstance(ctx.input, dict)
    return {"guest": ctx.input["guest"], "who": ctx.agent_id, "at": [ctx.method, ctx.path],
            "thread": [ctx.task_id, ctx.session_id]}
"#;
    let deployment = rooms(text);
    let booked = call(&deployment.function("rooms.book"), json!({"guest": "Zoë 🛏"})).await;
    let expected = json!({
        "guest": "Zoë 🛏", "who": "agent-1", "at": ["BOOK", "/room"], "thread": ["task-1", null],
    });
    assert_eq!(booked, Ok(expected));
}

#[tokio::test]
async fn a_named_error_goes_to_the_caller_with_its_details() {
    let text = r#"
from forecourt import EndpointError

class Full(EndpointError):
    pass

def book(ctx):
    if ctx.input:
        raise Full("room_unavailable", "No room is free.", {"free": 0})
    raise EndpointError("room_unavailable", "No room.")
"#;
    let book = rooms(text);
    let book = book.function("rooms.book");
    let (code, message) = ("room_unavailable".to_owned(), "No room is free.".to_owned());
    let details = json!({"free": 0});
    assert_eq!(call(&book, json!({"n": 1})).await, Err(Failure::Named { code, message, details }));
    assert_eq!(call(&book, json!({})).await, Err(Failure::named("room_unavailable", "No room.")));
}

#[tokio::test]
async fn s12_2_a_function_may_be_async() {
    let text = r#"
import asyncio
from forecourt import EndpointError

async def book(ctx):
    one, two = await asyncio.gather(asyncio.sleep(0, "a"), asyncio.sleep(0, "b"))
    if ctx.input:
        raise EndpointError("room_unavailable", "No room.")
    return {"rooms": [one, two]}

async def hang(ctx):
    await asyncio.sleep(60)
"#;
    let deployment = rooms(text);
    let book = deployment.function("rooms.book");
    for _ in 0..2 {
        assert_eq!(call(&book, json!({})).await, Ok(json!({"rooms": ["a", "b"]})), "each call has a loop of its own");
    }
    assert_eq!(call(&book, json!({"n": 1})).await, Err(Failure::named("room_unavailable", "No room.")));
    let late = call_within(&deployment.function("rooms.hang"), json!({}), Duration::from_millis(300)).await;
    assert!(matches!(late, Err(Failure::Late(_))), "{late:?}");
}

#[tokio::test]
async fn modules_in_packages_are_found_and_may_use_each_other() {
    let deployment = rooms("PRICE = 80\n");
    deployment.write("functions/stay/__init__.py", "");
    deployment.write("functions/stay/night.py", "import rooms\ndef price(ctx): return {'price': rooms.PRICE}\n");
    let price = deployment.function("stay.night.price");
    assert_eq!(call(&price, json!({})).await, Ok(json!({"price": 80})));
}

#[tokio::test]
async fn one_process_answers_call_after_call() {
    let deployment = rooms("import os\ndef book(ctx): return {'pid': os.getpid()}\n");
    let book = deployment.function("rooms.book");
    let first = call(&book, json!({})).await.unwrap();
    assert_eq!(call(&book, json!({})).await.unwrap(), first);
}

#[tokio::test]
async fn functions_see_nothing_of_our_environment_and_read_nothing() {
    let text = r#"
import os, sys
def book(ctx):
    return {"names": sorted(os.environ), "stdin": sys.stdin.read(), "folder": os.path.basename(os.getcwd()),
            "own_group": os.getpgid(0) == os.getpid(), "fds": len(os.listdir("/proc/self/fd"))}
"#;
    let deployment = with(text, |options| drop(options.variables.insert("DATABASE".into(), "rooms.db".into())));
    let seen = call(&deployment.function("rooms.book"), json!({})).await.unwrap();
    let names: Vec<_> = seen["names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(["DATABASE", "LANG", "PATH"].iter().all(|name| names.contains(name)), "{names:?}");
    // Where the interpreter is started by a script, that adds some of its own.
    let of_scripts = |name: &str| matches!(name, "PWD" | "SHLVL" | "_") || name.contains("PYENV");
    let ours = std::env::vars().map(|(name, _)| name).filter(|name| !matches!(name.as_str(), "LANG" | "PATH"));
    let leaked: Vec<_> = ours.filter(|name| names.contains(&name.as_str()) && !of_scripts(name)).collect();
    assert_eq!(leaked, Vec::<String>::new());
    assert_eq!((&seen["stdin"], &seen["folder"], &seen["own_group"]), (&json!(""), &json!("functions"), &json!(true)));
    // The standard streams, the two pipes, and the folder that is being listed.
    assert_eq!(seen["fds"], 6);
}

#[tokio::test]
async fn calls_beyond_the_pool_wait_for_their_turn() {
    let deployment = with("import os\ndef book(ctx): return {'pid': os.getpid(), 'n': ctx.input['n']}\n", |options| {
        options.workers = 2;
    });
    let book = deployment.function("rooms.book");
    let answers = join_all((0..20).map(|n| call(&book, json!({"n": n})))).await;
    let numbers: Vec<_> = answers.iter().map(|answer| answer.as_ref().unwrap()["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    let mut processes: Vec<_> =
        answers.iter().map(|answer| answer.as_ref().unwrap()["pid"].as_u64().unwrap()).collect();
    processes.sort();
    processes.dedup();
    assert!((1..=2).contains(&processes.len()), "{processes:?}");
}

#[tokio::test]
async fn a_function_that_hangs_holds_up_no_other_worker() {
    let text = "import time\ndef hang(ctx): time.sleep(3600)\ndef book(ctx): return {}\n";
    let deployment = with(text, |options| options.workers = 2);
    let (hang, book) = (deployment.function("rooms.hang"), deployment.function("rooms.book"));
    let hanging = tokio::spawn(async move { call(&hang, json!({})).await });
    for _ in 0..5 {
        assert_eq!(call(&book, json!({})).await, Ok(json!({})));
    }
    assert!(!hanging.is_finished());
    hanging.abort();
}

#[tokio::test]
async fn a_call_waits_for_its_turn_no_longer_than_its_time() {
    let deployment = rooms("import time\ndef hang(ctx): time.sleep(3600)\ndef book(ctx): return {}\n");
    let (hang, book) = (deployment.function("rooms.hang"), deployment.function("rooms.book"));
    let hanging = tokio::spawn(async move { call(&hang, json!({})).await });
    // It hangs once the only worker does not answer any more.
    let began = Instant::now();
    loop {
        let waited = call_within(&book, json!({}), Duration::from_millis(200)).await;
        if let Err(Failure::Busy(cause)) = waited {
            assert_eq!(cause, "rooms.book: no worker was free within 200ms");
            break;
        }
        assert!(began.elapsed() < AMPLE);
    }
    hanging.abort();
    assert_eq!(call(&book, json!({})).await, Ok(json!({})), "the worker of a caller that left is replaced");
}

#[tokio::test]
async fn calls_that_take_long_make_room_for_others_up_to_a_bound() {
    let text = "import time\n\
                def hang(ctx):\n\
                \x20   open('up%d' % ctx.input['n'], 'w')\n\
                \x20   time.sleep(3600)\n\
                def book(ctx): return {}\n";
    let deployment = rooms(text);
    let (hang, book) = (deployment.function("rooms.hang"), deployment.function("rooms.book"));
    let mut hanging = Vec::new();
    for n in 0..=LONG_CALLS_PER_WORKER {
        assert_eq!(call(&book, json!({})).await, Ok(json!({})), "beside {n} that hang");
        let hang = Arc::clone(&hang);
        hanging.push(tokio::spawn(async move { call(&hang, json!({"n": n})).await }));
        while !deployment.root.path().join(format!("functions/up{n}")).exists() {
            tokio::task::yield_now().await;
        }
    }
    let beyond = call_within(&book, json!({}), LONG_CALL_AFTER * 2).await;
    assert!(matches!(beyond, Err(Failure::Busy(_))), "{beyond:?}");
    assert!(!hanging.iter().any(tokio::task::JoinHandle::is_finished));
    hanging.iter().for_each(tokio::task::JoinHandle::abort);
    assert_eq!(call(&book, json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_result_may_be_as_large_as_its_bound() {
    let deployment = rooms("def book(ctx): return {'text': 'x' * ctx.input['n']}\n");
    let book = deployment.function("rooms.book");
    let frame = "{\"result\":{\"text\":\"\"}}".len();
    let largest = FUNCTION_RESULT_BYTES_MAX - frame;
    let whole = call(&book, json!({"n": largest})).await.unwrap();
    assert_eq!(whole["text"].as_str().unwrap().len(), largest);
    let Err(Failure::Crashed(cause)) = call(&book, json!({"n": largest + 1})).await else {
        panic!("one byte more is too large");
    };
    assert!(cause.contains("what it returned takes more than 1048576 bytes"), "{cause}");
}

#[tokio::test]
async fn workers_end_with_the_host() {
    let text = "import os, subprocess\n\
                child = subprocess.Popen(['sleep', '3600'])\n\
                open('child', 'w').write(str(child.pid)); open('worker', 'w').write(str(os.getpid()))\n\
                def book(ctx): return {}\n";
    let deployment = rooms(text);
    let book = deployment.function("rooms.book");
    assert!(call(&book, json!({})).await.is_ok());
    let folder = deployment.root.path().join("functions");
    let processes = [number(&folder.join("worker")), number(&folder.join("child"))];
    drop(book);
    drop(deployment.python);
    processes.into_iter().for_each(crate::python::support::gone);
}
