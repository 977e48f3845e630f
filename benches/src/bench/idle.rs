//! 10,000 connections that say nothing, and what is left of them a minute after they have closed.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::arm::{Arm, ECHO};
use crate::{cpu, load};

const CONNECTIONS: usize = 10_000;
const AFTER: Duration = Duration::from_secs(60);

/// Opens them after one request each, waits, closes, waits.
pub(super) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let arm = Arm::forecourt("forecourt", ECHO)?;
    runtime.block_on(async {
        let before = cpu::resident_kib(arm.pid());
        let mut open = Vec::with_capacity(CONNECTIONS);
        let mut buffer = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(("127.0.0.1", arm.port)).await?;
            let request = format!(
                "GET /~echo?user=x HTTP/1.1\r\nHost: demo.localhost:{}\r\nAccept: text/markdown\r\n\r\n",
                arm.port
            );
            stream.write_all(request.as_bytes()).await?;
            load::answer(&mut stream, &mut buffer).await?;
            open.push(stream);
        }
        let peak = cpu::resident_kib(arm.pid());
        println!("{:.1} KiB a connection ({before} KiB before, {peak} KiB with {CONNECTIONS})",
            (peak - before) as f64 / CONNECTIONS as f64);
        drop(open);
        tokio::time::sleep(AFTER).await;
        let after = cpu::resident_kib(arm.pid());
        println!("{after} KiB {} s after they closed: {:.0} % of the peak", AFTER.as_secs(), after as f64 / peak as f64 * 100.0);
        Ok(())
    })
}
