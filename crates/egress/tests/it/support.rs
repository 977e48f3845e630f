//! A resolver with prepared answers and a TLS server with prepared ones, both on loopback.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forecourt_egress::{Egress, EgressBuilder, EgressConfig, Resolve, Resolving};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// The only address that the tests open: not the usual loopback one, which stays closed.
pub(crate) const OPENED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// One prepared answer of a lookup.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Addresses(Vec<IpAddr>),
    Fails,
    Hangs,
}

/// Gives the answers of a name in turn, the last one again and again.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    answers: HashMap<String, Vec<Answer>>,
    pub(crate) lookups: AtomicUsize,
}

impl Prepared {
    pub(crate) fn with(mut self, name: &str, answers: impl Into<Vec<Answer>>) -> Self {
        self.answers.insert(name.to_owned(), answers.into());
        self
    }

    pub(crate) fn with_opened(self, name: &str) -> Self {
        self.with(name, [Answer::Addresses(vec![OPENED])])
    }

    pub(crate) fn count(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }
}

impl Resolve for Prepared {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let turn = self.lookups.fetch_add(1, Ordering::SeqCst);
        let answers = self.answers.get(name).or_else(|| self.answers.get("*"));
        let answer = answers.and_then(|all| all.get(turn).or(all.last())).cloned();
        Box::pin(async move {
            match answer {
                Some(Answer::Addresses(addresses)) => Ok(addresses),
                Some(Answer::Fails) | None => Err(io::Error::other("SERVFAIL")),
                Some(Answer::Hangs) => std::future::pending().await,
            }
        })
    }
}

/// What a server does once it has read a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// The same bytes again and again, with a pause between.
    Forever(Vec<u8>, Duration),
    Hang,
}

impl Act {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Send(text.into().into_bytes())
    }
}

/// A server that answers the n-th request with the n-th script, the last one again and again.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    pub(crate) ca_pem: String,
}

impl Server {
    /// Over TLS, with a certificate for `name`.
    pub(crate) async fn tls(name: &str, scripts: Vec<Vec<Act>>) -> Self {
        let (acceptor, ca_pem) = acceptor(name);
        let (listener, mut server) = bind().await;
        server.ca_pem = ca_pem;
        let requests = server.requests.clone();
        tokio::spawn(async move {
            for turn in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (acceptor, requests, scripts) = (acceptor.clone(), requests.clone(), scripts.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    answer(stream, turn, &scripts, &requests).await;
                });
            }
        });
        server
    }

    /// In plain text.
    pub(crate) async fn plain(scripts: Vec<Vec<Act>>) -> Self {
        let (listener, server) = bind().await;
        let requests = server.requests.clone();
        tokio::spawn(async move {
            for turn in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (requests, scripts) = (requests.clone(), scripts.clone());
                tokio::spawn(async move { answer(stream, turn, &scripts, &requests).await });
            }
        });
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// A client that trusts this server and may reach it.
    pub(crate) fn client(&self, resolver: Arc<Prepared>) -> Egress {
        self.builder(resolver).build().unwrap()
    }

    pub(crate) fn builder(&self, resolver: Arc<Prepared>) -> EgressBuilder {
        let builder = Egress::builder(opened()).resolver(resolver);
        if self.ca_pem.is_empty() { builder } else { builder.trust_pem(self.ca_pem.clone()) }
    }
}

/// A configuration that opens [`OPENED`] alone, plain http included.
pub(crate) fn opened() -> EgressConfig {
    EgressConfig { allow: vec![OPENED.into()], allow_http: true, ..EgressConfig::default() }
}

async fn bind() -> (TcpListener, Server) {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, Server { address, requests: Arc::default(), ca_pem: String::new() })
}

async fn answer<S>(mut stream: S, turn: usize, scripts: &[Vec<Act>], requests: &Mutex<Vec<String>>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = Vec::new();
    let mut chunk = [0u8; 4096];
    while !is_whole(&request) {
        match stream.read(&mut chunk).await {
            Ok(read) if read > 0 => request.extend_from_slice(&chunk[..read]),
            _ => return,
        }
    }
    requests.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
    let Some(script) = scripts.get(turn).or(scripts.last()) else { return };
    for act in script {
        if play(&mut stream, act).await.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

async fn play<S: AsyncWrite + Unpin>(stream: &mut S, act: &Act) -> io::Result<()> {
    match act {
        Act::Send(bytes) => stream.write_all(bytes).await,
        Act::Hang => std::future::pending().await,
        Act::Forever(bytes, pause) => loop {
            stream.write_all(bytes).await?;
            stream.flush().await?;
            tokio::time::sleep(*pause).await;
        },
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    body.len() >= length.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
}

fn acceptor(name: &str) -> (tokio_rustls::TlsAcceptor, String) {
    acceptor_of(rustls::DEFAULT_VERSIONS, name)
}

/// A TLS server of one version that shakes hands and says nothing.
pub(crate) async fn server_of(version: &'static rustls::SupportedProtocolVersion, name: &str) -> SocketAddr {
    let (acceptor, _) = acceptor_of(&[version], name);
    let (listener, server) = bind().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    server.address
}

fn acceptor_of(
    versions: &[&'static rustls::SupportedProtocolVersion],
    name: &str,
) -> (tokio_rustls::TlsAcceptor, String) {
    let ca_key = rcgen::KeyPair::generate().unwrap();
    let mut ca_params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    ca_params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = ca_params.self_signed(&ca_key).unwrap();
    let issuer = rcgen::Issuer::new(ca_params, ca_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    (tokio_rustls::TlsAcceptor::from(Arc::new(config)), ca.pem())
}
