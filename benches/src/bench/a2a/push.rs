//! Push notifications to a slow receiver, the daemon killed in the middle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post as on_post;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::{begin, post, send_message};
use crate::arm::Arm;
use crate::run::Run;

const TASKS: usize = 1_000;
/// Tasks of a smoke run.
const TASKS_SMOKE: usize = 60;
/// One task in so many is still at work when the daemon is killed.
const LONG_EACH: usize = 10;
/// The receiver's pause before each of its answers.
const SLOW: Duration = Duration::from_millis(50);
/// Of the tasks, one in so many was told of when the daemon is killed.
const KILL_AT_EACH: usize = 3;
/// How long all of it may take, from the first message to the last notification.
const PATIENCE: Duration = Duration::from_secs(150);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long after the last new notification repeats are waited for.
const SETTLE: Duration = Duration::from_secs(5);
const SETTLE_SMOKE: Duration = Duration::from_millis(300);

const SETTINGS: &str = "domain = \"demo.localhost\"\n\
    [limits]\n\
    per_address = { per_second = 1000000, burst = 1000000 }\n\
    per_session = { per_second = 1000000, burst = 1000000 }\n\
    tasks_running_max = 2000\n\
    strangers_percent = 100\n\
    tasks_per_caller_max = 2000\n\
    [egress]\n\
    allow = [\"127.0.0.0/8\"]\n\
    allow_http = true\n\
    max_concurrent_per_host = 16\n";

const AGENT: &str = "handle = \"worker\"\nname = \"Worker\"\ntimeout_seconds = 600\n[backend]\nkind = \"script\"\n\
    [[backend.rule]]\ntext = \"long\"\nevents = [{ wait_ms = 300000 }, { text = \"done\" }]\n\
    [[backend.rule]]\nevents = [{ text = \"done\" }]\n";

/// Posts by the number of the task that they tell of.
type Told = Arc<Mutex<HashMap<usize, u32>>>;

/// Sends the messages, kills, starts again, and counts what arrived.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let tasks = run.of(TASKS, TASKS_SMOKE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let mut arm = Arm::forecourt("forecourt", &[("forecourt.toml", SETTINGS), ("agents/worker.toml", AGENT)])?;
        let told = Told::default();
        let receiver = receive(told.clone()).await?;
        let start = Instant::now();
        submit(&arm, receiver, tasks).await?;
        let submitted = start.elapsed();
        until(&told, tasks / KILL_AT_EACH, start).await?;
        let at_kill = count(&told);
        arm.kill();
        let killed = start.elapsed();
        arm.restart()?;
        until(&told, tasks, start).await?;
        let all = start.elapsed();
        tokio::time::sleep(run.of(SETTLE, SETTLE_SMOKE)).await;
        print(&told, [submitted, killed, all], at_kill);
        let told_of = count(&told) as f64 / tasks as f64;
        run.keep("tasks that were told of, share", &[told_of], &[])
    })
}

/// A receiver that takes its time. Gives its port.
async fn receive(told: Told) -> anyhow::Result<u16> {
    let app = Router::new().route("/{task}", on_post(take)).with_state(told);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(port)
}

async fn take(State(told): State<Told>, Path(task): Path<usize>, body: String) -> StatusCode {
    if !body.contains("\"task\"") && !body.contains("\"statusUpdate\"") {
        return StatusCode::BAD_REQUEST;
    }
    *told.lock().unwrap_or_else(PoisonError::into_inner).entry(task).or_default() += 1;
    tokio::time::sleep(SLOW).await;
    StatusCode::OK
}

async fn submit(arm: &Arm, receiver: u16, tasks: usize) -> anyhow::Result<()> {
    const SUBMITTERS: usize = 16;
    let submitters = (0..SUBMITTERS).map(|first| async move {
        let mut stream = TcpStream::connect(("127.0.0.1", arm.port)).await?;
        for task in (first..tasks).step_by(SUBMITTERS) {
            let words = if task % LONG_EACH == 0 { "long" } else { "short" };
            let push = json!({"id": "p", "url": format!("http://127.0.0.1:{receiver}/{task}")});
            let body = send_message(words, &json!({"returnImmediately": true, "taskPushNotificationConfig": push}));
            begin(&mut stream, &post(arm.port, "/a2a/worker", "1.0", &body)).await?;
        }
        anyhow::Ok(())
    });
    futures::future::try_join_all(submitters).await.context("every message begins a task")?;
    Ok(())
}

/// Waits until so many tasks were told of. Fails when that takes too long: then one is lost.
async fn until(told: &Told, wanted: usize, start: Instant) -> anyhow::Result<()> {
    while count(told) < wanted {
        ensure!(start.elapsed() < PATIENCE, "void: {} of {wanted} tasks were told of", count(told));
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

fn count(told: &Told) -> usize {
    told.lock().unwrap_or_else(PoisonError::into_inner).len()
}

fn print(told: &Told, [submitted, killed, all]: [Duration; 3], at_kill: usize) {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let repeated = told.values().filter(|posts| **posts > 1).count();
    let most = told.values().max().copied().unwrap_or(0);
    let posts: u32 = told.values().sum();
    println!("tasks begun in             {:5.1} s", submitted.as_secs_f64());
    println!("told of before the kill    {at_kill:5} (killed at {:.1} s)", killed.as_secs_f64());
    println!("told of in the end         {:5} (at {:.1} s)", told.len(), all.as_secs_f64());
    println!("posts                      {posts:5}");
    println!("tasks told of repeatedly   {repeated:5} (one at most {most} times)");
}
