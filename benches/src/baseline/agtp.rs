//! A text server on tokio and rustls: reads a head and as many bytes as that says, and answers what a
//! file holds.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use bench_baseline::text::answers;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The file with the whole answer, beside the certificate.
pub(crate) const ANSWER: &str = "answer.txt";

/// Answers on every connection until it closes, with the certificate of a daemon's data folder.
pub(super) async fn serve(listener: TcpListener, folder: &Path, within_tls: bool) -> anyhow::Result<()> {
    let answer: &'static [u8] = std::fs::read(folder.join(ANSWER))?.leak();
    let tls = if within_tls { Some(acceptor(folder)?) } else { None };
    loop {
        let (stream, _) = listener.accept().await?;
        let tls = tls.clone();
        tokio::spawn(async move {
            stream.set_nodelay(true)?;
            match tls {
                Some(tls) => answers(tls.accept(stream).await?, answer).await,
                None => answers(stream, answer).await,
            }
        });
    }
}

fn acceptor(folder: &Path) -> anyhow::Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(folder.join("cert.pem"))?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).context("a private key")?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"agtp".to_vec()];
    config.ticketer = rustls::crypto::aws_lc_rs::Ticketer::new()?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
