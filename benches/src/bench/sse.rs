//! 1,000 streams at 50 fragments a second, against axum with a timer for each stream.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::arm::{Arm, OPEN_LIMITS};
use crate::cpu;
use crate::report::{judge, median, shuffled};
use crate::run::Run;

const STREAMS: usize = 1_000;
const STREAMS_SMOKE: usize = 20;
const STALLED: usize = 10;
/// Streams that come and go before memory is measured, so that pools are what they will be.
const WARM: usize = 100;
const PER_SECOND: f64 = 50.0;
const WATCH: Duration = Duration::from_secs(4);
/// From the last stream's beginning until all of them run evenly.
const SETTLE: Duration = Duration::from_millis(500);
const ROUNDS: usize = 6;
/// What stands before the number of an event.
const TICK: &[u8] = b"data: tick ";

const AGENT: &str = "handle = \"ticker\"\nname = \"Ticker\"\n[backend]\nkind = \"script\"\n[[backend.rule]]\n\
    events = [{ stream = { text = \"tick {n}\", count = 100000, every_ms = 20 } }]\n";

/// Runs the comparison, then with readers that stall.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let arms = [
        Arm::baseline("axum", "sse")?,
        Arm::baseline("axum again", "sse")?,
        Arm::forecourt("forecourt", &[("forecourt.toml", OPEN_LIMITS), ("agents/ticker.toml", AGENT)])?,
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut seen: [Vec<Watched>; 3] = Default::default();
    for round in 0..run.rounds(ROUNDS) {
        for index in shuffled(arms.len(), round) {
            seen[index].push(runtime.block_on(watch(run, &arms[index], 0))?);
        }
    }
    for (arm, watched) in arms.iter().zip(&seen) {
        let column = |of: fn(&Watched) -> f64| watched.iter().map(of).collect::<Vec<_>>();
        println!(
            "{:<12} {:5.2} µs CPU/event  {:5.1} % delivered in order  {:4.1} KiB a stream at first",
            arm.name,
            median(&column(|w| w.micros)),
            median(&column(|w| w.delivered)) * 100.0,
            watched[0].kib_per_stream,
        );
    }
    let costs = seen.each_ref().map(|watched| watched.iter().map(|w| w.micros).collect::<Vec<_>>());
    judge(run, "", "µs of CPU an event", &arms.each_ref().map(|arm| arm.name), &costs)?;
    stall(run, &arms[2], &runtime)
}

/// What the others get while some do not read, against the watch just before it.
fn stall(run: &Run, arm: &Arm, runtime: &tokio::runtime::Runtime) -> anyhow::Result<()> {
    let mut changes = Vec::new();
    for _ in 0..run.rounds(ROUNDS / 2) {
        let quiet = runtime.block_on(watch(run, arm, 0))?;
        let stalled = runtime.block_on(watch(run, arm, STALLED))?;
        changes.push((stalled.delivered / quiet.delivered - 1.0) * 100.0);
    }
    println!("with {STALLED} stalled readers the others' totals change by {:+.2} %", median(&changes));
    run.keep("what stalled readers change for the others, %", &changes, &[])
}

struct Watched {
    /// CPU for each event.
    micros: f64,
    /// Of the events that were due.
    delivered: f64,
    kib_per_stream: f64,
}

/// Opens all streams, then reads for a while. `stalled` more are opened and never read.
async fn watch(run: &Run, arm: &Arm, stalled: usize) -> anyhow::Result<Watched> {
    let count = run.of(STREAMS, STREAMS_SMOKE);
    drop(open(arm, run.of(WARM, 1)).await?);
    let before = cpu::resident_kib(arm.pid());
    let _unread = open(arm, stalled).await?;
    let mut streams = open(arm, count).await?;
    read_all(&mut streams, SETTLE).await?;
    let kib = cpu::resident_kib(arm.pid()).saturating_sub(before);
    let spent = cpu::process_nanos(arm.pid());
    let begin = Instant::now();
    let events = read_all(&mut streams, run.of(WATCH, SETTLE)).await?;
    let elapsed = begin.elapsed().as_secs_f64();
    let spent = cpu::process_nanos(arm.pid()) - spent;
    ensure!(events > 0, "no event came");
    Ok(Watched {
        micros: spent as f64 / 1_000.0 / events as f64,
        delivered: events as f64 / (count as f64 * PER_SECOND * elapsed),
        kib_per_stream: kib as f64 / count as f64,
    })
}

async fn open(arm: &Arm, count: usize) -> anyhow::Result<Vec<Ticks>> {
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        streams.push(Ticks::open(arm.port).await?);
    }
    Ok(streams)
}

/// Events that came on all streams in a while.
async fn read_all(streams: &mut [Ticks], time: Duration) -> anyhow::Result<u64> {
    let end = Instant::now() + time;
    let counts = futures::future::try_join_all(streams.iter_mut().map(|stream| stream.read(end))).await?;
    Ok(counts.iter().sum())
}

/// One stream and the last number that came on it.
struct Ticks {
    stream: TcpStream,
    last: u64,
    /// A line that has begun.
    line: Vec<u8>,
}

impl Ticks {
    async fn open(port: u16) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request =
            format!("GET /~ticker?user=x HTTP/1.1\r\nHost: demo.localhost:{port}\r\nAccept: text/event-stream\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        Ok(Self { stream, last: 0, line: Vec::new() })
    }

    /// Events until `end`. Fails when one is missing.
    async fn read(&mut self, end: Instant) -> anyhow::Result<u64> {
        let before = self.last;
        let mut buffer = [0; 1024];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(read) = tokio::time::timeout(left, self.stream.read(&mut buffer)).await else {
                return Ok(self.last - before);
            };
            let read = read?;
            ensure!(read > 0, "a stream ended early");
            self.take(&buffer[..read])?;
        }
    }

    fn take(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.ends_with(b"\n") {
                if let Some(number) = self.line.strip_prefix(TICK) {
                    let number: u64 = std::str::from_utf8(number)?.trim_end().parse().context("a tick has a number")?;
                    ensure!(number == self.last + 1, "tick {number} came after {}", self.last);
                    self.last = number;
                }
                self.line.clear();
            }
        }
        Ok(())
    }
}
