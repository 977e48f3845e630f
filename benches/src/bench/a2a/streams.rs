//! Many readers of tasks that go on and on, and the memory of each.

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{begin, post, send_message};
use crate::arm::Arm;
use crate::cpu;
use crate::run::Run;

/// Streams at once, unless the process may not open so many files.
const STREAMS: usize = 10_000;
const STREAMS_SMOKE: usize = 200;
/// Files that are open beside the streams.
const OTHER_FILES: usize = 200;
const TASKS: usize = 100;
const TASKS_SMOKE: usize = 10;
/// Streams that come and go before memory is measured, so that pools are what they will be.
const WARM: usize = 200;

const LIMITS: &str = "domain = \"demo.localhost\"\n\
    [limits]\n\
    per_address = { per_second = 1000000, burst = 1000000 }\n\
    per_session = { per_second = 1000000, burst = 1000000 }\n\
    replies_running_max = 20000\n\
    tasks_running_max = 1000\n\
    strangers_percent = 100\n\
    tasks_per_caller_max = 1000\n\
    [http]\n\
    connections_per_address_max = 20000\n\
    connections_max = 20000\n";

/// Says a word every minute, and nothing in between.
const AGENT: &str = "handle = \"slow\"\nname = \"Slow\"\ntimeout_seconds = 3600\n[backend]\nkind = \"script\"\n\
    [[backend.rule]]\nevents = [{ text = \"begun\" }, { wait_ms = 3000000 }, { text = \"done\" }]\n";

/// Begins the tasks, then opens all streams; and once more with another daemon.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut held = Vec::new();
    for _ in 0..run.of(2, 1) {
        let arm = Arm::forecourt("forecourt", &[("forecourt.toml", LIMITS), ("agents/slow.toml", AGENT)])?;
        held.push(runtime.block_on(measure(run, &arm))?);
    }
    run.keep("KiB a stream", &held[..1], &[held[held.len() - 1] / held[0]])
}

/// KiB that each stream takes.
async fn measure(run: &Run, arm: &Arm) -> anyhow::Result<f64> {
    let count = run.of(STREAMS, STREAMS_SMOKE).min(files_max()?.saturating_sub(OTHER_FILES));
    let tasks = tasks(arm, run.of(TASKS, TASKS_SMOKE)).await?;
    drop(open(arm, &tasks, WARM).await?);
    let before = cpu::resident_kib(arm.pid());
    let streams = open(arm, &tasks, count).await?;
    let after = cpu::resident_kib(arm.pid());
    let each = after.saturating_sub(before) as f64 / streams.len() as f64;
    println!(
        "{each:.1} KiB a stream ({before} KiB before, {after} KiB with {} streams of {} tasks)",
        streams.len(),
        tasks.len()
    );
    Ok(each)
}

/// Files that this process, and so those that it starts, may have open.
fn files_max() -> anyhow::Result<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next());
    Ok(soft.context("there is a limit of open files")?.parse()?)
}

async fn tasks(arm: &Arm, count: usize) -> anyhow::Result<Vec<String>> {
    let body = send_message("go", &json!({"returnImmediately": true}));
    let mut stream = TcpStream::connect(("127.0.0.1", arm.port)).await?;
    let mut tasks = Vec::with_capacity(count);
    for _ in 0..count {
        tasks.push(begin(&mut stream, &post(arm.port, "/a2a/slow", "1.0", &body)).await?);
    }
    Ok(tasks)
}

/// Opens streams and waits for the first frame of each: the task as it stands.
async fn open(arm: &Arm, tasks: &[String], count: usize) -> anyhow::Result<Vec<TcpStream>> {
    let mut streams = Vec::with_capacity(count);
    for task in tasks.iter().cycle().take(count) {
        let mut stream = TcpStream::connect(("127.0.0.1", arm.port)).await?;
        stream.write_all(post(arm.port, "/a2a/slow", "1.0", &subscribe(task)).as_bytes()).await?;
        first_frame(&mut stream, task).await?;
        streams.push(stream);
    }
    Ok(streams)
}

fn subscribe(task: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task}})
}

async fn first_frame(stream: &mut TcpStream, task: &str) -> anyhow::Result<()> {
    let mut seen = Vec::with_capacity(4 * 1024);
    loop {
        let text = String::from_utf8_lossy(&seen);
        if text.starts_with("HTTP/1.1 200") && text.contains("\ndata:") && text.contains(task) {
            return Ok(());
        }
        ensure!(!text.contains("\"error\""), "a task is not streamed: {text}");
        ensure!(stream.read_buf(&mut seen).await? > 0, "a stream ended early");
    }
}
