//! 10,000 connections that say nothing, and what is left of them a minute after they have closed.

use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio_rustls::TlsConnector;

use crate::arm::{Arm, ECHO};
use crate::load::{Answers, Connection};
use crate::run::Run;
use crate::{cpu, load};

const CONNECTIONS: usize = 10_000;
const CONNECTIONS_SMOKE: usize = 150;
/// Those that come and go before anything is measured, so that pools are what they will be.
const WARM: usize = 100;
const WARM_SMOKE: usize = 10;
/// How long after they have closed it is looked at what is left of them.
const AFTER: Duration = Duration::from_secs(60);
const AFTER_SMOKE: Duration = Duration::from_millis(300);

/// Opens them after one request each, closes them, and waits: for ours twice, and over TLS.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for baseline in [Arm::baseline("hyper", "hyper")?, Arm::baseline("axum", "rest")?] {
        let held = runtime.block_on(hold(run, &baseline, &Target::http(baseline.port, None)))?;
        run.keep(format_args!("{}, KiB a connection", baseline.name), &[held.kib_each], &[])?;
    }
    let arms =
        [Arm::forecourt("forecourt", ECHO)?, Arm::forecourt("again", ECHO)?, Arm::forecourt("forecourt, TLS", ECHO)?];
    let tls = load::trusting(&arms[2].data()?)?;
    let (first, second, https) = (arms[0].port, arms[1].port, arms[2].https_port()?);
    let targets = [Target::http(first, None), Target::http(second, None), Target::http(https, Some(&tls))];
    let mut held = Vec::new();
    for (arm, target) in arms.iter().zip(&targets) {
        held.push(runtime.block_on(hold(run, arm, target))?);
    }
    // All wait side by side: each is looked at when its own minute is over.
    let mut kept = Vec::new();
    for (arm, held) in arms.iter().zip(&held) {
        kept.push(held.kept_later(arm, run.of(AFTER, AFTER_SMOKE))?);
    }
    run.keep("KiB a connection", &[held[0].kib_each], &[held[1].kib_each / held[0].kib_each])?;
    run.keep("kept after a minute, share of the peak", &kept[..1], &[kept[1] / kept[0]])?;
    run.keep("TLS, KiB a connection", &[held[2].kib_each], &[])?;
    run.keep("TLS, kept after a minute, share of the peak", &kept[2..], &[])
}

/// What connections are opened to, and what each of them asks once.
pub(super) struct Target<'a> {
    pub(super) port: u16,
    pub(super) tls: Option<&'a TlsConnector>,
    pub(super) request: String,
}

impl<'a> Target<'a> {
    fn http(port: u16, tls: Option<&'a TlsConnector>) -> Self {
        let host = format!("Host: demo.localhost:{port}");
        Self { port, tls, request: format!("GET /~echo?user=x HTTP/1.1\r\n{host}\r\nAccept: text/markdown\r\n\r\n") }
    }
}

/// What connections took that are closed by now.
pub(super) struct Held {
    pub(super) kib_each: f64,
    peak_kib: u64,
    closed: Instant,
}

impl Held {
    /// The share of the peak that is left so long after they closed.
    fn kept_later(&self, arm: &Arm, after: Duration) -> anyhow::Result<f64> {
        std::thread::sleep(after.saturating_sub(self.closed.elapsed()));
        let left = cpu::resident_kib(arm.pid());
        ensure!(left > 0, "{} has ended by itself", arm.name);
        let (kept, later) = (left as f64 / self.peak_kib as f64, after.as_secs());
        println!("{:<15} {left} KiB {later} s after they closed: {:.0} % of the peak", arm.name, kept * 100.0);
        Ok(kept)
    }
}

/// Opens connections, prints what each of them holds, and closes them.
pub(super) async fn hold(run: &Run, arm: &Arm, target: &Target<'_>) -> anyhow::Result<Held> {
    let count = run.of(CONNECTIONS, CONNECTIONS_SMOKE);
    drop(open(target, run.of(WARM, WARM_SMOKE)).await?);
    let before = cpu::resident_kib(arm.pid());
    let connections = open(target, count).await?;
    let peak_kib = cpu::resident_kib(arm.pid());
    let kib_each = peak_kib.saturating_sub(before) as f64 / count as f64;
    println!("{:<15} {kib_each:5.1} KiB a connection ({before} KiB before, {peak_kib} KiB with {count})", arm.name);
    drop(connections);
    Ok(Held { kib_each, peak_kib, closed: Instant::now() })
}

async fn open(target: &Target<'_>, count: usize) -> anyhow::Result<Vec<Box<dyn Connection>>> {
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = load::connect(target.port, target.tls).await?;
        load::send(&mut stream, &target.request).await?;
        Answers::default().next(&mut stream).await?;
        open.push(stream);
    }
    Ok(open)
}
