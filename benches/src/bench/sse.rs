//! 1,000 streams at 50 fragments a second, against axum with a timer for each stream.

use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::arm::{Arm, OPEN_LIMITS};
use crate::cpu;
use crate::report::{median, shuffled};

const STREAMS: usize = 1_000;
const PER_SECOND: f64 = 50.0;
const WATCH: Duration = Duration::from_secs(5);
const ROUNDS: usize = 6;

const AGENT: &str = "handle = \"ticker\"\nname = \"Ticker\"\n[backend]\nkind = \"script\"\n[[backend.rule]]\n\
    events = [{ stream = { text = \"tick \", count = 100000, every_ms = 20 } }]\n";

/// Runs the comparison, then once more with a reader that stalls.
pub(super) fn run() -> anyhow::Result<()> {
    let arms = [
        Arm::baseline("axum", "sse")?,
        Arm::baseline("axum again", "sse")?,
        Arm::forecourt("forecourt", &[("forecourt.toml", OPEN_LIMITS), ("agents/ticker.toml", AGENT)])?,
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut costs = vec![Vec::new(); arms.len()];
    for round in 0..ROUNDS {
        for index in shuffled(arms.len(), round) {
            let watched = runtime.block_on(watch(&arms[index], 0))?;
            costs[index].push(watched.micros_per_event);
            if round == 0 {
                println!(
                    "{:<14} {:5.1} % delivered, {:5.1} KiB a stream",
                    arms[index].name,
                    watched.delivered * 100.0,
                    watched.kib_per_stream
                );
            }
        }
    }
    for (arm, cost) in arms.iter().zip(&costs) {
        let ratios: Vec<f64> = cost.iter().zip(&costs[0]).map(|(ours, base)| ours / base).collect();
        println!("{:<14} {:5.2} µs CPU/event  ratio {:.3}", arm.name, median(cost), median(&ratios));
    }
    let quiet = runtime.block_on(watch(&arms[2], 0))?;
    let stalled = runtime.block_on(watch(&arms[2], 10))?;
    println!("with 10 stalled readers the others get {:.2} % of before", stalled.events / quiet.events * 100.0);
    Ok(())
}

struct Watched {
    micros_per_event: f64,
    delivered: f64,
    kib_per_stream: f64,
    events: f64,
}

/// Opens all streams, then counts frames for a while. `stalled` more are opened and never read.
async fn watch(arm: &Arm, stalled: usize) -> anyhow::Result<Watched> {
    let before = cpu::resident_kib(arm.pid());
    let mut streams = Vec::with_capacity(STREAMS);
    for _ in 0..STREAMS {
        streams.push(open(arm.port).await?);
    }
    let mut unread = Vec::new();
    for _ in 0..stalled {
        unread.push(open(arm.port).await?);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let kib = cpu::resident_kib(arm.pid()).saturating_sub(before);
    let spent = cpu::process_nanos(arm.pid());
    let begin = Instant::now();
    let counts = futures::future::try_join_all(streams.iter_mut().map(|s| count(s, begin + WATCH))).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    let spent = cpu::process_nanos(arm.pid()) - spent;
    let events: u64 = counts.iter().sum();
    ensure!(events > 0, "no event came");
    Ok(Watched {
        micros_per_event: spent as f64 / 1_000.0 / events as f64,
        delivered: events as f64 / (STREAMS as f64 * PER_SECOND * elapsed),
        kib_per_stream: kib as f64 / STREAMS as f64,
        events: events as f64,
    })
}

async fn open(port: u16) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request =
        format!("GET /~ticker?user=x HTTP/1.1\r\nHost: demo.localhost:{port}\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Frames until `end`: each is a `data:` line.
async fn count(stream: &mut TcpStream, end: Instant) -> anyhow::Result<u64> {
    let mut buffer = vec![0; 4096];
    let mut events = 0;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(read) = tokio::time::timeout(left, stream.read(&mut buffer)).await else { return Ok(events) };
        let read = read?;
        ensure!(read > 0, "a stream ended early");
        events += buffer[..read].windows(5).filter(|window| window == b"data:").count() as u64;
    }
}
