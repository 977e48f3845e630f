//! 10,000 connections that say nothing, and what is left of them a minute after they have closed.

use std::time::Duration;

use anyhow::ensure;
use tokio_rustls::TlsConnector;

use crate::arm::{Arm, ECHO};
use crate::load::Connection;
use crate::{cpu, load};

const CONNECTIONS: usize = 10_000;
/// Those that come and go before anything is measured, so that pools are what they will be.
const WARM: usize = 100;
const AFTER: Duration = Duration::from_secs(60);

/// Opens them after one request each, waits, closes, waits.
pub(super) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for baseline in [Arm::baseline("hyper", "hyper")?, Arm::baseline("axum", "rest")?] {
        runtime.block_on(measure(&baseline, &Target::http(baseline.port, None), Duration::ZERO))?;
    }
    let plain = Arm::forecourt("forecourt", ECHO)?;
    runtime.block_on(measure(&plain, &Target::http(plain.port, None), AFTER))?;
    let arm = Arm::forecourt("forecourt, TLS", ECHO)?;
    let tls = load::trusting(&arm.data()?)?;
    runtime.block_on(measure(&arm, &Target::http(arm.https_port()?, Some(&tls)), AFTER))
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

/// Prints what each connection holds, and what is left of it later.
pub(super) async fn measure(arm: &Arm, target: &Target<'_>, after: Duration) -> anyhow::Result<()> {
    let name = arm.name;
    drop(open(target, WARM).await?);
    let before = cpu::resident_kib(arm.pid());
    let connections = open(target, CONNECTIONS).await?;
    let peak = cpu::resident_kib(arm.pid());
    let each = peak.saturating_sub(before) as f64 / CONNECTIONS as f64;
    println!("{name:<15} {each:5.1} KiB a connection ({before} KiB before, {peak} KiB with {CONNECTIONS})");
    drop(connections);
    if !after.is_zero() {
        tokio::time::sleep(after).await;
        let left = cpu::resident_kib(arm.pid());
        ensure!(left > 0, "{name} has ended by itself");
        let kept = left as f64 / peak as f64 * 100.0;
        println!("{name:<15} {left} KiB {} s after they closed: {kept:.0} % of the peak", after.as_secs());
    }
    Ok(())
}

async fn open(target: &Target<'_>, count: usize) -> anyhow::Result<Vec<Box<dyn Connection>>> {
    let mut open = Vec::with_capacity(count);
    let mut buffer = Vec::new();
    for _ in 0..count {
        let mut stream = load::connect(target.port, target.tls).await?;
        load::send(&mut stream, &target.request).await?;
        load::answer(&mut stream, &mut buffer).await?;
        open.push(stream);
    }
    Ok(open)
}
