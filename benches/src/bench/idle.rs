//! 10,000 connections that say nothing, and what is left of them a minute after they have closed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::arm::{Arm, ECHO};
use crate::{cpu, load};

const CONNECTIONS: usize = 10_000;
/// Those that come and go before anything is measured, so that pools are what they will be.
const WARM: usize = 100;
const AFTER: Duration = Duration::from_secs(60);

/// Opens them after one request each, waits, closes, waits.
pub(super) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for baseline in [Arm::baseline("hyper", "hyper")?, Arm::baseline("axum", "rest")?] {
        runtime.block_on(measure(baseline.name, &baseline, baseline.port, None, Duration::ZERO))?;
    }
    let plain = Arm::forecourt("forecourt", ECHO)?;
    runtime.block_on(measure("forecourt", &plain, plain.port, None, AFTER))?;
    let arm = Arm::forecourt("forecourt, TLS", ECHO)?;
    let tls = client(&arm)?;
    runtime.block_on(measure("forecourt, TLS", &arm, arm.https_port()?, Some(&tls), AFTER))
}

async fn measure(name: &str, arm: &Arm, port: u16, tls: Option<&TlsConnector>, after: Duration) -> anyhow::Result<()> {
    drop(open(port, tls, WARM).await?);
    let before = cpu::resident_kib(arm.pid());
    let connections = open(port, tls, CONNECTIONS).await?;
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

/// Both kinds of stream.
trait Connection: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Connection for T {}

async fn open(port: u16, tls: Option<&TlsConnector>, count: usize) -> anyhow::Result<Vec<Box<dyn Connection>>> {
    let request = format!("GET /~echo?user=x HTTP/1.1\r\nHost: demo.localhost:{port}\r\nAccept: text/markdown\r\n\r\n");
    let mut open = Vec::with_capacity(count);
    let mut buffer = Vec::new();
    for _ in 0..count {
        let mut stream = connect(port, tls).await?;
        stream.write_all(request.as_bytes()).await?;
        load::answer(&mut stream, &mut buffer).await?;
        open.push(stream);
    }
    Ok(open)
}

async fn connect(port: u16, tls: Option<&TlsConnector>) -> anyhow::Result<Box<dyn Connection>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    Ok(match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tls.connect(ServerName::try_from("demo.localhost")?, stream).await?),
    })
}

/// A client that trusts the daemon's local authority, and resumes nothing: every handshake is whole.
fn client(arm: &Arm) -> anyhow::Result<TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    let file = arm.data()?.join("ca.pem");
    roots.add(CertificateDer::from_pem_file(&file).context("the local authority has a certificate")?)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}
